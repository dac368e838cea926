package lab

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"loadtest/nic"
	"loadtest/packet"
)

// A neighbour is a tester's port that answers who asks for its addresses.
type neighbour struct {
	port     nic.Port
	mac, gw  net.HardwareAddr
	four     netip.Addr
	six      netip.Addr
	asked    map[string]bool // for which addresses
	received map[string]bool // "IPv4", "IPv6"
}

func newNeighbour(port nic.Port, n byte) *neighbour {
	return &neighbour{port: port, mac: net.HardwareAddr{2, 0, 0, 0, n, 2}, gw: net.HardwareAddr{2, 0, 0, 0, n, 1},
		four: netip.AddrFrom4([4]byte{10, 10, n, 2}), six: netip.MustParseAddr(fmt.Sprintf("fd10:%d::2", n)),
		asked: map[string]bool{}, received: map[string]bool{}}
}

// send sends a frame made of layers.
func (n *neighbour) send(t *testing.T, l ...gopacket.SerializableLayer) {
	t.Helper()
	b := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, l...); err != nil {
		t.Fatal(err)
	}
	if sent, err := n.port.Send([]packet.Frame{{Data: b.Bytes()}}); sent != 1 || err != nil {
		t.Fatalf("sent %d of 1: %v", sent, err)
	}
}

// greet sends a packet of each kind to the other neighbour.
func (n *neighbour) greet(t *testing.T, to *neighbour, kinds []string) {
	t.Helper()
	for _, k := range kinds {
		udp, text := &layers.UDP{SrcPort: 9, DstPort: 9}, gopacket.Payload("lab")
		eth := &layers.Ethernet{SrcMAC: n.mac, DstMAC: n.gw, EthernetType: layers.EthernetTypeIPv4}
		if k == "IPv4" {
			ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: n.four.AsSlice(), DstIP: to.four.AsSlice()}
			udp.SetNetworkLayerForChecksum(ip)
			n.send(t, eth, ip, udp, text)
			continue
		}
		eth.EthernetType = layers.EthernetTypeIPv6
		ip := &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: layers.IPProtocolUDP, SrcIP: n.six.AsSlice(), DstIP: to.six.AsSlice()}
		udp.SetNetworkLayerForChecksum(ip)
		n.send(t, eth, ip, udp, text)
	}
}

// hear takes what has arrived, and answers questions.
func (n *neighbour) hear(t *testing.T) {
	t.Helper()
	frames := make([]packet.Frame, 64)
	got, err := n.port.Recv(frames)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range frames[:got] {
		p := gopacket.NewPacket(f.Data, layers.LayerTypeEthernet, gopacket.Default)
		eth := p.Layer(layers.LayerTypeEthernet).(*layers.Ethernet)
		back := &layers.Ethernet{SrcMAC: n.mac, DstMAC: eth.SrcMAC, EthernetType: eth.EthernetType}
		arp, _ := p.Layer(layers.LayerTypeARP).(*layers.ARP)
		nd, _ := p.Layer(layers.LayerTypeICMPv6NeighborSolicitation).(*layers.ICMPv6NeighborSolicitation)
		switch {
		case arp != nil && arp.Operation == layers.ARPRequest:
			n.asked[net.IP(arp.DstProtAddress).String()] = true
			n.send(t, back, &layers.ARP{AddrType: layers.LinkTypeEthernet, Protocol: layers.EthernetTypeIPv4, HwAddressSize: 6, ProtAddressSize: 4,
				Operation: layers.ARPReply, SourceHwAddress: n.mac, SourceProtAddress: n.four.AsSlice(),
				DstHwAddress: arp.SourceHwAddress, DstProtAddress: arp.SourceProtAddress})
		case nd != nil:
			n.asked[nd.TargetAddress.String()] = true
			ip := &layers.IPv6{Version: 6, HopLimit: 255, NextHeader: layers.IPProtocolICMPv6, SrcIP: n.six.AsSlice(),
				DstIP: p.Layer(layers.LayerTypeIPv6).(*layers.IPv6).SrcIP}
			icmp := &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(layers.ICMPv6TypeNeighborAdvertisement, 0)}
			icmp.SetNetworkLayerForChecksum(ip)
			const solicited, override = 0x40, 0x20
			n.send(t, back, ip, icmp, &layers.ICMPv6NeighborAdvertisement{Flags: solicited | override, TargetAddress: n.six.AsSlice(),
				Options: layers.ICMPv6Options{{Type: layers.ICMPv6OptTargetAddress, Data: n.mac}}})
		case strings.Contains(string(f.Data), "lab"):
			n.received[p.NetworkLayer().LayerType().String()] = true
		default:
			t.Errorf("at %v: %v", n.four, p)
		}
	}
}

// TestNeighbours: a device that does not know its neighbours asks for both, by ARP and by neighbour discovery, and for nothing
// else; answered, it forwards.
func TestNeighbours(t *testing.T) {
	both := []string{"IPv4", "IPv6"}
	for _, tt := range []struct {
		script, needs string
		options       []string
		kinds         []string
		asks          bool
	}{
		{"linux-router.sh", "nft", []string{"neigh=no"}, both, true},
		{"linux-router.sh", "nft", []string{"hops=2", "neigh=no"}, both, true},
		{"linux-router.sh", "nft", []string{"hops=2"}, both, false},
		{"strongswan-pair.sh", "strongswan", []string{"neigh=no"}, both[:1], true},
		{"wireguard-pair.sh", "wireguard", []string{"neigh=no"}, both, true},
	} {
		t.Run(strings.Join(append([]string{tt.script}, tt.options...), " "), func(t *testing.T) {
			Need(t, "netns", "afpacket", tt.needs)
			d := Up(t, tt.script, tt.options...)
			a, b := newNeighbour(port(t, d.A), 1), newNeighbour(port(t, d.B), 2)
			whole := func() bool { return len(a.received) == len(tt.kinds) && len(b.received) == len(tt.kinds) }
			for end := time.Now().Add(10 * time.Second); !whole() && time.Now().Before(end); {
				a.greet(t, b, tt.kinds)
				b.greet(t, a, tt.kinds)
				for range 20 {
					time.Sleep(5 * time.Millisecond)
					a.hear(t)
					b.hear(t)
				}
			}
			if !whole() {
				t.Errorf("at a arrived %v, at b %v; want %v at both", a.received, b.received, tt.kinds)
			}
			for _, n := range []*neighbour{a, b} {
				want := map[string]bool{}
				if tt.asks {
					want[n.four.String()] = true
				}
				if tt.asks && len(tt.kinds) == 2 {
					want[n.six.String()] = true
				}
				if diff := cmp.Diff(want, n.asked); diff != "" {
					t.Errorf("asked at %v (-want +got):\n%s", n.four, diff)
				}
			}
		})
	}
}
