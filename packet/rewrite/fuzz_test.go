package rewrite_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/gopacket/layers"

	"loadtest/packet"
	"loadtest/packet/rewrite"
)

// back are mappings, each with its opposite behind it: both applied twice are nothing.
var back = strings.Fields("198.18.0.0/16=10.0.0.0/16 10.0.0.0/16=198.18.0.0/16 0.0.0.0/1=128.0.0.0/1 128.0.0.0/1=0.0.0.0/1 " +
	"2001:db8::/33=fd00::/33 fd00::/33=2001:db8::/33 :80=:8080 :8080=:80")

// some is a set of rules by chance.
func some(t testing.TB, rng *rand.Rand) (r rewrite.Rules) {
	pick := func(texts ...string) string { return texts[rng.IntN(len(texts))] }
	r.Swap, r.Checksums, r.SetDst, r.SetSrc = rng.IntN(4) == 0, rng.IntN(4) == 0, rng.IntN(2) == 0, rng.IntN(2) == 0
	if rng.IntN(2) == 0 {
		r.VLAN = parsed(t, rewrite.ParseVLAN, pick("100", "pop:all", "pop,pop", "push:1,push:2:3:0x88a8", "set:7:1,push:5", "pop,push:9,3"))
	}
	if rng.IntN(2) == 0 {
		r.Map = mappings(t, pick(back...), pick("10.0.0.0/8=172.16.0.0/12", "198.19.0.1:80=10.0.0.1:1", "::/0=fd00::/8", "fd00::/8=fe80::/64"))
	}
	if rng.IntN(2) == 0 {
		r.TTL = parsed(t, rewrite.ParseTTL, pick("1", "255", "dec:3", "inc:7", "min:64"))
	}
	if rng.IntN(2) == 0 {
		r.Resegment = 60 + rng.IntN(1500)
	}
	if rng.IntN(2) == 0 {
		r.Cut = 60 + rng.IntN(200)
	}
	if rng.IntN(2) == 0 {
		r.Pad = 60 + rng.IntN(max(1, r.Cut-60))
	}
	if r.Check() != nil { // one mapping covers the other
		r.Map = nil
	}
	return r
}

// Whatever rules meet whatever bytes: what was captured short by so much still is, or was cut; right checksums stay right; nothing
// mapped there and back changes; TCP that was divided is the same bytes one after the other.
func FuzzRules(f *testing.F) {
	long := recipe{proto: "tcp", tcp: layers.TCP{ACK: true, PSH: true}, payload: counted(3000)}
	for i, b := range [][]byte{
		recipe{proto: "udp", payload: counted(99)}.frame(f), recipe{proto: "tcp", tags: []uint16{1, 2}, payload: counted(200)}.frame(f), long.frame(f),
		recipe{proto: "icmp6", v6: true, icmp: 1, payload: append(make([]byte, 4), recipe{proto: "udp", v6: true}.frame(f)[14:]...)}.frame(f),
		recipe{proto: "icmp", icmp: 3, payload: recipe{proto: "tcp"}.frame(f)[14:]}.frame(f), recipe{proto: "udp", v6: true, hops: true, payload: counted(40)}.frame(f),
		unhex(f, macs+"0806 0001 0800 06 04 0001 020000000002 0a000001 000000000000 0a000002"), unhex(f, macs+"0003 424203"),
	} {
		f.Add(b, uint64(i), uint16(0))
		f.Add(b, uint64(i)+100, uint16(7))
	}
	f.Fuzz(func(t *testing.T, b []byte, seed uint64, missing uint16) {
		if len(b) > 70000 {
			return
		}
		s, r := new(packet.Store), some(t, rand.New(rand.NewPCG(seed, 1)))
		s.Append(b, 1, len(b)+int(missing))
		all, touched := rewritten(t, r, s)
		if touched.Packets != int64(len(all)) || len(all) == 0 && touched.Groups == 0 {
			t.Fatalf("%d packets: %+v", len(all), touched)
		}
		for _, rec := range all {
			if short := rec.Wire - len(rec.Data); short != int(missing) && (short != 0 || touched.Cut == 0) || missing == 0 && len(rec.Data) < r.Pad {
				t.Fatalf("%+v: %x of %d is %x of %d", r, b, s.Wire(0), rec.Data, rec.Wire)
			}
			if missing == 0 && right(b) && !right(rec.Data) {
				t.Fatalf("%+v: %x had right checksums, %x has not", r, b, rec.Data)
			}
		}
		thereAndBack(t, s)
		if missing == 0 {
			together(t, b, 100+int(seed%1400))
		}
	})
}

func thereAndBack(t *testing.T, s *packet.Store) {
	for pair := range slices.Chunk(back, 2) {
		r := rewrite.Rules{Map: mappings(t, pair...)}
		there, _ := rewritten(t, r, s)
		two := new(packet.Store)
		two.Append(there[0].Data, 1, there[0].Wire)
		again, _ := rewritten(t, r, two)
		for i, c := range again[0].Data {
			if was := s.Frame(0).Data[i]; c != was && c != ^was || c != was && c != 0 && c != 0xff { // a checksum of zero can be written in two ways
				t.Fatalf("%x mapped is %x, and again %x", s.Frame(0).Data, there[0].Data, again[0].Data)
			}
		}
	}
}

func together(t *testing.T, b []byte, limit int) {
	all, touched := rewritten(t, rewrite.Rules{Resegment: limit}, store(packet.LinkEthernet, b))
	if touched.Resegmented == 0 {
		return
	}
	var whole []byte
	var seq uint32
	for i, rec := range all {
		h, ok := packet.Parse(rec.Data)
		if !ok || !right(rec.Data) || len(rec.Data) > limit+4 || h.End != len(rec.Data) {
			t.Fatalf("%x is not sound, of %x", rec.Data, b)
		}
		s := binary.BigEndian.Uint32(rec.Data[h.L4+4:])
		if i > 0 && s != seq {
			t.Fatalf("sequence number %d, want %d, of %x", s, seq, b)
		}
		seq = s + uint32(h.End-h.Payload)
		whole = append(whole, rec.Data[h.Payload:]...)
	}
	h, _ := packet.Parse(all[0].Data)
	if n := len(whole); len(b) < h.Payload+n || !bytes.Equal(b[h.Payload:h.Payload+n], whole) {
		t.Fatalf("%x together, of %x", whole, b)
	}
}
