package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"loadtest/internal/lab"
	"loadtest/report"
)

// The addresses that the devices of lab/ take the tester for, and their own: of a port and its number.
const (
	four = "%s=10.10.%d.2/24,gw=10.10.%[2]d.1"
	six  = "%s=fd10:%d::2/64,gw=fd10:%[2]d::1"
)

// addresses are those of both ports.
func addresses(d *lab.Device, forms ...string) (args []string) {
	for _, form := range forms {
		args = append(args, "--addr", fmt.Sprintf(form, d.A, 1), "--addr", fmt.Sprintf(form, d.B, 2))
	}
	return args
}

// A router that has to ask who its neighbours are has the limit of one that was told.
func TestLimitOfRouterThatAsks(t *testing.T) {
	device(t, "nft")
	for _, tt := range []struct {
		name, source string
		args         []string
		bits         float64 // of a packet, on the wire
	}{
		{"IPv4", "gen", nil, 672},
		{"IPv6", "gen:84,ip6", nil, 832},
		{"captured", "", []string{"--mac-dst", "gw"}, 672},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range times(3) {
				d := lab.Up(t, "linux-router.sh", "pps=20000", "burst=400", "neigh=no")
				routeSix(d)
				d.IP("r", "link", "set", "ra", "address", "02:00:00:00:0a:01") // none that a capture knows
				source := tt.source
				if source == "" {
					source = udp(t, 60, false)
				}
				args := append([]string{"-b", "30Mbps", "-p", "200kbps", source, d.A, d.B}, addresses(d, four, six)...)
				near(t, limit(t, append(args, tt.args...)...), 20400*tt.bits/1e9) // the bucket's 400 packets come on top of a trial of 1 s
			}
		})
	}
}

// expiring is a router that forgets its neighbours within a second or so, each at a time of its own, and keeps what waits for them.
func expiring(t *testing.T, options ...string) *lab.Device {
	t.Helper()
	d := lab.Up(t, "linux-router.sh", append(options, "neigh=no")...)
	routeSix(d)
	var settings []string
	for _, port := range []string{"net.ipv4.neigh.ra.", "net.ipv4.neigh.rb.", "net.ipv6.neigh.ra.", "net.ipv6.neigh.rb."} {
		for _, s := range []string{"base_reachable_time_ms=1000", "delay_first_probe_time=1", "gc_stale_time=1", "unres_qlen_bytes=4000000"} {
			settings = append(settings, port+s)
		}
	}
	if out, err := exec.Command("ip", append([]string{"netns", "exec", d.Prefix + "-r", "sysctl", "-qw"}, settings...)...).CombinedOutput(); err != nil {
		t.Fatalf("sysctl: %v: %s", err, out)
	}
	return d
}

// routeSix has the router send gen's IPv6 networks to the tester.
func routeSix(d *lab.Device) {
	d.IP("r", "route", "add", "2001:2:0:1::/64", "via", "fd10:1::2")
	d.IP("r", "route", "add", "2001:2:0:2::/64", "via", "fd10:2::2")
}

// A neighbour is an address of the tester's, and the port of the router that leads there.
type neighbour struct{ address, port string }

func neighbours() []neighbour {
	return []neighbour{{"10.10.1.2", "ra"}, {"fd10:1::2", "ra"}, {"10.10.2.2", "rb"}, {"fd10:2::2", "rb"}}
}

// forget makes the router ask again for a neighbour before it sends it the next packet. An entry that is deleted just when the
// router asks takes the packets with it that wait for an answer; one that is declared dead does not.
func (n neighbour) forget(d *lab.Device) {
	d.IP("r", "neigh", "replace", n.address, "dev", n.port, "nud", "failed")
}

// forgetting goes on until a process has written its end, and says how often it forgot.
func (p *process) forgetting(t *testing.T, d *lab.Device, every time.Duration) (n int64) {
	t.Helper()
	for begun := time.Now(); !strings.Contains(p.written(t), `"type":"end"`) && time.Since(begun) < 30*time.Minute; time.Sleep(every) {
		for _, host := range neighbours() {
			host.forget(d)
		}
		n++
	}
	return n
}

// foreign are the packets of a kind that the ports of a run heard during trials.
func (r run) foreign(kind string) (n int64) {
	for _, x := range r.records {
		trial, ok := x.(*report.Trial)
		if !ok {
			continue
		}
		for _, p := range trial.Ports {
			for _, f := range p.Foreign {
				if f.Kind == kind {
					n += f.Packets
				}
			}
		}
	}
	return n
}

// While a trial runs the router's questions are answered: nothing is lost when it forgets its neighbours. One way is IPv4, where
// it asks by ARP, the other one IPv6.
func TestNothingIsLostWhenNeighborsExpire(t *testing.T) {
	device(t, "nft")
	d := expiring(t)
	length := "20"
	if times(2) > 1 {
		length = "5m"
	}
	args := []string{"replay", "-b", "1kpps", "-D", length, "--drain", "1s", "--max-unsent", "10%",
		"gen", "left", "right", d.A, "gen:84,src=2001:2:0:2::/64,dst=2001:2:0:1::/64", "right", "left", d.B}
	p := patient(t, append(args, addresses(d, four, six)...)...).begin(t)
	p.await(t, `"event":"hello"`)
	n := p.forgetting(t, d, 700*time.Millisecond)
	r := p.wait(t)
	balanced(t, r)
	for _, x := range r.trials() { // several, where the machine stood still
		for _, s := range x.Streams {
			if *s.Lost != 0 {
				t.Errorf("trial %d, %s: lost %d of %d", x.Number, s.Name, *s.Lost, s.Sent)
			} else if s.Sent > 0 {
				t.Logf("trial %d, %s: latency at most %v", x.Number, s.Name, time.Duration(*s.Delay.MaxNs))
			}
		}
	}
	if arp, nd := r.foreign("ARP"), r.foreign("IPv6 ND"); r.code != 0 || n < 10 || 4*arp < 3*n || 4*nd < 3*n {
		t.Errorf("exit %d; forgotten %d times, %d ARP and %d ND; want as many\n%s%s", r.code, n, arp, nd, r.out, r.talk)
	}
}

// Searches find the same limit, for five minutes, while the router forgets its neighbours.
func TestLimitWhileNeighborsExpire(t *testing.T) {
	device(t, "nft")
	if times(2) == 1 {
		t.Skip("takes minutes; set LOADTEST_VERIFY=1, as make verify does")
	}
	d := expiring(t, "pps=20000", "burst=400")
	for begun := time.Now(); time.Since(begun) < 5*time.Minute; {
		args := []string{"find-limit", "-b", "30Mbps", "-p", "50kbps", "-D", "4", "--max-unsent", "3%", "gen", d.A, d.B}
		p := patient(t, append(args, addresses(d, four)...)...).begin(t)
		p.await(t, `"event":"hello"`)
		n := p.forgetting(t, d, 2*time.Second)
		r := p.wait(t)
		near(t, r, (20000+400/4)*672/1e9)
		if arp := r.foreign("ARP"); n < 5 || 2*arp < n {
			t.Errorf("forgotten %d times, %d ARP; want as many", n, arp)
		}
		t.Logf("%s Gbps; %d questions, forgotten %d times", r.last(), r.foreign("ARP"), n)
	}
}

// patient prepares a process that may take as long as its test.
func patient(t *testing.T, args ...string) *process {
	t.Helper()
	p := prepare(t, args...)
	cmd := exec.CommandContext(t.Context(), p.cmd.Path, p.cmd.Args[1:]...)
	cmd.Stdout, cmd.Stderr = p.cmd.Stdout, p.cmd.Stderr
	p.cmd = cmd
	return p
}

// written is what a process has written so far of its JSON.
func (p *process) written(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(p.json)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

// await waits until a process has written text.
func (p *process) await(t *testing.T, text string) {
	t.Helper()
	for until := time.Now().Add(30 * time.Second); !strings.Contains(p.written(t), text); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			_ = p.cmd.Process.Kill()
			t.Fatalf("it has not written %s: %s", text, p.written(t))
		}
	}
}

// frames is how many frames a port of the device received.
func frames(t *testing.T, d *lab.Device, port string) int64 {
	t.Helper()
	out, err := exec.Command("ip", "-n", d.Prefix+"-r", "-s", "-j", "link", "show", port).Output()
	var links []struct {
		Stats struct {
			RX struct{ Packets int64 }
		} `json:"stats64"`
	}
	if err == nil {
		err = json.Unmarshal(out, &links)
	}
	if err != nil || len(links) != 1 {
		t.Fatalf("ip link show %s: %v: %s", port, err, out)
	}
	return links[0].Stats.RX.Packets
}

// A gateway that does not answer ends a run before anything is sent but questions, and what was heard instead is told.
func TestGatewayDoesNotAnswer(t *testing.T) {
	device(t, "nft")
	for _, tt := range []struct {
		name, address, ask string // the router asks for ask meanwhile
		want               string
	}{
		{"silence", "10.10.1.2/24,gw=10.10.1.99", "", `gateway 10\.10\.1\.99 answers no ARP \(3 tries, 1 s each\)\. Heard there: nothing`},
		{"other questions", "10.10.1.2/24,gw=10.10.1.99", "10.10.1.77",
			`gateway 10\.10\.1\.99 answers no ARP \(3 tries, 1 s each\)\. Heard there: [1-9]\d* ARP who-has 10\.10\.1\.77 from 02:00:00:00:01:01`},
		{"IPv6", "fd10:1::2/64,gw=fd10:1::99", "",
			`gateway fd10:1::99 answers no neighbour solicitation \(3 tries, 1 s each\)\. Heard there: nothing`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := lab.Up(t, "linux-router.sh", "neigh=no")
			if tt.ask != "" {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				asker := newPinger(t, d, "r")
				go func() {
					for ctx.Err() == nil {
						_ = asker.ping(netip.MustParseAddr(tt.ask)) // nobody answers
					}
				}()
			}
			r := loadtest(t, "find-limit", "-b", "1Mbps", udp(t, 60, false), d.A, d.B, "--addr", d.A+"="+tt.address, "--addr", fmt.Sprintf(four, d.B, 2))
			want := regexp.MustCompile(`(?m)^loadtest: ` + d.A + `: ` + tt.want + `$`)
			if r.code != 3 || !want.MatchString(r.talk) || len(r.trials()) != 0 || r.said() != nil {
				t.Errorf("exit %d, want 3 and %v:\n%s", r.code, want, r.talk)
			}
			// Who the tester is, and its three questions; where a gateway answers, one.
			if a, b := frames(t, d, "ra"), frames(t, d, "rb"); a != 4 || b < 2 || b > 4 {
				t.Errorf("%d and %d frames were sent, want 4, and 2 or a few more", a, b)
			}
		})
	}
}

// Before a search every port says where it is, so that a switch need not flood what is sent to a port that is silent else.
func TestSwitchLearnsThePorts(t *testing.T) {
	device(t, "nft")
	for _, tt := range []struct {
		name string
		addr bool
		b    string
	}{
		{"without addresses", false, "02:00:00:00:02:02"},
		{"with addresses of their own", true, "02:00:00:00:0b:02"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := lab.Up(t, "linux-bridge.sh")
			bridge := func(args ...string) string {
				t.Helper()
				out, err := exec.Command("bridge", append([]string{"-n", d.Prefix + "-r"}, args...)...).CombinedOutput()
				if err != nil {
					t.Fatalf("bridge %v: %v: %s", args, err, out)
				}
				return string(out)
			}
			bridge("link", "set", "dev", "ra", "learning", "on")
			bridge("link", "set", "dev", "rb", "learning", "on")
			args := []string{"gen", d.A, d.B}
			if tt.addr {
				args = append(args, "--addr", d.A+"=198.18.0.2/15", "--addr", d.B+"=198.19.0.2/15,mac="+tt.b)
			}
			checked(t, args...)
			table := bridge("fdb", "show")
			for _, want := range []string{"02:00:00:00:01:02 dev ra ", tt.b + " dev rb "} {
				if !strings.Contains(table, want) {
					t.Errorf("the bridge has not learnt %s:\n%s", want, table)
				}
			}
		})
	}
}

// A router that forgets its next hop in the middle of a search has not become slow: there is no limit, but what it asks for.
func TestDeviceGoesSilent(t *testing.T) {
	device(t, "nft")
	d := lab.Up(t, "linux-router.sh", "pps=20000", "burst=400")
	p := start(t, "find-limit", "-b", "30Mbps", "-p", "1kbps", "--wait", "2s", udp(t, 60, false), d.A, d.B)
	time.Sleep(5 * time.Second)
	d.IP("r", "neigh", "del", "10.10.2.2", "dev", "rb")
	r := p.wait(t)
	if r.code != 3 || !strings.Contains(r.talk, "ARP who-has 10.10.2.2 from 02:00:00:00:02:01, nobody answers") || !strings.Contains(r.talk, "--addr "+d.B+"=10.10.2.2/") {
		t.Errorf("exit %d, want 3 and what the router asks for:\n%s%s", r.code, r.out, r.talk)
	}
}
