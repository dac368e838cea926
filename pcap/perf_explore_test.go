package pcap_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"loadtest/pcap"
)

func hwm() string {
	b, _ := os.ReadFile("/proc/self/status")
	for _, l := range strings.Split(string(b), "\n") {
		if strings.HasPrefix(l, "VmHWM") {
			return l
		}
	}
	return ""
}

func TestPerf(t *testing.T) {
	path, what := os.Getenv("F"), os.Getenv("W")
	f, _ := os.Open(path)
	buf := make([]byte, 1<<20)
	for {
		if n, _ := f.Read(buf); n == 0 {
			break
		}
	}
	st, _ := f.Stat()
	for range 3 {
		start := time.Now()
		if what == "os" {
			b, err := os.ReadFile(path)
			must(t, err)
			_ = b
		} else {
			s, err := pcap.ReadFile(path)
			must(t, err)
			_ = s.Len()
		}
		d := time.Since(start)
		fmt.Printf("%s %s %v %.2f GB/s %s\n", what, path, d, float64(st.Size())/d.Seconds()/1e9, hwm())
		runtime.GC()
	}
}
