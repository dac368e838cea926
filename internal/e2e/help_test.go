package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Every verb's help has a sentence and two examples, and the examples work; those on interfaces as far as there are none.
func TestHelpExamples(t *testing.T) {
	dir := t.TempDir()
	for _, node := range []int{1, 2} {
		name := []string{"", "node1.pcap", "node2.pcap"}[node]
		move(t, gentest(t, node, "60"), filepath.Join(dir, name))
	}
	conf, err := os.ReadFile("../../testdata/vita-pair/gentest-node1.conf")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "gentest-node1.conf"), conf, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"find-limit", "replay", "transient", "genconf", "genpcap", "demo", "version"} {
		help := loadtest(t, verb, "--help")
		_, after, ok := strings.Cut(help.out, "Examples:\n")
		if !ok {
			t.Errorf("%s: no examples in its help", verb)
			continue
		}
		examples, _, _ := strings.Cut(after, "\n\n")
		lines := strings.Split(strings.TrimSpace(examples), "\n")
		if len(lines) != 2 {
			t.Errorf("%s: %d examples, want 2", verb, len(lines))
		}
		for _, line := range lines {
			t.Run(strings.TrimSpace(line), func(t *testing.T) {
				ours, _, _ := strings.Cut(line, "| snabb") // the device's own tool is not here
				cmd := exec.Command("sh", "-c", ours)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
				out, err := cmd.CombinedOutput()
				if strings.Contains(line, "eth2") {
					if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "eth2") {
						t.Errorf("exit %d: %s", cmd.ProcessState.ExitCode(), out)
					}
				} else if err != nil {
					t.Errorf("%v: %s", err, out)
				}
			})
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
