package e2e

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"loadtest/internal/lab"
)

// said are the lines of a run that hello printed, without its name.
func (r run) said() (lines []string) {
	for line := range strings.Lines(r.talk) {
		if text, ok := strings.CutPrefix(line, "hello  "); ok {
			lines = append(lines, strings.TrimSuffix(text, "\n"))
		}
	}
	return lines
}

// checked says hello without a load. What is late on a busy machine is waited for.
func checked(t *testing.T, args ...string) run {
	t.Helper()
	r := loadtest(t, append([]string{"find-limit", "--check", "--drain", "1s"}, args...)...)
	if r.code != 0 || len(r.trials()) != 0 {
		t.Errorf("exit %d, %d trials; want 0 and none\n%s", r.code, len(r.trials()), r.talk)
	}
	return r
}

// bothWays are a capture for each direction, in the form that names its streams left and right.
func bothWays(t *testing.T, d *lab.Device) []string {
	t.Helper()
	return []string{udp(t, 60, false), "left", "right", d.A, udp(t, 60, true), "right", "left", d.B}
}

// nft adds rules in one of the device's namespaces.
func nft(t *testing.T, d *lab.Device, namespace, rules string) {
	t.Helper()
	if out, err := exec.Command("ip", "netns", "exec", d.Prefix+"-"+namespace, "nft", rules).CombinedOutput(); err != nil {
		t.Fatalf("nft %s: %v: %s", rules, err, out)
	}
}

// TestHelloThroughDevices compares the line about what each device does to packets that were made and to captured ones. Where the
// device asks for its neighbours, the tester answers.
func TestHelloThroughDevices(t *testing.T) {
	const captured = "left 100 of 100 back, right 100 of 100 back; "
	made := func(change string) func(d *lab.Device) string {
		return func(d *lab.Device) string {
			return fmt.Sprintf("%s→%s 256 of 256 back, %[2]s→%[1]s 256 of 256 back; %[3]s", d.A, d.B, change)
		}
	}
	for _, tt := range []struct {
		script, option, needs string
		change                string
		sources               []string // "": captured
		addrs                 []string
	}{
		{"linux-bridge.sh", "", "nft", "bridged: nothing changed", []string{"gen", "gen:imix,proto=icmp", "gen:84,ip6", ""}, nil},
		{"linux-router.sh", "", "nft", "one hop (TTL 64→63), addresses unchanged", []string{""}, nil},
		{"linux-router.sh", "neigh=no", "nft", "one hop (TTL 64→63), addresses unchanged",
			[]string{"gen", "gen:1518,src=10.10.1.0/24,dst=10.10.2.0/24", "gen:84,src=fd10:1::/64,dst=fd10:2::/64", ""}, []string{four, six}},
		{"linux-router.sh", "hops=2", "nft", "two hops (TTL 64→62), addresses unchanged", []string{""}, nil},
		{"linux-router.sh", "hops=2 neigh=no", "nft", "two hops (TTL 64→62), addresses unchanged", []string{"gen:imix", ""}, []string{four}},
		{"strongswan-pair.sh", "neigh=no", "strongswan", "two hops (TTL 64→62), addresses unchanged",
			[]string{"gen:64,src=10.10.1.0/24,dst=10.10.2.0/24", ""}, []string{four}},
		{"wireguard-pair.sh", "neigh=no", "wireguard", "two hops (TTL 64→62), addresses unchanged",
			[]string{"gen", "gen:84,src=fd10:1::/64,dst=fd10:2::/64", ""}, []string{four, six}},
	} {
		t.Run(strings.TrimSpace(tt.script+" "+tt.option), func(t *testing.T) {
			device(t, tt.needs)
			d := lab.Up(t, tt.script, strings.Fields(tt.option)...)
			for _, source := range tt.sources {
				args, want := bothWays(t, d), captured+tt.change
				if source != "" {
					args, want = []string{source, d.A, d.B, "--both"}, made(tt.change)(d)
				}
				if got := checked(t, append(args, addresses(d, tt.addrs...)...)...).said(); !slices.Equal(got, []string{want}) {
					t.Errorf("%s: %q, want %q", source, got, want)
				}
			}
		})
	}
}

// TestHelloThroughNAT: what the device makes of the addresses is named, and packets without a tag are matched by the new ones.
func TestHelloThroughNAT(t *testing.T) {
	device(t, "nft")
	const (
		source      = `chain source { type nat hook postrouting priority srcnat; oifname "rb" masquerade; }; `
		ports       = `chain source { type nat hook postrouting priority srcnat; oifname "rb" masquerade random; }; `
		destination = `chain destination { type nat hook prerouting priority dstnat; iifname "ra" dnat to 198.19.0.50; }; `
		never       = " 100 % of its packets go without a tag (--tag never): latency, order and copies are not known, a copy can hide a loss"
		small       = " 100 % of its packets have no room for a tag (18 bytes of payload): latency, order and copies are not known," +
			" a copy can hide a loss; from 76 B on TCP has it"
	)
	file := udp(t, 60, false)
	for _, tt := range []struct {
		name, source string
		args         []string
		chains       string
		want, room   string // regular expression; whole text
	}{
		{"with tags", "gen", nil, source, `256 of 256 back; one hop \(TTL 64→63\), 256 sources → 10\.10\.2\.1`, ""},
		{"TCP without room", "gen:64,proto=tcp", nil, source, `256 of 256 back; one hop \(TTL 64→63\), 256 sources → 10\.10\.2\.1`, small},
		{"no tags", "gen", []string{"--tag", "never"}, source, `256 of 256 back; one hop \(TTL 64→63\), 256 sources → 10\.10\.2\.1`, never},
		{"no tags, other ports", "gen", []string{"--tag", "never"}, ports,
			`256 of 256 back; one hop \(TTL 64→63\), 256 sources → 10\.10\.2\.1, source ports translated \(49184 → \d+, 49184 → \d+, …\)`, never},
		{"captured, no tags", file, []string{"--tag", "never"}, source,
			`100 of 100 back; one hop \(TTL 64→63\), source 10\.10\.1\.2 → 10\.10\.2\.1`, never},
		{"captured, no tags, other destination", file, []string{"--tag", "never"}, destination,
			`100 of 100 back; one hop \(TTL 64→63\), destination 10\.10\.2\.2 → 198\.19\.0\.50`, never},
		{"captured, both ends", file, nil, source + destination,
			`100 of 100 back; one hop \(TTL 64→63\), source 10\.10\.1\.2 → 10\.10\.2\.1, destination 10\.10\.2\.2 → 198\.19\.0\.50`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := lab.Up(t, "linux-router.sh", "neigh=no") // a new one, that has not seen these flows
			nft(t, d, "r", "table ip nat { "+tt.chains+"}")
			args := append([]string{"replay", "-b", "2kpps", "-D", "1", "--max-unsent", "50%", tt.source, d.A, d.B}, addresses(d, four)...)
			r := loadtest(t, append(args, tt.args...)...)
			balanced(t, r)
			name := d.A + "→" + d.B
			lines := r.said()
			if len(lines) == 0 || !regexp.MustCompile("^"+name+" "+tt.want+"$").MatchString(lines[0]) {
				t.Errorf("%q, want %s", lines, tt.want)
			} else if room := lines[1:]; tt.room == "" && len(room) != 0 || tt.room != "" && !slices.Equal(room, []string{name + ":" + tt.room}) {
				t.Errorf("%q, want %q", room, tt.room)
			}
			if x := r.trials(); r.code != 0 || len(x) == 0 {
				t.Errorf("exit %d after %d trials:\n%s", r.code, len(x), r.talk)
			} else if s := x[len(x)-1].Streams[0]; *s.Lost != 0 || s.Sent == 0 || (s.Untagged == s.Sent) != (tt.room != "") {
				t.Errorf("lost %d of %d, %d without a tag\n%s", *s.Lost, s.Sent, s.Untagged, r.talk)
			}
		})
	}
}

// A switch may write another VLAN into what it forwards.
func TestHelloThroughOtherVLAN(t *testing.T) {
	device(t, "nft")
	d := lab.Up(t, "linux-bridge.sh")
	nft(t, d, "r", "add rule netdev dut ra vlan id 5 vlan id set 7")
	nft(t, d, "r", "add rule netdev dut rb vlan id 7 vlan id set 5")
	r := loadtest(t, "replay", "-b", "2kpps", "-D", "1", "--max-unsent", "50%", "gen:68,vlan=5", d.A, d.B)
	want := d.A + "→" + d.B + " 256 of 256 back; bridged: VLAN 5→7"
	if got := r.said(); r.code != 0 || !slices.Equal(got, []string{want}) {
		t.Errorf("exit %d, %q; want 0, %q\n%s", r.code, got, want, r.talk)
	}
	balanced(t, r)
}

// TestHelloNamesWhatHasNoTag: the share, what is not known of it, and from which size on it would be.
func TestHelloNamesWhatHasNoTag(t *testing.T) {
	device(t, "nft")
	d := lab.Up(t, "linux-bridge.sh")
	for _, tt := range []struct{ source, share, from string }{
		{"gen:64,proto=tcp", "100 %", "76 B on TCP"},
		{"gen:64,vlan=5", "100 %", "68 B on UDP"},
		{"gen:66,ip6", "100 %", "84 B on UDP over IPv6"},
		{"gen:imix,proto=tcp,vlan=5", "58.3 %", "80 B on TCP"},
	} {
		t.Run(tt.source, func(t *testing.T) {
			name := d.A + "→" + d.B
			want := []string{name + " 256 of 256 back; bridged: nothing changed",
				name + ": " + tt.share + " of its packets have no room for a tag (18 bytes of payload): latency, order and copies are not known, " +
					"a copy can hide a loss; from " + tt.from + " has it"}
			if got := checked(t, tt.source, d.A, d.B).said(); !slices.Equal(got, want) {
				t.Errorf("%q\nwant %q", got, want)
			}
		})
	}
}

// TestHelloWaits for a device that is not ready at once, and no longer than it is told to.
func TestHelloWaits(t *testing.T) {
	device(t, "nft")
	d := lab.Up(t, "linux-router.sh")
	file := udp(t, 60, false)
	wall := "table inet wall { chain forward { type filter hook forward priority filter; drop; }; }"
	for _, tt := range []struct {
		name     string
		down, up func()
	}{
		{"filter", func() { nft(t, d, "r", wall) }, func() { nft(t, d, "r", "delete table inet wall") }},
		{"route", func() { d.IP("r", "route", "add", "blackhole", "10.10.2.2") }, func() { d.IP("r", "route", "del", "blackhole", "10.10.2.2") }},
		{"link", func() { d.IP("r", "link", "set", "rb", "down") }, func() {
			d.IP("r", "link", "set", "rb", "up")
			d.IP("r", "neigh", "replace", "10.10.2.2", "lladdr", "02:00:00:00:02:02", "dev", "rb")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.down()
			p := start(t, "find-limit", "-b", "1Mbps", "-p", "500kbps", "--max-unsent", "5%", file, "left", "right", d.A, "none", "right", "left", d.B)
			time.Sleep(3 * time.Second)
			if text := p.written(t); strings.Contains(text, `"event":"hello"`) || strings.Contains(text, `"type":"trial"`) {
				t.Errorf("it did not wait: %s", text)
			}
			tt.up()
			r := p.wait(t)
			some := regexp.MustCompile(`^left [1-9]\d* of 100 back( \(not UDP .*\))?; one hop \(TTL 64→63\), addresses unchanged$`)
			if got := r.said(); r.code != 0 || len(got) != 1 || !some.MatchString(got[0]) {
				t.Errorf("exit %d, %q; want 0, %v\n%s", r.code, got, some, r.talk)
			}
			balanced(t, r)
		})
	}
	t.Run("not long", func(t *testing.T) {
		nft(t, d, "r", wall)
		r := loadtest(t, "find-limit", "-b", "1Mbps", "--wait", "1", file, "left", "right", d.A, "none", "right", "left", d.B)
		want := "loadtest: left (" + d.A + "→" + d.B + "): nothing came back in 1 s: 100 sent, 0 of ours at " + d.B + "\n"
		if r.code != 3 || !strings.Contains(r.talk, want) || r.said() != nil || len(r.trials()) != 0 {
			t.Errorf("exit %d, %d trials; want 3, none, %q\n%s", r.code, len(r.trials()), want, r.talk)
		}
	})
}
