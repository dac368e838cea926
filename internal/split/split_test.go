package split_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadtest/internal/split"
	"loadtest/packet"
)

// A p is a packet of the tests: IP of one family, without checksums and payload.
type p struct {
	from, to string // addr or addr:port, [addr]:port
	proto    uint8
	flags    uint8  // of TCP
	fragment uint16 // of IPv4: what stands beside the offset
	mac      [2]byte
}

const (
	syn    = 2
	synAck = 18
	ack    = 16
)

// ip is the packet from its network header on.
func (p p) ip(t testing.TB) []byte {
	t.Helper()
	from, fromPort := end(t, p.from)
	to, toPort := end(t, p.to)
	l4 := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, fromPort), toPort)
	l4 = append(l4, make([]byte, 16)...)
	if p.proto == packet.ProtoTCP {
		l4[12], l4[13] = 5<<4, p.flags
	}
	if from.Is6() {
		h := append([]byte{0x60, 0, 0, 0, 0, byte(len(l4)), p.proto, 64}, append(from.AsSlice(), to.AsSlice()...)...)
		return append(h, l4...)
	}
	h := []byte{0x45, 0, 0, byte(20 + len(l4)), 0, 0, byte(p.fragment >> 8), byte(p.fragment), 64, p.proto, 0, 0}
	return append(append(append(h, from.AsSlice()...), to.AsSlice()...), l4...)
}

func end(t testing.TB, text string) (netip.Addr, uint16) {
	t.Helper()
	if a, err := netip.ParseAddr(text); err == nil {
		return a, 0
	}
	a, err := netip.ParseAddrPort(text)
	if err != nil {
		t.Fatal(err)
	}
	return a.Addr(), a.Port()
}

// frame is the packet between these MAC addresses, by their last bytes.
func (p p) frame(t testing.TB) []byte {
	b := []byte{2, 0, 0, 0, 0, p.mac[1], 2, 0, 0, 0, 0, p.mac[0], 0x08, 0x00}
	ip := p.ip(t)
	if ip[0]>>4 == 6 {
		b[12], b[13] = 0x86, 0xdd
	}
	return append(b, ip...)
}

// frames is a store of Ethernet, a packet a second.
func frames(t testing.TB, packets ...p) *packet.Store {
	t.Helper()
	s := &packet.Store{Link: packet.LinkEthernet}
	for i, p := range packets {
		b := p.frame(t)
		s.Append(b, int64(i)*1e9, len(b))
	}
	return s
}

// other adds a frame that is not IP.
func other(s *packet.Store, typ uint16, to, from byte) {
	b := []byte{2, 0, 0, 0, 0, to, 2, 0, 0, 0, 0, from, byte(typ >> 8), byte(typ), 1, 2, 3}
	s.Append(b, int64(s.Len())*1e9, len(b))
}

func decided(t testing.TB, s packet.Source, rule string) *split.Sides {
	t.Helper()
	o, err := split.Parse(rule)
	if err != nil {
		t.Fatal(err)
	}
	d, err := split.Decide(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// letters are the sides of packets: c, s.
func letters(d *split.Sides) string {
	var b strings.Builder
	for i := range d.Client + d.Server {
		b.WriteByte("cs"[map[bool]int{true: 1}[d.FromServer(i)]])
	}
	return b.String()
}

func TestAuto(t *testing.T) {
	const a, b, c = "10.0.0.1", "10.0.0.2", "10.0.0.3"
	tcp := func(from, to string, flags uint8) p {
		return p{from: from, to: to, proto: packet.ProtoTCP, flags: flags}
	}
	udp := func(from, to string) p { return p{from: from, to: to, proto: packet.ProtoUDP} }
	icmp := func(from, to string) p { return p{from: from, to: to, proto: packet.ProtoICMP} }
	piece := func(from, to string) p {
		return p{from: from + ":9999", to: to + ":9998", proto: packet.ProtoUDP, fragment: 0x2000}
	}
	for _, tt := range []struct {
		name     string
		packets  []p
		want     string
		twoSided int64
	}{
		{"handshake", []p{tcp(a+":5000", b+":6000", syn), tcp(b+":6000", a+":5000", synAck), tcp(a+":5000", b+":6000", ack)}, "csc", 1},
		{"the SYN comes late", []p{tcp(b+":6000", a+":5000", ack), tcp(a+":5000", b+":6000", syn), tcp(b+":6000", a+":5000", ack)}, "scs", 1},
		{"a SYN to a high port from a low one", []p{tcp(a+":20", b+":6000", syn), tcp(b+":6000", a+":20", synAck)}, "cs", 1},
		{"no SYN but its answer", []p{tcp(b+":6000", a+":5000", ack), tcp(b+":6000", a+":5000", synAck), tcp(a+":5000", b+":6000", ack)}, "ssc", 1},
		{"the SYN beats the answer", []p{tcp(a+":5000", b+":6000", synAck), tcp(a+":5000", b+":6000", syn)}, "cc", 0},
		{"two SYNs: the first", []p{tcp(a+":5000", b+":6000", syn), tcp(b+":6000", a+":5000", syn)}, "cs", 1},
		{"neither: who spoke first", []p{tcp(b+":6000", a+":5000", ack), tcp(a+":5000", b+":6000", ack)}, "cs", 1},
		{"neither: the web server", []p{tcp(b+":80", a+":5000", ack), tcp(a+":5000", b+":80", ack)}, "sc", 1},
		{"one side only", []p{tcp(a+":5000", b+":80", syn), tcp(a+":5001", b+":80", syn)}, "cc", 0},
		{"each of two flows by itself", []p{tcp(a+":5000", b+":80", syn), tcp(b+":5000", a+":80", syn), tcp(a+":80", b+":5000", synAck)}, "ccs", 1},
		{"UDP", []p{udp(a+":5000", b+":6000"), udp(b+":6000", a+":5000")}, "cs", 0},
		{"UDP, the answer first", []p{udp(b+":53", a+":5000"), udp(a+":5000", b+":53")}, "sc", 0},
		{"UDP between well-known ports", []p{udp(b+":67", a+":68"), udp(a+":68", b+":67")}, "cs", 0},
		{"UDP to the last well-known port", []p{udp(b+":1023", a+":1024"), udp(b+":1024", a+":1023")}, "sc", 0},
		{"UDP from the first other port", []p{udp(b+":1024", a+":2000"), udp(a+":2000", b+":1024")}, "cs", 0},
		{"TCP and UDP on the same ports", []p{tcp(a+":5000", b+":6000", syn), udp(b+":6000", a+":5000")}, "cc", 0},
		{"ping", []p{icmp(b, a), icmp(a, b), icmp(b, a)}, "csc", 0},
		{"ping between a client and a server", []p{icmp(b, a), icmp(a, b), udp(a+":5000", b+":53")}, "scc", 0},
		{"a router tells the client", []p{udp(a+":5000", b+":53"), icmp(c, a)}, "cs", 0},
		{"a router tells the server", []p{icmp(c, b), udp(a+":5000", b+":53")}, "cc", 0},
		{"a router with a lower address tells the client", []p{udp(b+":5000", c+":53"), icmp(a, b)}, "cs", 0},
		{"a router with a lower address tells the server", []p{udp(b+":5000", c+":53"), icmp(a, c)}, "cc", 0},
		{"a router tells what was a client first", []p{udp(a+":5000", b+":53"), udp(c+":5000", a+":53"), icmp("10.0.0.9", a)}, "ccs", 0},
		{"fragments of an answer", []p{piece(b, a), piece(b, a), udp(a+":5000", b+":53")}, "ssc", 0},
		{"fragments alone", []p{piece(b, a), piece(a, b)}, "cs", 0},
		{"both hosts are clients: fragments by who spoke first", []p{udp(a+":5000", c+":53"), udp(b+":5000", c+":53"), piece(b, a), piece(a, b)}, "cccs", 0},
		{"IPv6", []p{tcp("[fd00::2]:80", "[fd00::1]:5000", ack), tcp("[fd00::1]:5000", "[fd00::2]:80", ack)}, "sc", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := frames(t, tt.packets...)
			d := decided(t, s, "auto")
			servers := int64(strings.Count(tt.want, "s"))
			if got := letters(d); got != tt.want || d.TwoSided != tt.twoSided || d.Server != servers || d.Client != int64(len(tt.want))-servers || d.Undecided != 0 {
				t.Errorf("%s, %d two-sided, %d c, %d s, %d undecided; want %s, %d", got, d.TwoSided, d.Client, d.Server, d.Undecided, tt.want, tt.twoSided)
			}
		})
	}
}

func TestRules(t *testing.T) {
	packets := []p{
		{from: "10.0.0.1:5000", to: "11.0.0.1:53", proto: packet.ProtoUDP, mac: [2]byte{1, 2}},
		{from: "11.0.0.1:53", to: "10.0.0.1:5000", proto: packet.ProtoUDP, mac: [2]byte{2, 1}},
		{from: "11.0.0.1:5000", to: "10.0.0.1:53", proto: packet.ProtoUDP, mac: [2]byte{2, 1}},
		{from: "[fd00::1]:5000", to: "[fd01::1]:53", proto: packet.ProtoUDP, mac: [2]byte{3, 2}},
	}
	for _, tt := range []struct{ rule, want string }{
		{"auto", "cscc"},
		{"mac", "csss"},
		{"10.0.0.0/8", "csss"},
		{"10.0.0.0/8,fd00::/64", "cssc"},
		{"11.0.0.1,fd01::1", "sccs"},
		{"0.0.0.0/0", "cccs"},
	} {
		d := decided(t, frames(t, packets...), tt.rule)
		if got := letters(d); got != tt.want || d.Undecided != 0 {
			t.Errorf("%s: %s, %d undecided; want %s, 0", tt.rule, got, d.Undecided, tt.want)
		}
	}
}

// What the rule is not about goes with its MAC address.
func TestUndecided(t *testing.T) {
	s := frames(t,
		p{from: "10.0.0.1:5000", to: "11.0.0.1:53", proto: packet.ProtoUDP, mac: [2]byte{1, 2}},
		p{from: "11.0.0.1:53", to: "10.0.0.1:5000", proto: packet.ProtoUDP, mac: [2]byte{2, 1}},
		p{from: "11.0.0.1:5000", to: "10.0.0.1:53", proto: packet.ProtoUDP, mac: [2]byte{2, 1}}) // a client now, but first seen as a server
	other(s, packet.TypeARP, 0xff, 2) // from where servers send
	other(s, packet.TypeARP, 0xff, 1) // from where clients send
	other(s, packet.TypeLLDP, 1, 9)   // to a client
	other(s, packet.TypeLLDP, 2, 9)   // to a server
	other(s, packet.TypeLLDP, 9, 8)   // nobody's
	s.Append([]byte{1, 2, 3}, 0, 3)
	whole := p{from: "10.0.0.1:5000", to: "11.0.0.1:53", proto: packet.ProtoTCP, mac: [2]byte{2, 1}}.frame(t)
	s.Append(whole[:37], 0, len(whole)) // cut in its header
	whole = p{from: "10.0.0.1:5000", to: "11.0.0.1:53", proto: packet.ProtoUDP, mac: [2]byte{2, 1}}.frame(t)
	s.Append(whole[:36], 0, len(whole))
	for _, tt := range []struct {
		rule, want string
		undecided  int64
		kinds      string
	}{
		{"auto", "cscscsccc" + "ss", 8, "[{LLDP 3} {ARP 2} {IPv4, cut or damaged 2} {too short 1}]"},
		{"10.0.0.0/8", "csss" + "cscc" + "css", 8, "[{LLDP 3} {ARP 2} {IPv4, cut or damaged 2} {too short 1}]"},
		{"mac", "csss" + "csss" + "css", 1, "[{too short 1}]"},
		{"no", "cccc" + "cccc" + "ccc", 0, "[]"},
	} {
		d := decided(t, s, tt.rule)
		if got := letters(d); got != tt.want || d.Undecided != tt.undecided || fmt.Sprint(d.Kinds) != tt.kinds {
			t.Errorf("%s: %s, %d undecided, %v; want %s, %d, %s", tt.rule, got, d.Undecided, d.Kinds, tt.want, tt.undecided, tt.kinds)
		}
	}
}

// cooked is a store of Linux cooked packets of these types.
func cooked(t *testing.T, link uint16, types string, packets ...p) *packet.Store {
	s := &packet.Store{Link: link}
	for i, p := range packets {
		head := make([]byte, 16)
		head[1], head[14] = types[i]-'0', 0x08
		if link == packet.LinkSLL2 {
			head = make([]byte, 20)
			head[10], head[0] = types[i]-'0', 0x08
		}
		b := append(head, p.ip(t)...)
		s.Append(b, 0, len(b))
	}
	return s
}

func TestCooked(t *testing.T) {
	a := p{from: "10.0.0.1:5000", to: "11.0.0.1:53", proto: packet.ProtoUDP}
	b := p{from: "11.0.0.1:53", to: "10.0.0.1:5000", proto: packet.ProtoUDP}
	for _, link := range []uint16{packet.LinkSLL, packet.LinkSLL2} {
		for _, tt := range []struct{ rule, types, want string }{
			{"sll", "044013", "cssccc"},
			{"sll", "404111", "cscsss"},
			{"auto", "044013", "cscscs"},
			{"10.0.0.0/8", "044013", "cscscs"},
		} {
			d := decided(t, cooked(t, link, tt.types, a, b, a, b, a, b), tt.rule)
			if got := letters(d); got != tt.want || d.Undecided != 0 {
				t.Errorf("link %d, %s of %s: %s, %d undecided; want %s", link, tt.rule, tt.types, got, d.Undecided, tt.want)
			}
		}
	}
	s := cooked(t, packet.LinkSLL, "4", b)
	s.Append(append(make([]byte, 14), 0x08, 0x06, 1, 2), 0, 18)
	if d := decided(t, s, "11.0.0.0/8"); letters(d) != "cc" || d.Undecided != 1 {
		t.Errorf("cooked ARP: %s, %d undecided; want cc, 1", letters(d), d.Undecided)
	}
}

func TestErrors(t *testing.T) {
	short := &packet.Store{Link: packet.LinkSLL}
	short.Append(make([]byte, 9), 0, 9)
	mixed := cooked(t, packet.LinkSLL, "0", p{from: "10.0.0.1:5000", to: "11.0.0.1:53", proto: packet.ProtoUDP})
	mixed.Link = packet.LinkEthernet
	other(mixed, packet.TypeARP, 1, 2)
	alien := &packet.Store{Link: 253}
	alien.Append(make([]byte, 40), 0, 40)
	for _, tt := range []struct {
		rule string
		s    *packet.Store
		want string
	}{
		{"sll", frames(t, p{from: "10.0.0.1", to: "10.0.0.2"}), "record 1: split by sll: want a Linux cooked capture, not Ethernet; auto and prefixes work with all"},
		{"sll", mixed, "record 2: split by sll: want a Linux cooked capture, not Ethernet; auto and prefixes work with all"},
		{"mac", mixed, "record 1: split by mac: want an Ethernet capture, not Linux cooked; auto and prefixes work with all"},
		{"sll", short, "record 1: 9 bytes: a header of Linux cooked has 16"},
		{"auto", short, "record 1: 9 bytes: a header of Linux cooked has 16"},
		{"auto", alien, "record 1: link type 253 (netlink): want Ethernet, raw IP, loopback or Linux cooked"},
		{"atuo", nil, `"atuo": want auto, mac, sll, no, or where clients are: 10.0.0.0/8,fd00::/8`},
		{"", nil, `"": want auto, mac, sll, no, or where clients are: 10.0.0.0/8,fd00::/8`},
		{"10.0.0.0/8,mac", nil, `"10.0.0.0/8,mac": want auto, mac, sll, no, or where clients are: 10.0.0.0/8,fd00::/8`},
		{"fe80::1%eth0", nil, `"fe80::1%eth0": want auto, mac, sll, no, or where clients are: 10.0.0.0/8,fd00::/8`},
	} {
		o, err := split.Parse(tt.rule)
		if tt.s != nil {
			_, err = split.Decide(tt.s, o)
		}
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.rule, err, tt.want)
		}
	}
}

// A broken source gives all but its first pass' opening an error: that of opening or of reading on.
type broken struct {
	packet.Source
	passes int // that are whole
	open   bool
}

func (b *broken) Open() (packet.Reader, error) {
	if b.passes--; b.passes >= 0 {
		return b.Source.Open()
	}
	if b.open {
		return nil, errors.New("a.pcap: gone")
	}
	return brokenReader{}, nil
}

type brokenReader struct{}

func (brokenReader) Next(*packet.Record) error { return errors.New("a.pcap: record 1: cut") }
func (brokenReader) Close() error              { return nil }

func TestBrokenSource(t *testing.T) {
	s := frames(t, p{from: "10.0.0.1:5000", to: "11.0.0.1:53", proto: packet.ProtoUDP})
	for passes := range 2 {
		for _, open := range []bool{true, false} {
			want := map[bool]string{true: "a.pcap: gone", false: "a.pcap: record 1: cut"}[open]
			if d, err := split.Decide(&broken{s, passes, open}, split.Options{}); err == nil || err.Error() != want || d != nil {
				t.Errorf("pass %d: %v, %v; want %s", passes+1, d, err, want)
			}
		}
	}
	d := decided(t, s, "auto")
	if _, err := d.Source(&broken{s, 0, true}, false).Open(); err == nil || err.Error() != "a.pcap: gone" {
		t.Errorf("opening a side: %v", err)
	}
}

// changing is another capture in each pass.
type changing []*packet.Store

func (c *changing) Open() (packet.Reader, error) {
	s := (*c)[0]
	*c = (*c)[1:]
	return s.Open()
}

// What was not there in the first pass is a client's.
func TestChangingSource(t *testing.T) {
	there, back := p{from: "10.0.0.1:5000", to: "11.0.0.1:53", proto: packet.ProtoUDP}, p{from: "11.0.0.1:53", to: "10.0.0.1:5000", proto: packet.ProtoUDP}
	other := p{from: "12.0.0.1:53", to: "12.0.0.1:5000", proto: packet.ProtoUDP}
	d := decided(t, &changing{frames(t, there, back, back), frames(t, back, other, there, back, back)}, "auto")
	if got := letters(d); got != "scccc" || d.Server != 1 || d.Client != 4 {
		t.Errorf("%s, %d c, %d s", got, d.Client, d.Server)
	}
}

// list shows the records of a pass.
func list(t testing.TB, s packet.Source) (all []string) {
	t.Helper()
	rd, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer rd.Close()
	for {
		var r packet.Record
		if err := rd.Next(&r); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%d: link %d, %d bytes at %d: %x", r.Number, r.Link, r.Wire, r.Nanos, r.Data))
	}
}

func TestSource(t *testing.T) {
	s := frames(t, p{from: "10.0.0.1:5000", to: "11.0.0.1:53", proto: packet.ProtoUDP}, p{from: "11.0.0.1:53", to: "10.0.0.1:5000", proto: packet.ProtoUDP})
	s.Append(s.Frame(0).Data, 12345, 1500)
	s.Link = packet.LinkRaw
	s.Append(s.Frame(1).Data[packet.EtherLen:], 12346, 40)
	d := decided(t, s, "auto")
	all := list(t, s)
	for range 2 {
		if diff := cmp.Diff([]string{all[0], all[2]}, list(t, d.Source(s, false))); diff != "" {
			t.Errorf("client: -want +got\n%s", diff)
		}
		if diff := cmp.Diff([]string{all[1], all[3]}, list(t, d.Source(s, true))); diff != "" {
			t.Errorf("server: -want +got\n%s", diff)
		}
	}
	for i, want := range map[int64]bool{-1: false, 0: false, 1: true, 3: true, 4: false, 64: false, math.MaxInt64: false, math.MinInt64: false} {
		if got := d.FromServer(i); got != want {
			t.Errorf("packet %d from a server: %t, want %t", i, got, want)
		}
	}
}

// A flow is known by its SYN, its hosts or who spoke first.
func TestKnownBy(t *testing.T) {
	const a, b, c = "10.0.0.1", "10.0.0.2", "10.0.0.3"
	d := decided(t, frames(t,
		p{from: a + ":1", to: b + ":2", proto: packet.ProtoTCP, flags: syn},
		p{from: a + ":3", to: b + ":2", proto: packet.ProtoTCP, flags: synAck},
		p{from: a + ":4", to: b + ":2", proto: packet.ProtoTCP, flags: ack},
		p{from: b + ":5", to: c + ":2", proto: packet.ProtoUDP},
		p{from: c, to: a, proto: packet.ProtoICMP},
		p{from: "10.0.0.8", to: "10.0.0.9", proto: packet.ProtoESP},
	), "auto")
	if d.BySYN != 2 || d.ByHosts != 1 || d.ByFirst != 3 {
		t.Errorf("%d by SYN, %d by their hosts, %d by who spoke first; want 2, 1, 3", d.BySYN, d.ByHosts, d.ByFirst)
	}
}

// Whatever the bytes, link types and rules are: each packet is on one side, in its order, and the same packet always on the same.
func FuzzDecide(f *testing.F) {
	a := p{from: "10.0.0.1:5000", to: "11.0.0.1:80", proto: packet.ProtoTCP, flags: syn}
	b := p{from: "11.0.0.1:80", to: "10.0.0.1:5000", proto: packet.ProtoTCP, flags: synAck}
	c := p{from: "[fd00::1]:53", to: "[fd00::2]:53", proto: packet.ProtoUDP}
	f.Add(uint8(split.Auto), uint16(packet.LinkEthernet), a.frame(f), b.frame(f), c.frame(f))
	f.Add(uint8(split.MAC), uint16(0), a.frame(f), b.frame(f), c.frame(f)[:13])
	f.Add(uint8(split.Auto), uint16(packet.LinkRaw), b.ip(f), c.ip(f), a.frame(f))
	f.Add(uint8(split.CIDR), uint16(packet.LinkSLL), append(make([]byte, 14), 8, 6), append(append(make([]byte, 14), 8, 0), a.ip(f)...), b.frame(f))
	f.Fuzz(func(t *testing.T, rule uint8, link uint16, x, y, z []byte) {
		s := &packet.Store{}
		for i, b := range [][]byte{x, y, z, x, y, z} {
			s.Link = link
			if i%3 == 2 && rule&8 == 0 {
				s.Link = packet.LinkEthernet
			}
			s.Append(b, int64(i+1), len(b))
		}
		d, err := split.Decide(s, split.Options{By: split.By(rule % 5), Inside: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
		if err != nil {
			return
		}
		client, server := list(t, d.Source(s, false)), list(t, d.Source(s, true))
		if int64(len(client)) != d.Client || int64(len(server)) != d.Server || d.Client+d.Server != int64(s.Len()) || d.Undecided%2 != 0 {
			t.Fatalf("%d and %d packets of %+v", len(client), len(server), d)
		}
		for i, r := range list(t, s) {
			of := &client
			if d.FromServer(int64(i)) {
				of = &server
			}
			if len(*of) == 0 || (*of)[0] != r {
				t.Fatalf("packet %d is not the next of its side", i)
			}
			*of = (*of)[1:]
		}
		var undecided int64
		for _, k := range d.Kinds {
			undecided += k.Packets
		}
		if undecided != d.Undecided {
			t.Fatalf("%d undecided, %v", d.Undecided, d.Kinds)
		}
		for i := range int64(3) {
			if d.FromServer(i) != d.FromServer(i+3) {
				t.Fatalf("packet %d, twice, is on both sides: %+v", i, d)
			}
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	const flows = 100_000
	s := &packet.Store{Link: packet.LinkEthernet}
	for i := range 10 * flows {
		p := p{from: fmt.Sprintf("10.0.0.1:%d", 1024+i%50_000), to: fmt.Sprintf("11.0.%d.1:80", i/50_000%2), proto: packet.ProtoTCP, flags: ack}
		f := p.frame(b)
		s.Append(f, 0, len(f))
	}
	for b.Loop() {
		if d, err := split.Decide(s, split.Options{}); err != nil || d.Client != int64(s.Len()) {
			b.Fatal(d.Client, err)
		}
	}
	b.ReportMetric(float64(s.Len()*b.N)/b.Elapsed().Seconds()/1e6, "Mpps")
}
