package ipsec_test

import (
	"testing"

	"loadtest/ipsec"
)

func TestSize(t *testing.T) {
	for _, tt := range []struct {
		name        string
		tunnel      ipsec.Tunnel
		inner, want int
	}{
		{"60-byte frame", ipsec.Tunnel{}, 46, 100}, // 20+8+8 + 48 + 16
		{"54-byte frame", ipsec.Tunnel{}, 40, 96},  // 42 padded to 44
		{"1514-byte frame", ipsec.Tunnel{}, 1500, 1556},
		{"header alone", ipsec.Tunnel{}, 20, 76},
		{"IPv6 outside", ipsec.Tunnel{IPv6: true}, 46, 120},
		{"UDP", ipsec.Tunnel{UDP: true}, 46, 108},
		{"UDP over IPv6", ipsec.Tunnel{IPv6: true, UDP: true}, 46, 128},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.tunnel.Size(tt.inner); got != tt.want {
				t.Errorf("%+v.Size(%d) = %d, want %d", tt.tunnel, tt.inner, got, tt.want)
			}
		})
	}
}

// MaxInner is the inverse of Size: what it allows fits, and one byte more does not.
func TestMaxInner(t *testing.T) {
	for _, tunnel := range []ipsec.Tunnel{{}, {IPv6: true}, {UDP: true}, {IPv6: true, UDP: true}} {
		for mtu := 576; mtu < 9100; mtu++ {
			n := tunnel.MaxInner(mtu)
			if tunnel.Size(n) > mtu || tunnel.Size(n+1) <= mtu {
				t.Fatalf("%+v.MaxInner(%d) = %d: sizes %d and %d", tunnel, mtu, n, tunnel.Size(n), tunnel.Size(n+1))
			}
		}
		if got := tunnel.MaxInner(20); got != 0 {
			t.Errorf("%+v.MaxInner(20) = %d, want 0", tunnel, got)
		}
	}
}
