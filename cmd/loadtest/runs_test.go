package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"loadtest/report"
)

// called is the program called from a shell: a run notes its arguments.
func called(t *testing.T, args ...string) (code int, out, talk string) {
	t.Helper()
	before := os.Args
	t.Cleanup(func() { os.Args = before })
	os.Args = append([]string{"loadtest"}, args...)
	return generate("", args...)
}

// keep makes an empty folder of runs, and a capture in another.
func keep(t *testing.T) (runs, capture string) {
	t.Helper()
	runs, capture = t.TempDir(), filepath.Join(t.TempDir(), "node1.pcap")
	t.Setenv("LOADTEST_RUNS", runs)
	text, err := os.ReadFile(testPair + "gentest-node1.conf")
	if err != nil {
		t.Fatal(err)
	}
	if code, _, talk := generate(string(text), "genpcap", "-o", capture); code != exitPass {
		t.Fatalf("genpcap: %s", talk)
	}
	return runs, capture
}

// newest is the file of the run that was saved last.
func newest(t *testing.T) string {
	t.Helper()
	file, err := findRun("last")
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// saveRun writes a file of a run as records.
func saveRun(t *testing.T, dir, id string, records ...report.Record) string {
	t.Helper()
	var b bytes.Buffer
	j := report.NewJSON(&b)
	for _, r := range records {
		if err := j.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	return saveText(t, dir, id, b.String())
}

func saveText(t *testing.T, dir, id, text string) string {
	t.Helper()
	file := filepath.Join(dir, id+".jsonl")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// at is a run of a verb that began at that minute.
func at(minute int, verb string, command ...string) *report.Run {
	return &report.Run{Time: time.Date(2026, 3, 4, 5, minute, 0, 0, time.Local), Verb: verb, Command: append([]string{"loadtest"}, command...),
		Streams: []report.Stream{{Name: "a→b", Source: "x.pcap", TX: "a", RX: "b"}}}
}

// rows are a table's rows without its head, each as its cells.
func rows(table string) (cells [][]string) {
	for _, line := range strings.Split(strings.TrimSuffix(table, "\n"), "\n")[1:] {
		cells = append(cells, regexp.MustCompile(`  +`).Split(line, -1))
	}
	return cells
}

func TestRuns(t *testing.T) {
	_, capture := keep(t)
	if code, out, talk := called(t, "runs"); code != exitPass || out != "" || talk != "no saved runs in "+os.Getenv("LOADTEST_RUNS")+"\n" {
		t.Errorf("no runs: code %d, %q, %q", code, out, talk)
	}
	_, found, _ := called(t, "find-limit", "-D", "10ms", "--slow-start", "0", "-n", "my device", capture, "sim:wire/a", "sim:wire/b")
	first := newest(t)
	code, lost, _ := called(t, "replay", "-b", "100M", "-D", "100ms", capture, "sim:lossy/a", "sim:lossy/b")
	if code != exitFail {
		t.Fatalf("a lossy device: code %d", code)
	}
	second := newest(t)
	code, out, talk := called(t, "runs")
	got := rows(out)
	if code != exitPass || talk != "" || len(got) != 2 {
		t.Fatalf("code %d, %q, want two rows:\n%s", code, talk, out)
	}
	for i, want := range [][]string{
		{runID(second), "replay", "sim:lossy/a→sim:lossy/b", "1", "0.1 Gbps fail"},
		{runID(first), "find-limit", "my device", "0", "10 Gbps"},
	} {
		if row := slices.Delete(got[i], 1, 2); !slices.Equal(row, want) {
			t.Errorf("row %d: %q, want %q", i, row, want)
		}
	}
	for ref, want := range map[string]string{"": lost, "last": lost, runID(first): found, first: found} {
		args := []string{"runs", "show"}
		if ref != "" {
			args = append(args, ref)
		}
		if code, out, talk := called(t, args...); code != exitPass || out != want || !strings.Contains(talk, "  loadtest ") || !strings.Contains(talk, "sim virtual") {
			t.Errorf("show %q: code %d, %s printed\n%s\nthe run printed\n%s", ref, code, talk, out, want)
		}
	}
	if _, out, talk := called(t, "runs", "show", "-q", first); out != "10\n" || talk != "" {
		t.Errorf("show -q: %q, %q; want 10 and nothing", out, talk)
	}
	if _, out, _ := called(t, "runs", "show", "-v", first); !strings.Contains(out, "Success.") && strings.Count(out, "\n") <= strings.Count(found, "\n") {
		t.Errorf("show -v: no more than without:\n%s", out)
	}
}

func TestRunsRepeat(t *testing.T) {
	_, capture := keep(t)
	args := []string{"find-limit", "-b", "1G", "-D", "20ms", "--slow-start", "0", "-n", "my device", "--tag=never", capture, "sim:lossy/a", "sim:lossy/b", "--loss", "0.2%"}
	code, want, _ := called(t, args...)
	first := newest(t)
	for i, ref := range []string{"", "last", runID(first), first} { // those after the first repeat a repetition
		call := []string{"runs", "repeat"}
		if ref != "" {
			call = append(call, ref)
		}
		again, out, talk := called(t, call...)
		if again != code || out != want {
			t.Errorf("repeat %q: code %d, want %d; printed\n%s\nthe run printed\n%s", ref, again, code, out, want)
		}
		if line := "loadtest find-limit -b 1G -D 20ms --slow-start 0 -n 'my device' --tag=never " + capture + " sim:lossy/a sim:lossy/b --loss 0.2%\n"; !strings.Contains(talk, line) {
			t.Errorf("repeat %q: %s\nlacks %s", ref, talk, line)
		}
		run, err := asked(newest(t))
		if err != nil || !slices.Equal(run.Command[1:], args) {
			t.Errorf("repetition %d notes %q, error %v; want %q", i, run.Command, err, args)
		}
	}
	if _, runs, err := savedRuns(); err != nil || len(runs) != 5 {
		t.Errorf("%d runs, error %v; want the first and four repetitions", len(runs), err)
	}
	again, out, talk := called(t, "runs", "repeat", runID(first), "--", "-q", "--loss", "0")
	if again != exitFail || strings.Count(out, "\n") != 1 || strings.HasSuffix(want, "\n"+out) || !strings.Contains(talk, " --loss 0.2% -q --loss 0\n") {
		t.Errorf("with a goal of its own: code %d, %q, %q; want another answer than in\n%s", again, out, talk, want)
	}
}

// A run is repeated where it was started.
func TestRunsRepeatFolder(t *testing.T) {
	dir, capture := keep(t)
	folder := filepath.Dir(capture)
	r := at(1, "replay", "replay", "-D", "10ms", "-b", "1G", "node1.pcap", "sim:wire/a", "sim:wire/b")
	r.Folder = folder
	saveRun(t, dir, "aa11", r)
	t.Chdir(t.TempDir())
	code, _, talk := called(t, "runs", "repeat", "aa11")
	if want := "repeats aa11 of 2026-03-04 05:01:00: cd " + folder + " && loadtest replay -D 10ms "; code != exitPass || !strings.HasPrefix(talk, want) {
		t.Errorf("code %d, %q; want %s…", code, talk, want)
	}
	r.Folder = filepath.Join(folder, "gone")
	saveRun(t, dir, "aa12", r)
	code, _, talk = called(t, "runs", "repeat", "aa12")
	if want := "loadtest: run aa12 was started in a folder that cannot be entered now: chdir " + r.Folder + ": no such file or directory; from another: loadtest replay -D 10ms "; code != exitUsage || !strings.HasPrefix(talk, want) {
		t.Errorf("code %d, %q; want %s…", code, talk, want)
	}
}

func TestRunsRepeatRefuses(t *testing.T) {
	dir, _ := keep(t)
	piped := at(1, "replay", "replay", "-b", "1G", "--json", "out.jsonl", "-", "a", "b")
	piped.Streams[0].Source = "-"
	const gone = "read its packets from standard input or a pipe, and they are gone. Keep them in a file, then: "
	for id, tt := range map[string]struct {
		run  *report.Run
		want string
	}{
		"01": {piped, gone + "loadtest replay -b 1G --json out.jsonl FILE a b"},
		"02": {at(1, "replay", "replay", "/dev/stdin", "a", "b"), gone + "loadtest replay FILE a b"},
		"03": {at(1, "replay", "replay", "/dev/fd/63", "it's", "b"), gone + `loadtest replay FILE 'it'\''s' b`},
		"04": {&report.Run{Command: []string{"loadtest"}}, `its command is ["loadtest"]: nothing to repeat`},
		"05": {&report.Run{}, `its command is []: nothing to repeat`},
		"06": {at(1, "runs", "runs", "repeat", "06"), `its command is ["loadtest" "runs" "repeat" "06"]: nothing to repeat`},
	} {
		saveRun(t, dir, id, tt.run)
		code, out, talk := called(t, "runs", "repeat", id)
		if code != exitUsage || out != "" || !strings.HasPrefix(talk, "loadtest: run "+id) || !strings.HasSuffix(talk, tt.want+"\n") {
			t.Errorf("%s: code %d, %q; want %s", id, code, talk, tt.want)
		}
	}
}

// A run that was killed is listed, shown and repeated.
func TestRunsCutOff(t *testing.T) {
	dir, capture := keep(t)
	_, whole, _ := called(t, "find-limit", "-D", "20ms", "--warmup", "0", "-r", "1", "-b", "1G", "-p", "100M", "--loss", "0.01%", capture, "sim:lossy/a", "sim:lossy/b")
	text, err := os.ReadFile(newest(t))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	trials := func(n int) string { // as far as the n-th trial that is no warm-up
		for i, line := range lines {
			if strings.Contains(line, `"purpose":"search"`) {
				if n--; n == 0 {
					return strings.Join(lines[:i+1], "")
				}
			}
		}
		t.Fatalf("too few trials in\n%s", text)
		return ""
	}
	ending := lines[len(lines)-2]
	for id, tt := range map[string]struct{ text, want string }{
		"0001": {lines[0], "cut off after 0 trials"},
		"0002": {lines[0] + lines[1][:9], "cut off after 0 trials"},
		"0003": {trials(1), "cut off after 1 trial"},
		"0004": {trials(2) + ending[:len(ending)/2], "cut off after 2 trials"},
		"0005": {trials(2) + "\x00\x00\x00\x00", "cut off after 2 trials"},
		"0006": {trials(2) + "{", "cut off after 2 trials"},
	} {
		saveText(t, dir, id, tt.text)
		r := glance(filepath.Join(dir, id+".jsonl"))
		if got := r.result(); got != tt.want || r.damage != nil {
			t.Errorf("%s: listed as %q, %v; want %q", id, got, r.damage, tt.want)
		}
		code, out, talk := called(t, "runs", "show", id)
		if code != exitPass || !strings.HasSuffix(talk, "end    "+tt.want+"\n") {
			t.Errorf("%s: show: code %d, %q; want the end %s", id, code, talk, tt.want)
		}
		if first, _, _ := strings.Cut(out, "\n"); r.trials > 0 && !strings.HasPrefix(whole, first+"\n") {
			t.Errorf("%s: show printed\n%s\nthe whole run\n%s", id, out, whole)
		}
		if _, out, talk := called(t, "runs", "repeat", id); out != whole {
			t.Errorf("%s: repeat printed\n%s%s\nthe whole run\n%s", id, out, talk, whole)
		}
	}
}

// A program that still writes a run is not cut off.
func TestRunsStillRunning(t *testing.T) {
	keep(t)
	f, err := createRun()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := report.NewJSON(f).Write(at(1, "replay")); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains([]string{"linux", "darwin", "freebsd"}, runtime.GOOS) {
		t.Skip("nothing tells here whether a program still writes a file")
	}
	for _, want := range []string{"still running", "cut off after 0 trials"} {
		if got := glance(f.Name()).result(); got != want {
			t.Errorf("listed as %q, want %s", got, want)
		}
		if _, _, talk := called(t, "runs", "show"); !strings.HasSuffix(talk, want+"\n") {
			t.Errorf("shown as %q, want %s", talk, want)
		}
		f.Close()
	}
}

func TestRunsArguments(t *testing.T) {
	keep(t)
	for want, args := range map[string][]string{
		`runs "7f3a": want show or repeat before the run, as loadtest runs show last`: {"runs", "7f3a"},
		`runs show: want one run, got ["a" "b"]`:                                      {"runs", "show", "a", "b"},
		`runs repeat: want one run, got ["a" "b"]`:                                    {"runs", "repeat", "a", "b", "--", "-q"},
	} {
		if code, _, talk := called(t, args...); code != exitUsage || talk != "loadtest: "+want+"\n" {
			t.Errorf("%q: code %d, %q; want %s", args, code, talk, want)
		}
	}
	t.Setenv("LOADTEST_RUNS", testPair+"gentest-node1.conf")
	if code, _, talk := called(t, "runs"); code != exitUsage || !strings.HasPrefix(talk, "loadtest: saved runs: ") {
		t.Errorf("a file as folder: code %d, %q", code, talk)
	}
}

func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{
		"eth2→eth3": "eth2→eth3", "-b": "-b", "a=1,b:2/c@d%": "a=1,b:2/c@d%", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$x": "'$x'",
		"a;b": "'a;b'", "~": "'~'", "*": "'*'", "a\nb": "'a\nb'", `\`: `'\'`, "#": "'#'", "!": "'!'", "{a,b}": "'{a,b}'", "[a]": "'[a]'",
	} {
		if got := shellWord(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
	if got := shellLine([]string{"a", "b c"}); got != "a 'b c'" {
		t.Errorf("line: %s", got)
	}
}
