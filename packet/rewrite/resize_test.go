package rewrite_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/google/gopacket/layers"

	"loadtest/packet"
	"loadtest/packet/rewrite"
)

// A packet that was cut is the one that gopacket makes with a shorter payload.
func TestCut(t *testing.T) {
	for _, tt := range []struct {
		name string
		r    recipe
		head int // bytes before the payload
	}{
		{"UDP", recipe{proto: "udp"}, 42},
		{"TCP with options", recipe{proto: "tcp", tcp: layers.TCP{ACK: true, Options: []layers.TCPOption{{OptionType: 1}, {OptionType: 1}, {OptionType: 1}, {OptionType: 1}}}}, 58},
		{"ping", recipe{proto: "icmp", icmp: 8}, 42},
		{"answer of zeros", recipe{proto: "icmp"}, 42},
		{"ping of IPv6", recipe{proto: "icmp6", v6: true, icmp: 128}, 58},
		{"UDP, tags, IPv6", recipe{proto: "udp", v6: true, tags: []uint16{4, 5}}, 70},
		{"UDP, options, IPv6", recipe{proto: "udp", v6: true, hops: true}, 70},
		{"no transport that is known", recipe{proto: "raw"}, 34},
	} {
		for _, to := range []int{60, 80, 81, 82, 99, 100, 101} {
			for _, snapped := range []int{0, 50} {
				tt.r.payload = counted(150)
				if tt.name == "answer of zeros" {
					tt.r.sport, tt.r.payload = 0, make([]byte, 150)
				}
				in := tt.r.frame(t)
				in = in[:len(in)-snapped]
				s := new(packet.Store)
				s.Append(in, 7, len(in)+snapped)
				tt.r.payload = tt.r.payload[:max(0, to-tt.head)]
				if tt.r.proto == "icmp6" {
					tt.r.payload = counted(max(to, 62) - 58) // without the 4 bytes that gopacket takes for payload
				}
				want := tt.r.frame(t)
				all, touched := rewritten(t, rewrite.Rules{Cut: to}, s)
				if got := all[0]; !bytes.Equal(got.Data, want) || got.Wire != len(want) || touched != (rewrite.Touched{Packets: 1, Cut: 1}) {
					t.Errorf("%s to %d, %d not captured: %x of %d, want\n%x; %+v", tt.name, to, snapped, got.Data, got.Wire, want, touched)
				}
			}
		}
	}
}

func TestCutOther(t *testing.T) {
	zeros := func(n int) []byte { return make([]byte, n) }
	frame := recipe{proto: "udp", payload: zeros(100)}.frame(t)
	wrong := bytes.Clone(frame)
	wrong[40] ^= 1
	none := bytes.Clone(frame)
	none[40], none[41] = 0, 0
	lies := bytes.Clone(frame)
	lies[16] = 9
	more := bytes.Clone(frame)
	more[20] = 0x20
	big := recipe{proto: "tcp", tcp: layers.TCP{ACK: true}, payload: counted(1000)}.frame(t)
	unlong := bytes.Clone(big)
	unlong[16], unlong[17] = 0, 0
	for _, tt := range []struct {
		name string
		in   []byte
		to   int
		want int    // length
		ip   uint16 // its length field
	}{
		{"not longer", frame, 142, 142, 128},
		{"a trailer", append(bytes.Clone(frame), zeros(40)...), 150, 150, 128},
		{"a trailer to the packet", append(bytes.Clone(frame), zeros(40)...), 142, 142, 128},
		{"wrong checksum", wrong, 100, 100, 86},
		{"no checksum", none, 100, 100, 86},
		{"longer than its frame, it says", lies, 100, 100, 9<<8 + 128},
		{"a fragment that others follow", more, 101, 14 + 20 + 64, 84},
		{"no length", unlong, 500, 500, 486},
	} {
		got, _ := one(t, rewrite.Rules{Cut: tt.to}, tt.in)
		if len(got) != tt.want || binary.BigEndian.Uint16(got[16:]) != tt.ip {
			t.Errorf("%s: %d bytes, IP says %d; want %d, %d", tt.name, len(got), binary.BigEndian.Uint16(got[16:]), tt.want, tt.ip)
		}
	}
	for name, b := range map[string][]byte{"wrong": wrong, "none": none} {
		got, _ := one(t, rewrite.Rules{Cut: 100}, b)
		right, _ := one(t, rewrite.Rules{Cut: 100}, frame)
		is, was := binary.BigEndian.Uint16(got[40:])-binary.BigEndian.Uint16(right[40:]), binary.BigEndian.Uint16(b[40:])-binary.BigEndian.Uint16(frame[40:])
		if name == "none" && (got[40] != 0 || got[41] != 0) || name == "wrong" && is != was {
			t.Errorf("%s checksum is %x when cut, %x where right", name, got[40:42], right[40:42])
		}
	}
	llc := append(unhex(t, macs+"0060"), zeros(0x60)...)
	if got, _ := one(t, rewrite.Rules{Cut: 70}, llc); !bytes.Equal(got, append(unhex(t, macs+"0038"), zeros(56)...)) {
		t.Errorf("802.3: %x", got)
	}
	s := new(packet.Store)
	s.Append(frame, 0, 500)
	s.Append(append(bytes.Clone(frame), zeros(4)...), 0, 142) // the capture has more than the wire
	all, _ := rewritten(t, rewrite.Rules{Cut: 142}, s)
	if all[0].Wire != 500 || len(all[0].Data) != 142 || all[1].Wire != 142 || len(all[1].Data) != 142 {
		t.Errorf("%d of %d, %d of %d", len(all[0].Data), all[0].Wire, len(all[1].Data), all[1].Wire)
	}
}

func TestPad(t *testing.T) {
	b := recipe{proto: "udp", payload: counted(10)}.frame(t)
	s := store(packet.LinkEthernet, b, make([]byte, 200), make([]byte, 100))
	s.Append(b, 0, len(b)+1)
	all, touched := rewritten(t, rewrite.Rules{Pad: 100}, s)
	want := store(packet.LinkEthernet, append(bytes.Clone(b), make([]byte, 48)...), make([]byte, 200), make([]byte, 100))
	want.Append(b, 0, len(b)+1)
	got := new(packet.Store)
	for _, r := range all {
		got.Link = r.Link
		got.Append(r.Data, r.Nanos, r.Wire)
	}
	want2 := text(want)
	if text(got) != want2 || touched != (rewrite.Touched{Packets: 4, Padded: 1}) {
		t.Errorf("%swant\n%s%+v", text(got), want2, touched)
	}
}
