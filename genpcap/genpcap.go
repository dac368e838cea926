// Package genpcap makes the packets of a test: traffic from the tester's side of a gateway to hosts behind its routes.
//
//	Testbed, seed ─Packets→ Store ─pcap.Write→ capture
package genpcap

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"loadtest/packet"
	"loadtest/testbed"
	"loadtest/units"
)

// about is how many packets a capture has, less what rounding down to whole rounds takes.
const about = 1000

// Packets makes the packets of a test: in every round one of each size to each route, sizes in their order, within a size the
// routes from 1. There are about 1000 packets and never less than one round. Frames are without FCS and not stamped; the payload
// is zeros. Only the host that a packet goes to is left to chance: the same seed makes the same packets.
func Packets(t *testbed.Testbed, seed uint64) (*packet.Store, error) {
	if len(t.Sizes) == 0 || t.Routes < 1 || t.Routes > testbed.MaxRoutes {
		return nil, fmt.Errorf("%d sizes and %d routes: want one size or more and 1..%d routes", len(t.Sizes), t.Routes, testbed.MaxRoutes)
	}
	round := len(t.Sizes) * t.Routes
	rounds := max(1, about/round)
	s := &packet.Store{Link: uint16(layers.LinkTypeEthernet)}
	bytes := 0
	for _, size := range t.Sizes {
		if size < t.MinSize() || size > testbed.MaxSize {
			return nil, fmt.Errorf("packets of %d bytes: want %d..%d", size, t.MinSize(), testbed.MaxSize)
		}
		bytes += max(size, units.MinFrame)
	}
	s.Grow(rounds*round, rounds*t.Routes*bytes)

	chance := rand.New(rand.NewPCG(seed, 0))
	buffer := gopacket.NewSerializeBuffer()
	for range rounds {
		for _, size := range t.Sizes {
			for route := 1; route <= t.Routes; route++ {
				if err := write(buffer, t, size, route, chance); err != nil {
					return nil, fmt.Errorf("packet %d: %w", s.Len(), err)
				}
				s.Append(buffer.Bytes(), 0, len(buffer.Bytes()))
			}
		}
	}
	return s, nil
}

// write puts one frame of so many bytes, padded as on the wire, into the buffer.
func write(b gopacket.SerializeBuffer, t *testbed.Testbed, size, route int, chance *rand.Rand) error {
	hosts := 254
	if t.Family() == 6 {
		hosts = 0xfffe
	}
	dst, err := t.Host(route, 1+chance.IntN(hosts))
	if err != nil {
		return err
	}
	ethernet, ip := headers(t, dst)
	payload := gopacket.Payload(make([]byte, size-t.MinSize()))
	return gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, ethernet, ip, payload)
}

// headers come from the private next hop, which is where the tester sits, with no MAC address of its own.
func headers(t *testbed.Testbed, dst netip.Addr) (ethernet, ip gopacket.SerializableLayer) {
	e := &layers.Ethernet{DstMAC: t.Private.MAC, SrcMAC: make(net.HardwareAddr, 6), EthernetType: layers.EthernetTypeIPv4}
	src := net.IP(t.Private.Nexthop.AsSlice())
	if t.Family() == 4 {
		// 255 is a protocol that nobody has (IANA: reserved).
		return e, &layers.IPv4{Version: 4, TTL: 64, Protocol: 255, SrcIP: src, DstIP: dst.AsSlice()}
	}
	e.EthernetType = layers.EthernetTypeIPv6
	return e, &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: layers.IPProtocolNoNextHeader, SrcIP: src, DstIP: dst.AsSlice()}
}
