package e2e

import (
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"loadtest/internal/lab"
)

// opened makes the ends of a device's veth pairs take live frames, as its driver would on a card.
func opened(t *testing.T, d *lab.Device) {
	t.Helper()
	for _, end := range []string{"ra", "rb"} {
		if out, err := exec.Command("ip", "netns", "exec", d.Prefix+"-r", "ethtool", "-K", end, "gro", "on").CombinedOutput(); err != nil {
			t.Fatalf("ethtool: %v: %s", err, out)
		}
	}
}

// The limit of a device is the device's: it is the same whichever way the tester takes to the wire.
func TestSameLimitByEveryBackend(t *testing.T) {
	device(t, "nft", "xdp", "afxdp")
	kit := dpdkBinary(t)
	for _, tt := range []struct {
		script string
		pps    float64
		load   string
	}{{"linux-router.sh", 20000, "20Mbps"}, {"linux-bridge.sh", 25000, "25Mbps"}} {
		t.Run(tt.script, func(t *testing.T) {
			if tt.script != "linux-router.sh" && times(2) == 1 {
				t.Skip("takes a minute; set LOADTEST_VERIFY=1, as make verify does")
			}
			d := lab.Up(t, tt.script, fmt.Sprintf("pps=%g", tt.pps), "burst=400")
			opened(t, d)
			want := (tt.pps + 400) * 672 / 1e9
			for range times(3) {
				for _, backend := range []string{"afpacket", "afxdp", "xdp", "dpdk"} {
					a, b := backend+":"+d.A, backend+":"+d.B
					args := []string{"find-limit", "-b", tt.load, "-p", "100kbps", udp(t, 60, false), a, b}
					var r run
					if backend == "dpdk" {
						if kit == "" {
							continue
						}
						r = byKit(t, d, kit, args)
					} else {
						r = calmly(t, args...)
					}
					got, err := strconv.ParseFloat(r.last(), 64)
					if err != nil || r.code != 0 || math.Abs(got-want) > 0.03*want {
						t.Errorf("%s found %s Gbps, want %.4f within 3 %% (exit %d)\n%s%s", backend, r.last(), want, r.code, r.out, r.talk)
					}
					t.Logf("%s: %s Gbps", backend, r.last())
				}
			}
		})
	}
}

// A bare name takes live frames where they get through, and the socket where not; the results say which.
func TestBareNameChooses(t *testing.T) {
	device(t, "nft", "xdp")
	d := lab.Up(t, "linux-router.sh")
	for _, want := range []string{"afpacket", "xdp"} {
		r := loadtest(t, "replay", "-b", "1kpps", "-D", "0.3", "--max-unsent", "50%", udp(t, 60, false), d.A, d.B)
		for _, p := range head(t, r).Ports {
			if r.code != 0 || p.Backend != want || (want == "afpacket") != (p.Passed != "") {
				t.Errorf("exit %d, %s through %s, faster refused: %q; want %s\n%s", r.code, p.Name, p.Backend, p.Passed, want, r.talk)
			}
		}
		opened(t, d)
	}
}

// Of a router that drops every 1000th packet exactly those are missing, by its own counter, whichever way they were sent.
func TestEveryThousandthByEveryBackend(t *testing.T) {
	device(t, "nft", "xdp", "afxdp")
	d := lab.Up(t, "linux-router.sh", "every=1000")
	opened(t, d)
	for _, backend := range []string{"afpacket", "afxdp", "xdp"} {
		before, _ := d.Drops()
		r := loadtest(t, "replay", "-b", "20kpps", "-D", "1", "--loss", "1%", udp(t, 60, false), backend+":"+d.A, backend+":"+d.B)
		after, _ := d.Drops()
		var lost, hello int64
		for _, x := range r.trials() {
			for _, s := range x.Streams {
				lost += *s.Lost
				if *s.Duplicated+*s.Reordered+*s.Surplus+*s.Corrupt != 0 {
					t.Errorf("%s: duplicated %d, reordered %d, surplus %d, corrupt %d", backend, *s.Duplicated, *s.Reordered, *s.Surplus, *s.Corrupt)
				}
			}
		}
		hello = after - before - lost // of its packets at most one
		if r.code != 0 || lost < 19 || hello < 0 || hello > 1 {
			t.Errorf("%s: exit %d, lost %d, the router dropped %d\n%s%s", backend, r.code, lost, after-before, r.out, r.talk)
		}
	}
}

// A run that is killed leaves no program, no promiscuous mode, and no namespace.
func TestKilledLeavesNothing(t *testing.T) {
	device(t, "xdp", "afxdp")
	for _, backend := range []string{"xdp", "afxdp", "afpacket"} {
		t.Run(backend, func(t *testing.T) {
			d := lab.Veth(t)
			names, _ := filepath.Glob("/run/netns/*")
			p := prepare(t, "replay", "-b", "10kpps", "-D", "30", "--wait", "0", udp(t, 60, false), backend+":"+d.A, backend+":"+d.B)
			p.begin(t)
			state := func(end string) string {
				out, _ := exec.Command("ip", "-n", d.Prefix+"-"+end, "-d", "link", "show", end+"0").CombinedOutput()
				return string(out)
			}
			attached := func(end string) bool {
				s := state(end)
				return strings.Contains(s, "xdp") || !strings.Contains(s, "promiscuity 0")
			}
			for until := time.Now().Add(20 * time.Second); !attached("a") || !attached("b"); time.Sleep(50 * time.Millisecond) {
				if time.Now().After(until) {
					t.Fatalf("nothing is attached: %s%s", state("a"), p.talk.String())
				}
			}
			time.Sleep(300 * time.Millisecond) // it sends
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait()
			p.cancel()
			for until := time.Now().Add(5 * time.Second); attached("a") || attached("b"); time.Sleep(50 * time.Millisecond) {
				if time.Now().After(until) {
					t.Fatalf("left behind: %s%s", state("a"), state("b"))
				}
			}
			if now, _ := filepath.Glob("/run/netns/*"); len(now) > len(names) {
				t.Errorf("namespaces %v, before %v", now, names)
			}
			r := loadtest(t, "replay", "-b", "1kpps", "-D", "0.2", "--max-unsent", "50%", udp(t, 60, false), backend+":"+d.A, backend+":"+d.B)
			if r.code != 0 {
				t.Errorf("the next run: exit %d: %s", r.code, r.talk)
			}
		})
	}
}

// The tester's own limit is found, and named beside a device's that comes near to it.
func TestSelftest(t *testing.T) {
	device(t)
	d := lab.Veth(t)
	s := shelf{filepath.Join(t.TempDir(), "runs")}
	call := func(args ...string) run {
		p := prepare(t, args...)
		s.in(p.cmd)
		return p.begin(t).wait(t)
	}
	r := call("selftest", "-b", "200kpps", "-p", "20kpps", "-D", "0.2", socket(d.A), socket(d.B))
	if r.code != 0 {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.talk)
	}
	r = call("find-limit", "-b", "200kpps", "-p", "50kpps", "-D", "0.2", udp(t, 60, false), socket(d.A), socket(d.B))
	if r.code == 0 && !strings.Contains(r.out, "(tester alone: ") {
		t.Errorf("no word of the tester's own limit\n%s%s", r.out, r.talk)
	}
}

// dpdkBinary builds the program with DPDK; "" where that is not asked for or not there.
func dpdkBinary(t *testing.T) string {
	t.Helper()
	if times(2) == 1 {
		return ""
	}
	lab.Need(t, "dpdk")
	name := filepath.Join(t.TempDir(), "loadtest")
	build := exec.Command("go", "build", "-tags", "dpdk", "-o", name, "loadtest/cmd/loadtest")
	build.Env = append(build.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return name
}

// byKit calls the program with DPDK on a device's two ports.
func byKit(t *testing.T, d *lab.Device, kit string, args []string) run {
	t.Helper()
	n := len(args)
	args = append(args[:n-2:n-2], "dpdk:net_af_packet0,iface="+d.A+",framecnt=4096", "dpdk:net_af_packet1,iface="+d.B+",framecnt=4096")
	p := prepare(t, args...)
	p.cmd.Path, p.cmd.Args[0] = kit, kit
	return p.begin(t).wait(t)
}

// Ten million packets at half of what a way to the wire can do: each comes back once and in order.
func TestTenMillion(t *testing.T) {
	device(t, "xdp", "afxdp")
	if times(2) == 1 {
		t.Skip("takes minutes; set LOADTEST_VERIFY=1, as make verify does")
	}
	for _, tt := range []struct{ backend, load string }{{"xdp", "3Mpps"}, {"afxdp", "250kpps"}, {"afpacket", "500kpps"}} {
		t.Run(tt.backend, func(t *testing.T) {
			d := lab.Veth(t)
			r := calmly(t, "replay", "--loops", "10000", "-b", tt.load, udp(t, 60, false), tt.backend+":"+d.A, tt.backend+":"+d.B)
			x := r.trials()[len(r.trials())-1]
			s := x.Streams[0]
			if r.code != 0 || s.Intended != 10e6 || *s.Lost+*s.Duplicated+*s.Reordered+*s.Surplus+*s.Late+*s.Corrupt != 0 {
				t.Errorf("exit %d, intended %d, sent %d, lost %d, duplicated %d, reordered %d\n%s%s", r.code, s.Intended, s.Sent, *s.Lost, *s.Duplicated, *s.Reordered, r.out, r.talk)
			}
			t.Logf("%s: sent %d of %d in %.3f s, lateness p50 %d ns, p99 %d ns", tt.backend, s.Sent, s.Intended, float64(x.DurationNs)/1e9, *s.Lateness.P50Ns, *s.Lateness.P99Ns)
		})
	}
}

// Of ten million packets through a router exactly those are missing that it dropped, by its own counter.
func TestTenMillionThroughARouter(t *testing.T) {
	device(t, "nft", "xdp")
	if times(2) == 1 {
		t.Skip("takes minutes; set LOADTEST_VERIFY=1, as make verify does")
	}
	d := lab.Up(t, "linux-router.sh", "every=1000")
	opened(t, d)
	before, _ := d.Drops()
	r := loadtest(t, "replay", "--loops", "10000", "-b", "150kpps", "--wait", "0", "--loss", "1%", "--max-unsent", "5%", udp(t, 60, false), "xdp:"+d.A, "xdp:"+d.B)
	after, _ := d.Drops()
	s := r.trials()[len(r.trials())-1].Streams[0]
	if r.code != 0 || *s.Lost != after-before || *s.Lost < 9000 || *s.Duplicated+*s.Reordered+*s.Surplus != 0 {
		t.Errorf("exit %d, sent %d, lost %d, the router dropped %d, duplicated %d, reordered %d\n%s%s", r.code, s.Sent, *s.Lost, after-before, *s.Duplicated, *s.Reordered, r.out, r.talk)
	}
}
