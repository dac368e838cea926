package preflight_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadtest/internal/preflight"
	"loadtest/packet"
)

// frame is an Ethernet frame of so many bytes, from its EtherType on as given.
func frame(size int, data ...byte) []byte {
	b := make([]byte, size)
	copy(b[12:], data)
	return b
}

// tcp is a frame of TCP over IPv4 of so many bytes; its IP packet says that it has length bytes.
func tcp(size, length int) []byte {
	b := frame(size, 8, 0, 0x45)
	binary.BigEndian.PutUint16(b[16:], uint16(length))
	b[23] = packet.ProtoTCP
	b[46] = 5 << 4
	return b
}

// tagged is the same with an 802.1Q tag.
func tagged(size, length int) []byte {
	b := tcp(size-4, length)
	return slices.Concat(b[:12], []byte{0x81, 0, 0, 7}, b[12:])
}

// check looks at records numbered from 1, whose wire length is that of their data where it is 0.
func check(p preflight.Port, skip preflight.Skips, records ...packet.Record) (k *preflight.Check, sent []int64) {
	k = preflight.NewCheck(func(file uint16) string { return []string{"prod.pcapng", "more.pcap"}[file] }, p, skip)
	for i, r := range records {
		r.Number = int64(i) + 1
		if r.Wire == 0 {
			r.Wire = len(r.Data)
		}
		if k.Add(&r) {
			sent = append(sent, r.Number)
		}
	}
	return k, sent
}

func TestCheck(t *testing.T) {
	ok := packet.Record{Data: frame(60, 8, 0)}
	long := packet.Record{Data: frame(4410, 8, 0)}
	merged := packet.Record{Data: tcp(4410, 4396)}
	short := packet.Record{Data: frame(96, 8, 0), Wire: 1096}
	group := packet.Record{Data: append([]byte{1}, frame(60, 8, 0)[1:]...)}
	in := func(p preflight.Port, name string) preflight.Port { p.Name = name; return p }
	sim := preflight.Port{Name: "sim:wire/a", Backend: "sim", MTU: 1500, MaxFrame: 1514}
	for _, tt := range []struct {
		name    string
		port    preflight.Port
		skip    preflight.Skips
		records []packet.Record
		sent    []int64
		want    string
	}{
		{"nothing to say", eth2(), preflight.Skips{}, []packet.Record{ok, {Data: frame(1514, 8, 0)}}, []int64{1, 2}, ""},
		{"no records", eth2(), preflight.Skips{}, nil, nil, ""},
		{"port that takes anything", preflight.Port{Name: "pcap:x"}, preflight.Skips{}, []packet.Record{long}, []int64{1}, ""},
		{"too long", eth2(), preflight.Skips{}, []packet.Record{ok, long, ok, {Data: frame(9000, 8, 0)}}, []int64{1, 3},
			"prod.pcapng record 2: 4410 bytes, eth2 takes 1514 (MTU 1500); 2 of 4 records are too long. ip link set eth2 mtu 8986, or --skip-oversize"},
		{"too long in a namespace", in(eth2(), "afpacket:eth2@lab"), preflight.Skips{}, []packet.Record{long}, nil,
			"prod.pcapng record 1: 4410 bytes, afpacket:eth2@lab takes 1514 (MTU 1500); 1 of 1 records are too long. ip -n lab link set eth2 mtu 4396, or --skip-oversize"},
		{"too long elsewhere", sim, preflight.Skips{}, []packet.Record{{Data: long.Data, File: 1}}, nil,
			"more.pcap record 1: 4410 bytes, sim:wire/a takes 1514 (MTU 1500); 1 of 1 records are too long. To leave them out: --skip-oversize"},
		{"too long, made here", sim, preflight.Skips{Made: true}, []packet.Record{long}, nil,
			"prod.pcapng record 1: 4410 bytes, sim:wire/a takes 1514 (MTU 1500); 1 of 1 records are too long"},
		{"too long, made here, a port of the kernel", eth2(), preflight.Skips{Made: true}, []packet.Record{long}, nil,
			"prod.pcapng record 1: 4410 bytes, eth2 takes 1514 (MTU 1500); 1 of 1 records are too long. ip link set eth2 mtu 4396"},
		{"merged TCP", eth2(), preflight.Skips{}, []packet.Record{merged, ok}, []int64{2},
			"prod.pcapng record 1: 4410 bytes, eth2 takes 1514 (MTU 1500); 1 of 2 records are too long, TCP that receive offload merged. " +
				"--resegment, ip link set eth2 mtu 4396, or --skip-oversize"},
		{"TCP of IP length 0", sim, preflight.Skips{}, []packet.Record{{Data: tcp(2030, 0)}}, nil,
			"prod.pcapng record 1: 2030 bytes, sim:wire/a takes 1514 (MTU 1500); 1 of 1 records are too long, TCP that receive offload merged. " +
				"--resegment, or --skip-oversize"},
		{"some merged TCP, longer than any MTU", eth2(), preflight.Skips{}, []packet.Record{long, merged, {Data: frame(65550, 8, 0)}}, nil,
			"prod.pcapng record 1: 4410 bytes, eth2 takes 1514 (MTU 1500); 3 of 3 records are too long, 1 of them TCP that receive offload merged. " +
				"--resegment, or --skip-oversize"},
		{"an FCS behind the packet", eth2(), preflight.Skips{}, []packet.Record{{Data: tcp(1518, 1500)}, {Data: tcp(1516, 1496)}}, nil,
			"prod.pcapng record 1: 1518 bytes, eth2 takes 1514 (MTU 1500); 2 of 2 records are too long, by what follows their IP packet (an FCS?). " +
				"--cut 1518, ip link set eth2 mtu 1504, or --skip-oversize"},
		{"an FCS behind a VLAN tag's packet", eth2(), preflight.Skips{}, []packet.Record{{Data: tagged(1522, 1500)}}, nil,
			"prod.pcapng record 1: 1522 bytes, eth2 takes 1514 (MTU 1500); 1 of 1 records are too long, by what follows their IP packet (an FCS?). " +
				"--cut 1518, ip link set eth2 mtu 1504, or --skip-oversize"},
		{"an FCS and others", sim, preflight.Skips{}, []packet.Record{{Data: tcp(1518, 1500)}, long}, nil,
			"prod.pcapng record 1: 1518 bytes, sim:wire/a takes 1514 (MTU 1500); 2 of 2 records are too long. To leave them out: --skip-oversize"},
		{"MTU unknown", preflight.Port{Name: "x", Backend: "mem", MaxFrame: 100}, preflight.Skips{}, []packet.Record{{Data: frame(101, 8, 0)}}, nil,
			"prod.pcapng record 1: 101 bytes, x takes 100; 1 of 1 records are too long. To leave them out: --skip-oversize"},
		{"a VLAN tag does not count", eth2(), preflight.Skips{}, []packet.Record{{Data: frame(1518, 0x81, 0)}, {Data: frame(1519, 0x81, 0)}}, []int64{1},
			"prod.pcapng record 2: 1519 bytes, eth2 takes 1514 (MTU 1500); 1 of 2 records are too long. ip link set eth2 mtu 1501, or --skip-oversize"},
		{"an 802.1ad tag does", eth2(), preflight.Skips{}, []packet.Record{{Data: frame(1518, 0x88, 0xa8)}}, nil,
			"prod.pcapng record 1: 1518 bytes, eth2 takes 1514 (MTU 1500); 1 of 1 records are too long. ip link set eth2 mtu 1504, or --skip-oversize"},
		{"a VLAN tag counts elsewhere", sim, preflight.Skips{}, []packet.Record{{Data: frame(1518, 0x81, 0)}}, nil,
			"prod.pcapng record 1: 1518 bytes, sim:wire/a takes 1514 (MTU 1500); 1 of 1 records are too long. To leave them out: --skip-oversize"},
		{"skipped", eth2(), preflight.Skips{Oversize: true, Snapped: true, Multicast: true}, []packet.Record{short, long, group, ok}, []int64{4}, ""},
		{"group", eth2(), preflight.Skips{}, []packet.Record{group}, []int64{1}, ""},
		{"captured short", eth2(), preflight.Skips{Oversize: true}, []packet.Record{long, short}, nil,
			"prod.pcapng record 2 was captured short: 96 of 1096 bytes; 1 of 2 records are. Capture again with the full length (tcpdump -s 0), or --skip-snapped"},
		{"captured short, too", eth2(), preflight.Skips{}, []packet.Record{long, ok, short}, []int64{2},
			"prod.pcapng record 3 was captured short: 96 of 1096 bytes; 1 of 3 records are. Capture again with the full length (tcpdump -s 0), or --skip-snapped"},
		{"too long among the rest", eth2(), preflight.Skips{Snapped: true}, []packet.Record{long, ok, short}, []int64{2},
			"prod.pcapng record 1: 4410 bytes, eth2 takes 1514 (MTU 1500); 1 of 2 records are too long. ip link set eth2 mtu 4396, or --skip-oversize"},
		{"longer in the file than on the wire", eth2(), preflight.Skips{}, []packet.Record{{Data: frame(64, 8, 0), Wire: 60}}, []int64{1}, ""},
		{"no frame", eth2(), preflight.Skips{Oversize: true, Snapped: true}, []packet.Record{ok, {Data: make([]byte, 13), Wire: 60}, {}}, []int64{1},
			"prod.pcapng record 2: 13 bytes are no Ethernet frame, want at least 14; 2 of 3 records are too short"},
		{"no Ethernet", eth2(), preflight.Skips{}, []packet.Record{{Data: frame(60), Link: packet.LinkSLL}}, nil,
			"prod.pcapng has no Ethernet header (Linux cooked, 113): --mac-dst gw with --addr eth2=IP/LEN,gw=IP, or --mac-dst MAC --mac-src MAC"},
		{"no Ethernet in some", eth2(), preflight.Skips{}, []packet.Record{ok, {Data: frame(60), Link: 12, File: 1}, short}, []int64{1},
			"more.pcap record 2 has no Ethernet header (raw IP, 12); 1 of 3 records are without: --mac-dst gw with --addr eth2=IP/LEN,gw=IP, or --mac-dst MAC --mac-src MAC"},
		{"nothing for Ethernet", eth2(), preflight.Skips{}, []packet.Record{{Data: frame(60), Link: 253}}, nil,
			"prod.pcapng: link type 253 (netlink): Ethernet carries no such packets; want Ethernet, raw IP, loopback or Linux cooked"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k, sent := check(tt.port, tt.skip, tt.records...)
			got := ""
			if err := k.Err(); err != nil {
				got = err.Error()
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("Err (-want +got):\n%s", d)
			}
			if !slices.Equal(sent, tt.sent) {
				t.Errorf("sent %v, want %v", sent, tt.sent)
			}
			if n := k.Tally(); n.Sent != int64(len(sent)) || n.Packets != int64(len(tt.records)) {
				t.Errorf("tally: %d sent of %d; want %d of %d", n.Sent, n.Packets, len(sent), len(tt.records))
			}
		})
	}
}

func TestSkipped(t *testing.T) {
	records := []packet.Record{{Data: frame(60, 8, 0)}, {Data: frame(2000, 8, 0)}, {Data: frame(2001, 8, 0)}, {Data: frame(60, 8, 0), Wire: 61},
		{Data: append([]byte{0xff}, frame(60, 8, 0)[1:]...)}, {Data: append([]byte{3}, frame(60, 8, 0)[1:]...)}, {Data: append([]byte{1}, frame(3000, 8, 0)[1:]...)}}
	for _, tt := range []struct {
		name string
		skip preflight.Skips
		want preflight.Skipped
	}{
		{"nothing", preflight.Skips{}, preflight.Skipped{}},
		{"long", preflight.Skips{Oversize: true}, preflight.Skipped{Oversize: 3}},
		{"all", preflight.Skips{Oversize: true, Snapped: true, Multicast: true}, preflight.Skipped{Oversize: 3, Snapped: 1, Multicast: 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k, _ := check(eth2(), tt.skip, records...)
			if got := k.Skipped(); got != tt.want {
				t.Errorf("skipped %+v, want %+v", got, tt.want)
			}
			if got := k.Skipped().Packets(); got != tt.want.Oversize+tt.want.Snapped+tt.want.Multicast {
				t.Errorf("%d packets of %+v", got, tt.want)
			}
		})
	}
}

func TestCheckAllocatesNothing(t *testing.T) {
	k, _ := check(eth2(), preflight.Skips{Multicast: true}, packet.Record{Data: frame(60, 8, 0)})
	records := []packet.Record{{Data: tcp(4410, 4396)}, {Data: frame(60, 8, 0), Wire: 60}}
	if n := testing.AllocsPerRun(100, func() {
		for i := range records {
			k.Add(&records[i])
		}
	}); n != 0 {
		t.Errorf("Add allocates %v times", n)
	}
}

// Whatever the bytes: a record is sent or counted under one reason, and an error is there exactly if something was neither sent nor skipped.
func FuzzCheck(f *testing.F) {
	f.Add(tcp(2030, 0), 2030, uint16(1), uint8(0))
	f.Add(frame(1518, 0x81, 0), 1518, uint16(0), uint8(7))
	f.Add([]byte{1}, 60, uint16(113), uint8(2))
	f.Fuzz(func(t *testing.T, b []byte, wire int, link uint16, skips uint8) {
		p := eth2()
		p.MTU, p.MaxFrame = 86, 100
		k := preflight.NewCheck(func(uint16) string { return "x" }, p, preflight.Skips{Oversize: skips&1 != 0, Snapped: skips&2 != 0, Multicast: skips&4 != 0})
		r := packet.Record{Data: b, Wire: wire, Link: link, Number: 1}
		sent := k.Add(&r)
		n := k.Tally()
		if sum := n.Sent + n.NoEthernet.Packets + n.Short.Packets + n.Snapped.Packets + n.Oversize.Packets + n.Groups.Packets; sum != 1 || (n.Sent == 1) != sent {
			t.Fatalf("%d records of 1: %+v", sum, n)
		}
		if refused := !sent && k.Skipped().Packets() == 0; refused != (k.Err() != nil) {
			t.Fatalf("refused %v, error %v", refused, k.Err())
		}
	})
}
