package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loadtest/internal/lab"
	"loadtest/nic/dial"
	"loadtest/packet"
	"loadtest/report"
)

// A shelf is a folder of saved runs.
type shelf struct{ dir string }

// in has a command save its run on the shelf.
func (s shelf) in(cmd *exec.Cmd) { cmd.Env = append(os.Environ(), "LOADTEST_RUNS="+s.dir) }

// run is a whole call of the program.
func (s shelf) run(t *testing.T, args ...string) run {
	t.Helper()
	p := prepare(t, args...)
	s.in(p.cmd)
	return p.begin(t).wait(t)
}

// runs calls the verb of that name.
func (s shelf) runs(t *testing.T, args ...string) (code int, out, talk string) {
	t.Helper()
	return on(t, s.in, append([]string{"runs"}, args...)...)
}

// kill ends a process for good, and gives the id, the text and the records of its run, which is the only one on the shelf.
func (s shelf) kill(t *testing.T, p *process) (id string, text []byte, log *report.Log) {
	t.Helper()
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	files, _ := filepath.Glob(filepath.Join(s.dir, "*.jsonl"))
	if len(files) != 1 {
		t.Fatalf("%d runs are saved, want 1: %s", len(files), p.talk.String())
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if log, err = report.Read(bytes.NewReader(text)); err != nil {
		t.Fatalf("saved: %v\n%s", err, text)
	}
	return strings.TrimSuffix(filepath.Base(files[0]), ".jsonl"), text, log
}

// lenient is a low load by a verb on a machine that may be busy, and a sample every now and then.
func lenient(verb string) []string {
	return []string{verb, "-b", "1Mbps", "--credit", "100ms", "--max-unsent", "30%", "--interval", "100ms"}
}

// verdicts are the lines of trials with a verdict.
func verdicts(out string) (lines []string) {
	for line := range strings.Lines(out) {
		if strings.Contains(line, " s  pass") || strings.Contains(line, " s  fail") {
			lines = append(lines, line)
		}
	}
	return lines
}

// A search that was killed is on the list with all its finished trials, can be shown, and is made again: to its end, and with the
// answer of one that was left alone.
func TestKilledSearch(t *testing.T) {
	for _, tt := range []struct {
		name   string
		real   bool
		args   []string
		change []string // of the run that is made again
	}{
		{"simulated", false, []string{"-b", "10e6", "-p", "1e4", "-D", "100ms", "-r", "0",
			"-e", `sleep 0.1; grep -q '"intended_wire_bps":[1-4][0-9]\{6\}[,}]'`}, nil},
		{"device", true, append(lenient("find-limit")[1:], "-p", "1kbps", "-D", "300ms", "-r", "9", "-e", "false"), []string{"-e", "true", "-p", "500kbps"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ports := []string{"sim:wire/a", "sim:wire/b"}
			if tt.real {
				device(t)
				d := lab.Veth(t)
				ports = []string{d.A, d.B}
			}
			args := append(append([]string{"find-limit"}, tt.args...), append([]string{udp(t, 60, false)}, ports...)...)
			s := shelf{filepath.Join(t.TempDir(), "runs")}
			p := prepare(t, args...)
			s.in(p.cmd)
			p.begin(t)
			p.await(t, `"trial":3,`)
			code, out, talk := s.runs(t)
			if code != 0 || !strings.Contains(out, "still running") {
				t.Errorf("runs of one that runs: exit %d: %s%s", code, out, talk)
			}
			id, text, log := s.kill(t, p)
			if own := p.written(t); !strings.HasPrefix(own, string(text)) {
				t.Errorf("saved\n%s\nis no beginning of\n%s", text, own)
			}
			n, printed := 0, verdicts(p.out.String())
			for _, r := range log.Records {
				if x, ok := r.(*report.Trial); ok && x.Purpose == report.Search {
					n++
				}
			}
			if n < 2 || n < len(printed) {
				t.Errorf("%d trials are saved of\n%s", n, p.out.String())
			}
			if code, out, talk = s.runs(t); code != 0 || !strings.Contains(out, id) || !strings.Contains(out, fmt.Sprintf("cut off after %d trials", n)) {
				t.Errorf("runs: exit %d, want %s, cut off after %d trials: %s%s", code, id, n, out, talk)
			}
			code, out, talk = s.runs(t, "show", id)
			if shown := verdicts(out); code != 0 || len(shown) != n || strings.Join(shown[:min(n, len(printed))], "") != strings.Join(printed, "") ||
				!strings.Contains(talk, fmt.Sprintf("cut off after %d trials", n)) {
				t.Errorf("runs show: exit %d\n%s%s\nwant\n%s", code, out, talk, p.out.String())
			}
			change := tt.change
			if change != nil {
				change = append([]string{"--"}, change...)
			}
			code, out, talk = s.runs(t, append([]string{"repeat", id}, change...)...)
			if whole := s.run(t, append(args[:len(args):len(args)], tt.change...)...); code != 0 || whole.code != 0 || (run{out: out}).last() != whole.last() || whole.last() == "" {
				t.Errorf("runs repeat: exit %d, a whole run: exit %d\n%s%s\nwant\n%s", code, whole.code, out, talk, whole.out)
			}
			if _, out, _ := s.runs(t); strings.Count(out, "\n") != 4 || !strings.Contains(out, "cut off after") {
				t.Errorf("runs in the end:\n%swant three", out)
			}
		})
	}
}

// What is on disk of a trial that was killed ends at most an interval before.
func TestKilledTrial(t *testing.T) {
	device(t)
	d := lab.Veth(t)
	s := shelf{filepath.Join(t.TempDir(), "runs")}
	p := prepare(t, "replay", "-b", "1kpps", "-D", "60", "gen", d.A, d.B)
	s.in(p.cmd)
	p.begin(t)
	p.await(t, `"type":"sample"`)
	time.Sleep(1700 * time.Millisecond)
	killed := time.Now()
	_, _, log := s.kill(t, p)
	run, samples, sent := log.Records[0].(*report.Run), 0, int64(0)
	var last time.Time
	for _, r := range log.Records {
		if x, ok := r.(*report.Sample); ok {
			samples, last = samples+1, run.Time.Add(time.Duration(x.AtNs))
			for _, st := range x.Streams {
				sent += st.Sent
			}
		}
	}
	if lost := killed.Sub(last); samples < 2 || sent == 0 || lost > 1300*time.Millisecond {
		t.Errorf("%d samples of %d packets, the last one %v before the end; want one of each second", samples, sent, lost)
	}
	if _, out, _ := s.runs(t); !strings.Contains(out, "cut off after 0 trials") {
		t.Errorf("runs: %s", out)
	}
}

// A run that was killed while it still waited for a link is on the list, and can be made again.
func TestKilledWaiting(t *testing.T) {
	device(t)
	d := lab.Veth(t)
	d.IP("b", "link", "set", "b0", "down")
	s := shelf{filepath.Join(t.TempDir(), "runs")}
	p := prepare(t, append(lenient("replay"), "-D", "300ms", "gen", d.A, d.B)...)
	s.in(p.cmd)
	p.begin(t)
	p.await(t, `"type":"run"`)
	time.Sleep(300 * time.Millisecond)
	id, text, _ := s.kill(t, p)
	if n := bytes.Count(text, []byte("\n")); n != 1 {
		t.Errorf("%d lines are saved, want what was asked for", n)
	}
	if code, out, _ := s.runs(t); code != 0 || !strings.Contains(out, "cut off after 0 trials") {
		t.Errorf("runs: exit %d: %s", code, out)
	}
	d.IP("b", "link", "set", "b0", "up")
	if code, out, talk := s.runs(t, "repeat", id); code != 0 || len(verdicts(out)) != 1 {
		t.Errorf("runs repeat: exit %d: %s%s", code, out, talk)
	}
}

// What was asked for is on disk before the first packet is on the wire.
func TestFirstLine(t *testing.T) {
	device(t)
	d := lab.Veth(t)
	s := shelf{filepath.Join(t.TempDir(), "runs")}
	far, _, err := dial.Open(t.Context(), socket(d.B))
	if err != nil {
		t.Fatal(err)
	}
	defer dial.Close(far)
	p := prepare(t, "replay", "-b", "1kpps", "-D", "60", udp(t, 60, false), d.A)
	s.in(p.cmd)
	p.begin(t)
	heard := make([]packet.Frame, 1)
	for until := time.Now().Add(20 * time.Second); ; {
		n, err := far[socket(d.B)].Queues[0].Recv(heard)
		if err != nil || time.Now().After(until) {
			t.Fatalf("no packet came: %v: %s", err, p.talk.String())
		}
		if n > 0 {
			break
		}
	}
	_, text, log := s.kill(t, p)
	if r, ok := log.Records[0].(*report.Run); !ok || r.Verb != "replay" || !bytes.Contains(text, []byte("\n")) {
		t.Errorf("on disk is %q", text)
	}
}
