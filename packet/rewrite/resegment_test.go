package rewrite_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/google/gopacket/layers"

	"loadtest/packet"
	"loadtest/packet/rewrite"
)

// Each part is the packet that gopacket makes of it.
func TestResegment(t *testing.T) {
	stamps := []layers.TCPOption{{OptionType: 1}, {OptionType: 1}, {OptionType: 8, OptionLength: 10, OptionData: make([]byte, 8)}}
	for _, tt := range []struct {
		name  string
		r     recipe
		limit int
		sizes []int // payload of each part
	}{
		{"one too many", recipe{}, 1514, []int{1460, 1}},
		{"three", recipe{id: 65535}, 1514, []int{1460, 1460, 1000}},
		{"exactly two", recipe{}, 1514, []int{1460, 1460}},
		{"options", recipe{tcp: layers.TCP{Options: stamps}}, 1514, []int{1448, 1448, 9}},
		{"a tag is on top of the limit", recipe{tags: []uint16{7}}, 1514, []int{1460, 1460, 5}},
		{"the second one is not", recipe{tags: []uint16{7, 8}}, 1514, []int{1456, 5}},
		{"IPv6", recipe{v6: true}, 1514, []int{1440, 1440, 2}},
		{"IPv6, options", recipe{v6: true, hops: true}, 1514, []int{1432, 7}},
		{"a small port", recipe{}, 590, []int{536, 536, 536, 536, 536, 1}},
	} {
		for _, unlong := range []bool{false, true} {
			if unlong && tt.r.hops { // a length of 0 with options is a jumbogram
				continue
			}
			t.Run(tt.name, func(t *testing.T) {
				r, n := tt.r, 0
				for _, size := range tt.sizes {
					n += size
				}
				payload := counted(n)
				r.proto, r.payload = "tcp", payload
				r.tcp.Seq, r.tcp.Ack, r.tcp.ACK, r.tcp.PSH, r.tcp.FIN, r.tcp.CWR, r.tcp.ECE = 0xffffff00, 77, true, true, true, true, true
				in := r.frame(t)
				if unlong {
					h, _ := packet.Parse(in)
					at := h.L3 + 2
					if r.v6 {
						at = h.L3 + 4
					}
					in[at], in[at+1] = 0, 0
				}
				s := new(packet.Store)
				s.Append(in, 5, len(in))
				s.Append(unhex(t, macs+"88b5"), 6, 14)
				all, touched := rewritten(t, rewrite.Rules{Resegment: tt.limit}, s)
				if len(all) != len(tt.sizes)+1 || touched != (rewrite.Touched{Packets: int64(len(all)), Resegmented: 1, Segments: int64(len(tt.sizes))}) {
					t.Fatalf("%d packets, want %d: %+v", len(all), len(tt.sizes)+1, touched)
				}
				for i, size := range tt.sizes {
					last := i == len(tt.sizes)-1
					r.payload, payload = payload[:size], payload[size:]
					r.tcp.FIN, r.tcp.PSH, r.tcp.CWR = last, last, i == 0
					want := r.frame(t)
					r.tcp.Seq += uint32(size)
					r.id++
					if got := all[i]; !bytes.Equal(got.Data, want) || got.Wire != len(want) || got.Nanos != 5 || got.Number != 1 {
						t.Errorf("part %d: %x, want\n%x; %d on the wire, at %d, record %d", i, got.Data, want, got.Wire, got.Nanos, got.Number)
					}
				}
				if r := all[len(tt.sizes)]; r.Number != 2 || len(r.Data) != 14 {
					t.Errorf("behind it: record %d, %d bytes", r.Number, len(r.Data))
				}
			})
		}
	}
}

func TestResegmentLeaves(t *testing.T) {
	tcp := func(flags layers.TCP) []byte {
		return recipe{proto: "tcp", tcp: flags, payload: counted(2000)}.frame(t)
	}
	fragment := tcp(layers.TCP{ACK: true})
	fragment[20] = 0x20
	short := tcp(layers.TCP{ACK: true})
	short[16], short[17] = 0xff, 0xff
	for name, b := range map[string][]byte{
		"SYN": tcp(layers.TCP{SYN: true}), "RST": tcp(layers.TCP{RST: true}), "URG": tcp(layers.TCP{URG: true}), "a fragment": fragment, "no whole packet": short,
		"UDP": recipe{proto: "udp", payload: counted(2000)}.frame(t), "no IP": append(unhex(t, macs+"88b5"), counted(2000)...),
	} {
		if got, touched := one(t, rewrite.Rules{Resegment: 1514}, b); !bytes.Equal(got, b) || touched != (rewrite.Touched{Packets: 1, Long: 1}) {
			t.Errorf("%s: %+v", name, touched)
		}
	}
	s := new(packet.Store)
	s.Append(tcp(layers.TCP{ACK: true}), 0, 5000)
	if all, touched := rewritten(t, rewrite.Rules{Resegment: 1514}, s); len(all) != 1 || all[0].Wire != 5000 || touched.Long != 1 {
		t.Errorf("captured short: %+v", touched)
	}
	fits := recipe{proto: "tcp", tcp: layers.TCP{ACK: true}, payload: counted(1460)}.frame(t)
	if got, touched := one(t, rewrite.Rules{Resegment: 1514}, append(bytes.Clone(fits), 1, 2, 3, 4)); !bytes.Equal(got, fits) || touched != (rewrite.Touched{Packets: 1, Cut: 1}) {
		t.Errorf("a trailer too long: %d bytes, %+v", len(got), touched)
	}
}

// What comes behind resegmenting applies to each part.
func TestResegmentThenSizes(t *testing.T) {
	in := recipe{proto: "tcp", tcp: layers.TCP{ACK: true}, payload: counted(1470)}.frame(t)
	all, touched := rewritten(t, rewrite.Rules{Resegment: 1514, Cut: 1000, Pad: 100}, store(1, in))
	if len(all) != 2 || len(all[0].Data) != 1000 || binary.BigEndian.Uint16(all[0].Data[16:]) != 986 || len(all[1].Data) != 100 || all[1].Wire != 100 ||
		touched.Cut != 1 || touched.Padded != 1 {
		t.Errorf("%d records, %+v", len(all), touched)
	}
}
