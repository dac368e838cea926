//go:build linux

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"loadtest/internal/lab"
	"loadtest/report"
)

// news are the events of a kind, as port and text.
func news(r run, kind string) (all []*report.Event) {
	for _, x := range r.records {
		if e, ok := x.(*report.Event); ok && e.Event == kind {
			all = append(all, e)
		}
	}
	return all
}

// cable sets the link between a0 and b0 down or up.
func cable(d *lab.Device, state string) { d.IP("b", "link", "set", "b0", state) }

// A link that is down at the start is waited for; one that stays down is the diagnosis, and no packet is sent.
func TestLinkAtStart(t *testing.T) {
	device(t)
	d := lab.Veth(t)
	cable(d, "down")
	t.Run("comes up", func(t *testing.T) {
		p := start(t, append(lenient("find-limit"), "-p", "500kbps", "-D", "500ms", "gen", d.A, d.B)...)
		time.Sleep(2 * time.Second)
		if text := p.written(t); strings.Count(text, "\n") != 1 {
			t.Errorf("it did not wait, or did not say what for: %s", text)
		}
		cable(d, "up")
		if r := p.wait(t); r.code != 0 || r.last() != "0.001" {
			t.Errorf("exit %d, %q: %s", r.code, r.last(), r.talk)
		}
	})
	cable(d, "down")
	for _, verb := range []string{"find-limit", "replay"} {
		t.Run("never, "+verb, func(t *testing.T) {
			begun := time.Now()
			r := loadtest(t, verb, "-b", "1Mbps", "-D", "500ms", "--link-wait", "1s", "gen", d.A, d.B)
			if took := time.Since(begun); took < time.Second || took > 10*time.Second {
				t.Errorf("it took %v, want the second of --link-wait", took)
			}
			want := regexp.MustCompile(`nothing came back in 1(\.\d)? s: 0 sent(.|\n)*likely: b0@\S+'s link is down\. ip -n \S+-b link set b0 up`)
			if r.code != 3 || !want.MatchString(r.talk) || len(r.trials()) != 0 || r.end() == nil || r.end().ExitCode != 3 {
				t.Errorf("exit %d after %d trials, want 3, none, and %v: %s", r.code, len(r.trials()), want, r.talk)
			}
		})
	}
}

// A link that goes down in a search: the trial does not count, and is repeated when the link is back. The answer is that of the
// device. One that does not come back ends the search.
func TestLinkInSearch(t *testing.T) {
	device(t)
	d := lab.Veth(t)
	args := append(lenient("find-limit"), "-p", "500kbps", "-D", "1", "--search", "bisect", "--warmup", "0")
	t.Run("back", func(t *testing.T) {
		p := start(t, append(args, "gen", d.A, d.B)...)
		p.await(t, `"trial":1,`)
		cable(d, "down")
		p.await(t, "waiting")
		cable(d, "up")
		r := p.wait(t)
		if r.code != 0 || r.last() != "0.001" {
			t.Errorf("exit %d, %q\n%s%s", r.code, r.last(), r.out, r.talk)
		}
		all := news(r, "link")
		if len(all) != 2 || !strings.HasPrefix(all[0].Text, "down: ") || !strings.HasSuffix(all[0].Text, "; the trial does not count; waiting") ||
			!strings.Contains(all[0].Text, d.B) || all[1].Text != "up again; the trial is repeated" || all[0].AtNs >= all[1].AtNs {
			t.Errorf("events %+v; want down and up", all)
		}
		x := r.trials()
		if len(x) < 2 || x[0].Verdict != report.Invalid || !strings.HasPrefix(x[0].Reason, "link down: ") || x[len(x)-1].Verdict != report.Pass {
			t.Errorf("trials %+v; want one that does not count, and one that passes", x)
		}
		balanced(t, r)
	})
	t.Run("stays down", func(t *testing.T) {
		p := start(t, append(args, "--link-wait", "2s", "gen", d.A, d.B)...)
		p.await(t, `"trial":1,`)
		cable(d, "down")
		p.await(t, "waiting")
		begun := time.Now()
		r := p.wait(t)
		cable(d, "up")
		if took := time.Since(begun); took < 1800*time.Millisecond || took > 6*time.Second {
			t.Errorf("it waited for %v, want 2s", took)
		}
		want := "link down: " + d.A + ", " + d.B + "; waited 2s (--link-wait)"
		if r.code != 3 || !strings.Contains(r.talk, want) || r.end() == nil || r.end().Reason != want || verdict(r) != nil && verdict(r).Limit != "" {
			t.Errorf("exit %d, want 3, %s: %s", r.code, want, r.talk)
		}
		balanced(t, r)
	})
}

// Without a search a link that goes down is an event. The trial goes on to its end, its books are whole, and it is no verdict.
func TestLinkInReplay(t *testing.T) {
	device(t)
	for _, tt := range []struct {
		name, rate string
		pause      time.Duration // 0: it is back at once
	}{{"paced", "1Mbps", time.Second}, {"for a moment", "1Mbps", 0}, {"without a pace", "max", time.Second}} {
		t.Run(tt.name, func(t *testing.T) {
			d := lab.Veth(t)
			p := start(t, "replay", "-b", tt.rate, "-D", "3", "--interval", "100ms", "gen", d.A, d.B)
			p.await(t, `"trial":1,`)
			cable(d, "down")
			time.Sleep(tt.pause)
			cable(d, "up")
			r := p.wait(t)
			if r.code != 3 || !strings.Contains(r.talk, "loadtest: link down: ") || r.end() == nil || r.end().ExitCode != 3 {
				t.Errorf("exit %d, want 3, link down: %s", r.code, r.talk)
			}
			balanced(t, r)
			x := r.trials()
			if len(x) != 1 || x[0].Verdict != report.Invalid || !strings.HasPrefix(x[0].Reason, "link down: ") || x[0].DurationNs < 29e8 {
				t.Fatalf("trials %+v; want one of 3s, invalid", x)
			}
			s := x[0].Streams[0]
			if s.Sent == 0 || *s.Received == 0 || tt.rate != "max" && tt.pause > 0 && (s.Unsent == 0 || s.Unsent > s.Intended/2+s.Intended/4) {
				t.Errorf("intended %d, sent %d, received %d, unsent %d; want some while the link was up", s.Intended, s.Sent, *s.Received, s.Unsent)
			}
			for _, port := range []string{d.A, d.B} {
				var text []string
				var at []int64
				for _, e := range news(r, "link") {
					if e.Port == port {
						text, at = append(text, e.Text), append(at, e.AtNs)
					}
				}
				switch all := strings.Join(text, ", "); {
				case all != "down, up again" && (tt.pause > 0 || all != "down, and up again"):
					t.Errorf("events of %s: %s; want down and up again", port, all)
				case len(at) == 2 && at[1]-at[0] < int64(tt.pause-300*time.Millisecond):
					t.Errorf("events of %s at %d ns, want about %v between", port, at, tt.pause)
				}
				if at[0] < x[0].StartNs || at[0] > x[0].StartNs+x[0].DurationNs {
					t.Errorf("%s was down at %d ns; the trial began at %d ns", port, at[0], x[0].StartNs)
				}
			}
			if end := r.end().AtNs; end < x[0].StartNs+x[0].DurationNs {
				t.Errorf("the run ended at %d ns, before its trial", end)
			}
		})
	}
}

// The steps of transient go on when the link is back; the one in which it was down does not count, and neither does the whole.
func TestLinkInSteps(t *testing.T) {
	device(t)
	d := lab.Veth(t)
	p := start(t, append(lenient("transient"), "-s", "500kbps", "-D", "1", "--warmup", "0", "gen", d.A, d.B)...)
	p.await(t, `"trial":1,`)
	cable(d, "down")
	time.Sleep(1500 * time.Millisecond)
	cable(d, "up")
	r := p.wait(t)
	balanced(t, r)
	if r.code != 3 || !strings.Contains(r.talk, "loadtest: link down: ") || len(news(r, "link")) != 4 {
		t.Errorf("exit %d, %d events, want 3, two ports down and up: %s", r.code, len(news(r, "link")), r.talk)
	}
	var whole, down []float64
	for _, x := range r.trials() {
		switch {
		case strings.HasPrefix(x.Reason, "link down: ") && x.Verdict == report.Invalid:
			down = append(down, *x.IntendedWireBps)
		case x.Verdict != report.Invalid:
			whole = append(whole, *x.IntendedWireBps)
		}
	}
	if len(down) == 0 || len(down) > 2 || len(down)+len(whole) != 4 {
		t.Errorf("steps %v with the link down, %v whole; want 4 in all\n%s", down, whole, r.out)
	}
}

// A tester that stands still spoils its trial, and repeats it: the answer is the device's.
func TestStopped(t *testing.T) {
	device(t)
	d := lab.Veth(t)
	for _, args := range [][]string{
		{"find-limit", "-p", "500kbps", "--search", "bisect", "--warmup", "0"},
		{"replay"},
		{"transient", "-s", "1Mbps", "--warmup", "0"},
	} {
		t.Run(args[0], func(t *testing.T) {
			p := start(t, append(append(lenient(args[0]), args[1:]...), "-D", "1", "gen", d.A, d.B)...)
			p.await(t, `"trial":1,`)
			_ = p.cmd.Process.Signal(syscall.SIGSTOP)
			time.Sleep(300 * time.Millisecond)
			_ = p.cmd.Process.Signal(syscall.SIGCONT)
			r := p.wait(t)
			balanced(t, r)
			x := r.trials()
			if len(x) < 2 || x[0].Verdict != report.Invalid || !strings.HasPrefix(x[0].Reason, "the tester was stopped for ") || x[0].StolenNs < 29e7 {
				t.Fatalf("trials %+v; want the first one stopped\n%s", x, r.out)
			}
			if *x[0].IntendedWireBps != *x[1].IntendedWireBps {
				t.Errorf("after %v came %v; want the same once more", *x[0].IntendedWireBps, *x[1].IntendedWireBps)
			}
			if n := strings.Count(r.out, x[0].Reason); n != 1 {
				t.Errorf("its reason stands %d times in\n%s", n, r.out)
			}
			if r.code != 0 {
				t.Errorf("exit %d\n%s%s", r.code, r.out, r.talk)
			}
		})
	}
}

// Ctrl-C ends every kind of waiting at once; what was found is saved, and the ports are given back.
func TestInterruptWhileWaiting(t *testing.T) {
	device(t)
	for _, tt := range []struct {
		name string
		link string // before the start
		wait func(t *testing.T, p *process, d *lab.Device)
		args func(d *lab.Device) []string
	}{
		{"hello", "up", noted, func(d *lab.Device) []string { return []string{d.A, d.A} }},
		{"hello of an hour", "up", noted, func(d *lab.Device) []string { return []string{"--wait", "1h", d.A, d.A} }},
		{"check", "up", noted, func(d *lab.Device) []string { return []string{"--check", d.A, d.A} }},
		{"gateway", "up", noted, func(d *lab.Device) []string { return []string{"--addr", d.A + "=10.0.0.2/24,gw=10.0.0.1", d.A, d.B} }},
		{"link at the start", "down", noted, func(d *lab.Device) []string { return []string{d.A, d.B} }},
		{"link in a search", "up", func(t *testing.T, p *process, d *lab.Device) {
			p.await(t, `"trial":1,`)
			cable(d, "down")
			p.await(t, "waiting")
		}, func(d *lab.Device) []string { return []string{"--interval", "100ms", d.A, d.B} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := lab.Veth(t)
			cable(d, tt.link)
			s := shelf{t.TempDir()}
			p := prepare(t, append([]string{"find-limit", "-b", "1Mbps", "-D", "2", "gen"}, tt.args(d)...)...)
			s.in(p.cmd)
			p.begin(t)
			tt.wait(t, p, d)
			time.Sleep(300 * time.Millisecond)
			begun := time.Now()
			_ = p.cmd.Process.Signal(syscall.SIGINT)
			r := p.wait(t)
			if took := time.Since(begun); took > time.Second {
				t.Errorf("it took %v to end", took)
			}
			if e := r.end(); r.code != 130 || e == nil || !e.Interrupted || e.ExitCode != 130 {
				t.Errorf("exit %d, end %+v; want 130\n%s", r.code, r.end(), r.talk)
			}
			left(t, p, d)
			files, _ := filepath.Glob(filepath.Join(s.dir, "*.jsonl"))
			if tt.name == "check" {
				if len(files) != 0 {
					t.Errorf("saved %v, want nothing of a check", files)
				}
				return
			}
			if len(files) != 1 {
				t.Fatalf("%d runs are saved, want 1", len(files))
			}
			text, err := os.ReadFile(files[0])
			if own, err2 := os.ReadFile(p.json); err != nil || err2 != nil || !bytes.Equal(text, own) {
				t.Errorf("saved (%v, %v):\n%s\nwant\n%s", err, err2, text, own)
			}
			if code, out, talk := s.runs(t); code != 0 || !strings.Contains(out, "130   interrupted") {
				t.Errorf("runs: exit %d: %s%s", code, out, talk)
			}
		})
	}
}
