package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loadtest/internal/lab"
	"loadtest/packet"
	"loadtest/pcap"
)

// A heard packet is when the kernel of a receiver saw it, and its number in the capture.
type heardPacket struct {
	at     int64
	number int
}

// listen has tcpdump write what arrives at a port until stop is called, which reads it.
func listen(t *testing.T, port string) (stop func() []heardPacket) {
	t.Helper()
	iface, ns, _ := strings.Cut(port, "@")
	file := filepath.Join(t.TempDir(), "heard.pcap")
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	cmd := exec.CommandContext(ctx, "ip", "netns", "exec", ns, "tcpdump", "-U", "--immediate-mode", "-n", "-i", iface, "-Q", "in", "--time-stamp-precision=nano", "-w", file, "udp port 4711")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 100 { // its header is written when it listens
		if info, err := os.Stat(file); err == nil && info.Size() >= 24 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return func() (all []heardPacket) {
		t.Helper()
		time.Sleep(300 * time.Millisecond)
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		cancel()
		s, err := pcap.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Len() {
			f := s.Frame(i)
			all = append(all, heardPacket{f.Nanos, int(f.Data[18])<<8 | int(f.Data[19])})
		}
		return all
	}
}

// spaced is a capture of n UDP packets so far apart, numbered in their IP identification; the odd ones are answers.
func spaced(t *testing.T, n int, gap time.Duration, answers bool) string {
	t.Helper()
	s := &packet.Store{}
	for i := range n {
		b := make([]byte, 60)
		copy(b, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 46, byte(i >> 8), byte(i), 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x30, 0x39, 0x12, 0x67, 0, 26})
		if answers && i%2 == 1 {
			copy(b[26:], []byte{10, 0, 0, 2, 10, 0, 0, 1, 0x12, 0x67, 0x30, 0x39})
			copy(b, []byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1})
		}
		s.Append(b, 1_700_000_000_000_000_000+int64(i)*int64(gap), len(b))
	}
	file := filepath.Join(t.TempDir(), "spaced.pcap")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := pcap.Write(f, s); err != nil {
		t.Fatal(err)
	}
	return file
}

func median(all []int64) int64 {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}

// Gaps of 100 ms arrive as such at a receiver, at once and twice the captured pace, over three passes that are alike; between two
// passes is the mean gap.
func TestPaceAtAReceiver(t *testing.T) {
	device(t)
	lab.Need(t, "tcpdump")
	d := lab.Veth(t)
	file := spaced(t, 10, 100*time.Millisecond, false)
	for _, factor := range []int64{1, 2} {
		t.Run(fmt.Sprint("x", factor), func(t *testing.T) {
			want := int64(100*time.Millisecond) / factor
			near := func(what string, got int64) {
				t.Helper()
				if d := got - want; d < -int64(time.Millisecond) || d > int64(time.Millisecond) {
					t.Errorf("%s: %v, want %v within 1 ms", what, time.Duration(got), time.Duration(want))
				}
			}
			stop := listen(t, d.B)
			r := loadtest(t, "replay", "-b", fmt.Sprint("x", factor), "--loops", "3", file, d.A)
			heard := stop()
			if r.code != 0 || len(heard) != 30 {
				t.Fatalf("exit %d, %d packets arrived, want 30\n%s", r.code, len(heard), r.talk)
			}
			var gaps, between []int64
			for i := 1; i < len(heard); i++ {
				gap := heard[i].at - heard[i-1].at
				if gaps = append(gaps, gap); heard[i].number == 0 {
					between = append(between, gap)
				}
			}
			near("median of all gaps", median(gaps))
			for pass := range 3 {
				near(fmt.Sprint("median of pass ", pass+1), median(gaps[pass*10:pass*10+9]))
			}
			if len(between) != 2 {
				t.Fatalf("%d passes begin after the first, want 2", len(between))
			}
			near("gap between passes", (between[0]+between[1])/2)
		})
	}
}

// A capture of both sides keeps its order and its gaps across two ports.
func TestPaceAcrossPorts(t *testing.T) {
	device(t)
	lab.Need(t, "tcpdump")
	d := lab.Veth(t)
	file := spaced(t, 60, 20*time.Millisecond, true)
	clients, servers := listen(t, d.B), listen(t, d.A)
	r := loadtest(t, "replay", "--split", "--wait", "0", "--force-port", "afpacket:"+d.A, "--force-port", "afpacket:"+d.B,
		file, "afpacket:"+d.A, "afpacket:"+d.B) // tcpdump listens there, behind any XDP program
	heard := append(clients(), servers()...)
	slices.SortFunc(heard, func(a, b heardPacket) int { return int(a.at - b.at) })
	if r.code != 0 || len(heard) != 60 {
		t.Fatalf("exit %d, %d packets arrived, want 60\n%s", r.code, len(heard), r.talk)
	}
	var gaps []int64
	for i := 1; i < len(heard); i++ {
		gaps = append(gaps, heard[i].at-heard[i-1].at)
		if heard[i].number != i {
			t.Errorf("packet %d arrives as number %d", heard[i].number, i)
		}
	}
	if m := median(gaps) - int64(20*time.Millisecond); m < -int64(time.Millisecond) || m > int64(time.Millisecond) {
		t.Errorf("median gap across both ports: %v, want 20 ms within 1 ms", time.Duration(median(gaps)))
	}
}

// No rate drifts, whichever way is taken: for ten seconds packets leave when they are due. Half of them leave within so little of
// their deadlines that the rate is off by less than 5 ppm.
func TestRateByEveryBackend(t *testing.T) {
	device(t, "xdp", "afxdp")
	if times(2) == 1 {
		t.Skip("needs a quiet machine; set LOADTEST_VERIFY=1, as make verify does")
	}
	kit := dpdkBinary(t)
	const seconds = 10
	for _, backend := range []string{"afpacket", "afxdp", "xdp", "dpdk"} {
		for _, rate := range []int64{10_000, 100_000, 1_000_000} {
			t.Run(fmt.Sprint(backend, " ", rate), func(t *testing.T) {
				d := lab.Veth(t)
				args := []string{"replay", "-b", fmt.Sprint(rate, "pps"), "-D", fmt.Sprint(seconds), "--max-unsent", "50%", "--loss", "50%",
					udp(t, 60, false), backend + ":" + d.A, backend + ":" + d.B}
				var r run
				switch {
				case backend != "dpdk":
					r = loadtest(t, args...)
				case kit == "":
					t.Skip("no build with DPDK")
				default:
					r = byKit(t, d, kit, args)
				}
				x := r.trials()
				if len(x) == 0 {
					t.Fatalf("no trial: %s%s", r.out, r.talk)
				}
				s := x[len(x)-1].Streams[0]
				off := float64(*s.Lateness.P50Ns) / (seconds * 1e9) * 1e6
				t.Logf("sent %d of %d, lateness p50 %v, p99 %v, max %v: %.2f ppm", s.Sent, s.Intended, time.Duration(*s.Lateness.P50Ns),
					time.Duration(*s.Lateness.P99Ns), time.Duration(*s.Lateness.MaxNs), off)
				if s.Intended == rate*seconds && s.Sent < s.Intended*99/100 {
					t.Skipf("%s cannot do %d packets/s here: %d of %d were sent", backend, rate, s.Sent, s.Intended)
				}
				if s.Intended != rate*seconds || off > 5 {
					t.Errorf("intended %d, sent %d, off by %.2f ppm; want %d, 5 ppm", s.Intended, s.Sent, off, rate*seconds)
				}
			})
		}
	}
}
