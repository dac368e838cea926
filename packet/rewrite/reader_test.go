package rewrite_test

import (
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/google/gopacket/layers"

	"loadtest/packet"
	"loadtest/packet/rewrite"
)

// A stub gives some records, then an error.
type stub struct {
	records []packet.Record
	err     error
	closed  bool
}

func (s *stub) Next(to *packet.Record) error {
	if len(s.records) == 0 {
		return s.err
	}
	*to, s.records = s.records[0], s.records[1:]
	return nil
}

func (s *stub) Close() error {
	s.closed = true
	return errors.New("close: no such thing")
}

func TestReaderErrors(t *testing.T) {
	broken := errors.New("x.pcap: record 9: cut")
	raw := packet.Record{Data: []byte{0x45, 0}, Wire: 2, Link: packet.LinkRaw, File: 3, Number: 7}
	netlink := raw
	netlink.Link = 253
	half := both()
	half.SetDst = false
	for _, tt := range []struct {
		name string
		r    rewrite.Rules
		in   stub
		want string
	}{
		{"of the source", rewrite.Rules{Swap: true}, stub{err: broken}, "x.pcap: record 9: cut"},
		{"of the source, without rules", rewrite.Rules{}, stub{err: broken}, "x.pcap: record 9: cut"},
		{"no addresses", rewrite.Rules{}, stub{records: []packet.Record{raw}}, "record 7: no Ethernet header (raw IP, 101): want a destination and a source MAC address for a new one"},
		{"one address", rewrite.Rules{MACs: half}, stub{records: []packet.Record{raw}}, "record 7: no Ethernet header (raw IP, 101): want a destination and a source MAC address for a new one"},
		{"no packets of a network", rewrite.Rules{MACs: both()}, stub{records: []packet.Record{netlink}}, "record 7: link type 253 (netlink): want Ethernet, raw IP, loopback or Linux cooked"},
	} {
		var rec packet.Record
		r := tt.r.Reader(&tt.in)
		if err := r.Next(&rec); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
		if tt.in.err == nil && (rec.File != 3 || rec.Number != 7) {
			t.Errorf("%s: the record is %d of file %d, want 7 of 3", tt.name, rec.Number, rec.File)
		}
		if err := r.Close(); !tt.in.closed || err == nil || err.Error() != "close: no such thing" {
			t.Errorf("%s: Close: %v, closed %v", tt.name, err, tt.in.closed)
		}
	}
}

// Links may change from record to record; file, number and time stay.
func TestReaderLinks(t *testing.T) {
	sll := unhex(t, "0000 0001 0006 020000000001 0000 0800 450102")
	in := &stub{err: io.EOF, records: []packet.Record{
		{Data: unhex(t, macs+"0800 45"), Wire: 15, File: 1, Number: 1, Nanos: 1},
		{Data: sll, Wire: 119, Link: packet.LinkSLL, File: 2, Number: 2, Nanos: 2},
		{Data: []byte{0x60}, Wire: 1, Link: packet.LinkRaw, File: 2, Number: 3, Nanos: 3},
	}}
	r := rewrite.Rules{MACs: both(), VLAN: parsed(t, rewrite.ParseVLAN, "5")}.Reader(in)
	const head = "dd0102030405 cc0102030405 8100 0005"
	for i, want := range []packet.Record{
		{Data: unhex(t, head+"0800 45"), Wire: 19, File: 1, Number: 1, Nanos: 1},
		{Data: unhex(t, head+"0800 450102"), Wire: 121, Link: 1, File: 2, Number: 2, Nanos: 2},
		{Data: unhex(t, head+"86dd 60"), Wire: 19, Link: 1, File: 2, Number: 3, Nanos: 3},
	} {
		var got packet.Record
		err := r.Next(&got)
		if string(got.Data) != string(want.Data) {
			t.Errorf("record %d: %x, want %x", i+1, got.Data, want.Data)
		}
		if got.Data, want.Data = nil, nil; err != nil || got.Wire != want.Wire || got.Link != want.Link || got.File != want.File || got.Number != want.Number || got.Nanos != want.Nanos {
			t.Errorf("record %d: %+v, %v; want %+v", i+1, got, err, want)
		}
	}
	if got := r.Touched(); got != (rewrite.Touched{Packets: 3, Ethernet: 2, VLAN: 3, MAC: 3}) {
		t.Errorf("%+v", got)
	}
}

// Everything at once happens in the order that the package says.
func TestOrder(t *testing.T) {
	rules := rewrite.Rules{MACs: both(), Swap: true, VLAN: parsed(t, rewrite.ParseVLAN, "9"), Map: mappings(t, "198.19.0.0/16=10.0.0.0/16"),
		TTL: parsed(t, rewrite.ParseTTL, "dec:1"), Resegment: 590, Pad: 500, Checksums: true}
	rules.Dst, rules.Src = [6]byte{2, 0, 0, 0, 0, 2}, [6]byte{2, 0, 0, 0, 0, 1}
	all, touched := rewritten(t, rules, store(1, recipe{proto: "tcp", tcp: layers.TCP{ACK: true}, payload: counted(900)}.frame(t),
		recipe{proto: "udp", dst: "224.0.0.1"}.frame(t)))
	want := recipe{proto: "tcp", tags: []uint16{9}, src: "10.0.0.1", dst: "198.18.0.1", sport: 80, dport: 1024, ttl: 63, tcp: layers.TCP{ACK: true}, payload: counted(536)}
	if len(all) != 2 || string(all[0].Data) != string(want.frame(t)) || len(all[1].Data) != 500 {
		t.Errorf("%d records, the first %x, want\n%x", len(all), all[0].Data, want.frame(t))
	}
	if touched != (rewrite.Touched{Packets: 2, Swapped: 1, Groups: 1, VLAN: 1, Mapped: 1, TTL: 1, MAC: 1, Resegmented: 1, Segments: 2, Padded: 1}) {
		t.Errorf("%+v", touched)
	}
	const sentence = "2 packets: 1 turned round, 1 to groups left out, VLAN tags of 1, addresses or ports of 1 mapped, TTL of 1, MAC addresses of 1, " +
		"1 divided into 2, 1 padded"
	if got := touched.String(); got != sentence {
		t.Errorf("%q, want\n%q", got, sentence)
	}
}

func TestTouchedText(t *testing.T) {
	if got := (rewrite.Touched{Packets: 5}).String(); got != "" {
		t.Errorf("%q of nothing", got)
	}
	all := rewrite.Touched{Packets: 20, Ethernet: 1, Fragments: 2, Long: 3, Cut: 4, Checksums: 5, Collisions: 6, Collision: "10.1.0.5 and 10.2.0.5 both become 172.16.0.5", Unchecked: 7}
	const want = "20 packets: an Ethernet header for 1, 2 fragments without ports not mapped, 3 too long but not divided, 4 cut, wrong checksums of 5 made right, " +
		"6 collide (10.1.0.5 and 10.2.0.5 both become 172.16.0.5), 7 not checked for collisions"
	if got := all.String(); got != want {
		t.Errorf("%q, want\n%q", got, want)
	}
	got, err := json.Marshal(all)
	const line = `{"packets":20,"ethernet":1,"swapped":0,"groups":0,"vlan":0,"mapped":0,"fragments":2,"ttl":0,"mac":0,"resegmented":0,"segments":0,"long":3,` +
		`"cut":4,"padded":0,"checksums":5,"collisions":6,"collision":"10.1.0.5 and 10.2.0.5 both become 172.16.0.5","unchecked":7}`
	if err != nil || string(got) != line {
		t.Errorf("%s, %v; want\n%s", got, err, line)
	}
}

// Without rules, records are lent on as they came.
func TestNoRules(t *testing.T) {
	b := []byte{1, 2, 3}
	r := rewrite.Rules{}.Reader(&stub{records: []packet.Record{{Data: b, Wire: 9, Link: 1}}})
	var rec packet.Record
	if err := r.Next(&rec); err != nil || &rec.Data[0] != &b[0] || rec.Wire != 9 || r.Touched() != (rewrite.Touched{Packets: 1}) {
		t.Errorf("%v, %+v", err, rec)
	}
}

// loop gives a record again and again.
type loop struct{ packet.Record }

func (l loop) Next(to *packet.Record) error { *to = l.Record; return nil }
func (l loop) Close() error                 { return nil }

func BenchmarkReader(b *testing.B) {
	long := recipe{proto: "tcp", tcp: layers.TCP{ACK: true}, payload: counted(14600)}.frame(b)
	short := recipe{proto: "tcp", tcp: layers.TCP{ACK: true}, payload: counted(446)}.frame(b)
	for _, bm := range []struct {
		name  string
		frame []byte
		r     rewrite.Rules
	}{
		{"MACs", short, rewrite.Rules{MACs: both()}},
		{"map, TTL", short, rewrite.Rules{Map: mappings(b, "10.0.0.0/8=172.16.0.0/16", "198.18.0.0/15=10.0.0.0/15"), TTL: parsed(b, rewrite.ParseTTL, "dec:1")}},
		{"checksums", short, rewrite.Rules{Checksums: true}},
		{"cut", short, rewrite.Rules{Cut: 256}},
		{"resegment", long, rewrite.Rules{Resegment: 1514}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			r := bm.r.Reader(loop{packet.Record{Data: bm.frame, Wire: len(bm.frame), Nanos: 1, Number: 1}})
			var rec packet.Record
			b.ReportAllocs()
			for b.Loop() {
				if err := r.Next(&rec); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A packet costs no allocation once the first ones have passed.
func TestReaderAllocates(t *testing.T) {
	rules := rewrite.Rules{MACs: both(), Swap: true, VLAN: parsed(t, rewrite.ParseVLAN, "9"), Map: mappings(t, "198.19.0.0/16=10.0.0.0/16", ":80=:81"),
		TTL: parsed(t, rewrite.ParseTTL, "dec:1"), Resegment: 590, Pad: 500, Cut: 580, Checksums: true}
	b := recipe{proto: "tcp", tcp: layers.TCP{ACK: true}, payload: counted(3000)}.frame(t)
	r := rules.Reader(loop{packet.Record{Data: b, Wire: len(b)}})
	var rec packet.Record
	if n := testing.AllocsPerRun(100, func() { _ = r.Next(&rec) }); n != 0 {
		t.Errorf("%v allocations a packet", n)
	}
}
