// Package e2e tests the program as its users run it: the binary, on simulated and on real devices.
//
//	loadtest VERB … → exit code, last line, JSON lines → books, limits, messages
//
// What touches a real device runs only when LOADTEST_E2E is set; LOADTEST_VERIFY adds the repeats.
package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loadtest/internal/lab"
	"loadtest/packet"
	"loadtest/pcap"
	"loadtest/report"
)

// binary is the program under test.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "loadtest-e2e")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Chmod(dir, 0o755) // the program is run by others, too
	binary = filepath.Join(dir, "loadtest")
	os.Setenv("LOADTEST_RUNS", filepath.Join(dir, "runs"))
	build := exec.Command("go", "build", "-o", binary, "loadtest/cmd/loadtest")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// A run is what one call of the program left.
type run struct {
	code      int
	out, talk string
	records   []report.Record
}

// loadtest runs the program to its end in bounded time and reads its JSON lines.
func loadtest(t *testing.T, args ...string) run {
	t.Helper()
	return start(t, args...).wait(t)
}

// A process is a call of the program that is not over.
type process struct {
	cmd       *exec.Cmd
	out, talk bytes.Buffer
	json      string
	cancel    context.CancelFunc
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	return prepare(t, args...).begin(t)
}

// prepare makes a process that has not begun.
func prepare(t *testing.T, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	p := &process{cancel: cancel}
	switch args[0] {
	case "find-limit", "replay", "transient", "demo":
		if args[len(args)-1] == "--help" {
			break
		}
		p.json = filepath.Join(t.TempDir(), "run.jsonl")
		args = append(args, "--json", p.json)
	}
	p.cmd = exec.CommandContext(ctx, binary, args...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.talk
	return p
}

func (p *process) begin(t *testing.T) *process {
	t.Helper()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *process) wait(t *testing.T) run {
	t.Helper()
	defer p.cancel()
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v\n%s", p.cmd.Args, err, p.talk.String())
	}
	r := run{code: p.cmd.ProcessState.ExitCode(), out: p.out.String(), talk: p.talk.String()}
	if r.code < 0 {
		t.Fatalf("%v: killed: %v\n%s%s", p.cmd.Args, err, r.out, r.talk)
	}
	if text, err := os.ReadFile(p.json); err == nil {
		log, err := report.Read(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%v: its JSON: %v", p.cmd.Args, err)
		}
		if log.Cut {
			t.Errorf("%v: the last JSON line is cut", p.cmd.Args)
		}
		if bytes.Contains(text, []byte("NaN")) || bytes.Contains(text, []byte("Inf")) {
			t.Errorf("%v: JSON holds what is no number:\n%s", p.cmd.Args, text)
		}
		r.records = log.Records
	}
	if strings.Contains(r.out+r.talk, "NaN") || strings.Contains(r.out+r.talk, "panic") {
		t.Errorf("%v printed:\n%s%s", p.cmd.Args, r.out, r.talk)
	}
	return r
}

// last is the last line of standard output.
func (r run) last() string {
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	return lines[len(lines)-1]
}

// trials are the records of counted trials.
func (r run) trials() (out []*report.Trial) {
	for _, x := range r.records {
		if t, ok := x.(*report.Trial); ok && t.Purpose != report.Warmup {
			out = append(out, t)
		}
	}
	return out
}

// end is the last record, nil if there is none.
func (r run) end() *report.End {
	if n := len(r.records); n > 0 {
		e, _ := r.records[n-1].(*report.End)
		return e
	}
	return nil
}

// balanced checks that every packet of every trial ended in exactly one place, and no count is below zero.
func balanced(t *testing.T, r run) {
	t.Helper()
	for _, x := range r.trials() {
		for _, s := range x.Streams {
			n := func(p *int64) int64 {
				if p == nil {
					return 0
				}
				return *p
			}
			received, lost := n(s.Received), n(s.Lost)
			if s.Lost == nil && s.Received != nil && received != 0 {
				t.Errorf("trial %d, %s: received %d and no loss", x.Number, s.Name, received)
			}
			if s.Intended != s.Sent+s.Unsent || s.Lost != nil && s.Sent != received+lost || min(lost, s.Unsent, n(s.Duplicated), n(s.Late), n(s.Surplus)) < 0 {
				t.Errorf("trial %d, %s: intended %d, sent %d, unsent %d, received %d, lost %d do not add up", x.Number, s.Name, s.Intended, s.Sent, s.Unsent, received, lost)
			}
		}
	}
}

// device says that a test needs real devices, and what else.
func device(t *testing.T, what ...string) {
	t.Helper()
	if os.Getenv("LOADTEST_E2E") == "" && os.Getenv("LOADTEST_VERIFY") == "" {
		t.Skip("sends on devices; set LOADTEST_E2E=1, as make test does")
	}
	lab.Need(t, append([]string{"netns", "afpacket"}, what...)...)
}

// socket is a port of a test's own: a packet socket, which leaves the interface to the program under test.
func socket(port string) string { return "afpacket:" + port }

// times is n where the repeats are asked for, else 1.
func times(n int) int {
	if os.Getenv("LOADTEST_VERIFY") != "" {
		return n
	}
	return 1
}

// udp writes a capture of 1000 UDP packets of so many bytes, each a flow of its own, for the devices of lab/: a to b, or b to a.
func udp(t *testing.T, size int, back bool) string {
	t.Helper()
	s := &packet.Store{}
	for i := range 1000 {
		b := make([]byte, size)
		copy(b, []byte{2, 0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 2, 8, 0, 0x45, 0, byte((size - 14) >> 8), byte(size - 14)})
		b[22], b[23] = 64, 17
		copy(b[26:], []byte{10, 10, 1, 2, 10, 10, 2, 2, 0x10 + byte(i>>8), byte(i), 0, 9, byte((size - 34) >> 8), byte(size - 34)})
		if back {
			b[4], b[10] = 2, 2
			b[28], b[32] = 2, 1
		}
		var sum uint32
		for j := 14; j < 34; j += 2 {
			sum += uint32(b[j])<<8 | uint32(b[j+1])
		}
		sum = sum>>16 + sum&0xffff
		sum = ^(sum>>16 + sum&0xffff)
		b[24], b[25] = byte(sum>>8), byte(sum)
		s.Append(b, int64(i)*1e6, size)
	}
	return capture(t, s)
}

func capture(t *testing.T, s *packet.Store) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "made.pcap")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := pcap.Write(f, s); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}
