package neigh_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadtest/internal/neigh"
)

// known says what a host knows of its gateways.
func known(h *neigh.Host) (all []string) {
	for _, g := range h.Gateways() {
		switch text := g.Gateway.String(); {
		case g.Known && g.Failed:
			all = append(all, text+" is known and failed")
		case g.Known:
			all = append(all, fmt.Sprintf("%s is :%02x", text, g.MAC[5]))
		case g.Failed:
			all = append(all, text+" failed")
		default:
			all = append(all, text)
		}
	}
	return all
}

func TestLearnGateway(t *testing.T) {
	o := tester(t, "198.18.0.2/16,gw=198.18.0.1", "198.18.0.3/16,gw=198.18.0.1,vlan=7", "2001:db8::2/64,gw=fe80::1", "10.0.0.2/8")
	reply := func(vlan []uint16, mac [6]byte) []byte {
		return frame(t, port, mac, vlan, arp(2, mac, addr("198.18.0.1"), port, addr("198.18.0.2")))
	}
	na := func(dst string, hops, flags uint8, mac [6]byte) []byte {
		return frame(t, port, device, nil, join(v6("fe80::1", dst, hops), advertise("fe80::1", flags, mac))...)
	}
	const self = "2001:db8::2"
	for _, tt := range []struct {
		name   string
		frames [][]byte
		want   []string
	}{
		{"nothing", nil, []string{"198.18.0.1", "198.18.0.1", "fe80::1"}},
		{"ARP reply", [][]byte{reply(nil, device)}, []string{"198.18.0.1 is :09", "198.18.0.1", "fe80::1"}},
		{"ARP reply in the VLAN", [][]byte{reply([]uint16{7}, device)}, []string{"198.18.0.1", "198.18.0.1 is :09", "fe80::1"}},
		{"ARP request", [][]byte{frame(t, all, device, nil, arp(1, device, addr("198.18.0.1"), nobody, addr("198.18.9.9")))}, []string{"198.18.0.1 is :09", "198.18.0.1", "fe80::1"}},
		{"ARP reply to somebody else", [][]byte{change(reply(nil, device), 5, 0x55)}, []string{"198.18.0.1", "198.18.0.1", "fe80::1"}},
		{"ARP reply of another neighbour", [][]byte{frame(t, port, device, nil, arp(2, device, addr("198.18.0.9"), port, addr("198.18.0.2")))}, []string{"198.18.0.1", "198.18.0.1", "fe80::1"}},
		{"ARP reply with our MAC address", [][]byte{frame(t, port, device, nil, arp(2, port, addr("198.18.0.1"), port, addr("198.18.0.2")))}, []string{"198.18.0.1", "198.18.0.1", "fe80::1"}},
		{"ARP reply without MAC address", [][]byte{reply(nil, nobody)}, []string{"198.18.0.1", "198.18.0.1", "fe80::1"}},
		{"the gateway moves", [][]byte{reply(nil, device), reply(nil, stray)}, []string{"198.18.0.1 is :77", "198.18.0.1", "fe80::1"}},
		{"another port of the tester's is the gateway", [][]byte{reply(nil, other)}, []string{"198.18.0.1 is :02", "198.18.0.1", "fe80::1"}},
		{"NA", [][]byte{na(self, 255, 0x60, stray)}, []string{"198.18.0.1", "198.18.0.1", "fe80::1 is :77"}},
		{"NA without option", [][]byte{na(self, 255, 0x60, nobody)}, []string{"198.18.0.1", "198.18.0.1", "fe80::1 is :09"}},
		{"NA that does not override", [][]byte{na(self, 255, 0x40, device)}, []string{"198.18.0.1", "198.18.0.1", "fe80::1 is :09"}},
		{"NA that does not override another", [][]byte{na(self, 255, 0x60, device), na(self, 255, 0x40, stray)}, []string{"198.18.0.1", "198.18.0.1", "fe80::1 is :09"}},
		{"NA that overrides", [][]byte{na(self, 255, 0x40, device), na(self, 255, 0x20, stray)}, []string{"198.18.0.1", "198.18.0.1", "fe80::1 is :77"}},
		{"NA to all", [][]byte{na("ff02::1", 255, 0x20, device)}, []string{"198.18.0.1", "198.18.0.1", "fe80::1 is :09"}},
		{"NA to all as to one who asked", [][]byte{na("ff02::1", 255, 0x60, device)}, []string{"198.18.0.1", "198.18.0.1", "fe80::1"}},
		{"NA from afar", [][]byte{na(self, 64, 0x60, device)}, []string{"198.18.0.1", "198.18.0.1", "fe80::1"}},
		{"NA with our MAC address", [][]byte{na(self, 255, 0x60, port)}, []string{"198.18.0.1", "198.18.0.1", "fe80::1"}},
		{"NS", [][]byte{frame(t, port, device, nil, join(v6("fe80::1", self, 255), solicit(self, stray))...)}, []string{"198.18.0.1", "198.18.0.1", "fe80::1 is :77"}},
		{"NS without option", [][]byte{frame(t, port, device, nil, join(v6("fe80::1", self, 255), solicit(self, nobody))...)}, []string{"198.18.0.1", "198.18.0.1", "fe80::1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := neigh.NewHost(o)
			for _, f := range tt.frames {
				h.Hear(f, 0)
			}
			if got := known(h); !slices.Equal(got, tt.want) {
				t.Errorf("gateways %q, want %q", got, tt.want)
			}
		})
	}
}

func TestConflicts(t *testing.T) {
	o := tester(t, "198.18.0.2/16,gw=198.18.0.1", "2001:db8::2/64")
	multi := [6]byte{0x33, 0x33, 0xff, 0, 0, 2}
	arpOf := func(mac [6]byte, ip string) []byte {
		return frame(t, all, mac, nil, arp(1, mac, addr(ip), nobody, addr(ip)))
	}
	for _, tt := range []struct {
		name   string
		frames [][]byte
		want   []neigh.Conflict
	}{
		{"announcement", [][]byte{arpOf(stray, "198.18.0.2")}, []neigh.Conflict{{addr("198.18.0.2"), stray}}},
		{"told once", [][]byte{arpOf(stray, "198.18.0.2"), arpOf(stray, "198.18.0.2"), arpOf(device, "198.18.0.2")},
			[]neigh.Conflict{{addr("198.18.0.2"), stray}, {addr("198.18.0.2"), device}}},
		{"a request for somebody else", [][]byte{frame(t, all, stray, nil, arp(1, stray, addr("198.18.0.2"), nobody, addr("198.18.0.1")))},
			[]neigh.Conflict{{addr("198.18.0.2"), stray}}},
		{"NA", [][]byte{frame(t, [6]byte{0x33, 0x33, 0, 0, 0, 1}, stray, nil, join(v6("2001:db8::2", "ff02::1", 255), advertise("2001:db8::2", 0x20, stray))...)},
			[]neigh.Conflict{{addr("2001:db8::2"), stray}}},
		{"NS", [][]byte{frame(t, multi, stray, nil, join(v6("2001:db8::2", "ff02::1:ff00:2", 255), solicit("2001:db8::2", stray))...)},
			[]neigh.Conflict{{addr("2001:db8::2"), stray}}},
		{"who asks first whether the address is free has none", [][]byte{
			frame(t, all, stray, nil, arp(1, stray, nowhere, nobody, addr("198.18.0.2"))),
			frame(t, multi, stray, nil, join(v6("::", "ff02::1:ff00:2", 255), solicit("2001:db8::2", nobody))...)}, nil},
		{"other addresses", [][]byte{arpOf(stray, "198.18.0.1"), arpOf(stray, "198.18.0.9"), arpOf(stray, "10.0.0.1")}, nil},
		{"in another VLAN", [][]byte{frame(t, all, stray, []uint16{7}, arp(1, stray, addr("198.18.0.2"), nobody, addr("198.18.0.2")))}, nil},
		{"the tester's own ports", [][]byte{arpOf(port, "198.18.0.2"), arpOf(other, "198.18.0.2")}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := neigh.NewHost(o)
			for _, f := range tt.frames {
				h.Hear(f, 0)
			}
			if d := cmp.Diff(tt.want, h.Conflicts(), cmpopts.EquateEmpty(), cmpopts.EquateComparable(neigh.Conflict{})); d != "" {
				t.Errorf("Conflicts (-want +got)\n%s", d)
			}
		})
	}
	t.Run("the first few are kept", func(t *testing.T) {
		h := neigh.NewHost(o)
		for i := range byte(100) {
			h.Hear(arpOf([6]byte{2, 0, 0, 0, 1, i}, "198.18.0.2"), 0)
		}
		if c := h.Conflicts(); len(c) != 8 || c[7].MAC[5] != 7 {
			t.Errorf("%d conflicts: %v; want the first 8", len(c), c)
		}
	})
}

func TestAnswers(t *testing.T) {
	o := tester(t, "198.18.0.2/16,gw=198.18.0.1", "198.19.0.2/16,vlan=7", "2001:db8::2/64,gw=2001:db8::1")
	for _, tt := range []struct {
		ip              string
		alone, withEnds bool
	}{
		{"198.18.0.2", true, true}, {"198.19.0.2", true, true}, {"2001:db8::2", true, true},
		{"198.18.0.3", false, true}, {"198.19.0.3", false, true}, {"2001:db8::3", false, true},
		{"198.18.0.1", false, false}, {"2001:db8::1", false, false}, {"198.20.0.1", false, false}, {"2001:db8:1::1", false, false},
	} {
		o.Serves = nil
		alone := neigh.NewHost(o).Answers(addr(tt.ip))
		o.Serves = served
		if with := neigh.NewHost(o).Answers(addr(tt.ip)); alone != tt.alone || with != tt.withEnds {
			t.Errorf("Answers(%s) = %v, with ends of streams %v; want %v, %v", tt.ip, alone, with, tt.alone, tt.withEnds)
		}
	}
}
