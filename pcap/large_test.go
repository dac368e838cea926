package pcap_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"loadtest/packet"
	"loadtest/pcap"
)

// The reading of a large file must end in its size and a tenth of memory, and be nearly as quick as the reading of its bytes. It
// is measured in programs of their own, as a process has one peak.
func TestLargeFile(t *testing.T) {
	if what, path, ok := strings.Cut(os.Getenv("LOADTEST_LARGE"), " "); ok {
		readLarge(t, what, path)
		return
	}
	if os.Getenv("LOADTEST_VERIFY") == "" {
		t.Skip("writes 2 GB; set LOADTEST_VERIFY=1")
	}
	if runtime.GOOS != "linux" {
		t.Skip("reads the peak from /proc")
	}
	for _, sizes := range [][]int{{60, 60, 60, 576, 1514}, {60}} { // a mean of 454, and of 60
		path := filepath.Join(t.TempDir(), "large.pcap")
		writeLarge(t, path, sizes)
		info, err := os.Stat(path)
		must(t, err)
		best := map[string]time.Duration{}
		peak := int64(0)
		for range 3 {
			for _, what := range []string{"os", "loadtest"} {
				cmd := exec.Command(os.Args[0], "-test.run", "^TestLargeFile$", "-test.v")
				cmd.Env = append(os.Environ(), "LOADTEST_LARGE="+what+" "+path)
				out, err := cmd.CombinedOutput()
				var took, most int64
				if _, line, ok := strings.Cut(string(out), "took "); err != nil || !ok {
					t.Fatalf("%v: %s", err, out)
				} else if _, err := fmt.Sscanf(line, "%d ns, peak %d", &took, &most); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				if b, ok := best[what]; !ok || time.Duration(took) < b {
					best[what] = time.Duration(took)
				}
				if what == "loadtest" {
					peak = max(peak, most)
				}
			}
		}
		ratio := float64(best["os"]) / float64(best["loadtest"])
		t.Logf("packets of %v bytes: %d bytes, peak %.3f times that; os.ReadFile %v, ReadFile %v: %.2f times as quick",
			sizes, info.Size(), float64(peak)/float64(info.Size()), best["os"], best["loadtest"], ratio)
		if peak > info.Size()/10*11 {
			t.Errorf("peak of %d bytes, want at most %d", peak, info.Size()/10*11)
		}
		if len(sizes) > 1 && ratio < 0.7 {
			t.Errorf("%.2f times as quick as os.ReadFile, want 0.7 or more", ratio)
		}
	}
}

// readLarge reads a file, prints how long it took and what memory was in use at most.
func readLarge(t *testing.T, what, path string) {
	start := time.Now()
	if what == "os" {
		_, err := os.ReadFile(path)
		must(t, err)
	} else {
		_, err := pcap.ReadFile(path)
		must(t, err)
	}
	took := time.Since(start)
	status, err := os.ReadFile("/proc/self/status")
	must(t, err)
	var kilobytes int64
	_, line, _ := strings.Cut(string(status), "VmHWM:")
	_, err = fmt.Sscan(line, &kilobytes)
	must(t, err)
	t.Logf("took %d ns, peak %d", took.Nanoseconds(), kilobytes<<10)
}

// writeLarge writes a pcap of 2 GB, with packets of these sizes in turn.
func writeLarge(t *testing.T, path string, sizes []int) {
	t.Helper()
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	var some bytes.Buffer
	w, err := pcap.NewWriter(&some, pcap.Options{})
	must(t, err)
	must(t, w.Flush())
	n := some.Len()
	for i := range 10_000 {
		must(t, w.WriteFrame(packet.Frame{Data: make([]byte, sizes[i%len(sizes)]), Nanos: int64(i) * 1000}, 0))
	}
	must(t, w.Flush())
	_, err = f.Write(some.Bytes())
	for written := some.Len(); written < 2e9 && err == nil; written += some.Len() - n {
		_, err = f.Write(some.Bytes()[n:])
	}
	must(t, err)
}
