package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"loadtest/report"
)

// bridged is a simulated device that forwards so many packets a second each way, and more words about its node.
func bridged(t *testing.T, path, rate, more string) string {
	t.Helper()
	text := "ports: [{name: a}, {name: b}]\nlinks:\n  - {name: l, between: [a, x], rate: 1G}\n  - {name: r, between: [x, b], rate: 1G}\n" +
		"nodes:\n  - {name: x, kind: bridge, capacity: {rate: " + rate + ", queue: 32, per: direction}" + more + "}\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// settings are a folder with devices A and B, and the shell commands that put either in the place of what is measured.
func settings(t *testing.T, a, b string) (dir string, args []string) {
	t.Helper()
	dir = t.TempDir()
	bridged(t, filepath.Join(dir, "a.yaml"), a, "")
	bridged(t, filepath.Join(dir, "b.yaml"), b, "")
	return dir, []string{"ab", "--a", "cp a.yaml dev.yaml; echo A >> order", "--b", "cp b.yaml dev.yaml; echo B >> order"}
}

func searching(more ...string) []string {
	return append([]string{"--", "find-limit", "--search", "bisect", "-r", "0", "-p", "1M", "-D", "0.1", "gen", "sim:dev.yaml/a", "sim:dev.yaml/b"}, more...)
}

// Two settings are measured in turns, and the difference is told with its interval.
func TestAB(t *testing.T) {
	dir, args := settings(t, "500kpps", "515kpps")
	file := filepath.Join(dir, "ab.jsonl")
	in := func(cmd *exec.Cmd) { cmd.Dir = dir }
	args = append(append(args, "--pairs", "4", "--json", file), searching()...)
	code, out, talk := on(t, in, args...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if last := lines[len(lines)-1]; code != 0 || len(lines) != 9 || !strings.HasPrefix(last, "+2.") && !strings.HasPrefix(last, "+3.") || !strings.HasSuffix(last, "(95 %, 4 pairs)") {
		t.Fatalf("exit %d, %s%s; want 8 measurements and about +3 %%", code, out, talk)
	}
	for _, want := range []string{"plan   4 pairs in turns, A B B A: find-limit --search bisect", "left for 3 pairs", "left for 1 pair\n", "than the searches can tell, 0.3 %"} {
		if !strings.Contains(talk, want) {
			t.Errorf("says %s, want %q", talk, want)
		}
	}
	if order, err := os.ReadFile(filepath.Join(dir, "order")); err != nil || strings.ReplaceAll(string(order), "\n", "") != "ABBAABBA" {
		t.Errorf("settings in the order %q, %v", order, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for line := range bytes.Lines(text) {
		var r struct {
			Type    string
			Setting string
			Run     string
			Rate    float64 `json:"rate_wire_bps"`
			Mean    float64 `json:"mean_percent"`
			Seen    bool
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, r.Type+r.Setting)
		switch r.Type {
		case "measurement":
			if want := map[string]float64{"A": 336e6, "B": 346e6}[r.Setting]; r.Rate < want-2e6 || r.Rate > want+2e6 {
				t.Errorf("setting %s: %v, want about %v", r.Setting, r.Rate, want)
			}
			if code, out, _ := on(t, in, "runs", "show", r.Run); code != 0 || !strings.Contains(out, "limited by: device") {
				t.Errorf("run %q: exit %d, %s", r.Run, code, out)
			}
			if code, _, talk := on(t, in, "runs", "repeat", r.Run, "--", "--dry-run"); code != 0 || strings.Contains(talk, "--json") {
				t.Errorf("run %q again: exit %d, %s", r.Run, code, talk)
			}
		case "difference":
			if r.Mean < 2.4 || r.Mean > 3.6 || !r.Seen {
				t.Errorf("difference %s", line)
			}
		}
	}
	if got := strings.Join(kinds, " "); got != "ab measurementA measurementB measurementB measurementA measurementA measurementB measurementB measurementA difference" {
		t.Errorf("JSON: %s", got)
	}
}

func TestABSeesNone(t *testing.T) {
	dir, args := settings(t, "500kpps", "500kpps")
	in := func(cmd *exec.Cmd) { cmd.Dir = dir }
	args = append(append(args, "-q", "--pairs", "6", "--within", "0.5%"), searching()...)
	code, out, talk := on(t, in, args...)
	if code != 0 || out != "no difference seen: +0.00 % ± 0.30 (95 %, 4 pairs)\n" || talk != "" {
		t.Errorf("exit %d, %q, %q; want one line, after 4 pairs", code, out, talk)
	}
}

// A setting that cannot be made, and a measurement that says nothing again and again, end it.
func TestABNotMeasured(t *testing.T) {
	dir, args := settings(t, "500kpps", "500kpps")
	bridged(t, filepath.Join(dir, "dead.yaml"), "500kpps", ", start: 1h")
	in := func(cmd *exec.Cmd) { cmd.Dir = dir }
	for _, tt := range []struct {
		name, b, out, talk string
		code               int
		more               []string
	}{
		{"the setting fails", "echo no such knob >&2; exit 4", "no pair measured", `loadtest: --b "echo no such knob >&2; exit 4" failed: exit status 4: no such knob`, 3, nil},
		{"the setting is killed", "kill -9 $$", "no pair measured", `loadtest: --b "kill -9 $$" failed: signal: killed`, 3, nil},
		{"nothing comes back", "cp dead.yaml dev.yaml", "no pair measured", "; 3 times in a row\n", 3, []string{"--wait", "0.2"}},
		{"the verb is used wrongly", "rm dev.yaml", "no pair measured", `loadtest: setting B: port "sim:dev.yaml/a": network "dev.yaml": no such file`, 2, nil},
		{"loss at every load", "sed 's/kind: bridge/kind: bridge, loss: 5%/' a.yaml > dev.yaml", "no pair measured", "loadtest: setting B: no rate without loss, so there is nothing to compare (run ", 1, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, out, talk := on(t, in, append(append([]string{"ab", "--a", args[2], "--b", tt.b}, "--pairs", "2"), searching(tt.more...)...)...)
			if code != tt.code || !strings.HasSuffix(out, tt.out+"\n") || !strings.Contains(talk, tt.talk) {
				t.Errorf("exit %d, %s%s; want %d, %q, %q", code, out, talk, tt.code, tt.out, tt.talk)
			}
		})
	}
}

func TestABMistakes(t *testing.T) {
	sides := []string{"ab", "--a", "true", "--b", "true"}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"ab"}, "ab: want -- before the verb that measures: ab --a COMMAND --b COMMAND -- find-limit ARGUMENTS"},
		{append(sides[:5:5], "find-limit", "gen", "x"), "ab: want -- before the verb that measures: "},
		{append(sides[:5:5], "gen", "--", "find-limit"), `ab: "gen" before --; want ab --a`},
		{append(sides[:5:5], "--"), "ab: nothing behind --; want ab --a"},
		{append(sides[:5:5], "--", "replay", "gen", "x"), `ab: "replay" finds no limit to compare; want one of: find-limit, demo, selftest`},
		{[]string{"ab", "--a", "true", "--", "demo"}, "ab: want a shell command for each setting, --a and --b; : does nothing"},
		{append(sides[:5:5], "--pairs", "1", "--", "demo"), "--pairs 1: want 2 or more: one pair has no interval"},
		{append(sides[:5:5], "--pairs", "x", "--", "demo"), `--pairs "x": want a whole number`},
		{append(sides[:5:5], "--within", "0", "--", "demo"), `--within "0": want a share`},
		{append(sides[:5:5], "--", "demo", "--json", "x"), "--json behind --: each measurement would write over the last one's"},
		{append(sides[:5:5], "--", "find-limit", "-o", "x.csv", "gen", "x"), "--output behind --: each measurement would write over"},
		{append(sides[:5:5], "--", "find-limit", "--dry-run", "gen", "x"), "--dry-run behind --: it measures nothing"},
		{append(sides[:5:5], "--", "find-limit", "-l", "0,1%", "gen", "x"), "--loss 0,1%: several answers; want one, to compare"},
		{append(sides[:5:5], "--", "find-limit", "--sizes", "64,imix", "gen", "x"), "--sizes 64,imix: several answers; want one, to compare"},
		{append(sides[:5:5], "--", "find-limit", "-b", "10GB", "gen", "x"), `--rate "10GB": bytes are no rate here`},
		{append(sides[:5:5], "--", "find-limit", "-", "x"), "find-limit: standard input can be read only once: want a file"},
	} {
		code, out, talk := on(t, nil, tt.args...)
		if code != 2 || out != "" || !strings.HasPrefix(talk, "loadtest: "+tt.want) || strings.Count(talk, "\n") != 1 {
			t.Errorf("%q: exit %d, %q, %q; want 2, %q", tt.args, code, out, talk, tt.want)
		}
	}
}

// An interrupt ends the measurement under way in order, and what is known so far is told.
func TestABInterrupted(t *testing.T) {
	dir, args := settings(t, "500kpps", "515kpps")
	runs := t.TempDir()
	args = append(append(args, "--pairs", "3"), searching("-D", "5")...)
	args[4] += "; [ $(wc -l < order) -lt 4 ] || touch now" // setting B of the second pair is the third measurement; the fourth is A
	args[2] += "; [ $(wc -l < order) -lt 4 ] || touch now"
	p := prepare(t, args...)
	p.cmd.Dir, p.cmd.Env = dir, append(os.Environ(), "LOADTEST_RUNS="+runs)
	p.begin(t)
	for range 1200 {
		if _, err := os.Stat(filepath.Join(dir, "now")); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	before := len(saved(t, runs))
	for n := 0; len(saved(t, runs)) < 4 && n < 200; n++ {
		time.Sleep(20 * time.Millisecond)
	}
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	r := p.wait(t)
	if r.code != 130 || !strings.HasSuffix(r.out, "% (one pair: no interval)\n") {
		t.Errorf("exit %d, %s%s; want 130 and the first pair", r.code, r.out, r.talk)
	}
	all := saved(t, runs)
	if before < 3 || len(all) != 4 {
		t.Fatalf("%d runs before the interrupt, %d in the end; want 3, 4", before, len(all))
	}
	interrupted := 0
	for _, file := range all {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		log, err := report.Read(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if end, ok := log.Records[len(log.Records)-1].(*report.End); !ok {
			t.Errorf("%s has no end", file)
		} else if end.Interrupted {
			interrupted++
		}
	}
	if interrupted != 1 {
		t.Errorf("%d runs were interrupted, want the last", interrupted)
	}
}

func saved(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}
