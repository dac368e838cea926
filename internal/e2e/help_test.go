package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// helps are the help texts by what they are of: "", "find-limit", "runs show". They name each other.
func helps(t *testing.T, of ...string) map[string]string {
	t.Helper()
	code, out, talk := on(t, nil, append(of, "--help")...)
	if code != 0 || talk != "" {
		t.Fatalf("%q --help: exit %d, %s", of, code, talk)
	}
	all := map[string]string{strings.Join(of, " "): out}
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z0-9-]+) +[A-Z].*$`).FindAllStringSubmatch(out, -1) {
		if verb := m[1]; verb != "completion" && verb != "loadtest" { // its words are not ours
			for name, text := range helps(t, append(of[:len(of):len(of)], verb)...) {
				all[name] = text
			}
		}
	}
	return all
}

// Help texts are as they were agreed upon.
func TestHelp(t *testing.T) {
	all := helps(t)
	for _, name := range []string{"", "find-limit", "replay", "transient", "rfc2544", "demo", "genpcap", "genconf", "runs", "runs show", "version"} {
		if all[name] == "" {
			t.Errorf("no help of %q: %d texts", name, len(all))
		}
	}
	for name, text := range all {
		t.Run(name, func(t *testing.T) {
			golden(t, "help/"+strings.ReplaceAll(strings.TrimSpace("loadtest "+name), " ", "-")+".txt", text)
			for line := range strings.Lines(text) {
				if n := len([]rune(line)); n > 129 {
					t.Errorf("a line of %d columns: %s", n-1, line)
				}
			}
			if _, before, ok := strings.Cut(text, "Usage:\n"); !ok || strings.Contains(before, "`") {
				t.Errorf("no usage, or quotes of the library:\n%s", text)
			}
		})
	}
	code, out, talk := on(t, nil)
	if code != 0 || out != all[""] || talk != "" {
		t.Errorf("loadtest alone: exit %d, %s%s", code, out, talk)
	}
	for _, args := range [][]string{{"help", "replay"}, {"replay", "-h"}} {
		if code, out, _ := on(t, nil, args...); code != 0 || out != all["replay"] {
			t.Errorf("%q: exit %d, %s", args, code, out)
		}
	}
}

// Every verb's help has two examples, and they work: on simulated ports, and on interfaces of those names, with a device
// between them.
func TestHelpExamples(t *testing.T) {
	dir := open(t)
	filed(t, dir)
	for verb, help := range helps(t) {
		if verb == "" {
			continue
		}
		_, after, _ := strings.Cut(help, "Examples:\n")
		examples, _, _ := strings.Cut(after, "\n\n")
		lines := strings.Split(strings.TrimSpace(examples), "\n")
		if len(lines) != 2 || examples == "" {
			t.Errorf("%s: %d examples, want 2", verb, len(lines))
		}
		for _, line := range lines {
			line = strings.TrimSpace(line)
			t.Run(line, func(t *testing.T) {
				change := func(*exec.Cmd) {}
				if strings.Contains(line, "eth2") {
					device(t, "nft")
					change = deskOf(t, line).at()
				}
				example(t, dir, line, change)
			})
		}
	}
}

// deskOf is a desk with the device that an example needs: a router if there are addresses, else a bridge.
func deskOf(t *testing.T, line string) *desk {
	t.Helper()
	if !strings.Contains(line, "--addr") {
		return newDesk(t, "linux-bridge.sh")
	}
	d := newDesk(t, "linux-router.sh", "neigh=no", "pps=40000", "burst=2000")
	for _, p := range [][2]string{{"ra", "198.18"}, {"rb", "198.19"}} {
		d.IP("r", "route", "del", p[1]+".0.0/16")
		d.IP("r", "addr", "add", p[1]+".0.1/16", "dev", p[0])
	}
	return d
}

// filed puts into a folder what the examples name.
func filed(t *testing.T, dir string) {
	t.Helper()
	for node, name := range map[int]string{1: "node1.pcap", 2: "node2.pcap"} {
		move(t, gentest(t, node, "60"), filepath.Join(dir, name))
	}
	move(t, "../../testdata/vita-pair/gentest-node1.conf", filepath.Join(dir, "gentest-node1.conf"))
	put(t, filepath.Join(dir, "office.pcap"), store(20*time.Millisecond, conversation()...))
	p := prepare(t, "find-limit", "-b", "1M", "-D", "10ms", "-o", filepath.Join(dir, "router.jsonl"), "gen", "sim:wire/a", "sim:wire/b")
	p.cmd.Env = append(os.Environ(), "LOADTEST_RUNS="+filepath.Join(dir, "runs"))
	if r := p.begin(t).wait(t); r.code != 0 {
		t.Fatal(r.talk)
	}
}

// example runs a line of a help text as a shell does.
func example(t *testing.T, dir, line string, change func(*exec.Cmd)) {
	t.Helper()
	ours, _, _ := strings.Cut(line, "| snabb") // the device's own tool is not here
	runs := "LOADTEST_RUNS=" + filepath.Join(dir, "others")
	if strings.HasPrefix(line, "loadtest runs") || strings.HasPrefix(line, "loadtest explain") {
		runs = "LOADTEST_RUNS=" + filepath.Join(dir, "runs")
	}
	for again := range 4 {
		cmd := exec.Command("sh", "-c", ours)
		var out, talk bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &talk
		change(cmd)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"), runs)
		err := cmd.Run()
		if err == nil {
			return
		}
		switch busy := strings.Contains(talk.String(), "the tester ") && strings.Contains(line, "eth2") && times(2) == 1; {
		case !busy:
			t.Fatalf("%v: %s%s", err, &out, &talk)
		case again == 3:
			t.Fatalf("4 times the tester could not: %s", &talk)
		}
	}
}

func move(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
