package e2e

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"loadtest/internal/lab"
	"loadtest/packet"
	"loadtest/pcap"
	"loadtest/report"
)

// hairpin is a network of one port, whose router sends everything back.
const hairpin = `ports: [{name: a}]
links: [{name: cable, between: [a, router.left], rate: 1G}]
nodes:
  - name: router
    kind: router
    hairpin: true
    interfaces: [{name: left, mac: "02:00:00:00:01:01", next-hop-mac: "02:00:00:00:01:02", addresses: [10.10.1.1]}]
    routes: [{to: 0.0.0.0/0, interface: left}]
`

// at runs the program in a folder.
func at(dir string) func(*exec.Cmd) { return func(cmd *exec.Cmd) { cmd.Dir = dir } }

// in runs the program in a folder to its end, and reads its JSON.
func in(t *testing.T, dir string, args ...string) run {
	t.Helper()
	p := prepare(t, args...)
	p.cmd.Dir = dir
	return p.begin(t).wait(t)
}

// write makes a file.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// conversation is two flows of TCP with the packets of both sides, 20 ms apart: SYN, SYN ACK, two of the client, one of the server.
func conversation() []said {
	var all []said
	for _, client := range []string{"10.10.1.2:20000", "10.10.1.3:20001"} {
		there := said{proto: packet.ProtoTCP, src: client, dst: "10.10.2.2:80", flags: 0x10}
		back := said{proto: packet.ProtoTCP, src: "10.10.2.2:80", dst: client, flags: 0x10, swapMAC: true}
		syn, synAck := there, back
		syn.flags, synAck.flags = 2, 0x12
		all = append(all, syn, synAck, there, there, back)
	}
	return all
}

// forms is a folder with what the arguments of these tests name.
func forms(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var there, back []said
	for i := range 10 {
		port := strconv.Itoa(4096 + i)
		there = append(there, said{src: "10.10.1.2:" + port, dst: "10.10.2.2:9"})
		back = append(back, said{src: "10.10.2.2:" + port, dst: "10.10.1.2:9", swapMAC: true})
	}
	put(t, filepath.Join(dir, "there.pcap"), store(time.Millisecond, there...))
	put(t, filepath.Join(dir, "back.pcap"), store(time.Millisecond, back...))
	put(t, filepath.Join(dir, "talk.pcap"), store(20*time.Millisecond, conversation()...))
	put(t, filepath.Join(dir, "cooked.pcap"), cooked(store(20*time.Millisecond, conversation()...)))
	write(t, filepath.Join(dir, "hairpin.yaml"), hairpin)
	write(t, filepath.Join(dir, "wire.yaml"), "ports: [{name: a}, {name: b}]\nlinks: [{name: cable, between: [a, b], rate: 1G}]\n")
	write(t, filepath.Join(dir, "test.yaml"), "streams:\n  - {name: one, source: there.pcap, tx: sim:wire/a, rx: sim:wire/b}\n"+
		"  - {source: back.pcap, tx: sim:wire/b, rx: sim:wire/a, share: 2}\n")
	return dir
}

// A flow is what a run says of a stream, and how much of the load it carries.
type flow struct {
	name, source, tx, rx string
	share                float64
}

func (f flow) String() string {
	return fmt.Sprintf("%s: %s %s→%s ×%g", f.name, f.source, f.tx, f.rx, f.share)
}

// Each form of arguments gives its streams, with every verb, and each stream has its part of the load: exactly so in virtual time.
func TestForms(t *testing.T) {
	dir := forms(t)
	const a, b, pin = "sim:wire/a", "sim:wire/b", "sim:hairpin.yaml/a"
	there, back := flow{"sim:wire/a→sim:wire/b", "there.pcap", a, b, 1}, flow{"sim:wire/b→sim:wire/a", "there.pcap", b, a, 1}
	for _, tt := range []struct {
		name, args string
		want       []flow
	}{
		{"pair", "there.pcap A B", []flow{there}},
		{"pair the other way", "there.pcap B A", []flow{back}},
		{"pair of generated packets", "gen A B", []flow{{there.name, "gen", a, b, 1}}},
		{"pair of one port", "there.pcap PIN PIN", []flow{{pin + "→" + pin, "there.pcap", pin, pin, 1}}},
		{"both", "there.pcap A B --both", []flow{there, back}},
		{"both of generated packets", "gen:128,flows=4 A B --both", []flow{{there.name, "gen:128,flows=4", a, b, 1}, {back.name, "gen:128,flows=4", b, a, 1}}},
		{"split", "talk.pcap A B --split", []flow{{there.name, "talk.pcap", a, b, 1}, {back.name, "talk.pcap", b, a, 1}}},
		{"not to be split", "talk.pcap A B --split=no", []flow{{there.name, "talk.pcap", a, b, 1}}},
		{"one group and a port that receives", "there.pcap x y A none y x B", []flow{{"x", "there.pcap", a, b, 1}}},
		{"the port that receives first", "none y x B there.pcap x y A", []flow{{"x", "there.pcap", a, b, 1}}},
		{"two groups", "there.pcap x y A back.pcap y x B", []flow{{"x", "there.pcap", a, b, 1}, {"y", "back.pcap", b, a, 1}}},
		{"a group by itself", "there.pcap x x PIN", []flow{{"x", "there.pcap", pin, pin, 1}}},
		{"streams", "--stream src=there.pcap,tx=A,rx=B --stream src=back.pcap,tx=B,rx=A,name=back", []flow{there, {"back", "back.pcap", b, a, 1}}},
		{"streams of one port", "--stream src=there.pcap,tx=A,rx=B,name=x --stream src=gen:64,flows=7,proto=tcp,tx=A,rx=B,name=y",
			[]flow{{"x", "there.pcap", a, b, 1}, {"y", "gen:64,flows=7,proto=tcp", a, b, 1}}},
		{"shares", "--stream src=there.pcap,tx=A,rx=B,name=x,share=2 --stream src=back.pcap,tx=B,rx=A,name=y,share=0.5",
			[]flow{{"x", "there.pcap", a, b, 2}, {"y", "back.pcap", b, a, 0.5}}},
		{"a file", "-f test.yaml", []flow{{"one", "there.pcap", a, b, 1}, {back.name, "back.pcap", b, a, 2}}},
		{"a file and other streams", "-f test.yaml there.pcap A B", []flow{there}},
	} {
		for _, verb := range []string{"replay -D 1", "find-limit -D 100ms", "transient -D 100ms -s 10kpps -p ramp_up --warmup 0"} {
			word, _, _ := strings.Cut(verb, " ")
			t.Run(tt.name+"/"+word, func(t *testing.T) {
				args := append(strings.Fields(verb), "-b", "20kpps", "--mac-dst", "02:00:00:00:01:01")
				args = append(args, strings.Fields(strings.NewReplacer("A", a, "B", b, "PIN", pin).Replace(strings.ReplaceAll(tt.args, "PIN", "P!N")))...)
				for i := range args {
					args[i] = strings.ReplaceAll(args[i], "P!N", pin)
				}
				r := in(t, dir, args...)
				if r.code != 0 {
					t.Fatalf("exit %d: %s%s", r.code, r.out, r.talk)
				}
				if got := flows(t, r); !slices.Equal(got, tt.want) {
					t.Errorf("streams %v, want %v", got, tt.want)
				}
				balanced(t, r)
				for _, x := range r.trials() {
					for i, s := range x.Streams {
						want := int64(*x.IntendedPps * float64(*x.AskedNs) / 1e9 * tt.want[i].share)
						if s.Name != tt.want[i].name || s.Sent != want || *s.Received != want {
							t.Errorf("trial %d of %v packets/s: %s sent %d and received %d, want %s with %d", x.Number, *x.IntendedPps, s.Name, s.Sent,
								*s.Received, tt.want[i].name, want)
						}
					}
				}
			})
		}
	}
}

// flows are a run's streams as its first record has them.
func flows(t *testing.T, r run) (all []flow) {
	t.Helper()
	for _, s := range head(t, r).Streams {
		all = append(all, flow{s.Name, s.Source, s.TX, s.RX, s.Share})
	}
	return all
}

// SOURCE PORT: in either order, expected back at the port, except that replay only sends.
func TestShortForm(t *testing.T) {
	dir := forms(t)
	const pin = "sim:hairpin.yaml/a"
	for _, source := range []string{"there.pcap", "gen:64,flows=8"} {
		for _, order := range [][]string{{source, pin}, {pin, source}} {
			for _, verb := range []string{"replay", "find-limit", "transient"} {
				t.Run(verb+" "+strings.Join(order, " "), func(t *testing.T) {
					r := in(t, dir, append([]string{verb, "-b", "20kpps", "-D", "100ms", "--mac-dst", "02:00:00:00:01:01"}, order...)...)
					want := flow{pin, source, pin, pin, 1}
					if verb == "replay" {
						want.rx = ""
					}
					if got := flows(t, r); r.code != 0 || !slices.Equal(got, []flow{want}) {
						t.Errorf("exit %d, streams %v, want %v: %s", r.code, got, want, r.talk)
					}
					if s := r.trials()[0].Streams[0]; (s.Received == nil) != (verb == "replay") || s.Sent == 0 {
						t.Errorf("sent %d, received %v; replay only sends", s.Sent, s.Received)
					}
				})
			}
		}
	}
}

// Streams with rates of their own need no load; -b is then that of the fastest.
func TestOwnRates(t *testing.T) {
	dir := forms(t)
	streams := []string{"--stream", "src=there.pcap,tx=sim:wire/a,rx=sim:wire/b,name=x,rate=30kpps", "--stream", "src=back.pcap,tx=sim:wire/b,rx=sim:wire/a,name=y,rate=10kpps"}
	for _, tt := range []struct {
		verb string
		x, y int64
	}{{"replay -D 1", 30000, 10000}, {"replay -D 1 -b 60kpps", 60000, 20000}, {"find-limit -D 1 --search bisect", 30000, 10000}} {
		t.Run(tt.verb, func(t *testing.T) {
			r := in(t, dir, append(strings.Fields(tt.verb), streams...)...)
			if r.code != 0 {
				t.Fatal(r.talk)
			}
			if s := r.trials()[0].Streams; s[0].Sent != tt.x || s[1].Sent != tt.y {
				t.Errorf("sent %d and %d, want %d and %d", s[0].Sent, s[1].Sent, tt.x, tt.y)
			}
			if want := "0.02016"; strings.HasPrefix(tt.verb, "find") && r.last() != want {
				t.Errorf("the last line is %s, want the load %s", r.last(), want)
			}
		})
	}
}

// What is wrong with a stream is told in its words.
func TestMistakesOfStreams(t *testing.T) {
	dir := forms(t)
	const good = "src=there.pcap,tx=sim:wire/a"
	for _, tt := range []struct{ args, want string }{
		{"--stream src=gen", `--stream "src=gen": want src=SOURCE,tx=PORT[,rx=PORT][,name=N][,rate=R], as src=a.pcap,tx=eth2,rx=eth3`},
		{"--stream tx=sim:wire/a,rx=sim:wire/b", `--stream "tx=sim:wire/a,rx=sim:wire/b": want src=SOURCE,tx=PORT`},
		{"--stream " + good + ",rate=1G,share=2", `--stream "` + good + `,rate=1G,share=2": rate and share exclude each other`},
		{"--stream " + good + ",rate=40%", `--stream "` + good + `,rate=40%": rate 40%: want bits, packets or a multiple of the captured pace, as 1G, 10kpps or x2`},
		{"--stream " + good + ",rate=10GB", `--stream "` + good + `,rate=10GB": rate "10GB": bytes are no rate here. `},
		{"--stream " + good + ",share=0", `--stream "` + good + `,share=0": share "0": want a factor on the load above 0, as 2 or 0.5`},
		{"--stream " + good + ",share=half", `share "half": want a factor on the load above 0, as 2 or 0.5`},
		{"--stream name=x,name=y", `--stream "name=x,name=y": name= stands twice`},
		{"--stream name=x,nmae=y", `--stream "name=x,nmae=y": "nmae=y" is none of src=, tx=, rx=, name=, rate=, share=. Did you mean name=?`},
		{"--stream fast", `--stream "fast": "fast" is none of src=, tx=, rx=, name=, rate=, share=.`},
		{"--stream " + good + " gen sim:wire/a sim:wire/b", "replay: gen sim:wire/a sim:wire/b beside --stream: want one or the other"},
		{"--stream " + good + " --stream " + good, "two streams are named sim:wire/a: results could not be told apart; want name= for each"},
		{"--stream " + good + ",rate=1G --stream " + good + ",name=x,rate=1kpps", "stream x has rate 1kpps, another 1Gbps: want all in bits, all in packets, or all as multiples of the captured pace"},
		{"--stream " + good + ",rate=1G --stream " + good + ",name=x", "stream x has no rate, but others have: want rate= for each, or share= for each"},
		{"--stream src=gen:1,tx=sim:wire/a,rx=sim:wire/b", `"gen:1": `},
		{"--stream src=nosuch.pcap,tx=sim:wire/a", "nosuch.pcap: open: no such file or directory"},
		{"--stream src=there.pcap,tx=sim:wire/c", `port "sim:wire/c": network wire: no port "c"; it has a, b`},
		{"there.pcap x y sim:wire/a", `stream 1 expects its packets at "y", but no stream is named so. Names: x. For a port that only receives: none y x PORT`},
		{"there.pcap x x sim:wire/a there.pcap x x sim:wire/b", `the name "x" stands for two streams; each TX needs a name of its own`},
		{"there.pcap x y sim:wire/a there.pcap y x sim:wire/a", `port sim:wire/a stands for "x" and for "y"; each group needs a port of its own`},
		{"there.pcap sim:wire/a sim:wire/b --both sim:wire/a sim:wire/b", "replay: 5 arguments; want SOURCE A B"},
		{"there.pcap sim:wire/a --both", "--both belongs to the form SOURCE A B"},
		{"there.pcap x y sim:wire/a back.pcap y x sim:wire/b --both", "--both belongs to the form SOURCE A B"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			code, out, talk := on(t, at(dir), append([]string{"replay"}, strings.Fields(tt.args)...)...)
			if code != 2 || out != "" || !strings.HasPrefix(talk, "loadtest: ") || !strings.Contains(talk, tt.want) || strings.Count(talk, "\n") != 1 {
				t.Errorf("exit %d, %q, %s; want 2, %s", code, out, talk, tt.want)
			}
		})
	}
}

// Each kind of source sends what it says.
func TestSources(t *testing.T) {
	dir := forms(t)
	want, err := pcap.ReadFile(filepath.Join(dir, "there.pcap"))
	if err != nil {
		t.Fatal(err)
	}
	ng(t, filepath.Join(dir, "there.pcapng"), want)
	text, err := os.ReadFile(filepath.Join(dir, "there.pcapng"))
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{"there.pcap", "there.pcapng", "-"} {
		t.Run(source, func(t *testing.T) {
			stdin := func(cmd *exec.Cmd) { cmd.Dir, cmd.Stdin = dir, bytes.NewReader(text) }
			if code, _, talk := on(t, stdin, "replay", "--credit", "1m", "--tag", "never", source, "pcap:out.pcap"); code != 0 {
				t.Fatalf("exit %d: %s", code, talk)
			}
			sentAre(t, filepath.Join(dir, "out.pcap"), want)
		})
	}
	for _, tt := range []struct{ name, args, want string }{
		{"none alone", "find-limit none A", `none sends nothing; it stands in groups of SOURCE TX RX PORT, for a port that only receives`},
		{"none to a pair", "replay none A B", `none sends nothing; it stands in groups of SOURCE TX RX PORT, for a port that only receives`},
		{"nothing but none", "replay none x y A none y x B", "every source is none: nothing to send"},
		{"none as a stream", "replay --stream src=none,tx=A", "nothing is sent; a port that only receives is the rx of a stream"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, out, talk := on(t, at(dir), strings.Fields(strings.NewReplacer("A", "sim:wire/a", "B", "sim:wire/b").Replace(tt.args))...)
			if code != 2 || out != "" || !strings.Contains(talk, tt.want) {
				t.Errorf("exit %d, %q, %q; want 2 and %s", code, out, talk, tt.want)
			}
		})
	}
}

// ng writes a store as pcapng.
func ng(t *testing.T, path string, s *packet.Store) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := pcapgo.NewNgWriter(f, layers.LinkTypeEthernet)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Len() {
		p := s.Frame(i)
		if err := w.WritePacket(gopacket.CaptureInfo{Timestamp: time.Unix(0, p.Nanos), CaptureLength: len(p.Data), Length: len(p.Data)}, p.Data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}

// sent reads what a pcap: port has written.
func sent(t *testing.T, path string) *packet.Store {
	t.Helper()
	s, err := pcap.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sentAre checks that a pcap: port has the packets of a store, in their order.
func sentAre(t *testing.T, path string, want *packet.Store) {
	t.Helper()
	got := sent(t, path)
	if got.Len() != want.Len() {
		t.Fatalf("%d packets were sent, want %d", got.Len(), want.Len())
	}
	for i := range want.Len() {
		if !bytes.Equal(got.Frame(i).Data, want.Frame(i).Data) {
			t.Errorf("packet %d: sent\n%x, want\n%x", i+1, got.Frame(i).Data, want.Frame(i).Data)
		}
	}
}

// Every option of gen is seen in what is sent.
func TestGenerated(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		source   string
		sizes    []int // with FCS
		flows    int
		proto    uint8
		src, dst string
		vlan     int
	}{
		{"gen", []int{64}, 256, packet.ProtoUDP, "198.18.0.0/16", "198.19.0.0/16", 0},
		{"gen:512", []int{512}, 256, packet.ProtoUDP, "198.18.0.0/16", "198.19.0.0/16", 0},
		{"gen:imix", []int{64, 594, 1518}, 256, packet.ProtoUDP, "198.18.0.0/16", "198.19.0.0/16", 0},
		{"gen,flows=5", []int{64}, 5, packet.ProtoUDP, "198.18.0.0/16", "198.19.0.0/16", 0},
		{"gen:128,proto=tcp", []int{128}, 256, packet.ProtoTCP, "198.18.0.0/16", "198.19.0.0/16", 0},
		{"gen:128,proto=icmp,flows=3", []int{128}, 3, packet.ProtoICMP, "198.18.0.0/16", "198.19.0.0/16", 0},
		{"gen,src=10.1.0.0/24,dst=10.2.3.4,flows=100", []int{64}, 100, packet.ProtoUDP, "10.1.0.0/24", "10.2.3.4/32", 0},
		{"gen:100,vlan=7", []int{100}, 256, packet.ProtoUDP, "198.18.0.0/16", "198.19.0.0/16", 7},
		{"gen:100,ip6", []int{100}, 256, packet.ProtoUDP, "2001:2:0:1::/64", "2001:2:0:2::/64", 0},
		{"gen:200,flows=9,proto=tcp,src=fd01::/64,dst=fd02::/64,vlan=4094", []int{200}, 9, packet.ProtoTCP, "fd01::/64", "fd02::/64", 4094},
	} {
		t.Run(tt.source, func(t *testing.T) {
			r := in(t, dir, "replay", "-b", "10kpps", "--credit", "1m", "--mac-dst", "02:00:00:00:00:07", "--mac-src", "02:00:00:00:00:08", tt.source, "pcap:out.pcap")
			if r.code != 0 {
				t.Fatalf("exit %d: %s", r.code, r.talk)
			}
			s := sent(t, filepath.Join(dir, "out.pcap"))
			if want := tt.flows * max(1, 12*(len(tt.sizes)/3)); s.Len() != want {
				t.Errorf("%d packets in one pass, want %d", s.Len(), want)
			}
			sizes, tuples := map[int]bool{}, map[string]bool{}
			src, dst := netip.MustParsePrefix(tt.src), netip.MustParsePrefix(tt.dst)
			for i := range s.Len() {
				b := s.Frame(i).Data
				h, ok := packet.Parse(b)
				from, to, _ := packet.Addresses(b)
				vlan := 0
				if b[12] == 0x81 && b[13] == 0 {
					vlan = int(b[14]&15)<<8 | int(b[15])
				}
				if !ok || h.Proto != tt.proto || !src.Contains(from) || !dst.Contains(to) || vlan != tt.vlan ||
					!bytes.Equal(b[:12], []byte{2, 0, 0, 0, 0, 7, 2, 0, 0, 0, 0, 8}) {
					t.Fatalf("packet %d: protocol %d, %v to %v, VLAN %d: %x", i+1, h.Proto, from, to, vlan, b[:60])
				}
				sizes[len(b)+4] = true
				tuples[fmt.Sprint(from, to, b[h.L4:h.L4+4])] = true
			}
			if tt.proto == packet.ProtoICMP { // its first four bytes hold a checksum
				tt.flows = len(tuples)
			}
			if len(tuples) != tt.flows || len(sizes) != len(tt.sizes) {
				t.Errorf("%d flows in sizes %v, want %d in %v", len(tuples), sizes, tt.flows, tt.sizes)
			}
			for _, size := range tt.sizes {
				if !sizes[size] {
					t.Errorf("no packet of %d bytes: %v", size, sizes)
				}
			}
		})
	}
}

// Each kind of port.
func TestPorts(t *testing.T) {
	dir := forms(t)
	for _, tt := range []struct {
		name, a, b, want string
		code             int
	}{
		{"embedded network", "sim:wire/a", "sim:wire/b", "sim:wire/a  10G, sim virtual", 0},
		{"network of a file", "sim:wire.yaml/a", "sim:wire.yaml/b", "sim:wire.yaml/a  1G, sim virtual", 0},
		{"network by path", "sim:" + dir + "/wire.yaml/a", "sim:" + dir + "/wire.yaml/b", "1G, sim virtual", 0},
		{"two networks", "sim:wire/a", "sim:wire.yaml/b", "sim:wire/a→sim:wire.yaml/b: nothing came back in 10 s", 3},
		{"file", "pcap:out.pcap", "sim:wire/a", "pcap:out.pcap  pcap written, not sent", 3},
		{"PCI address", "ff:1f.7", "ff:1f.6", "loadtest: ff:1f.7: no such PCI device. All: loadtest ports\n", 2},
		{"PCI address in full", "0000:ff:1f.7", "ff:1f.6", "loadtest: 0000:ff:1f.7: no such PCI device. All: loadtest ports\n", 2},
		{"no such interface", "nosuch0", "nosuch1", `loadtest: port "nosuch0": no such interface`, 2},
		{"no such interface by backend", "afpacket:nosuch0", "afpacket:nosuch1", `no such interface`, 2},
		{"simulated beside real", "sim:wire/a", "lo", "a trial has either simulated or real ports", 2},
		{"unknown backend", "afxyz:eth2", "sim:wire/b", `no backend "afxyz"; there are: afpacket, afxdp, xdp, dpdk, netmap, pcap, sim`, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, _, talk := on(t, at(dir), "replay", "-b", "10kpps", "there.pcap", tt.a, tt.b)
			if code != tt.code || !strings.Contains(talk, tt.want) {
				t.Errorf("exit %d, %s; want %d, %s", code, talk, tt.code, tt.want)
			}
		})
	}
	t.Run("interfaces", func(t *testing.T) {
		device(t)
		d := lab.Veth(t)
		for backend, ports := range map[string][2]string{"xdp": {d.A, d.B}, "afpacket": {"afpacket:" + d.B, "afpacket:" + d.A}, "afxdp": {"afxdp:" + d.A, "afxdp:" + d.B}} {
			r := in(t, dir, "replay", "-b", "1kpps", "-D", "1", "--max-unsent", "50%", "there.pcap", ports[0], ports[1])
			p := head(t, r).Ports
			if s := r.trials()[len(r.trials())-1].Streams[0]; r.code != 0 || s.Sent == 0 || *s.Lost != 0 || p[0].Name != ports[0] || p[0].Backend != backend {
				t.Errorf("%v: exit %d, sent %d, %+v: %s", ports, r.code, s.Sent, p, r.talk)
			}
		}
	})
}

// --both sends the same packets the other way, with addresses and ports swapped, and right checksums.
func TestBothSwaps(t *testing.T) {
	dir := forms(t)
	r := in(t, dir, "replay", "-b", "10kpps", "--both", "--tag", "never", "there.pcap", "sim:wire/a", "sim:wire/b")
	if r.code != 0 || len(r.trials()[0].Streams) != 2 {
		t.Errorf("through a cable: exit %d: %s%s", r.code, r.out, r.talk)
	}
	balanced(t, r)
	if code, _, talk := on(t, at(dir), "replay", "--credit", "1m", "--both", "--tag", "never", "there.pcap", "pcap:a.pcap", "pcap:b.pcap"); code != 3 {
		t.Fatalf("exit %d, want 3, as files answer nobody: %s", code, talk)
	}
	there, err := pcap.ReadFile(filepath.Join(dir, "there.pcap"))
	if err != nil {
		t.Fatal(err)
	}
	sentAre(t, filepath.Join(dir, "a.pcap"), there)
	back := sent(t, filepath.Join(dir, "b.pcap"))
	if back.Len() != there.Len() {
		t.Fatalf("%d packets went back, want %d", back.Len(), there.Len())
	}
	for i := range back.Len() {
		want := said{src: "10.10.2.2:9", dst: "10.10.1.2:" + strconv.Itoa(4096+i), swapMAC: true}.frame()
		want[5], want[11] = 2, 1
		if !bytes.Equal(back.Frame(i).Data, want) {
			t.Errorf("packet %d: sent back\n%x, want\n%x", i+1, back.Frame(i).Data, want)
		}
	}
}

// --split sends clients' packets out of the one port and servers' out of the other, by each of its rules.
func TestSplit(t *testing.T) {
	dir := forms(t)
	all := store(20*time.Millisecond, conversation()...)
	for _, tt := range []struct {
		name, args string
		clients    func(i int, s said) bool
	}{
		{"by itself", "--split talk.pcap", func(_ int, s said) bool { return !s.swapMAC }},
		{"auto", "--split=auto talk.pcap", func(_ int, s said) bool { return !s.swapMAC }},
		{"where clients are", "--split=10.10.1.0/24 talk.pcap", func(_ int, s said) bool { return !s.swapMAC }},
		{"where one client is", "--split=10.10.1.2 talk.pcap", func(_ int, s said) bool { return s.src == "10.10.1.2:20000" }},
		{"clients are behind the other", "--split=10.10.2.0/24 talk.pcap", func(_ int, s said) bool { return s.swapMAC }},
		{"by MAC address", "--split=mac talk.pcap", func(_ int, s said) bool { return !s.swapMAC }},
		{"by direction", "--split=sll --mac-dst 02:00:00:00:00:07 --mac-src 02:00:00:00:00:08 cooked.pcap", func(_ int, s said) bool { return !s.swapMAC }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, _, talk := on(t, at(dir), append(strings.Fields("replay -b 1kpps --credit 1m --tag never "+tt.args), "pcap:a.pcap", "pcap:b.pcap")...)
			if code != 3 {
				t.Fatalf("exit %d, want 3, as files answer nobody: %s", code, talk)
			}
			var sides [2]*packet.Store
			for i := range sides {
				sides[i] = &packet.Store{}
			}
			for i, s := range conversation() {
				side := sides[1]
				if tt.clients(i, s) {
					side = sides[0]
				}
				b := bytes.Clone(all.Frame(i).Data)
				if strings.Contains(tt.args, "cooked") {
					copy(b, []byte{2, 0, 0, 0, 0, 7, 2, 0, 0, 0, 0, 8})
				}
				side.Append(b, 0, len(b))
			}
			sentAre(t, filepath.Join(dir, "a.pcap"), sides[0])
			sentAre(t, filepath.Join(dir, "b.pcap"), sides[1])
		})
	}
	t.Run("no", func(t *testing.T) {
		if code, _, talk := on(t, at(dir), "replay", "-b", "1kpps", "--credit", "1m", "--tag", "never", "--split=no", "talk.pcap", "pcap:a.pcap"); code != 0 {
			t.Fatalf("exit %d: %s", code, talk)
		}
		sentAre(t, filepath.Join(dir, "a.pcap"), all)
	})
	for _, tt := range []struct{ args, want string }{
		{"talk.pcap A", "--split belongs to the form SOURCE A B"},
		{"gen A B", "--split: gen has one side only; both directions at once: --both"},
		{"--both talk.pcap A B", "--both and --split exclude each other"},
		{"talk.pcap A A", "sim:wire/a and sim:wire/a are one port"},
		{"there.pcap A B", "leaves one side without packets (10 and 0)"},
		{"--split=some talk.pcap A B", `loadtest: --split "some": want auto, mac, sll, no, or where clients are`},
		{"--split=no --both talk.pcap A A", "sim:wire/a and sim:wire/a are one port"},
		{"--split=sll talk.pcap A B", "split by sll: want a Linux cooked capture, not Ethernet"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			args := strings.Fields("replay -b 1kpps --split " + strings.NewReplacer("A", "sim:wire/a", "B", "sim:wire/b").Replace(tt.args))
			if code, out, talk := on(t, at(dir), args...); code != 2 || out != "" || !strings.Contains(talk, tt.want) {
				t.Errorf("exit %d, %q, %s; want 2, %s", code, out, talk, tt.want)
			}
		})
	}
}

// A capture that is split keeps its pace across both ports: no packet is early, and those of both sides alternate as they did.
func TestSplitKeepsOrder(t *testing.T) {
	dir := forms(t)
	talk := conversation()
	all := store(20*time.Millisecond, talk...)
	for again := 0; ; again++ {
		r := in(t, dir, "replay", "--credit", "1m", "--tag", "never", "--split", "talk.pcap", "pcap:a.pcap", "pcap:b.pcap")
		if r.code != 3 {
			t.Fatalf("exit %d, want 3, as files answer nobody: %s", r.code, r.talk)
		}
		x := r.trials()[len(r.trials())-1]
		if late := max(*x.Streams[0].Lateness.MaxNs, *x.Streams[1].Lateness.MaxNs); late > 5e6 && again < 20 { // the machine was busy
			continue
		}
		sides := []*packet.Store{sent(t, filepath.Join(dir, "a.pcap")), sent(t, filepath.Join(dir, "b.pcap"))}
		if n := sides[0].Len() + sides[1].Len(); n != len(talk) {
			t.Fatalf("%d packets were sent, want %d", n, len(talk))
		}
		next, begun := [2]int{}, sides[0].Frame(0).Nanos
		for i, s := range talk {
			side := 0
			if s.swapMAC {
				side = 1
			}
			got := sides[side].Frame(next[side])
			next[side]++
			due := all.Frame(i).Nanos - all.Frame(0).Nanos
			if off := got.Nanos - begun - due; off < -10e6 || off > 10e6 {
				t.Errorf("packet %d was sent %v after the first, want %v", i+1, time.Duration(got.Nanos-begun), time.Duration(due))
			}
			if !bytes.Equal(got.Data, all.Frame(i).Data) {
				t.Errorf("packet %d is %x, want %x", i+1, got.Data, all.Frame(i).Data)
			}
		}
		return
	}
}

// --sizes makes one run of each size, with a row each and no number alone at the end.
func TestSizes(t *testing.T) {
	for _, tt := range []struct {
		line    string
		purpose string
		trials  int // of each size
	}{
		{"find-limit -b 1G -D 10ms --search bisect", report.Search, 1},
		{"replay -b 1G -D 10ms", report.Replay, 1},
		{"transient -b 1G -D 10ms -s 500M -p ramp_up --warmup 0", report.Ramp, 2},
	} {
		t.Run(tt.line, func(t *testing.T) {
			r := loadtest(t, append(strings.Fields(tt.line), "--sizes", "64, 512,imix", "gen", "sim:wire/a", "sim:wire/b")...)
			if r.code != 0 {
				t.Fatalf("exit %d: %s", r.code, r.talk)
			}
			if got := head(t, r).Settings.Sizes; !slices.Equal(got, []string{"64 B", "512 B", "imix"}) {
				t.Errorf("the run says sizes %q", got)
			}
			count := map[string]int{}
			for i, x := range r.trials() {
				count[x.Size]++
				if x.Number != i+1 || x.Purpose != tt.purpose {
					t.Errorf("trial %d of %s has number %d", i+1, x.Purpose, x.Number)
				}
				s := x.Streams[0]
				if mean := float64(s.SentBytes) / float64(s.Sent); x.Size == "64 B" && mean != 60 || x.Size == "512 B" && mean != 508 ||
					x.Size == "imix" && (mean < 320 || mean > 390) {
					t.Errorf("trial %d of %s: %.1f bytes a packet", x.Number, x.Size, mean)
				}
			}
			for _, size := range []string{"64 B", "512 B", "imix"} {
				if count[size] != tt.trials {
					t.Errorf("%d trials of %s, want %d", count[size], size, tt.trials)
				}
			}
			if _, err := strconv.ParseFloat(r.last(), 64); err == nil {
				t.Errorf("the last line is a number alone: %s", r.last())
			}
			if !strings.HasPrefix(tt.line, "find") {
				return
			}
			var answers []string
			for _, x := range r.records {
				if v, ok := x.(*report.Verdict); ok {
					answers = append(answers, v.Size)
				}
			}
			if !slices.Equal(answers, []string{"64 B", "512 B", "imix"}) {
				t.Errorf("answers for %q", answers)
			}
			for _, row := range []string{"\n 64 B   0     1.000 Gbps  1.488 ", "\n 512 B  0     1.000 Gbps  0.235 ", "\n imix   0     1.000 Gbps  0.32"} {
				if !strings.Contains(r.out, row) {
					t.Errorf("no row %q in\n%s", row, r.out)
				}
			}
		})
	}
	t.Run("one size", func(t *testing.T) {
		r := loadtest(t, "find-limit", "-b", "1G", "-D", "10ms", "--sizes", "128", "gen", "sim:wire/a", "sim:wire/b")
		if r.code != 0 || r.last() != "1" || r.trials()[0].Size != "128 B" {
			t.Errorf("exit %d, last line %q: %s", r.code, r.last(), r.talk)
		}
	})
	file := udp(t, 60, false)
	for _, tt := range []struct{ sizes, source, want string }{
		{"64", file, "--sizes: " + file + " is a capture, whose sizes are what they are; want gen sources"},
		{"64,64", "gen", "--sizes 64,64: 64 stands twice"},
		{"64,63", "gen", `--sizes "gen:63": `},
		{"big", "gen", `--sizes "gen:big": `},
		{"64", "gen:128,proto=tcp,ip6", `--sizes "gen:64,proto=tcp,ip6": IPv6 and TCP need 78 B`},
	} {
		t.Run(tt.sizes+" of "+filepath.Base(tt.source), func(t *testing.T) {
			code, out, talk := on(t, nil, "find-limit", "--sizes", tt.sizes, tt.source, "sim:wire/a", "sim:wire/b")
			if code != 2 || out != "" || !strings.Contains(talk, tt.want) {
				t.Errorf("exit %d, %q, %s; want 2, %s", code, out, talk, tt.want)
			}
		})
	}
}

// What a port cannot send is refused, or left out and counted.
func TestSkipped(t *testing.T) {
	dir := t.TempDir()
	mixed := &packet.Store{}
	for i := range 10 {
		p := said{src: "10.10.1.2:" + strconv.Itoa(4096+i), dst: "10.10.2.2:9"}
		if i%5 == 2 {
			p.size = 2000
		}
		b := p.frame()
		wire := len(b)
		if i == 9 {
			wire = 100
		}
		mixed.Append(b, 1e18+int64(i)*1e6, wire)
	}
	put(t, filepath.Join(dir, "mixed.pcap"), mixed)
	for _, tt := range []struct {
		flags string
		code  int
		want  string
	}{
		{"", 2, "mixed.pcap record 10 was captured short: 60 of 100 bytes; 1 of 10 records are. Capture again with the full length (tcpdump -s 0), or --skip-snapped"},
		{"--skip-snapped", 2, "mixed.pcap record 3: 2000 bytes, sim:wire/a takes 1514 (MTU 1500); 2 of 9 records are too long. To leave them out: --skip-oversize"},
		{"--skip-oversize", 2, "or --skip-snapped"},
		{"--skip-oversize --skip-snapped", 0, ""},
	} {
		t.Run(tt.flags, func(t *testing.T) {
			r := in(t, dir, append(strings.Fields("replay -b 10kpps "+tt.flags), "mixed.pcap", "sim:wire/a", "sim:wire/b")...)
			if r.code != tt.code || !strings.Contains(r.talk, tt.want) {
				t.Fatalf("exit %d, want %d, %s: %s", r.code, tt.code, tt.want, r.talk)
			}
			if r.code != 0 {
				return
			}
			if s := r.trials()[0].Streams[0]; s.Sent != 7 || s.Skipped != 3 || *s.Lost != 0 {
				t.Errorf("sent %d, skipped %d, lost %d; want 7, 3, 0", s.Sent, s.Skipped, *s.Lost)
			}
		})
	}
}

// --mac-dst and --mac-src write addresses, of one port or of all.
func TestMACs(t *testing.T) {
	dir := forms(t)
	for _, tt := range []struct{ flags, a, b string }{
		{"", "020000000101 020000000102", "020000000102 020000000101"},
		{"--mac-dst 02:00:00:00:00:07", "020000000007 020000000102", "020000000007 020000000101"},
		{"--mac-dst 02:00:00:00:00:07 --mac-dst pcap:b.pcap=02-00-00-00-00-09", "020000000007 020000000102", "020000000009 020000000101"},
		{"--mac-src pcap:a.pcap=020000000008", "020000000101 020000000008", "020000000102 020000000101"},
	} {
		t.Run(tt.flags, func(t *testing.T) {
			args := append(strings.Fields("replay -b 1kpps --credit 1m "+tt.flags), "--stream", "src=there.pcap,tx=pcap:a.pcap", "--stream", "src=back.pcap,tx=pcap:b.pcap")
			if code, _, talk := on(t, at(dir), args...); code != 0 {
				t.Fatalf("exit %d: %s", code, talk)
			}
			for file, want := range map[string]string{"a.pcap": tt.a, "b.pcap": tt.b} {
				b := sent(t, filepath.Join(dir, file)).Frame(0).Data
				if got := fmt.Sprintf("%x %x", b[:6], b[6:12]); got != want {
					t.Errorf("%s: %s, want %s", file, got, want)
				}
			}
		})
	}
	for _, tt := range []struct{ flags, want string }{
		{"--mac-dst 02:00", `--mac-dst "02:00": want a MAC address, as 02:00:00:00:00:01, or gw`},
		{"--mac-src gw", `--mac-src "gw": want a MAC address, as 02:00:00:00:00:01`},
		{"--mac-dst eth9=gw", "--mac-dst eth9=…: no port of this run; ports: sim:wire/a, sim:wire/b"},
		{"--mac-dst gw", "--mac-dst gw: sim:wire/a has no gateway; want --addr sim:wire/a=IP/LEN,gw=IP"},
		{"--addr eth9=10.1.1.1/24", "--addr eth9=…: no port of this run"},
		{"--addr sim:wire/a=10.1.1.1", "--addr "},
		{"--force-port eth9", "--force-port eth9: no port of this run"},
	} {
		t.Run(tt.flags, func(t *testing.T) {
			code, _, talk := on(t, at(dir), append(strings.Fields("replay -b 1kpps "+tt.flags), "there.pcap", "sim:wire/a", "sim:wire/b")...)
			if code != 2 || !strings.Contains(talk, tt.want) {
				t.Errorf("exit %d, %s; want 2, %s", code, talk, tt.want)
			}
		})
	}
}
