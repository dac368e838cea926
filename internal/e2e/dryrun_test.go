package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadtest/report"
)

// What --dry-run -o T.yaml writes of a command line is the same run.
func TestTestFileIsTheSameRun(t *testing.T) {
	dir := forms(t)
	for _, line := range []string{
		"replay -b 10kpps there.pcap sim:wire/a sim:wire/b",
		"replay there.pcap sim:wire/a",
		"replay -d 50ms --rate 40% there.pcap sim:wire/a sim:wire/b",
		"replay -D 0.05 --bitrate 9.4Gbps-l2 gen:imix,flows=12 sim:wire/a sim:wire/b",
		"replay -b x2 -l 0.5% -n router --loss 0.1% there.pcap sim:wire/a sim:wire/b",
		"replay -b max there.pcap sim:wire/a sim:wire/b",
		"replay -b 1kpps there.pcap one two sim:wire/a back.pcap two one sim:wire/b",
		"replay -b 1kpps none two one sim:wire/b there.pcap one two sim:wire/a",
		"replay -b 1kpps --both gen:128,flows=4,proto=tcp,src=10.1.0.0/24,dst=10.2.0.0/24 sim:wire/a sim:wire/b",
		"replay --split talk.pcap sim:wire/a sim:wire/b",
		"replay --split=10.10.1.2,10.10.1.3 --tag never talk.pcap sim:wire/a sim:wire/b",
		"replay --split=no talk.pcap sim:wire/a sim:wire/b",
		"replay -D 1 --stream src=there.pcap,tx=sim:wire/a,rx=sim:wire/b,name=x,rate=30kpps --stream src=back.pcap,tx=sim:wire/b,rx=sim:wire/a,rate=1.5kpps",
		"replay -D 1 -b 9Mbps --stream src=there.pcap,tx=sim:wire/a,rx=sim:wire/b,share=0.25 --stream src=gen,tx=sim:wire/b,rx=sim:wire/a,name=y",
		"replay -b 1kpps --mac-dst 02:00:00:00:01:01 --mac-src sim:hairpin.yaml/a=020000000102 gen:64,flows=3 sim:hairpin.yaml/a sim:hairpin.yaml/a",
		"replay -b 1kpps --addr sim:wire/a=10.10.1.2/24,mac=02:00:00:00:00:07 --addr sim:wire/b=10.10.2.2/24,vlan=7 gen sim:wire/a sim:wire/b",
		"replay -b 1kpps --wait 0 --drain 1ms --credit 2ms --max-unsent 1% --interval 10ms --tag always there.pcap sim:lossy/a sim:lossy/b",
		"find-limit -b 1G -p 10M -r 1 -D 100ms --warmup 0 gen sim:lossy/a sim:lossy/b",
		"find-limit -b 400Mbps -p 100Mbps -D 10ms -l 0.5% --sizes 64,imix gen sim:lossy/a sim:lossy/b",
		"find-limit -b 1Mpps -p 10kpps -D 10ms -e true -v gen sim:wire/a sim:wire/b",
		"transient -b 1G -s 250M -D 10ms -p ramp_up --warmup 10ms gen sim:wire/a sim:wire/b",
		"transient -b 1G -D 10ms --bench-file bench.csv -y -o more.csv gen sim:wire/a sim:wire/b",
	} {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			file := filepath.Join(t.TempDir(), "T.yaml")
			code, out, talk := on(t, at(dir), append(slices.Clone(args), "--dry-run", "-o", file)...)
			if code != 0 || !strings.Contains(talk, file+" written; the same run: loadtest "+args[0]+" -f "+file) {
				t.Fatalf("dry run: exit %d, %s%s", code, out, talk)
			}
			var runs [2]run
			for i, args := range [][]string{args, {args[0], "-f", file}} {
				if runs[i] = in(t, dir, args...); len(runs[i].records) == 0 {
					t.Fatalf("%v: exit %d: %s", args, runs[i].code, runs[i].talk)
				}
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(told(runs[0]), told(runs[1]), cmpopts.EquateNaNs()); d != "" || runs[0].code != runs[1].code {
				t.Errorf("exit %d, by the file %d; -line +file:\n%s\n%s", runs[0].code, runs[1].code, d, text)
			}
			if strings.Contains(line, " -o ") { // given again, it overrides
				return
			}
			again := filepath.Join(t.TempDir(), "again.yaml")
			if code, _, talk := on(t, at(dir), args[0], "-f", file, "--dry-run", "-o", again); code != 0 {
				t.Fatal(talk)
			}
			if twice, _ := os.ReadFile(again); !bytes.Equal(twice, text) {
				t.Errorf("the file's own file is\n%s, not\n%s", twice, text)
			}
		})
	}
}

// told is what a run's records say that is the same whenever and wherever it is made.
func told(r run) (all []report.Record) {
	for _, x := range r.records {
		switch x := x.(type) {
		case *report.Run:
			x.Time, x.Command, x.Seed = time.Time{}, nil, 0
		case *report.Trial:
			x.Time = time.Time{}
		case *report.End:
			x.Time = time.Time{}
		}
		all = append(all, x)
	}
	return all
}

// Flags come before the file, and so do streams.
func TestFlagsOverrideTheFile(t *testing.T) {
	dir := forms(t)
	write(t, filepath.Join(dir, "t.yaml"), `verb: replay
streams: [{name: one, source: there.pcap, tx: "sim:wire/a", rx: "sim:wire/b"}]
rate: 10kpps
duration: 1
name: router
mac_dst: [02:00:00:00:00:01, "sim:wire/b=02:00:00:00:00:02"]
`)
	for _, tt := range []struct {
		args string
		sent int64
		name string
		flow string
	}{
		{"", 10000, "router", "one"},
		{"-b 5kpps", 5000, "router", "one"},
		{"--bitrate 5kpps -d 2 -n bridge", 10000, "bridge", "one"},
		{"--duration 100ms", 1000, "router", "one"},
		{"gen sim:wire/b sim:wire/a", 10000, "router", "sim:wire/b→sim:wire/a"},
		{"--stream src=gen,tx=sim:wire/b,rx=sim:wire/a,name=two", 10000, "router", "two"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			r := in(t, dir, append([]string{"replay", "-f", "t.yaml"}, strings.Fields(tt.args)...)...)
			if r.code != 0 {
				t.Fatal(r.talk)
			}
			if s := r.trials()[0].Streams; len(s) != 1 || s[0].Sent != tt.sent || s[0].Name != tt.flow || head(t, r).Name != tt.name {
				t.Errorf("%d streams, %s sent %d, device %s; want %s, %d, %s", len(s), s[0].Name, s[0].Sent, head(t, r).Name, tt.flow, tt.sent, tt.name)
			}
		})
	}
}

// What is wrong in a file is told with its line.
func TestMistakesOfTestFiles(t *testing.T) {
	dir := forms(t)
	const stream = `streams: [{source: gen, tx: "sim:wire/a", rx: "sim:wire/b"}]` + "\n"
	for _, tt := range []struct{ name, text, want string }{
		{"another verb", "verb: find-limit\n" + stream, "t.yaml is a test of find-limit: loadtest find-limit -f t.yaml"},
		{"unknown flag", stream + "speed: 1G\n", "t.yaml:2: replay has no flag --speed; see loadtest replay --help"},
		{"flag of another verb", stream + "precision: 1G\n", "t.yaml:2: replay has no flag --precision; see loadtest replay --help"},
		{"value", stream + "\nrate: 10GB\n", `t.yaml:3: --rate "10GB": bytes are no rate here. `},
		{"number", stream + "seed: -1\n", `t.yaml:2: --seed "-1": want a whole number, 0 or more`},
		{"two values", stream + "rate: [1G, 2G]\n", "t.yaml:2: --rate takes one value, here are 2"},
		{"one of two values", stream + "addr: [sim:wire/a=10.1.1.1/24, 10.1.1.2]\n", "t.yaml:2: --addr "},
		{"a file in a file", stream + "file: u.yaml\n", "t.yaml:2: --file belongs on the command line"},
		{"dry run", stream + "dry-run: true\n", "t.yaml:2: --dry-run belongs on the command line"},
		{"check", stream + "check: true\n", "t.yaml:2: --check belongs on the command line"},
		{"help", stream + "help: true\n", "t.yaml:2: --help belongs on the command line"},
		{"output", stream + "output: x.txt\n", `t.yaml:2: --output "x.txt": want a name that ends in .jsonl, .csv or .yaml`},
		{"source", "streams:\n  - {source: there.pcap, tx: \"sim:wire/a\"}\n  - {source: \"gen:1\", tx: \"sim:wire/b\"}\n", `t.yaml:3: "gen:1": `},
		{"rate of a stream", "streams:\n  - {source: gen, tx: \"sim:wire/a\", rate: 40%}\n", "t.yaml:2: rate 40%: want bits, packets or a multiple of the captured pace, as 1G, 10kpps or x2"},
		{"two of a name", "streams:\n  - {source: there.pcap, tx: \"sim:wire/a\"}\n  - {source: back.pcap, tx: \"sim:wire/a\"}\n",
			"t.yaml:3: two streams are named sim:wire/a: results could not be told apart; want name= for each"},
		{"YAML", "rate: 1G\n\tname: x\n", "t.yaml:2:1: no YAML: "},
		{"unknown key", "rate: 1G\nstream: x\n", `t.yaml:2:1: unknown key "stream": did you mean streams?`},
		{"no streams", "rate: 1G\n", "replay: no arguments; want SOURCE A B, SOURCE PORT, or groups of SOURCE TX RX PORT; see loadtest replay --help"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			write(t, filepath.Join(dir, "t.yaml"), tt.text)
			code, out, talk := on(t, at(dir), "replay", "-f", "t.yaml")
			if code != 2 || out != "" || !strings.HasPrefix(talk, "loadtest: "+tt.want) || strings.Count(talk, "\n") != 1 {
				t.Errorf("exit %d, %q, %s; want 2, %s", code, out, talk, tt.want)
			}
		})
	}
	t.Run("no file", func(t *testing.T) {
		if code, _, talk := on(t, at(dir), "replay", "-f", "nosuch.yaml"); code != 2 || talk != "loadtest: --file open nosuch.yaml: no such file or directory\n" {
			t.Errorf("exit %d, %s", code, talk)
		}
	})
}

// A dry run says streams, sizes, loads, time and memory, and makes nothing but the test file.
func TestDryRunSays(t *testing.T) {
	dir := forms(t)
	for _, tt := range []struct{ line, want string }{
		{"find-limit gen sim:wire/a sim:wire/b --sizes 64,imix", `streams  sim:wire/a→sim:wire/b: gen, 256 packets, sizes 64,imix, 100 % with room for a tag; out of sim:wire/a, expected at sim:wire/b
loads    up to 10Gbps per stream, to 0.5 % of the answer
time     14s to 1m10s
`},
		{"replay --both -b 1G -D 90s there.pcap pcap:out.pcap sim:wire/b", `streams  pcap:out.pcap→sim:wire/b: there.pcap, 10 packets, 64 B with FCS, 100 % with room for a tag; out of pcap:out.pcap, expected at sim:wire/b
         sim:wire/b→pcap:out.pcap: there.pcap, 10 packets, 64 B with FCS, 100 % with room for a tag; out of sim:wire/b, expected at pcap:out.pcap
loads    1Gbps (1.488 Mpps of 64 B) per stream
time     about 1m30s
`},
		{"replay there.pcap sim:wire/a", `streams  sim:wire/a: there.pcap, 10 packets, 64 B with FCS, 100 % with room for a tag; out of sim:wire/a, sent only
loads    x1 (672.000 kbps mean) per stream
time     about 10ms
`},
		{"replay -D 0 -b 10kpps --stream src=gen:128,tx=sim:wire/a,name=x,share=2 --mac-dst 02:00:00:00:00:01", `streams  x: gen:128, 256 packets, 128 B with FCS, 100 % with room for a tag; out of sim:wire/a, sent only, at 2 of the load
loads    10kpps per stream
time     until Ctrl-C
`},
		{"find-limit --stream src=gen,tx=sim:wire/a,rx=sim:wire/b,name=x --stream src=gen:128,tx=sim:wire/a,rx=sim:wire/b,name=y,share=3",
			`streams  x: gen, 256 packets, 64 B with FCS, 100 % with room for a tag; out of sim:wire/a, expected at sim:wire/b
         y: gen:128, 256 packets, 128 B with FCS, 100 % with room for a tag; out of sim:wire/a, expected at sim:wire/b, at 3 of the load
loads    up to 2.5Gbps (2.111 Mpps of 128 B) per stream, to 0.5 % of the answer
time     7s to 35s
`},
		{"transient -b 1G -p ramp_up gen sim:wire/a sim:wire/b", `streams  sim:wire/a→sim:wire/b: gen, 256 packets, 64 B with FCS, 100 % with room for a tag; out of sim:wire/a, expected at sim:wire/b
loads    ramp_up up to 1Gbps (1.488 Mpps of 64 B) per stream, in steps of 100Mbps
time     about 52s
`},
	} {
		t.Run(tt.line, func(t *testing.T) {
			before := listed(t, dir)
			args := append(strings.Fields(tt.line), "--dry-run", "--json", "run.jsonl", "-o", "run.csv", "-o", "run2.jsonl")
			if strings.HasPrefix(tt.line, "transient") {
				args = append(args, "--bench-file", "bench.csv")
			}
			change := func(cmd *exec.Cmd) {
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "LOADTEST_RUNS="+filepath.Join(dir, "runs"))
			}
			code, out, talk := on(t, change, args...)
			got, rest, _ := strings.Cut(out, "memory   about ")
			if code != 0 || got != tt.want || talk != "" || !strings.HasSuffix(rest, " MB\nnothing was opened or sent\n") {
				t.Errorf("exit %d, %s%s\nwant %s", code, out, talk, tt.want)
			}
			if after := listed(t, dir); !slices.Equal(before, after) {
				t.Errorf("files before %q, after %q", before, after)
			}
		})
	}
	if code, _, talk := on(t, at(dir), "replay", "--dry-run", "--check", "-b", "1M", "gen", "sim:wire/a", "sim:wire/b"); code != 2 ||
		!strings.Contains(talk, "--dry-run sends nothing, --check says hello: want one of them") {
		t.Errorf("beside --check: exit %d, %s", code, talk)
	}
}

// listed are the names in a folder.
func listed(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Without any privilege a dry run knows interfaces, and leaves them alone: no counter moves, no flag is set.
func TestDryRunOnInterfaces(t *testing.T) {
	device(t)
	d := newDesk(t, "veth.sh")
	before := d.state(t)
	code, out, talk := on(t, d.at(nobody()...), "find-limit", "--dry-run", "-o", "t.yaml", "--both", "gen", "eth2", "eth3",
		"--addr", "eth2=198.18.0.2/16,gw=198.18.0.1", "--addr", "eth3=198.19.0.2/16,gw=198.19.0.1")
	if code != 0 || !strings.Contains(out, "\nloads    up to 10Gbps (14.881 Mpps of 64 B) per stream") || !strings.Contains(talk, "t.yaml written") {
		t.Errorf("exit %d, %s%s", code, out, talk)
	}
	if _, err := os.Stat(filepath.Join(d.dir, "t.yaml")); err != nil {
		t.Error(err)
	}
	if after := d.state(t); after != before {
		t.Errorf("the ports were touched:\n%s\n%s", before, after)
	}
	code, out, talk = on(t, d.at(nobody()...), "find-limit", "--dry-run", "gen", "eth2", "eth4")
	if code != 2 || out != "" || !strings.HasPrefix(talk, `loadtest: port "eth4": no such interface. Near: eth2, eth3. All: loadtest ports`) {
		t.Errorf("exit %d, %s%s", code, out, talk)
	}
	code, out, talk = on(t, d.at(nobody()...), "find-limit", "gen", "eth2", "eth3")
	if code != 2 || !strings.Contains(talk, "CAP_NET_RAW") {
		t.Errorf("no dry run: exit %d, %s%s", code, out, talk)
	}
}

// --check says hello, and sends no load.
func TestCheck(t *testing.T) {
	dir := forms(t)
	change := func(cmd *exec.Cmd) {
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "LOADTEST_RUNS="+filepath.Join(dir, "runs"))
	}
	code, out, talk := on(t, change, "find-limit", "--check", "--json", "run.jsonl", "gen", "sim:wire/a", "sim:wire/b")
	if code != 0 || out != "" || !strings.Contains(talk, "\nhello  sim:wire/a→sim:wire/b 256 of 256 back; bridged: nothing changed\nchecked: ready to measure; no load was sent\n") {
		t.Errorf("exit %d, %q, %s", code, out, talk)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "run.jsonl")); bytes.Contains(text, []byte(`"type":"trial"`)) || !bytes.Contains(text, []byte(`"type":"end"`)) {
		t.Errorf("its JSON: %s", text)
	}
	if _, err := os.Stat(filepath.Join(dir, "runs")); err == nil {
		t.Error("it was saved")
	}
	code, _, talk = on(t, change, "find-limit", "--check", "gen", "sim:wire/a", "sim:wire.yaml/b")
	if code != 3 || !strings.Contains(talk, "loadtest: sim:wire/a→sim:wire.yaml/b: nothing came back in 10 s: 256 sent, 0 of ours at sim:wire.yaml/b\n") {
		t.Errorf("nothing comes back: exit %d, %s", code, talk)
	}
}
