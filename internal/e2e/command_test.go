package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"loadtest/internal/lab"
	"loadtest/report"
)

// on runs the program without the JSON that loadtest adds.
func on(t *testing.T, change func(*exec.Cmd), args ...string) (code int, out, talk string) {
	t.Helper()
	cmd := exec.Command(binary, args...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	if change != nil {
		change(cmd)
	}
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), o.String(), e.String()
}

// What flags and arguments cannot mean is refused with a line of its own, and nothing is written.
func TestMistakesOfFlags(t *testing.T) {
	file := udp(t, 60, false)
	sim := []string{file, "sim:wire/a", "sim:wire/b"}
	into := filepath.Join(t.TempDir(), "out.pcap")
	toFile := []string{file, "pcap:" + into}
	for _, tt := range []struct{ line, want string }{
		{"find-limit -b 10GB", `--rate "10GB": bytes are no rate here. 10 Gbit/s on the wire: 10G; packets: 1.2Mpps; share of the line: 40%`},
		{"find-limit --bitrate 10GB", `--rate "10GB": bytes are no rate here. 10 Gbit/s on the wire: 10G; packets: 1.2Mpps; share of the line: 40%`},
		{"find-limit -r 1.5", `--retry-count "1.5": want a whole number`},
		{"find-limit -r 99999999999999999999", `--retry-count "99999999999999999999": out of range`},
		{"find-limit --seed -1", `--seed "-1": want a whole number, 0 or more`},
		{"find-limit -q=maybe", `--quiet "maybe": want true or false`},
		{"find-limit -l 0,0", `--loss "0" twice`},
		{"find-limit -l 0,1.5", `--loss "1.5": want less than all packets. none: 0; in percent: 0.5%; in millionths: 10ppm; as a share: 1e-5`},
		{"find-limit --goal loss", `--goal "loss" in "loss": want name=gold,loss=0.5%,trial=1s,sum=21s,exceed=0.5,width=0.5% or rule="lead 5 of 21", each at most once`},
		{"find-limit --goal exceed=1", `--goal "exceed=1": exceed "1": want the share of the trials that may fail, from 0 to below 1; want name=gold,loss=0.5%,trial=1s,sum=21s,exceed=0.5,width=0.5% or rule="lead 5 of 21", each at most once`},
		{"find-limit --goal sum=21s,rule=single", `--goal "sum=21s,rule=single": a rule says what sum and exceed would; want either`},
		{"find-limit --goal name=a --goal name=a", `--goal: two goals are named a`},
		{"find-limit --goal loss=0 -l 0", `--loss and --goal: want one of them, as --goal loss=0.5%`},
		{"find-limit --search mlr", `--search "mlr": MLRsearch itself is not in here; its goals are: --goal loss=0,trial=1s,sum=21s,exceed=0.5 with ladder`},
		{"find-limit --search best", `--search "best": want ladder, bisect, rfc2544 or tst009`},
		{"find-limit --search ladder -r 2", `--retry-count is not for --search ladder: its rule says how often a load is tried; want --search bisect, or --goal rule="retry 3"`},
		{"find-limit --search ladder -e true", `--exec is not for --search ladder: it reads from the losses where to go on; want --search bisect`},
		{"find-limit --warmup 1", `--warmup is not for --search ladder: it looks for a slow start itself; how long that may be: --slow-start`},
		{"find-limit -r 1 --width 1%", `--width is not for --search bisect: it ends one step of --precision apart`},
		{"find-limit -r 1 --slow-start 1", `--slow-start is not for --search bisect: it sends uncounted traffic before each new load: --warmup`},
		{"find-limit -p 1M --width 1%", `--width 1 % and --precision 1Mbps: want one of them`},
		{"find-limit --width 0", `--width "0": want a share of the load of 1e-6 or more, as 0.5%`},
		{"find-limit --per-stream --latency", `--per-stream and --latency: want one of them`},
		{"replay -l 0,0.5%", `--loss "0,0.5%": one goal at a time`},
		{"replay -d soon", `--duration "soon": want a duration. seconds: 1, 0.5; or with units: 500ms, 1m30s, 12h`},
		{"replay --tag no", `--tag "no": want auto, always or never`},
		{"replay --credit 0", `--credit 0: want a time above 0`},
		{"find-limit --drain 0s", `--drain 0: want a time above 0`},
		{"transient --cpu 0", `--cpu: simulated time has no threads to place`},
		{"replay --cpu x", `--cpu "x": want CPU numbers as 2,3 or 2-5`},
		{"find-limit -b max", `--rate max: a search needs a highest load, as 10G, 1.2Mpps or x10`},
		{"transient -b x2 -s 1M", `--step 1Mbps and --rate x2: want both in bits, both in packets, or both as multiples of the captured pace`},
		{"find-limit -p max", `--precision max: want a distance between two loads, as 1M, 1kpps, 1% or x0.1`},
		{"transient -s max", `--step max: want a distance between two loads, as 1M, 1kpps, 1% or x0.1`},
		{"find-limit -p 1e-9", `search: precision 1e-09 of 1e+10: want at least 1e-12 of it`},
	} {
		t.Run(tt.line, func(t *testing.T) {
			json := filepath.Join(t.TempDir(), "run.jsonl")
			args := append(append(strings.Fields(tt.line), "--json", json), sim...)
			code, out, talk := on(t, nil, args...)
			if code != 2 || out != "" || talk != "loadtest: "+tt.want+"\n" {
				t.Errorf("exit %d, %q, %q; want 2 and %q", code, out, talk, tt.want)
			}
			if _, err := os.Stat(json); err == nil {
				t.Error("the JSON file was made")
			}
		})
	}
	t.Run("more CPUs than there are", func(t *testing.T) {
		code, _, talk := on(t, nil, append([]string{"replay", "-b", "1kpps", "--cpu", "0,4095"}, toFile...)...)
		if code != 2 || !strings.HasPrefix(talk, "loadtest: --cpu 4095: this machine has CPUs 0") {
			t.Errorf("exit %d, %q", code, talk)
		}
		if code, _, talk = on(t, nil, append([]string{"replay", "-q", "-b", "1kpps", "-D", "10ms", "--max-unsent", "50%", "--cpu", "0"}, toFile...)...); code != 0 {
			t.Errorf("--cpu 0: exit %d, %q", code, talk)
		}
	})
	t.Run("max without a line", func(t *testing.T) {
		net := filepath.Join(t.TempDir(), "free.yaml")
		text := "ports:\n  - name: a\n  - name: b\nlinks:\n  - name: cable\n    between: [a, b]\n"
		if err := os.WriteFile(net, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		code, _, talk := on(t, nil, "replay", "-b", "max", file, "sim:"+net+"/a", "sim:"+net+"/b")
		if want := "loadtest: --rate max: sim:" + net + "/a has no line rate, and simulated time no other bound; give a rate, as -b 10G\n"; code != 2 || talk != want {
			t.Errorf("exit %d, %q; want 2, %q", code, talk, want)
		}
	})
}

func TestMistakesOfSources(t *testing.T) {
	file := udp(t, 60, false)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"replay", "nofile.pcap", "eth9"}, `"nofile.pcap": no such file; replay: of "nofile.pcap" and "eth9" exactly one must be a capture file or gen, the other a port`},
		{[]string{"find-limit", "eth9", "caps/nofile"}, `"caps/nofile": no such file; find-limit: of "eth9" and "caps/nofile" exactly one`},
		{[]string{"replay", "sim:wire/a", "pcap:x.pcap"}, `replay: of "sim:wire/a" and "pcap:x.pcap" exactly one`},
		{[]string{"replay", "eth8", "eth9"}, `replay: of "eth8" and "eth9" exactly one`},
		{[]string{"replay", "-b", "1G", file, "pcap:" + file}, file + " is sent by stream pcap:" + file + ", and pcap:" + file + " would write over it: want another file"},
		{[]string{"replay", "-b", "1G", "--json", file, file, "sim:wire/a"}, "and --json " + file + " would write over it"},
		{[]string{"transient", "-b", "1G", "--bench-file", file, file, "sim:wire/a", "sim:wire/b"}, "and --bench-file " + file + " would write over it"},
		{[]string{"replay", "-b", "1G", "-o", file, file, "sim:wire/a"}, `--output "` + file + `": want a name that ends in .jsonl, .csv or .yaml`},
		{[]string{"replay", "-b", "1G", "-o", "x.csv", "-o", "x.csv", file, "sim:wire/a"}, "-o x.csv and -o x.csv are one file: want another"},
		{[]string{"transient", "-b", "1G", "--json", "x.jsonl", "-o", "x.jsonl", file, "sim:wire/a", "sim:wire/b"}, "--json x.jsonl and -o x.jsonl are one file"},
	} {
		before, _ := os.ReadFile(file)
		code, _, talk := on(t, nil, tt.args...)
		if code != 2 || !strings.Contains(talk, tt.want) || strings.Count(talk, "\n") != 1 {
			t.Errorf("%v: exit %d, %q; want 2, %q", tt.args, code, talk, tt.want)
		}
		if after, _ := os.ReadFile(file); !bytes.Equal(before, after) || len(after) == 0 {
			t.Fatalf("%v: the capture was written over", tt.args)
		}
	}
	link := filepath.Join(t.TempDir(), "other.pcap")
	if err := os.Link(file, link); err != nil {
		t.Fatal(err)
	}
	in := func(cmd *exec.Cmd) { cmd.Stdin, _ = os.Open(file) }
	if code, _, talk := on(t, in, "replay", "-b", "1G", "-", "pcap:"+link); code != 2 || !strings.Contains(talk, "standard input is sent by") {
		t.Errorf("by another name, on standard input: exit %d, %q", code, talk)
	}
}

// The source - is standard input, a file or a pipe, read once for all streams.
func TestStandardInput(t *testing.T) {
	file := udp(t, 60, false)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	piped := func(cmd *exec.Cmd) { cmd.Stdin = bytes.NewReader(text) }
	_, want, _ := on(t, nil, "replay", "-b", "1G", file, "sim:wire/a", "sim:wire/b")
	for name, tt := range map[string]struct {
		in   func(*exec.Cmd)
		args []string
	}{
		"pipe": {piped, []string{"replay", "-b", "1G", "-", "sim:wire/a", "sim:wire/b"}},
		"file": {func(cmd *exec.Cmd) { cmd.Stdin, _ = os.Open(file) }, []string{"replay", "-b", "1G", "-", "sim:wire/a", "sim:wire/b"}},
	} {
		if code, out, talk := on(t, tt.in, tt.args...); code != 0 || out != want {
			t.Errorf("%s: exit %d, %q, %q; want as from the file: %q", name, code, out, talk, want)
		}
	}
	if code, out, talk := on(t, piped, "replay", "-b", "1G", "-", "x", "y", "sim:wire/a", "-", "y", "x", "sim:wire/b"); code != 0 {
		t.Errorf("two streams: exit %d, %q, %q", code, out, talk)
	}
	if code, _, talk := on(t, piped, "replay", "-b", "1G", "-", "sim:wire/a"); code != 0 {
		t.Errorf("short form: exit %d, %q", code, talk)
	}
	if code, _, talk := on(t, nil, "replay", "-b", "1G", "-", "sim:wire/a"); code != 2 || !strings.HasPrefix(talk, "loadtest: standard input: ") {
		t.Errorf("nothing there: exit %d, %q", code, talk)
	}
}

// Results that cannot be written: 3 once packets were sent, told once, and the other outputs are whole.
func TestOutputFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil && runtime.GOOS == "linux" {
		t.Fatal(err)
	} else if err != nil {
		t.Skip("this system has no /dev/full")
	}
	defer full.Close()
	file := udp(t, 60, false)
	sim := []string{file, "sim:wire/a", "sim:wire/b"}
	stdout := func(cmd *exec.Cmd) { cmd.Stdout = full }
	for _, tt := range []struct {
		name, line string
		change     func(*exec.Cmd)
		code       int
	}{
		{"JSON", "replay -b 1G --json /dev/full", nil, 2}, // its first line comes before the first packet
		{"bench file", "transient -b 1G -D 10ms --bench-file /dev/full", nil, 2},
		{"stdout", "replay -b 1G", stdout, 3},
		{"stdout of a search", "find-limit -b 1G -D 10ms", stdout, 3},
		{"stdout of steps", "transient -b 1G -D 10ms", stdout, 3},
		{"stdout of a device that fails", "replay -b 1G -D 1 --tag never", stdout, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ports := sim
			if strings.Contains(tt.name, "fails") {
				ports = []string{file, "sim:lossy/a", "sim:lossy/b"}
			}
			args := append(strings.Fields(tt.line), ports...)
			var json string
			if !strings.Contains(tt.line, "--json") {
				json = filepath.Join(t.TempDir(), "run.jsonl")
				args = append(args, "--json", json)
			}
			code, _, talk := on(t, tt.change, args...)
			if code != tt.code || strings.Count(talk, "no space left") != 1 {
				t.Errorf("exit %d, want %d and a word about the space, once: %s", code, tt.code, talk)
			}
			if json == "" || code != 3 {
				return
			}
			text, _ := os.ReadFile(json)
			log, err := report.Read(bytes.NewReader(text))
			if err != nil || len(log.Records) == 0 {
				t.Fatalf("JSON: %v\n%s", err, text)
			}
			if e, ok := log.Records[len(log.Records)-1].(*report.End); !ok || e.ExitCode != 3 || !strings.Contains(e.Reason, "no space left") {
				t.Errorf("the last record is %+v", log.Records[len(log.Records)-1])
			}
		})
	}
}

// A capture never goes to a terminal, by whatever name.
func TestCaptureToTerminal(t *testing.T) {
	lab.Need(t, "script")
	conf, err := filepath.Abs("../../testdata/vita-pair/gentest-node1.conf")
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"-", "/dev/stdout", "/dev/tty"} {
		out, err := exec.Command("script", "-qec", fmt.Sprintf("%s genpcap -o %s < %s", binary, to, conf), os.DevNull).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "a capture is not written to a terminal") || len(out) > 200 {
			t.Errorf("-o %s: %v, %d bytes: %.200q", to, err, len(out), out)
		}
	}
}
