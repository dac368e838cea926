package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"loadtest/internal/lab"
	"loadtest/report"
)

// A load above the line is cut down to it, and the line is what limits.
func TestRateAboveTheLine(t *testing.T) {
	file := udp(t, 60, false)
	for _, tt := range []struct {
		rate, note, limit string
		gbps              float64
	}{
		{"11G", "note: --rate 11G: sim:wire/a is a 10G line; 10G is the load\n", report.ByLine, 10},
		{"10G", "", report.ByLine, 10},
		{"5G", "", report.ByAsked, 5},
		{"100%", "", report.ByLine, 10},
		{"20Mpps", "note: --rate 20Mpps: sim:wire/a is a 10G line; 14.8", report.ByLine, 10},
		{"1Mpps", "", report.ByAsked, 0.672},
	} {
		t.Run(tt.rate, func(t *testing.T) {
			r := loadtest(t, "find-limit", "-b", tt.rate, "-D", "10ms", file, "sim:wire/a", "sim:wire/b")
			if !strings.Contains(r.talk, tt.note) || tt.note == "" && strings.Contains(r.talk, "--rate") {
				t.Errorf("note %q, want %q", r.talk, tt.note)
			}
			v := verdict(r)
			got, _ := strconv.ParseFloat(r.last(), 64)
			if r.code != 0 || v == nil || v.Limit != tt.limit || got < tt.gbps*0.9999 || got > tt.gbps*1.0001 {
				t.Errorf("exit %d, %v Gbps, %+v; want %v by %s", r.code, got, v, tt.gbps, tt.limit)
			}
		})
	}
	r := loadtest(t, "replay", "-b", "11G", "-D", "10ms", file, "sim:wire/a", "sim:wire/b")
	if r.code != 0 || !strings.Contains(r.talk, "10G is the load") {
		t.Errorf("replay: exit %d, %s", r.code, r.talk)
	}
}

func verdict(r run) *report.Verdict {
	for _, x := range r.records {
		if v, ok := x.(*report.Verdict); ok {
			return v
		}
	}
	return nil
}

// An unfinished search does not say what limits, and one without a trial says nothing at all.
func TestUnfinishedSearch(t *testing.T) {
	file := udp(t, 60, false)
	p := start(t, "find-limit", "-b", "1G", "-p", "1k", "-D", "10ms", "-r", "0",
		"-e", `grep -q '"intended_wire_bps":1000000000' && exit 1; sleep 0.2`, file, "sim:wire/a", "sim:wire/b")
	p.await(t, `"verdict":"pass"`) // of about twenty trials
	_ = p.cmd.Process.Signal(syscall.SIGINT)
	r := p.wait(t)
	if v := verdict(r); r.code != 130 || v == nil || v.Limit != "" || v.RateWireBps == nil {
		t.Errorf("interrupted: exit %d, %+v; want 130, a rate and no limit", r.code, v)
	}
	p = start(t, "find-limit", "-b", "1G", "-D", "10ms", "-e", "sleep 100", file, "sim:wire/a", "sim:wire/b")
	p.await(t, `"purpose":"warmup"`)
	_ = p.cmd.Process.Signal(syscall.SIGINT)
	if r = p.wait(t); r.code != 130 || verdict(r) != nil {
		t.Errorf("interrupted before a verdict: exit %d, %+v", r.code, verdict(r))
	}
	r = loadtest(t, "find-limit", "-b", "1G", "-D", "10ms", file, "sim:wire/a", "sim:wire/a")
	if v := verdict(r); r.code != 3 || v != nil && v.Limit != "" {
		t.Errorf("nothing comes back: exit %d, %+v", r.code, v)
	}
}

// Ctrl-C ends the judge of --exec and all that it started.
func TestExecIsEnded(t *testing.T) {
	note := filepath.Join(t.TempDir(), "pid")
	p := start(t, "find-limit", "-b", "1G", "-D", "10ms", "-e", "sleep 100 & echo $! > "+note+"; wait", udp(t, 60, false), "sim:wire/a", "sim:wire/b")
	var pid int
	for until := time.Now().Add(20 * time.Second); pid == 0 && time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		text, _ := os.ReadFile(note)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	if pid == 0 {
		t.Fatal("the judge did not start")
	}
	_ = p.cmd.Process.Signal(syscall.SIGINT)
	if r := p.wait(t); r.code != 130 {
		t.Errorf("exit %d: %s", r.code, r.talk)
	}
	for until := time.Now().Add(5 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("what the judge started still runs: %s", stat)
		}
	}
}

// A second signal at once is the first one's echo; a later one leaves at once.
func TestSecondSignal(t *testing.T) {
	for _, tt := range []struct {
		name  string
		pause time.Duration
		ended bool
	}{{"at once", 30 * time.Millisecond, true}, {"later", 600 * time.Millisecond, false}} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir() // ports of which nothing comes back, so that the drain takes its time
			p := start(t, "replay", "-b", "1kpps", "-D", "30", "--drain", "2s", udp(t, 60, false), "pcap:"+filepath.Join(dir, "a"), "pcap:"+filepath.Join(dir, "b"))
			time.Sleep(time.Second)
			_ = p.cmd.Process.Signal(syscall.SIGTERM)
			time.Sleep(tt.pause)
			_ = p.cmd.Process.Signal(syscall.SIGTERM)
			r := p.wait(t)
			if r.code != 143 || (r.end() != nil) != tt.ended || strings.Contains(r.talk, "left at once") == tt.ended {
				t.Errorf("exit %d, end %+v, %q; want 143, an end: %v", r.code, r.end(), r.talk, tt.ended)
			}
		})
	}
}

// Chance is new in each run, and noted; a seed that is given is used.
func TestSeed(t *testing.T) {
	file := udp(t, 60, false)
	seen := map[int64]bool{}
	for range 3 {
		seed := head(t, loadtest(t, "replay", "-b", "1G", file, "sim:wire/a", "sim:wire/b")).Seed
		if seed <= 0 || seed >= 1<<48 || seen[seed] {
			t.Errorf("seed %d: want a new one, of 48 bits", seed)
		}
		seen[seed] = true
	}
	for _, seed := range []int64{0, 7} {
		r := loadtest(t, "replay", "-b", "1G", "--seed", fmt.Sprint(seed), file, "sim:wire/a", "sim:wire/b")
		if got := head(t, r).Seed; got != seed {
			t.Errorf("seed %d, want %d", got, seed)
		}
	}
}

func head(t *testing.T, r run) *report.Run {
	t.Helper()
	if len(r.records) == 0 {
		t.Fatalf("no records: %s", r.talk)
	}
	h, ok := r.records[0].(*report.Run)
	if !ok {
		t.Fatalf("the first record is %T", r.records[0])
	}
	return h
}

// In simulated time too every trial lies within its run.
func TestTimesInOrder(t *testing.T) {
	r := loadtest(t, "find-limit", "-b", "20e6", "-p", "1e6", "-D", "5", udp(t, 60, false), "sim:lossy/a", "sim:lossy/b")
	from, to := head(t, r).Time, r.end().Time
	for _, x := range r.trials() {
		if x.Time.Before(from) || x.Time.After(to) {
			t.Errorf("trial %d at %v: not between %v and %v", x.Number, x.Time, from, to)
		}
	}
	if len(r.trials()) == 0 {
		t.Error("no trials")
	}
}

// A link that goes down says nothing about the device, whoever asks.
func TestLinkDown(t *testing.T) {
	device(t)
	d := lab.Veth(t)
	file := udp(t, 60, false)
	for _, args := range [][]string{
		{"replay", "-b", "1Mbps", "-D", "3"},
		{"transient", "-b", "1Mbps", "-s", "500kbps", "-D", "3", "--warmup", "0", "--link-wait", "1s"},
	} {
		t.Run(args[0], func(t *testing.T) {
			p := start(t, append(args, file, d.A, d.B)...)
			p.await(t, `"type":"sample"`)
			d.IP("b", "link", "set", "b0", "down")
			r := p.wait(t)
			d.IP("b", "link", "set", "b0", "up")
			time.Sleep(500 * time.Millisecond)
			if r.code != 3 || !strings.Contains(r.talk, "link down: ") || r.end() == nil || r.end().ExitCode != 3 {
				t.Errorf("exit %d, want 3, link down: %s", r.code, r.talk)
			}
			x := r.trials() // more than one on a machine that stood still
			if last := x[len(x)-1]; last.Verdict != report.Invalid || !strings.HasPrefix(last.Reason, "link down: ") {
				t.Errorf("the last trial is %s: %s; want invalid, link down", last.Verdict, last.Reason)
			}
		})
	}
}
