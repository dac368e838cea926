package e2e

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loadtest/internal/lab"
	"loadtest/report"
)

// records reads a file of a run.
func records(t *testing.T, file string) *report.Log {
	t.Helper()
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	log, err := report.Read(in)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// of are the records of one kind.
func of[T report.Record](log *report.Log) (all []T) {
	for _, r := range log.Records {
		if r, ok := r.(T); ok {
			all = append(all, r)
		}
	}
	return all
}

// benchmarked runs rfc2544, and reads what it left.
func benchmarked(t *testing.T, args ...string) (run, *report.Log) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run.jsonl")
	r := loadtest(t, append([]string{"rfc2544", "-o", file}, args...)...)
	return r, records(t, file)
}

// All tests of a simulated device whose capacity, queue and delay are known.
func TestRFC2544OnASimulatedDevice(t *testing.T) {
	const pps, queue, trial = 50e3, 100.0, 10.0
	file := simulated(t, "capacity: {rate: 50kpps, queue: 100, per: direction}")
	r, log := benchmarked(t, "-D", "10", "--rest", "100ms", "--drain", "50ms", "--sizes", "64,1518", "--tests", "latency,loss,back-to-back,recovery", "--bursts", "7",
		"gen", "sim:"+file+"/a", "sim:"+file+"/b")
	if r.code != 0 {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.talk)
	}
	for _, b := range of[*report.Benchmark](log) {
		bits := map[string]float64{"64 B": 672, "1518 B": 12304}[b.Size]
		most := 1e9 / bits
		name := b.Test + " of " + b.Size
		if b.Left != "" || *b.MaxBps != 1e9 || math.Abs(*b.MaxPps-most) > 0.01 {
			t.Errorf("%s: left %q, maximum %v, %v pps; want %v", name, b.Left, *b.MaxBps, *b.MaxPps, most)
		}
		switch b.Test {
		case "throughput": // what the queue takes in counts as forwarded; it is within one step
			want := math.Floor((pps+queue/trial)*bits/1e6) * 1e6
			if *b.RateBps != want || *b.OfMax != want/1e9 || b.Limit != report.ByDevice {
				t.Errorf("%s is %v, limited by %s; want %v", name, *b.RateBps, b.Limit, want)
			}
		case report.BackToBack:
			// A burst of N lasts N frame times, in which the device forwards; one frame is in service, and two more are on their way.
			want := queue / (1 - pps/most)
			if f := b.Bursts; math.Abs(f.Mean-want) > 4 || f.Least != f.Most || f.SD != 0 || len(f.Lengths) != 7 {
				t.Errorf("%s: %+v, want 7 of %.1f", name, f, want)
			} else if buffer := f.Mean / most * (1 - throughput(log, b.Size)/1e9) * 1e9; math.Abs(float64(f.CorrectedNs)-buffer) > 2 {
				t.Errorf("%s: buffer %d ns, want %.0f", name, f.CorrectedNs, buffer)
			}
		case report.Recovery: // only a full queue loses, and it is full no longer at half of the load
			if p := b.Recovery; p.Lost == 0 || *p.LowNs != 0 || *p.HighNs > int64(20*time.Millisecond) {
				t.Errorf("%s: %+v, want the last loss at most 20 ms behind the overload", name, p)
			}
		}
	}
	for _, x := range of[*report.Trial](log) {
		s := &x.Streams[0]
		switch {
		case x.Purpose == report.LossCurve:
			if want := max(0, float64(s.Sent)-pps*trial-queue); math.Abs(float64(*s.Lost)-want) > 3 {
				t.Errorf("trial %d: lost %d of %d, want %.0f", x.Number, *s.Lost, s.Sent, want)
			}
		case x.Purpose == report.Latency && !strings.Contains(x.Why, " 100 %"): // no queue: two lines, 30 µs, 20 µs at the bridge
			if want := int64(float64(2*(map[string]int{"64 B": 64, "1518 B": 1518}[x.Size]+8)*8) + 30e3); *s.Delay.MinNs < want || *s.Delay.MinNs > want+30e3 || *s.Delay.MaxNs != *s.Delay.MinNs {
				t.Errorf("trial %d: latency %d..%d ns, want %d and at most 30 µs of service", x.Number, *s.Delay.MinNs, *s.Delay.MaxNs, want)
			}
		}
	}
	m := of[*report.Run](log)[0].Settings.Method
	if took := of[*report.End](log)[0].AtNs; took > m.MostNs || float64(took) < 0.5*float64(m.ExpectNs) || float64(took) > 2*float64(m.ExpectNs) {
		t.Errorf("took %v, announced %v, at most %v", time.Duration(took), time.Duration(m.ExpectNs), time.Duration(m.MostNs))
	}
	for _, want := range []string{"not as in RFC 2544: trials of 10s, not 1m", "not as in RFC 2544: no reset", "\n back-to-back", "\n recovery", "\n frame loss", "\n throughput"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("does not print %q:\n%s", want, r.out)
		}
	}
}

func throughput(log *report.Log, size string) float64 {
	for _, b := range of[*report.Benchmark](log) {
		if b.Test == "throughput" && b.Size == size {
			return *b.RateBps
		}
	}
	return math.NaN()
}

// A line-rate device needs no bursts; a device that loses at every load has no throughput, and the rest is left out.
func TestRFC2544LeavesOut(t *testing.T) {
	_, log := benchmarked(t, "-D", "100ms", "--rest", "0", "--sizes", "512", "gen", "sim:wire/a", "sim:wire/b")
	file := simulated(t, "loss: 20%")
	r, lossy := benchmarked(t, "-D", "1", "--rest", "0", "--drain", "10ms", "--sizes", "512", "--tests", "latency,loss,back-to-back", "gen", "sim:"+file+"/a", "sim:"+file+"/b")
	if got, want := omitted(log), []string{"back-to-back: the throughput is the line's maximum: no burst is too long (RFC 9004)"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("left out %q, want %q", got, want)
	}
	if got, want := omitted(lossy), []string{"latency: no throughput was found", "back-to-back: no throughput was found"}; fmt.Sprint(got) != fmt.Sprint(want) || r.code != 1 {
		t.Errorf("left out %q, exit %d; want %q and 1\n%s%s", got, r.code, want, r.out, r.talk)
	}
}

func omitted(log *report.Log) (all []string) {
	for _, b := range of[*report.Benchmark](log) {
		if b.Left != "" {
			all = append(all, b.Test+": "+b.Left)
		}
	}
	return all
}

// A run that was killed after any trial goes on there, and ends with the same tables; only the rest is measured.
func TestRFC2544Resumes(t *testing.T) {
	file := simulated(t, "capacity: {rate: 50kpps, queue: 100, per: direction}")
	args := []string{"-D", "200ms", "--rest", "100ms", "--sizes", "64,imix", "--tests", "latency,loss,back-to-back,recovery,soak", "--soak", "1", "--bursts", "3",
		"gen", "sim:" + file + "/a", "sim:" + file + "/b"}
	whole, log := benchmarked(t, args...)
	all := len(of[*report.Trial](log))
	for _, k := range []int{0, 1, 10, 20, 45, 60, all - 1, all} {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			killed := filepath.Join(t.TempDir(), "killed.jsonl")
			var lines []byte
			n := 0
			for _, rec := range log.Records {
				if _, ok := rec.(*report.Trial); ok {
					if n++; n > k {
						break
					}
				}
				line, err := report.Line(rec)
				if err != nil {
					t.Fatal(err)
				}
				lines = append(lines, line...)
			}
			lines = append(lines, `{"type":"trial","v":1,"tr`...) // it was writing
			if err := os.WriteFile(killed, lines, 0o644); err != nil {
				t.Fatal(err)
			}
			r, again := benchmarked(t, append([]string{"--resume", killed}, args...)...)
			if r.code != whole.code || r.out != whole.out {
				t.Errorf("exit %d, want %d; prints\n%swant\n%s", r.code, whole.code, r.out, whole.out)
			}
			took, full := of[*report.End](again)[0].AtNs, of[*report.End](log)[0].AtNs
			if k == 0 && took != full || k == all && took > int64(time.Second) || took > full {
				t.Errorf("took %v of %v", time.Duration(took), time.Duration(full))
			}
		})
	}
}

// What cannot be resumed says what would be right, before any packet.
func TestRFC2544Mistakes(t *testing.T) {
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran.jsonl")
	loadtest(t, "rfc2544", "-D", "10ms", "--rest", "0", "--sizes", "64", "--tests", "throughput", "-o", ran, "gen", "sim:wire/a", "sim:wire/b")
	other := filepath.Join(dir, "other.jsonl")
	loadtest(t, "replay", "-b", "1M", "-D", "10ms", "-o", other, "gen", "sim:wire/a", "sim:wire/b")
	sim := []string{"gen", "sim:wire/a", "sim:wire/b"}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--resume", ran, "-D", "20ms", "--rest", "0", "--sizes", "64", "--tests", "throughput"}, "its trials: 10ms, now 20ms; want the same flags, or a run of its own"},
		{[]string{"--resume", other}, "it is no run of rfc2544"},
		{[]string{"--tests", "reset"}, `"reset": want some of throughput, latency, loss, back-to-back, recovery, soak`},
		{[]string{"--tests", "soak"}, "--tests soak: how long? --soak 12h"},
		{[]string{"-b", "1Mpps"}, "the maximum is one of bits on the wire for all sizes, as 10G or 100%"},
		{[]string{"-p", "1kpps"}, "want bits on the wire, as 10M or 0.1%"},
		{[]string{"-D", "0"}, "--duration 0: trials need an end, as -D 60"},
		{[]string{"--bursts", "0"}, "--bursts 0: want 1 or more; RFC 9004 wants 50"},
		{[]string{"--burst", "0"}, "--burst 0: want a time above 0, as 2s"},
	} {
		t.Run(strings.Join(tt.args[:2], " "), func(t *testing.T) {
			r := loadtest(t, append(append([]string{"rfc2544"}, tt.args...), sim...)...)
			if r.code != 2 || !strings.Contains(r.talk, tt.want) {
				t.Errorf("exit %d, want 2 and %q:\n%s", r.code, tt.want, r.talk)
			}
		})
	}
	r := loadtest(t, "rfc2544", "--resume", other)
	if r.code != 2 || !strings.Contains(r.talk, "is one of replay; want one of rfc2544") {
		t.Errorf("exit %d:\n%s", r.code, r.talk)
	}
}

// A router with a known limit, measured in a few seconds.
func TestRFC2544ThroughARouter(t *testing.T) {
	device(t, "nft")
	d := lab.Up(t, "linux-router.sh", "pps=20000", "burst=400")
	file := filepath.Join(t.TempDir(), "run.jsonl")
	r := loadtest(t, "rfc2544", "-D", "500ms", "--rest", "100ms", "--drain", "50ms", "-b", "30Mbps", "-p", "500kbps", "--bursts", "3", "--burst", "200ms",
		"--tests", "latency,loss,back-to-back,recovery", "--max-unsent", "1%", "-o", file, udp(t, 60, false), d.A, d.B)
	if r.code != 0 {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.talk)
	}
	log := records(t, file)
	if got, want := throughput(log, ""), 20800*672.0; math.Abs(got-want) > 0.1*want { // the bucket's packets come on top
		t.Errorf("throughput %v, want about %v", got, want)
	}
	if got := omitted(log); fmt.Sprint(got) != "[back-to-back: a burst of a mix has no one length]" {
		t.Errorf("left out %q", got)
	}
}
