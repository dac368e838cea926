//go:build dpdk && cgo && linux

package dpdk

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loadtest/internal/lab"
	"loadtest/nic"
	"loadtest/packet"
	"loadtest/trial"
)

const pages = "/proc/sys/vm/nr_hugepages"

// hugePages gives the machine more huge pages of 2 MiB until the benchmark ends: for this process and for dpdk-testpmd. Others may
// do the same meanwhile.
func hugePages(b *testing.B) {
	more := func(n int) error {
		text, err := os.ReadFile(pages)
		if err != nil {
			return err
		}
		before, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			return err
		}
		return os.WriteFile(pages, fmt.Appendf(nil, "%d", max(0, before+n)), 0)
	}
	if err := more(512); err != nil {
		b.Log(err)
		return
	}
	b.Cleanup(func() { _ = more(-512) })
}

// cpu is what the calling thread has used.
func cpu() time.Duration {
	var u unix.Rusage
	unix.Getrusage(unix.RUSAGE_THREAD, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// perCPU is how many million packets a second of CPU time work sends.
func perCPU(work func() int64) float64 {
	before := cpu()
	n := work()
	return float64(n) / (cpu() - before).Seconds() / 1e6
}

// plan plays for a while and says how many packets were sent.
func plan(b *testing.B, p nic.Player, l nic.Load, lanes int, d time.Duration) int64 {
	start := monotonic()
	all := slices.Repeat([]nic.Load{l}, lanes)
	if err := p.Begin(nic.Plan{Trial: 2, Start: start, Count: start, End: start + int64(d), Credit: 1e6, Lanes: all}); err != nil {
		b.Fatal(err)
	}
	for {
		next, err := p.Play(monotonic())
		if err != nil {
			b.Fatal(err)
		}
		if next == nic.Never {
			break
		}
	}
	var sent int64
	for i := range lanes {
		sent += p.Played(i).Sent
	}
	return sent
}

var total = regexp.MustCompile(`(?m)^  [RT]X-packets: ([1-9]\d*) `)

// testpmd is the packets per CPU second of dpdk-testpmd in a forwarding mode, with memory as ours.
func testpmd(b *testing.B, mode string) float64 {
	args := []string{"--no-pci", "--no-telemetry", "--lcores", "0@0,1@1", "--vdev", "net_null0,size=60", "-m", "200"}
	if huge() {
		args = append(args, "--in-memory")
	} else {
		args = append(args, "--no-huge", "--no-shconf")
	}
	ctx, cancel := context.WithTimeout(b.Context(), 20*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, "stdbuf", append([]string{"-oL", "dpdk-testpmd"}, append(args, "--", "--forward-mode="+mode, "--total-num-mbufs=16384", "--no-lsc-interrupt", "--txpkts=60", "-a", "-i")...)...)
	in, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.Skip(err)
	}
	used := func() (t int64) {
		tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", c.Process.Pid))
		for _, e := range tasks {
			stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/stat", c.Process.Pid, e.Name()))
			if _, rest, ok := strings.Cut(string(stat), "(rte-worker-1) "); ok {
				f := strings.Fields(rest)
				utime, _ := strconv.ParseInt(f[11], 10, 64)
				stime, _ := strconv.ParseInt(f[12], 10, 64)
				t = (utime + stime) * 10 // ms: 100 ticks a second
			}
		}
		return t
	}
	var text strings.Builder
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), mode+" packet forwarding") {
		text.WriteString(lines.Text() + "\n")
	}
	time.Sleep(time.Second)
	fmt.Fprint(in, "stop\n")
	for lines.Scan() && lines.Text() != "Done." {
		text.WriteString(lines.Text() + "\n")
	}
	ms := used()
	fmt.Fprint(in, "quit\n")
	for lines.Scan() {
	}
	c.Wait()
	m := total.FindStringSubmatch(text.String())
	if m == nil || ms == 0 {
		b.Fatalf("dpdk-testpmd used %d ms and said\n%s", ms, text.String())
	}
	n, _ := strconv.ParseFloat(m[1], 64)
	return n / float64(ms) / 1e3
}

// BenchmarkNull sends 60-byte packets into nowhere, in turn with dpdk-testpmd: million packets per second of the thread's CPU time, and
// how many times what dpdk-testpmd does in its modes txonly and rxonly; medians.
func BenchmarkNull(b *testing.B) {
	lab.Need(b, "dpdk", "testpmd")
	hugePages(b)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	d := open1(b, "net_null920", Options{})
	p := nic.Of(d.Queues[0]).Player
	b.Log(d.Info.Mode)
	sizes := slices.Repeat([]int{60}, 1000)
	frames := make([]packet.Frame, 32)
	for i := range frames {
		frames[i] = frame(60)
	}
	full := nic.Load{Den: 1}
	way := func(l nic.Load, lanes ...nic.Lane) func() int64 {
		return func() int64 {
			if err := p.Load(lanes); err != nil {
				b.Fatal(err)
			}
			return plan(b, p, l, len(lanes), 300*time.Millisecond)
		}
	}
	ways := []struct {
		name string
		run  func() int64
	}{
		{"untagged", way(full, lane(b, 1, 1, sizes...))},
		{"tagged", way(full, lane(b, 1, 0, sizes...))},
		{"tagged-4-lanes", way(full, lane(b, 1, 0, sizes...), lane(b, 2, 0, sizes...), lane(b, 3, 0, sizes...), lane(b, 4, 0, sizes...))},
		{"tagged-paced", way(nic.Load{Unit: trial.Packets, Num: 1e9, Den: 40e6}, lane(b, 1, 0, sizes...))},
		{"Send", func() (n int64) {
			for until := monotonic() + 300e6; monotonic() < until; {
				for range 1000 {
					k, _ := d.Queues[0].Send(frames)
					n += int64(k)
				}
			}
			return n
		}},
		{"Recv", func() (n int64) {
			lent := make([]packet.Frame, 64)
			for until := monotonic() + 300e6; monotonic() < until; {
				for range 1000 {
					k, _ := d.Queues[0].Recv(lent)
					n += int64(k)
				}
			}
			return n
		}},
	}
	found := make(map[string][]float64)
	for b.Loop() {
		found["txonly"] = append(found["txonly"], testpmd(b, "txonly"))
		found["rxonly"] = append(found["rxonly"], testpmd(b, "rxonly"))
		for _, w := range ways {
			found[w.name] = append(found[w.name], perCPU(w.run))
		}
	}
	median := func(name string) float64 {
		slices.Sort(found[name])
		return found[name][len(found[name])/2]
	}
	for _, mode := range []string{"txonly", "rxonly"} {
		b.ReportMetric(median(mode), mode+"-Mpps")
	}
	for _, w := range ways {
		b.ReportMetric(median(w.name), w.name+"-Mpps")
	}
	b.ReportMetric(median("untagged")/median("txonly"), "untagged-times")
	b.ReportMetric(median("tagged")/median("txonly"), "tagged-times")
	b.ReportMetric(median("Recv")/median("rxonly"), "Recv-times")
}
