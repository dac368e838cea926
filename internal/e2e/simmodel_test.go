package e2e

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"loadtest/report"
)

// simulated writes a network of two ports with one node between them.
func simulated(t *testing.T, node string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "dev.yaml")
	text := "ports: [{name: a}, {name: b}]\nlinks:\n  - {name: l, between: [a, x], rate: 1G}\n  - {name: r, between: [x, b], rate: 1G, delay: 30us}\n" +
		"nodes:\n  - {name: x, kind: bridge, " + node + "}\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func answerOf(t *testing.T, r run) (answer report.Verdict, first *report.Run, model *report.Model) {
	t.Helper()
	for _, rec := range r.records {
		switch rec := rec.(type) {
		case *report.Verdict:
			answer = *rec
		case *report.Run:
			first = rec
		case *report.Model:
			model = rec
		}
	}
	if first == nil {
		t.Fatalf("no records: exit %d, %s%s", r.code, r.out, r.talk)
	}
	return answer, first, model
}

// A model that is fitted to a run of a device has the device's numbers, and find-limit finds the same limit of both.
func TestModelOfARun(t *testing.T) {
	for _, tt := range []struct {
		name, node string
		args       []string // of the search; of the model's, too
		pps, queue float64
		loss       float64
	}{
		{"capacity only", "capacity: {rate: 800kpps, queue: 2, per: direction}", nil, 800e3, 2, 0},
		{"queue", "capacity: {rate: 500kpps, queue: 700, per: direction}", nil, 500e3, 700, 0},
		{"bisected", "capacity: {rate: 500kpps, queue: 100, per: direction}", []string{"--search", "bisect", "-p", "1M", "-D", "0.2"}, 500e3, 100, 0},
		{"background loss", "loss: 0.1%, capacity: {rate: 600kpps, queue: 64, per: direction}", []string{"-l", "0.5%"}, 600e3, 64, 1e-3},
		{"both ways", "capacity: {rate: 400kpps, queue: 64, per: direction}", []string{"--both"}, 400e3, 64, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := simulated(t, tt.node)
			p := prepare(t, append(append([]string{"find-limit"}, tt.args...), "gen", "sim:"+file+"/a", "sim:"+file+"/b")...)
			r := p.begin(t).wait(t)
			device, _, _ := answerOf(t, r)
			saved := p.json
			args := []string{"find-limit"}
			for _, a := range tt.args {
				if a != "--both" { // the run has both streams
					args = append(args, a)
				}
			}
			m := loadtest(t, append(args, "sim:"+saved)...)
			model, first, fit := answerOf(t, m)
			if m.code != 0 || model.RateWireBps == nil || model.PrecisionBps == nil || math.Abs(*model.RateWireBps-*device.RateWireBps) > 2**model.PrecisionBps {
				t.Fatalf("exit %d, %v, of the device %v\n%s%s", m.code, model.RateWireBps, *device.RateWireBps, m.out, m.talk)
			}
			if first.Name != "model of run, fitted" || !strings.Contains(m.out, "model of run, fitted  ") || !strings.Contains(m.talk, "sim model of run, fitted") {
				t.Errorf("no label: %q\n%s%s", first.Name, m.out, m.talk)
			}
			if !regexp.MustCompile(`(?m)^model  of run run, fitted: .*kpps, queue of .*; its loss ratios are off by .* % of the packets \(rms\), at worst .* %$`).MatchString(m.talk) {
				t.Errorf("no residual: %s", m.talk)
			}
			if fit == nil || len(fit.Trials) < 5 || fit.RMS > 0.001 || fit.Worst > 0.005 {
				t.Fatalf("model %+v", fit)
			}
			for _, path := range fit.Paths {
				if path.Pps == nil || math.Abs(*path.Pps-tt.pps) > 0.002*tt.pps || math.Abs(float64(path.Queue)-tt.queue) > 0.03*tt.queue+2 ||
					math.Abs(path.Loss-tt.loss) > 0.1*tt.loss || path.DelayNs < 30_000 || path.DelayNs > 35_000 {
					t.Errorf("path %+v, %v pps; want %v, %v, %v", path, *path.Pps, tt.pps, tt.queue, tt.loss)
				}
			}
		})
	}
}

// One capacity for both directions: the model of the run has the same limit both ways.
func TestModelOfARouter(t *testing.T) {
	p := prepare(t, "find-limit", "--mac-dst", "02:00:00:00:00:01", "--addr", "sim:router-1mpps/node1=172.16.0.1/16", "gen:64,src=172.16.1.0/24,dst=172.17.1.0/24",
		"sim:router-1mpps/node1", "sim:router-1mpps/node2", "--both")
	device, _, _ := answerOf(t, p.begin(t).wait(t))
	if device.RateWireBps == nil {
		t.Fatal("no limit of the router")
	}
	m := loadtest(t, "find-limit", "sim:"+p.json)
	model, _, _ := answerOf(t, m)
	if model.RateWireBps == nil || math.Abs(*model.RateWireBps-*device.RateWireBps) > 2*0.005**device.RateWireBps {
		t.Errorf("%v, of the device %v: %s%s", model.RateWireBps, *device.RateWireBps, m.out, m.talk)
	}
}

// The streams of the run are sent again, from the capture if it is there; else packets of its mean size, and a line says so. A model's
// ports can be used like others.
func TestModelSources(t *testing.T) {
	file := simulated(t, "capacity: {rate: 500kpps, queue: 50, per: direction}")
	capture := udp(t, 200, false)
	search := []string{"find-limit", "--search", "bisect", "-p", "1%", "-D", "0.1"}
	p := prepare(t, append(search, capture, "sim:"+file+"/a", "sim:"+file+"/b")...)
	if r := p.begin(t).wait(t); r.code != 0 {
		t.Fatal(r.talk)
	}
	r := loadtest(t, append(search, "sim:"+p.json)...)
	if _, first, _ := answerOf(t, r); r.code != 0 || first.Streams[0].Source != capture || strings.Contains(r.talk, "instead") || first.Streams[0].Name != "a→b" {
		t.Errorf("exit %d, %+v, %s", r.code, first.Streams, r.talk)
	}
	if err := os.Remove(capture); err != nil {
		t.Fatal(err)
	}
	r = loadtest(t, append(search, "sim:"+p.json)...)
	if _, first, _ := answerOf(t, r); r.code != 0 || first.Streams[0].Source != "gen:204" || !strings.Contains(r.talk, capture+" is not there: no such file or directory; sends gen:204 instead\n") {
		t.Errorf("exit %d, %+v, %s", r.code, first.Streams, r.talk)
	}
	r = loadtest(t, "replay", "-b", "600kpps", "-D", "0.1", "gen:100", "sim:"+p.json+"/a", "sim:"+p.json+"/b", "-n", "mine")
	if _, first, _ := answerOf(t, r); r.code != 1 || first.Name != "mine, model of run, fitted" {
		t.Errorf("exit %d, %q, %s%s", r.code, first.Name, r.out, r.talk)
	}
}

// A run's id stands for its file; what cannot be fitted says what is missing.
func TestModelMistakes(t *testing.T) {
	runs, dir := t.TempDir(), t.TempDir()
	in := func(cmd *exec.Cmd) { cmd.Dir, cmd.Env = dir, append(os.Environ(), "LOADTEST_RUNS="+runs) }
	if code, _, talk := on(t, in, "demo", "-D", "0.1", "-r", "0"); code != 0 {
		t.Fatal(talk)
	}
	id := strings.TrimSuffix(filepath.Base(saved(t, runs)[0]), ".jsonl")
	code, out, talk := on(t, in, "find-limit", "-D", "0.1", "-r", "0", "-p", "1M", "sim:"+id+".jsonl")
	if code != 0 || !strings.Contains(out, "model of "+id+", fitted") || !strings.Contains(out, "\n0.6") {
		t.Errorf("by its id: exit %d, %s%s", code, out, talk)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("words.jsonl", "hello\n")
	write("end.jsonl", `{"type":"end","v":1}`+"\n")
	if code, _, talk := on(t, in, "replay", "-b", "1M", "-D", "10ms", "--json", "one.jsonl", "gen", "sim:wire/a", "sim:wire/b"); code != 0 {
		t.Fatal(talk)
	}
	for _, tt := range []struct{ args, want string }{
		{"find-limit sim:no.jsonl", `no run "no.jsonl". The last: `},
		{"find-limit sim:words.jsonl", "words.jsonl: line 1: no record"},
		{"find-limit sim:end.jsonl", "end.jsonl: its first line is of no run; want a file of ~/.local/state/loadtest/runs, or one that --json wrote"},
		{"find-limit sim:one.jsonl", "no model of one.jsonl: no trial above the device's limit, so its capacity is not known: want a run that tried more, as by a higher -b"},
		{"replay -b 1M gen sim:one.jsonl/a sim:one.jsonl/b", `port "sim:one.jsonl/a": no model of one.jsonl: no trial above the device's limit`},
		{"replay -b 1M gen sim:" + id + ".jsonl/a sim:wire/b", `port "sim:` + id + `.jsonl/a": open ` + id + ".jsonl: no such file or directory"},
	} {
		code, _, talk := on(t, in, strings.Fields(tt.args)...)
		if code != 2 || !strings.HasPrefix(talk, "loadtest: "+tt.want) || strings.Count(talk, "\n") != 1 {
			t.Errorf("%s: exit %d, %s; want 2, %s", tt.args, code, talk, tt.want)
		}
	}
}
