package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"loadtest/internal/lab"
	"loadtest/packet"
)

// Ctrl-C ends every verb in order: exit code, all finished trials and the end on disk, the port free again.
func TestInterrupt(t *testing.T) {
	device(t)
	d := lab.Veth(t)
	file := udp(t, 60, false)
	for _, tt := range []struct {
		name   string
		args   []string
		signal syscall.Signal
		code   int
	}{
		{"find-limit", []string{"find-limit", "-b", "3Mbps", "-p", "1kbps", "-D", "20", "--slow-start", "0", file, d.A, d.B}, syscall.SIGINT, 130},
		{"find-limit by TERM", []string{"find-limit", "-b", "3Mbps", "-p", "1kbps", "-D", "20", "--slow-start", "0", file, d.A, d.B}, syscall.SIGTERM, 143},
		{"transient", []string{"transient", "-b", "3Mbps", "-D", "20", "--warmup", "0", file, d.A, d.B}, syscall.SIGINT, 130},
		{"replay", []string{"replay", "-b", "3Mbps", "-D", "30", file, d.A, d.B}, syscall.SIGINT, 130},
		{"replay without end", []string{"replay", "-b", "3Mbps", "-D", "0", "--max-unsent", "50%", file, d.A, d.B}, syscall.SIGINT, 0},
		{"simulated", []string{"replay", "-b", "1Gbps", "-D", "1000h", file, "sim:wire/a", "sim:wire/b"}, syscall.SIGINT, 130},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var r run
			for again := 0; ; again++ {
				p := start(t, tt.args...)
				p.await(t, `"type":"sample"`)
				begun := time.Now()
				if err := p.cmd.Process.Signal(tt.signal); err != nil {
					t.Fatal(err)
				}
				r = p.wait(t)
				if took := time.Since(begun); took > 3*time.Second {
					t.Errorf("it took %v to end", took)
				}
				if r.code != 3 || again == 3 || times(2) > 1 || !strings.Contains(r.talk, "loadtest: the tester was stopped") {
					break // else the machine stood still, which says nothing
				}
			}
			if r.code != tt.code {
				t.Errorf("exit %d, want %d\n%s%s", r.code, tt.code, r.out, r.talk)
			}
			e := r.end()
			if e == nil || e.Interrupted != (tt.code != 0) || e.ExitCode != tt.code {
				t.Errorf("the last record is %+v, want the end of an interrupted run", e)
			}
			balanced(t, r)
			trials := r.trials()
			if len(trials) == 0 || trials[len(trials)-1].Streams[0].Sent == 0 {
				t.Errorf("the interrupted trial is not on disk: %d trials", len(trials))
			} else if s := trials[len(trials)-1].Streams[0]; *s.Lost != 0 || times(2) > 1 && s.Unsent > s.Intended/100 {
				t.Errorf("of the interrupted trial %d are lost, %d unsent", *s.Lost, s.Unsent)
			}
		})
	}
	if r := loadtest(t, "replay", "-b", "3Mbps", "-D", "1", file, d.A, d.B); r.code == 2 {
		t.Errorf("the ports are not free: %s", r.talk)
	}
}

// Ctrl-C ends a verb that waits for its input, too.
func TestInterruptWhileReading(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "never.pcap")
	if out, err := exec.Command("mkfifo", fifo).CombinedOutput(); err != nil {
		t.Fatalf("mkfifo: %v: %s", err, out)
	}
	held, err := os.OpenFile(fifo, os.O_RDWR, 0) // a writer that never writes
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	for _, args := range [][]string{{"genconf"}, {"genpcap"}, {"find-limit", "-", "sim:wire/a", "sim:wire/b"},
		{"replay", "-b", "1G", fifo, "sim:wire/a", "sim:wire/b"}, {"transient", fifo, "sim:wire/a", "sim:wire/b"}} {
		t.Run(args[0], func(t *testing.T) {
			p := prepare(t, args...)
			p.cmd.Stdin = held
			p.begin(t)
			time.Sleep(300 * time.Millisecond)
			if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(20*time.Second, p.cancel)
			if r := p.wait(t); r.code != 130 || r.out != "" {
				t.Errorf("exit %d, want 130: %s%s", r.code, r.out, r.talk)
			}
		})
	}
}

// A device that never answers, a link that goes down, and a tester that cannot keep up are no verdicts about a device.
func TestNotMeasured(t *testing.T) {
	device(t)
	d := lab.Veth(t)
	file := udp(t, 60, false)
	t.Run("never answers", func(t *testing.T) {
		r := loadtest(t, "find-limit", "-b", "1Mbps", "--wait", "1", file, d.A, d.A)
		if r.code != 3 || !strings.Contains(r.talk, "nothing came back in ") || len(r.trials()) > 0 {
			t.Errorf("exit %d after %d trials, want 3 and none: %s", r.code, len(r.trials()), r.talk)
		}
	})
	t.Run("never answers, and no hello", func(t *testing.T) {
		r := loadtest(t, "find-limit", "-b", "1Mbps", "--wait", "0", file, d.A, d.A)
		if r.code != 3 || !strings.Contains(r.talk, "nothing came back") || len(r.trials()) > 10 {
			t.Errorf("exit %d after %d trials, want 3 soon: %s", r.code, len(r.trials()), r.talk)
		}
	})
	t.Run("never answers replay", func(t *testing.T) {
		r := loadtest(t, "replay", "-b", "1Mbps", "-D", "1", "--wait", "0", file, d.A, d.A)
		if r.code != 3 || !strings.Contains(r.talk, "nothing came back") {
			t.Errorf("exit %d, want 3: %s", r.code, r.talk)
		}
	})
	t.Run("link goes down", func(t *testing.T) {
		p := start(t, "find-limit", "-b", "1Mbps", "-D", "5", "--link-wait", "1s", file, d.A, d.B)
		p.await(t, `"type":"sample"`)
		d.IP("b", "link", "set", "b0", "down")
		r := p.wait(t)
		d.IP("b", "link", "set", "b0", "up")
		if r.code != 3 || !strings.Contains(r.talk, "down") {
			t.Errorf("exit %d, want 3 and a word about the link: %s", r.code, r.talk)
		}
		balanced(t, r)
	})
	t.Run("too fast", func(t *testing.T) {
		r := loadtest(t, "replay", "-b", "10Gbps", "-D", "1", file, d.A, d.B)
		if r.code != 3 || !strings.Contains(r.talk, "loadtest: no verdict about the device: the tester sent ") && !strings.Contains(r.talk, "the tester was stopped") {
			t.Errorf("exit %d, want 3: the tester was the limit: %s", r.code, r.talk)
		}
	})
	t.Run("send only", func(t *testing.T) {
		r := calmly(t, "replay", "-b", "1Mbps", "-D", "1", file, d.A)
		if s := r.trials()[0].Streams[0]; r.code != 0 || s.Sent == 0 || s.Lost != nil {
			t.Errorf("exit %d, sent %d, lost %v; want 0, some, null: %s", r.code, s.Sent, s.Lost, r.talk)
		}
	})
	t.Run("busy with the same port", func(t *testing.T) {
		r := calmly(t, "replay", "-b", "1Mbps", "-D", "1", file, d.B, d.A)
		if r.code != 0 {
			t.Errorf("the way back: exit %d: %s", r.code, r.talk)
		}
	})
}

// Bad input is refused before any packet, and says where, what, and what would be right.
func TestMistakes(t *testing.T) {
	file := udp(t, 60, false)
	empty := capture(t, &packet.Store{})
	long := &packet.Store{}
	long.Append(make([]byte, 3000), 0, 3000)
	short := &packet.Store{}
	short.Append(make([]byte, 60), 0, 600)
	text := filepath.Join(t.TempDir(), "text.pcap")
	if err := os.WriteFile(text, []byte("no capture at all, but text"), 0o644); err != nil {
		t.Fatal(err)
	}
	sim := []string{"sim:wire/a", "sim:wire/b"}
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"no arguments", []string{"find-limit"}, "want SOURCE A B, SOURCE PORT, or groups of SOURCE TX RX PORT"},
		{"five arguments", []string{"find-limit", file, "n1", "n2", "sim:wire/a", file}, "5 arguments; want SOURCE A B"},
		{"unknown RX", []string{"find-limit", file, "n1", "nod2", "sim:wire/a"}, `stream 1 expects its packets at "nod2", but no stream is named so. Names: n1`},
		{"a name twice", []string{"find-limit", file, "n1", "n1", "sim:wire/a", file, "n1", "n1", "sim:wire/b"}, `"n1" stands for two streams`},
		{"a port twice", []string{"find-limit", file, "n1", "n2", "sim:wire/a", file, "n2", "n1", "sim:wire/a"}, "each group needs a port of its own"},
		{"two ports", []string{"find-limit", "sim:wire/a", "sim:wire/b"}, "exactly one must be a capture file"},
		{"bytes", append([]string{"find-limit", "-b", "10GB", file}, sim...), "bytes are no rate here"},
		{"no such file", append([]string{"find-limit", "nosuch.pcap"}, sim...), "nosuch.pcap"},
		{"empty capture", append([]string{"find-limit", empty}, sim...), "holds no packets"},
		{"no capture", append([]string{"find-limit", text}, sim...), "text.pcap"},
		{"too long", append([]string{"find-limit", capture(t, long)}, sim...), "record 1: 3000 bytes, sim:wire/a takes 1514 (MTU 1500)"},
		{"captured short", append([]string{"find-limit", capture(t, short)}, sim...), "captured short: 60 of 600 bytes"},
		{"no such network", []string{"find-limit", file, "sim:nosuch/a", "sim:nosuch/b"}, "nosuch"},
		{"no such simulated port", []string{"find-limit", file, "sim:wire/a", "sim:wire/c"}, "c"},
		{"no such interface", []string{"find-limit", file, "nosuch0", "nosuch1"}, "nosuch0"},
		{"no such namespace", []string{"find-limit", file, "eth0@nosuchns", "eth1@nosuchns"}, "nosuchns"},
		{"zero duration", append([]string{"find-limit", "-D", "0", file}, sim...), "--duration 0"},
		{"negative retries", append([]string{"find-limit", "-r", "-1", file}, sim...), "--retry-count -1"},
		{"precision in packets", append([]string{"find-limit", "-b", "1G", "-p", "1kpps", file}, sim...), "both in bits, both in packets, or both as multiples of the captured pace"},
		{"unknown program", append([]string{"transient", "-p", "up", file}, sim...), "ramp_up"},
		{"hydra alone", append([]string{"transient", "-y", file}, sim...), "--bench-file"},
		{"unknown flag", []string{"find-limit", "--frobnicate"}, "frobnicate"},
		{"unknown verb", []string{"frobnicate"}, "frobnicate"},
		{"no times", append([]string{"replay", gentest(t, 1, "60")}, sim...), "no times to replay; give a rate"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := loadtest(t, tt.args...)
			if r.code != 2 || !strings.Contains(r.talk, tt.want) || !strings.HasPrefix(r.talk, "loadtest: ") || r.out != "" {
				t.Errorf("exit %d, want 2 and %q on stderr, nothing on stdout; got %q and %q", r.code, tt.want, r.talk, r.out)
			}
			if strings.Count(r.talk, "\n") > 3 {
				t.Errorf("a message of many lines:\n%s", r.talk)
			}
		})
	}
}

// One packet, one trial of next to no time, a load of next to nothing: nulls, no NaN, no hang.
func TestNextToNothing(t *testing.T) {
	one := &packet.Store{}
	frame := make([]byte, 60)
	copy(frame, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17})
	one.Append(frame, 1e9, 60)
	file := capture(t, one)
	for _, tt := range []struct {
		name string
		args []string
		code int
	}{
		{"one packet", []string{"replay", "-b", "1kpps", file, "sim:wire/a", "sim:wire/b"}, 0},
		{"one packet at its pace", []string{"replay", file, "sim:wire/a", "sim:wire/b"}, 0},
		{"one packet flat out", []string{"replay", "-b", "max", file, "sim:wire/a", "sim:wire/b"}, 0},
		{"a nanosecond", []string{"replay", "-b", "1kpps", "-D", "1ns", file, "sim:wire/a", "sim:wire/b"}, 0},
		{"nothing due", []string{"find-limit", "-b", "1", "-p", "1", "-D", "1ms", file, "sim:wire/a", "sim:wire/b"}, 0},
		{"verbose", []string{"replay", "-v", "-b", "1kpps", "-D", "1ns", file, "sim:wire/a"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := loadtest(t, tt.args...)
			if r.code != tt.code {
				t.Errorf("exit %d, want %d\n%s%s", r.code, tt.code, r.out, r.talk)
			}
			balanced(t, r)
		})
	}
}

// --exec is the judge: 0 passes, any other code fails, what cannot run ends the search with 3.
func TestExec(t *testing.T) {
	file := udp(t, 60, false)
	for _, tt := range []struct {
		name, command string
		code          int
		last          string
	}{
		{"always", "cat >/dev/null", 0, "0.01"},
		{"never", "exit 1", 1, "0"},
		{"by what it is told", `grep -q '"intended_wire_bps":[1-4][0-9]*000[,}]'`, 0, ""},
		{"not found", "no-such-judge-here", 3, ""},
		{"not executable", "exit 126", 3, ""},
		{"killed", "kill -9 $$", 3, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := loadtest(t, "find-limit", "-b", "10e6", "-p", "1e6", "-D", "100ms", "-e", tt.command, file, "sim:wire/a", "sim:wire/b")
			if r.code != tt.code || tt.last != "" && r.last() != tt.last {
				t.Errorf("exit %d, last line %q; want %d and %q\n%s%s", r.code, r.last(), tt.code, tt.last, r.out, r.talk)
			}
		})
	}
}

func TestTransient(t *testing.T) {
	file := udp(t, 60, false)
	bench := filepath.Join(t.TempDir(), "bench.csv")
	args := []string{"transient", "-b", "300e6", "-s", "100e6", "-D", "1", "--bench-file", bench, file, "sim:wire/a", "sim:wire/b"}
	r := loadtest(t, args...)
	var loads []float64
	for _, x := range r.trials() {
		loads = append(loads, *x.RateWireBps/1e6)
	}
	if r.code != 0 || len(loads) != 6 {
		t.Fatalf("exit %d, loads %v; want 0 and 100 200 300 300 200 100", r.code, loads)
	}
	for i, want := range []float64{100, 200, 300, 300, 200, 100} {
		if loads[i] < want*0.9999 || loads[i] > want*1.0001 {
			t.Errorf("step %d: %v Mbit/s, want %v", i+1, loads[i], want)
		}
	}
	text, err := os.ReadFile(bench)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 7 || !strings.HasPrefix(lines[0], "load_gbps,stream,tx_packets,tx_mpps,tx_bytes,tx_gbps,rx_packets,rx_mpps,rx_bytes,rx_gbps,ingress_drop,lost_packets,lost_percent,latency_min_ns,") ||
		!strings.HasPrefix(lines[1], "0.100000,") {
		t.Errorf("bench file:\n%s", text)
	}
	if r = loadtest(t, append(args, "--hydra")...); r.code != 0 {
		t.Fatal(r.talk)
	}
	if text, _ = os.ReadFile(bench); !strings.HasPrefix(string(text), "benchmark,id,score,unit\n") || strings.Count(string(text), "\n") != 25 {
		t.Errorf("hydra file:\n%s", text)
	}
}
