package rewrite_test

import (
	"bytes"
	"testing"

	"loadtest/packet/rewrite"
)

func TestVLAN(t *testing.T) {
	const rest = "0800 4500"
	for _, tt := range []struct{ name, ops, in, want string }{
		{"tag untagged", "100", rest, "8100 0064" + rest},
		{"tag with priority", "100:5", rest, "8100 a064" + rest},
		{"tag tagged: its priority stays", "100", "8100 f007" + rest, "8100 f064" + rest},
		{"tag tagged, priority too", "100:1", "8100 f007" + rest, "8100 3064" + rest},
		{"tag what has an 802.1ad tag", "100", "88a8 0007 8100 0008" + rest, "88a8 0064 8100 0008" + rest},
		{"push", "push:5", "8100 0007" + rest, "8100 0005 8100 0007" + rest},
		{"push 802.1ad", "push:5:7:0x88a8", "8100 0007" + rest, "88a8 e005 8100 0007" + rest},
		{"push without priority", "push:0:0x8100", rest, "8100 0000" + rest},
		{"set untagged", "set:9", rest, rest},
		{"set", "set:9", "8100 0007" + rest, "8100 0009" + rest},
		{"set to what it is", "set:7", "8100 0007" + rest, "8100 0007" + rest},
		{"pop", "pop", "88a8 0007 8100 0008" + rest, "8100 0008" + rest},
		{"pop untagged", "pop", rest, rest},
		{"pop all", "pop:all", "88a8 0007 8100 0008" + rest, rest},
		{"none", "none", "8100 0007" + rest, rest},
		{"one after the other", "pop:all,push:1,push:2:0x88a8", "8100 0007" + rest, "88a8 0002 8100 0001" + rest},
		{"cut in its tag", "pop,100,push:5", "8100 00", "8100 00"},
		{"two tags, cut", "pop:all", "8100 0007 8100 00", "8100 00"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, want := unhex(t, macs+tt.in), unhex(t, macs+tt.want)
			count := int64(1)
			if bytes.Equal(in, want) {
				count = 0
			}
			got, touched := one(t, rewrite.Rules{VLAN: parsed(t, rewrite.ParseVLAN, tt.ops)}, in)
			if !bytes.Equal(got, want) || touched != (rewrite.Touched{Packets: 1, VLAN: count}) {
				t.Errorf("%x, want\n%x; %+v", got, want, touched)
			}
		})
	}
	if got, _ := one(t, rewrite.Rules{VLAN: parsed(t, rewrite.ParseVLAN, "100,pop")}, []byte{1, 2, 3}); len(got) != 3 {
		t.Errorf("no frame became %x", got)
	}
}

func TestTTL(t *testing.T) {
	for _, tt := range []struct {
		op        string
		was, want uint8
	}{
		{"64", 3, 64}, {"255", 64, 255}, {"64", 64, 64}, {"dec:1", 64, 63}, {"dec:9", 9, 1}, {"dec:200", 9, 1}, {"inc:1", 64, 65}, {"inc:10", 250, 255},
		{"min:5", 4, 5}, {"min:5", 6, 6},
	} {
		for _, r := range []recipe{{proto: "udp"}, {proto: "tcp", tags: []uint16{3}}, {proto: "udp", v6: true}} {
			r.ttl = tt.was
			in := r.frame(t)
			r.ttl = tt.want
			want, count := r.frame(t), int64(1)
			if tt.was == tt.want {
				count = 0
			}
			got, touched := one(t, rewrite.Rules{TTL: parsed(t, rewrite.ParseTTL, tt.op)}, in)
			if !bytes.Equal(got, want) || touched != (rewrite.Touched{Packets: 1, TTL: count}) {
				t.Errorf("%s of %d: %x, want\n%x; %+v", tt.op, tt.was, got, want, touched)
			}
		}
	}
}
