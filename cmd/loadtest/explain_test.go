package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A saved search comes to the same trials and the same answer without any device, whichever it was.
func TestExplain(t *testing.T) {
	_, capture := keep(t)
	ports := []string{"sim:router-1mpps/node1", "sim:router-1mpps/node2"}
	lossy := []string{capture, "sim:lossy/a", "sim:lossy/b"}
	for _, tt := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"ladder", append([]string{"-b", "1G", "-D", "100ms", capture}, ports...), exitPass, "ladder search for a loss of 0: a load is believed by lead 5 of 21, trials of 100ms\n"},
		{"goals", append([]string{"-b", "1G", "-D", "100ms", "-l", "0,1%", capture}, ports...), exitPass, "ladder search for a loss of 1 %"},
		{"named", append([]string{"-b", "1G", "--goal", "name=gold,trial=50ms,sum=150ms,exceed=0", capture}, ports...), exitPass, "(gold): a load is believed by bad 0 of 3"},
		{"background", append([]string{"-b", "1G", "-D", "100ms"}, lossy...), exitFail, "answer: no rate without loss: 0.001 is lost at every load"},
		{"packets", append([]string{"-b", "1.2Mpps", "-D", "100ms", capture}, ports...), exitPass, "as recorded"},
		{"untagged", append([]string{"-b", "1G", "-D", "100ms", "--tag", "never", capture}, ports...), exitPass, "as recorded"},
		{"per stream", []string{"-b", "1G", "-D", "100ms", "--per-stream", "--both", capture, "sim:wire/a", "sim:wire/b"}, exitPass, "sim:wire/b→sim:wire/a 1Gbps"},
		{"bisect", append([]string{"-b", "1G", "-D", "100ms", "-p", "10M", "-r", "2", capture}, ports...), exitPass, "bisect search for a loss of 0: a load is believed by retry 2"},
		{"tst009", append([]string{"-b", "1G", "-D", "100ms", "-p", "10M", "--search", "tst009", capture}, ports...), exitPass, "verify 1"},
		{"judged", append([]string{"-b", "1G", "-D", "100ms", "-p", "100M", "-e", "exit 1", capture}, ports...), exitFail, "answer: no load passed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if code, out, talk := called(t, append([]string{"find-limit", "-q"}, tt.args...)...); code != tt.code {
				t.Fatalf("find-limit: code %d, want %d\n%s%s", code, tt.code, out, talk)
			}
			code, out, talk := called(t, "explain")
			if code != exitPass || !strings.Contains(out, tt.want) || !strings.HasSuffix(out, ", as recorded\n") {
				t.Errorf("code %d, want %d and %q\n%s%s", code, exitPass, tt.want, out, talk)
			}
		})
	}
}

// A record that was changed, cut, or is of something else is told apart.
func TestExplainRefuses(t *testing.T) {
	_, capture := keep(t)
	if code, _, talk := called(t, "find-limit", "-q", "-b", "1G", "-D", "100ms", capture, "sim:router-1mpps/node1", "sim:router-1mpps/node2"); code != exitPass {
		t.Fatal(talk)
	}
	text, err := os.ReadFile(newest(t))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	file := filepath.Join(t.TempDir(), "changed.jsonl")
	for _, tt := range []struct {
		name, text, want string
		code             int
	}{
		{"a clean trial made lossy", changed(t, lines, `"verdict":"pass"`, `"received":`, `"received":1,"x":`), "the search would make", exitFail},
		{"cut", strings.Join(lines[:len(lines)/2], ""), "the record ends here", exitPass},
		{"no goals", strings.Replace(string(text), `"goals":[`, `"others":[`, 1), "before searches noted their goals", exitUsage},
		{"a bad rule", strings.Replace(string(text), `"rule":"lead 5 of 21"`, `"rule":"luck"`, 1), `rule "luck": want single, retry 3`, exitUsage},
		{"no search", strings.Replace(string(text), `"search":"ladder"`, `"search":""`, 1), "is no search", exitUsage},
		{"no record", "{}\n", "no record", exitUsage},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			code, out, talk := called(t, "explain", file)
			if code != tt.code || !strings.Contains(out+talk, tt.want) {
				t.Errorf("code %d, want %d and %q\n%s%s", code, tt.code, tt.want, out, talk)
			}
		})
	}
}

// changed replaces something in the first line of trials that holds a mark.
func changed(t *testing.T, lines []string, mark, old, with string) string {
	t.Helper()
	for i, line := range lines {
		if strings.Contains(line, `"type":"trial"`) && strings.Contains(line, mark) && strings.Contains(line, old) {
			lines = append([]string(nil), lines...)
			lines[i] = strings.Replace(line, old, with, 1)
			return strings.Join(lines, "")
		}
	}
	t.Fatalf("no trial with %s and %s", mark, old)
	return ""
}
