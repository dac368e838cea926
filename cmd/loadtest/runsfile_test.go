package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadtest/report"
)

// Files that are no runs, or damaged, are told as what they are.
func TestRunsDamaged(t *testing.T) {
	dir, _ := keep(t)
	run := at(9, "replay", "replay", "x.pcap", "a", "b")
	line, err := report.Line(run)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat(string(line), wholeFile/len(line)+1)
	for id, tt := range map[string]struct{ text, list, show string }{
		"empty":    {"", "damaged: no records; want lines of JSON as written by --json", "no records; want lines of JSON as written by --json"},
		"junk":     {"\x00\xff\n\x1b[31mred\n", "damaged: line 1: no record: invalid character '\\x00' looking for begi…", "line 1: no record: "},
		"cut":      {string(line[:30]), "damaged: no records; want lines of JSON as written by --json", "no records; "},
		"other":    {`{"a":1}` + "\n", `damaged: line 1: no record: want {"type":…,"v":…}`, "line 1: no record: "},
		"end":      {`{"type":"end","v":1}` + "\n", "damaged: its first line is of no run", "its first line is of no run"},
		"newer":    {`{"type":"run","v":9}` + "\n", "damaged: line 1: schema version 9; this program reads 1 to 1", "line 1: schema version 9"},
		"middle":   {string(line) + "junk\n" + string(line), "damaged: line 2: no record: invalid character 'j' looking for beginni…", "line 2: no record: "},
		"longend":  {long + "junk\n", "damaged: its first or last lines are no records", "line "},
		"longline": {strings.Repeat("x", longLine+1), "damaged: its first line is longer than 1048576 bytes", "no records; "},
	} {
		file := saveText(t, dir, id, tt.text)
		if got := glance(file).result(); got != tt.list {
			t.Errorf("%s: listed as %q, want %q", id, got, tt.list)
		}
		code, out, talk := called(t, "runs", "show", id)
		if want := "loadtest: " + file + ": " + tt.show; code != exitUsage || out != "" || !strings.HasPrefix(talk, want) {
			t.Errorf("%s: show: code %d, %q; want %s", id, code, talk, want)
		}
		if code, _, talk := called(t, "runs", "repeat", id); code != exitUsage && id != "middle" && id != "longend" {
			t.Errorf("%s: repeat: code %d, %q; want %d", id, code, talk, exitUsage)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.jsonl"), 0o755); err != nil {
		t.Fatal(err)
	}
	saveText(t, dir, "good", string(line))
	code, out, _ := called(t, "runs")
	if code != exitPass || len(rows(out)) != 10 || strings.ContainsRune(out, '\x1b') {
		t.Errorf("code %d; want ten rows:\n%s", code, out)
	}
	if file := newest(t); runID(file) != "good" {
		t.Errorf("the last is %s; want the only one that is whole", file)
	}
}

func TestFindRun(t *testing.T) {
	dir, _ := keep(t)
	t.Chdir(t.TempDir())
	const want = "no saved runs in "
	for _, ref := range []string{"last", "7f"} {
		if _, err := findRun(ref); err == nil || !strings.Contains(err.Error(), want+dir) {
			t.Errorf("%s of no runs: error %v, want %s", ref, err, want)
		}
	}
	for i, id := range []string{"7f3a", "7f3a01", "7c00", "beef", "9c017722"} {
		saveRun(t, dir, id, at(i, "replay"))
	}
	saveRun(t, ".", "out", at(30, "replay"))
	saveRun(t, ".", "7c", at(30, "replay"))
	if err := os.WriteFile("results", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ ref, file, err string }{
		{"last", filepath.Join(dir, "9c017722.jsonl"), ""},
		{"beef", filepath.Join(dir, "beef.jsonl"), ""},
		{"b", filepath.Join(dir, "beef.jsonl"), ""},
		{"beef.jsonl", filepath.Join(dir, "beef.jsonl"), ""},
		{"7f3a", filepath.Join(dir, "7f3a.jsonl"), ""},
		{"7f3a0", filepath.Join(dir, "7f3a01.jsonl"), ""},
		{"7c", filepath.Join(dir, "7c00.jsonl"), ""},
		{"7c.jsonl", "7c.jsonl", ""},
		{"./out.jsonl", "./out.jsonl", ""},
		{"out.jsonl", "out.jsonl", ""},
		{"results", "results", ""},
		{"7f", "", `run "7f": 7f3a01, 7f3a begin so; want more letters`},
		{"7f3b", "", `no run "7f3b"; near: 7f3a. The last: 9c017722, beef, 7c00. All: loadtest runs`},
		{"9c017755", "", `no run "9c017755"; near: 9c017722. The last: `},
		{"ffff", "", `no run "ffff". The last: 9c017722, beef, 7c00. All: loadtest runs`},
		{"", "", `no run "". The last: `},
		{"./gone.jsonl", "", "open ./gone.jsonl: file does not exist"},
	} {
		file, err := findRun(tt.ref)
		if file != tt.file || (err == nil) != (tt.err == "") || err != nil && (!strings.HasPrefix(err.Error(), tt.err) || exitCode(err) != exitUsage) {
			t.Errorf("%q: %s, error %v; want %s, %s", tt.ref, file, err, tt.file, tt.err)
		}
	}
}

// How a run ended, in a few words.
func TestRunsResult(t *testing.T) {
	dir := t.TempDir()
	verdict := func(bps float64, size, limit string) *report.Verdict {
		v := &report.Verdict{Size: size, Limit: limit}
		if bps > 0 {
			v.RateWireBps = &bps
		}
		return v
	}
	trial := &report.Trial{Number: 1, Purpose: report.Ramp, Verdict: report.None, RateWireBps: report.Number(5e8)}
	for _, tt := range []struct {
		want    string
		records []report.Record
	}{
		{"6.214 Gbps", []report.Record{verdict(6.214e9, "", report.ByDevice), &report.End{}}},
		{"64 B 6.2 Gbps, imix 10 Gbps", []report.Record{verdict(6.2e9, "64 B", report.ByDevice), verdict(10e9, "imix", report.ByLine), &report.End{}}},
		{"no load passed", []report.Record{verdict(0, "", report.ByDevice), &report.End{ExitCode: 1}}},
		{"at least 3 Gbps", []report.Record{verdict(3e9, "", report.ByTester), &report.End{ExitCode: 3, Reason: "no limit found"}}},
		{"link down: b", []report.Record{verdict(3e9, "", ""), &report.End{ExitCode: 3, Reason: "link down: b"}}},
		{"interrupted", []report.Record{verdict(3e9, "", ""), &report.End{ExitCode: 130, Interrupted: true}}},
		{"two lines " + strings.Repeat("x", 59) + "…", []report.Record{&report.End{ExitCode: 3, Reason: "two\nlines\x1b" + strings.Repeat("x", 70)}}},
		{"0.5 Gbps", []report.Record{trial, &report.End{}}},
		{"–", []report.Record{&report.End{}}},
	} {
		if got := glance(saveRun(t, dir, "r", append([]report.Record{at(1, "x")}, tt.records...)...)).result(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	for want, names := range map[string][]string{"–": nil, "a": {"a"}, "a, b": {"a", "b"}, "a, 2 more": {"a", "b", "c"}} {
		r := &savedRun{run: &report.Run{}}
		for _, n := range names {
			r.run.Streams = append(r.run.Streams, report.Stream{Name: n})
		}
		if got := r.device(); got != want {
			t.Errorf("device of %q: %q, want %q", names, got, want)
		}
	}
}

// A counter counts the bytes that are read.
type counter struct {
	io.ReaderAt
	n int
}

func (c *counter) ReadAt(b []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(b, at)
	c.n += n
	return n, err
}

// Of a long file only its ends are read.
func TestEndsOfLongFile(t *testing.T) {
	var b bytes.Buffer
	j := report.NewJSON(&b)
	_ = j.Write(at(1, "replay"))
	for i := range 100_000 {
		_ = j.Write(&report.Sample{Trial: 1, AtNs: int64(i)})
	}
	_ = j.Write(&report.Trial{Number: 1, Purpose: report.Replay, Verdict: report.Pass, RateWireBps: report.Number(1e9)})
	_ = j.Write(&report.End{})
	c := &counter{ReaderAt: bytes.NewReader(b.Bytes())}
	log, err := ends(c, int64(b.Len()))
	if err != nil || !isEnd(log) || log.Cut || c.n > 2*tailBytes {
		t.Fatalf("%d of %d bytes read, error %v; want few, and the end", c.n, b.Len(), err)
	}
	dir := t.TempDir()
	if got := glance(saveText(t, dir, "long", b.String())).result(); got != "1 Gbps pass" {
		t.Errorf("listed as %q", got)
	}
	cut := strings.LastIndex(b.String(), `{"type":"trial"`)
	if got := glance(saveText(t, dir, "long", b.String()[:cut])).result(); got != "cut off" {
		t.Errorf("cut, it is listed as %q", got)
	}
}

// Each goal's answer is found, however much was written after it.
func TestAnswersBetweenTrials(t *testing.T) {
	dir := t.TempDir()
	run := at(1, "find-limit")
	run.Settings.Search = "ladder"
	records := []report.Record{run, &report.Verdict{RateWireBps: report.Number(1e9), Limit: report.ByDevice}}
	for range 400 {
		records = append(records, &report.Trial{Reason: strings.Repeat("x", 100)})
	}
	records = append(records, &report.Verdict{RateWireBps: report.Number(2e9), GoalLossRatio: 0.005, Limit: report.ByDevice}, &report.End{})
	r := glance(saveRun(t, dir, "a1b2", records...))
	if r.damage != nil || len(r.answers) != 2 || *r.answers[0].RateWireBps != 1e9 || *r.answers[1].RateWireBps != 2e9 {
		t.Errorf("damage %v, %d answers; want those of 1 and 2 Gbps", r.damage, len(r.answers))
	}
}
