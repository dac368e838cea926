package rewrite_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"loadtest/packet"
	"loadtest/packet/rewrite"
)

// A recipe is a frame that gopacket makes, with right lengths and checksums.
type recipe struct {
	proto    string // udp, tcp, icmp, icmp6, or a number's worth of nothing: raw
	v6       bool
	tags     []uint16
	src, dst string // addresses
	sport    uint16
	dport    uint16
	ttl      uint8
	tcp      layers.TCP // flags, sequence number, options
	id       uint16
	hops     bool // hop-by-hop options before the transport
	payload  []byte
	icmp     uint8 // type
}

func (r recipe) frame(t testing.TB) []byte {
	t.Helper()
	src, dst := "198.18.0.1", "198.19.0.1"
	if r.v6 {
		src, dst = "2001:db8::1", "2001:db8:1::1"
	}
	if r.src != "" {
		src = r.src
	}
	if r.dst != "" {
		dst = r.dst
	}
	if r.ttl == 0 {
		r.ttl = 64
	}
	if r.sport == 0 {
		r.sport, r.dport = 1024, 80
	}
	typ := layers.EthernetTypeIPv4
	if r.v6 {
		typ = layers.EthernetTypeIPv6
	}
	eth := &layers.Ethernet{SrcMAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}, DstMAC: net.HardwareAddr{2, 0, 0, 0, 0, 2}, EthernetType: typ}
	list := []gopacket.SerializableLayer{eth}
	for i, tag := range r.tags {
		if i == 0 {
			eth.EthernetType = layers.EthernetTypeDot1Q
		}
		next := layers.EthernetTypeDot1Q
		if i == len(r.tags)-1 {
			next = typ
		}
		list = append(list, &layers.Dot1Q{VLANIdentifier: tag, Type: next})
	}
	p := map[string]layers.IPProtocol{"udp": layers.IPProtocolUDP, "tcp": layers.IPProtocolTCP, "icmp": layers.IPProtocolICMPv4, "icmp6": layers.IPProtocolICMPv6, "raw": 253}[r.proto]
	var network gopacket.NetworkLayer
	if r.v6 {
		ip := &layers.IPv6{Version: 6, HopLimit: r.ttl, NextHeader: p, SrcIP: net.ParseIP(src), DstIP: net.ParseIP(dst)}
		if r.hops {
			ip.NextHeader = layers.IPProtocolIPv6HopByHop
			ip.HopByHop = &layers.IPv6HopByHop{}
			ip.HopByHop.NextHeader = p
			ip.HopByHop.Options = append(ip.HopByHop.Options, &layers.IPv6HopByHopOption{OptionType: 1, OptionData: make([]byte, 4)})
		}
		network, list = ip, append(list, ip)
	} else {
		ip := &layers.IPv4{Version: 4, TTL: r.ttl, Id: r.id, Protocol: p, SrcIP: net.ParseIP(src), DstIP: net.ParseIP(dst)}
		network, list = ip, append(list, ip)
	}
	switch r.proto {
	case "udp":
		l := &layers.UDP{SrcPort: layers.UDPPort(r.sport), DstPort: layers.UDPPort(r.dport)}
		_ = l.SetNetworkLayerForChecksum(network)
		list = append(list, l)
	case "tcp":
		l := r.tcp
		l.SrcPort, l.DstPort, l.Window = layers.TCPPort(r.sport), layers.TCPPort(r.dport), 1000
		_ = l.SetNetworkLayerForChecksum(network)
		list = append(list, &l)
	case "icmp":
		list = append(list, &layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(r.icmp, 0), Id: r.sport})
	case "icmp6":
		l := &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(r.icmp, 0)}
		_ = l.SetNetworkLayerForChecksum(network)
		list = append(list, l)
	}
	buf := gopacket.NewSerializeBuffer()
	err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, append(list, gopacket.Payload(r.payload))...)
	if err != nil {
		t.Fatal(err)
	}
	b := bytes.Clone(buf.Bytes())
	if h, ok := packet.Parse(b); ok { // without the padding to 60 bytes
		b = b[:h.End]
	}
	return b
}

// counted is a payload in which every place looks different.
func counted(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

// rewritten are the records as the rules make them.
func rewritten(t testing.TB, r rewrite.Rules, in packet.Source) ([]packet.Record, rewrite.Touched) {
	t.Helper()
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	source, err := in.Open()
	if err != nil {
		t.Fatal(err)
	}
	reader := r.Reader(source)
	defer reader.Close()
	var all []packet.Record
	for {
		var rec packet.Record
		switch err := reader.Next(&rec); {
		case errors.Is(err, io.EOF):
			return all, reader.Touched()
		case err != nil:
			t.Fatal(err)
		}
		rec.Data = bytes.Clone(rec.Data)
		all = append(all, rec)
	}
}

// one is what rules make of one frame.
func one(t testing.TB, r rewrite.Rules, b []byte) ([]byte, rewrite.Touched) {
	t.Helper()
	was := bytes.Clone(b)
	all, touched := rewritten(t, r, store(packet.LinkEthernet, b))
	if len(all) != 1 {
		t.Fatalf("%d records, want 1", len(all))
	}
	if !bytes.Equal(b, was) {
		t.Fatal("the record itself was written to")
	}
	if all[0].Wire != len(all[0].Data) {
		t.Fatalf("%d bytes on the wire, %d here", all[0].Wire, len(all[0].Data))
	}
	return all[0].Data, touched
}

func parsed[T any](t testing.TB, parse func(string) (T, error), text string) T {
	t.Helper()
	v, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func mappings(t testing.TB, texts ...string) (all []rewrite.Mapping) {
	t.Helper()
	for _, text := range texts {
		all = append(all, parsed(t, rewrite.ParseMap, text))
	}
	return all
}
