package e2e

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const (
	node1, node2 = "sim:vita-1gbe/node1", "sim:vita-1gbe/node2"
	queue        = 1024 // packets that wait for the simulated pair's public link
)

// The walk-through on a pair of IPsec gateways over 1 GbE ends as it does on real NICs, and for other sizes where the formula says:
// floor((C + Q·bits / T) / p) · p, C being what ESP leaves of the link.
func TestWalkThrough(t *testing.T) {
	const p, trial = 1e6, 1.0
	for _, size := range []string{"60", "61", "64", "127", "128", "256", "512", "1000", "1280", "1500", "IMIX"} {
		for _, both := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s both=%v", size, both), func(t *testing.T) {
				frames, esp := 0.0, 0.0
				sizes := []int{54, 54, 54, 54, 54, 54, 54, 590, 590, 590, 590, 1514}
				if n, err := strconv.Atoi(size); err == nil {
					sizes = []int{n}
				}
				for _, n := range sizes {
					frames += float64(max(n, 60)+24) * 8
					// outer IP 20, ESP 8 and IV 8, padding to a multiple of 4 with its 2 bytes, ICV 16 (RFC 4303, RFC 4106)
					esp += float64(14+20+16+(n-14+2+3)/4*4+16+24) * 8
				}
				bits := frames / float64(len(sizes))
				want := math.Floor((1e9*frames/esp+queue*bits/trial)/p) * p / 1e9
				args := []string{"find-limit", "-b", "1e9", "-p", "1e6", gentest(t, 1, size), "node1", "node2", node1}
				if both {
					args = append(args, gentest(t, 2, size), "node2", "node1", node2)
				} else {
					args = append(args, "none", "node2", "node1", node2)
				}
				r := loadtest(t, args...)
				if got, err := strconv.ParseFloat(r.last(), 64); err != nil || math.Abs(got-want) > 1e-9 || r.code != 0 {
					t.Errorf("found %s, want %.3f (exit %d)\n%s", r.last(), want, r.code, r.talk)
				}
				if size == "60" && r.last() != "0.609" {
					t.Errorf("60 bytes: %s, on real 1 GbE NICs it is 0.609", r.last())
				}
				balanced(t, r)
				for _, x := range r.trials() {
					for _, s := range x.Streams {
						if s.Unsent != 0 {
							t.Errorf("trial %d: %d unsent in virtual time", x.Number, s.Unsent)
						}
					}
				}
			})
		}
	}
}

// gentest makes the capture of one side of the pair, through genpcap.
func gentest(t *testing.T, node int, size string) string {
	t.Helper()
	conf, err := os.ReadFile(fmt.Sprintf("../../testdata/vita-pair/gentest-node%d.conf", node))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(conf), "packet-size 60;", "packet-size "+size+";", 1)
	if size != "60" && text == string(conf) {
		t.Fatal("no packet-size 60 in the configuration")
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "gentest.conf")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, fmt.Sprintf("node%d.pcap", node))
	in, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	p := prepare(t, "genpcap", "-o", out)
	p.cmd.Stdin = in
	if r := p.begin(t).wait(t); r.code != 0 {
		t.Fatalf("genpcap: %s", r.talk)
	}
	return out
}

// In long trials the queue absorbs less: 0.608 is what lasts.
func TestLongTrials(t *testing.T) {
	r := loadtest(t, "find-limit", "-b", "612e6", "-p", "1e6", "-D", "20", gentest(t, 1, "60"), "node1", "node2", node1, "none", "node2", "node1", node2)
	if r.last() != "0.608" {
		t.Errorf("found %s in trials of 20 s, want 0.608", r.last())
	}
}

func TestDemo(t *testing.T) {
	r := loadtest(t, "demo")
	if r.code != 0 || r.last() != "0.609" {
		t.Errorf("demo: exit %d, last line %q; want 0 and 0.609\n%s", r.code, r.last(), r.talk)
	}
	if again := loadtest(t, "demo"); again.out != r.out {
		t.Errorf("a second demo printed something else:\n%s\n%s", r.out, again.out)
	}
}

// With a deterministic drop the loss is known to the packet.
func TestSimulatedDropsAreCounted(t *testing.T) {
	for _, tag := range []string{"auto", "never"} {
		t.Run(tag, func(t *testing.T) {
			r := loadtest(t, "replay", "-b", "100kpps", "-D", "1", "--tag", tag, udp(t, 60, false), "sim:lossy/a", "sim:lossy/b")
			s := r.trials()[0].Streams[0]
			if r.code != 1 || s.Sent != 100000 || *s.Lost != 100 {
				t.Errorf("exit %d, sent %d, lost %d; want 1, 100000 and 100", r.code, s.Sent, *s.Lost)
			}
		})
	}
}
