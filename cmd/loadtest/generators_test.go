package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadtest/pcap"
)

const testPair = "../../testdata/vita-pair/"

// generate runs a verb on a text.
func generate(text string, args ...string) (code int, out, talk string) {
	var o, e bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(text), &o, &e)
	return code, o.String(), e.String()
}

func TestGenerate(t *testing.T) {
	text, err := os.ReadFile(testPair + "gentest-node1.conf")
	if err != nil {
		t.Fatal(err)
	}
	code, conf, talk := generate(string(text), "genconf")
	if code != exitPass || talk != "" || !strings.Contains(conf, "\n  pci 23:00.0;\n") {
		t.Errorf("genconf: code %d, %q, %s", code, talk, conf)
	}
	if _, named, _ := generate(string(text), "genconf", "vita"); named != conf {
		t.Error("genconf vita: not the same as genconf")
	}
	code, capture, talk := generate(string(text), "genpcap")
	if code != exitPass || talk != "" {
		t.Errorf("genpcap: code %d, %q", code, talk)
	}
	s, err := pcap.Read("out", strings.NewReader(capture))
	if err != nil || s.Len() != 1000 {
		t.Fatalf("genpcap: %d packets, error %v: want 1000", s.Len(), err)
	}
	if _, again, _ := generate(string(text), "genpcap", "--seed", "1"); again != capture {
		t.Error("genpcap --seed 1: not the same as without")
	}
	if _, other, _ := generate(string(text), "genpcap", "--seed", "2"); other == capture {
		t.Error("genpcap --seed 2: the same as --seed 1")
	}
}

func TestGenerateErrors(t *testing.T) {
	for _, tt := range []struct {
		text string
		args []string
		want string
	}{
		{"\nnroutes 0;", []string{"genconf"}, "loadtest: standard input:2:9: nroutes 0: want 1..255\n"},
		{"\nnroutes 0;", []string{"genpcap"}, "loadtest: standard input:2:9: nroutes 0: want 1..255\n"},
		{strings.Repeat(" ", 1<<20+1), []string{"genpcap"}, "loadtest: standard input: more than 1048576 bytes: want a gentest description\n"},
		{"", []string{"genconf", "cisco"}, "loadtest: no configuration for \"cisco\": want one of vita\n"},
		{"", []string{"genconf", "vita", "x"}, "loadtest: genconf takes one KIND, got \"x\" beside \"vita\"\n"},
		{"", []string{"genpcap", "x"}, "loadtest: genpcap takes no arguments, got \"x\"\n"},
		{"", []string{"genconf", "-o", "/nowhere/x"}, "loadtest: --output /nowhere/x: open /nowhere/x."},
		{"", []string{"genpcap", "--seed", "-1"}, "loadtest: --seed \"-1\": want a whole number, 0 or more\n"},
	} {
		code, out, talk := generate(tt.text, tt.args...)
		if code != exitUsage || out != "" || !strings.HasPrefix(talk, tt.want) {
			t.Errorf("%v: code %d, %d bytes, %q: want 2, nothing, %q", tt.args, code, len(out), talk, tt.want)
		}
	}
	var talk bytes.Buffer
	in := io.MultiReader(strings.NewReader("nroutes 1;"), unplugged{})
	if code := run(context.Background(), []string{"genconf"}, in, io.Discard, &talk); code != exitUsage || talk.String() != "loadtest: standard input: unplugged\n" {
		t.Errorf("input that breaks off: code %d, %q", code, talk.String())
	}
}

type unplugged struct{}

func (unplugged) Read([]byte) (int, error) { return 0, errors.New("unplugged") }

func TestGenerateToFile(t *testing.T) {
	folder := t.TempDir()
	path, link := filepath.Join(folder, "node1.conf"), filepath.Join(folder, "link")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if code, _, _ := generate("bad", "genconf", "-o", link); code != exitUsage {
		t.Errorf("code %d: want 2", code)
	}
	if b, _ := os.ReadFile(path); string(b) != "old" {
		t.Errorf("a failure left %q in the file", b)
	}
	code, out, talk := generate("", "genconf", "-o", link)
	if code != exitPass || out != "" || talk != "" {
		t.Errorf("code %d, %q, %q: want 0 and nothing said", code, out, talk)
	}
	_, want, _ := generate("", "genconf", "-o", "-")
	if b, _ := os.ReadFile(path); string(b) != want || want == "" {
		t.Errorf("the file has %q: want %q", b, want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v: want as before", info.Mode(), err)
	}
	if all, _ := filepath.Glob(folder + "/*"); len(all) != 2 {
		t.Errorf("left over: %v", all)
	}
	next := filepath.Join(folder, "next")
	for name, to := range map[string]string{"absolute": next, "relative": "next2", "chain": "relative"} {
		if err := os.Symlink(to, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"absolute", "chain"} {
		if code, _, talk := generate("", "genconf", "-o", filepath.Join(folder, name)); code != exitPass {
			t.Errorf("-o %s: code %d, %s", name, code, talk)
		}
		if info, err := os.Lstat(filepath.Join(folder, name)); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more", name)
		}
	}
	for _, name := range []string{"next", "next2"} {
		if b, _ := os.ReadFile(filepath.Join(folder, name)); string(b) != want {
			t.Errorf("%s, to which a link led, has %q: want %q", name, b, want)
		}
	}
	loop := filepath.Join(folder, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	if code, _, talk := generate("", "genconf", "-o", loop); code != exitUsage || !strings.Contains(talk, "too many symbolic links") {
		t.Errorf("a loop of links: code %d, %s", code, talk)
	}
	if code, _, talk := generate("", "genpcap", "-o", os.DevNull); code != exitPass {
		t.Errorf("-o %s: code %d, %s", os.DevNull, code, talk)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s is a file now", os.DevNull)
	}
}
