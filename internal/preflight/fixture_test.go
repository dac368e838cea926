package preflight_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadtest/internal/preflight"
	"loadtest/units"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares text with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

// eth2 is a port of the kernel, at 10 Gbit/s.
func eth2() preflight.Port {
	return preflight.Port{Name: "eth2", Backend: "afpacket", Driver: "mlx5_core", MTU: 1500, MaxFrame: 1514, LineRate: 10 * units.Gbps, UpKnown: true, Up: true}
}

// at is a record of prod.pcapng.
func at(record int64) preflight.Place { return preflight.Place{File: "prod.pcapng", Record: record} }

// clean is a capture that nothing is to be said about: 1000 tagged UDP packets of 1000 bytes in 999 ms.
func clean() preflight.Capture {
	return preflight.Capture{
		Name: "prod.pcapng", Packets: 1000, Bytes: 1000000, WireBytes: 1000000, WireBits: 1024 * 8 * 1000,
		Links:  []preflight.Link{{Type: 1, Name: "Ethernet", Packets: 1000}},
		Sizes:  preflight.Sizes{Min: 1000, Max: 1000},
		Times:  preflight.Times{First: new(int64(1772600767000000000)), Span: 999e6, Longest: new(int64(1e6)), LongestAt: new(at(2))},
		Kinds:  []preflight.Count{{Kind: "IPv4", Packets: 1000}},
		Flows:  preflight.Flows{Kinds: []preflight.Count{{Kind: "UDP", Packets: 10}}},
		Tagged: preflight.Tagged{Auto: 1000, Always: 1000},
	}
}

// busy is a capture with some of everything.
func busy() preflight.Capture {
	seen := func(n, record int64, size, longest int) preflight.Seen {
		return preflight.Seen{Packets: n, First: at(record), Size: size, Wire: size, Longest: longest}
	}
	return preflight.Capture{
		Name: "prod.pcapng", Format: []string{"pcapng 1.0 little-endian", "zstd", "3 interfaces"},
		Packets: 90210, Bytes: 61_200_000, WireBytes: 61_230_000, WireBits: 507_000_000,
		Links: []preflight.Link{{Type: 1, Name: "Ethernet", Packets: 90000}, {Type: 113, Name: "Linux cooked", Packets: 210}},
		Sizes: preflight.Sizes{Min: 54, Max: 4410, Mean: new(678.75), Buckets: []preflight.Bucket{{0, 59, 1200}, {60, 60, 30000}, {61, 123, 2010}, {124, 251, 0},
			{252, 507, 6000}, {508, 1019, 688}, {1020, 1514, 50000}, {1515, 9014, 312}}},
		Times: preflight.Times{First: new(int64(1772600767123456789)), Span: 62.5e9, Untimed: 3,
			Back: preflight.Seen{Packets: 3, First: at(17)}, BackMost: 1_200_000,
			Median: new(int64(102_300)), P99: new(int64(12_520_000)), Longest: new(int64(31.25e9)), LongestAt: new(at(4000)),
			Peaks: []preflight.Peak{{1e6, 1.2e9, 120000}, {10e6, 8e8, 70000}, {1e9, 1.2e7, 2100}}},
		Kinds: []preflight.Count{{Kind: "IPv4", Packets: 80000}, {Kind: "IPv6", Packets: 10000}, {Kind: "ARP", Packets: 200}, {Kind: "LLDP", Packets: 10}},
		Apart: []preflight.Count{{Kind: "VLAN", Packets: 400}, {Kind: "fragments", Packets: 20}},
		Flows: preflight.Flows{TCP: 1240, TwoSided: 1200, Opened: 1100, AtLeast: true,
			Kinds: []preflight.Count{{Kind: "TCP", Packets: 1240}, {Kind: "UDP", Packets: 310}, {Kind: "ICMP", Packets: 3}}},
		Sides:   &preflight.Sides{Rule: "auto", Client: 45000, Server: 45210, Undecided: []preflight.Count{{Kind: "ARP", Packets: 200}, {Kind: "LLDP", Packets: 10}}},
		Tagged:  preflight.Tagged{Auto: 12000, Always: 80000},
		Wrong:   []preflight.Wrong{{Protocol: "TCP", Seen: seen(312, 44, 1514, 1514)}},
		Snapped: preflight.Seen{Packets: 30, First: at(99), Size: 96, Wire: 1096, Longest: 96},
		Runts:   seen(1200, 3, 54, 54),
		Merged:  seen(312, 8812, 4410, 4410),
		Groups:  seen(10825, 5, 60, 342),
		Control: seen(10, 7, 60, 240),
	}
}

// options are those of a replay ten times as fast.
func options() preflight.Options {
	return preflight.Options{Load: units.Rate{Kind: units.Factor, Value: 10}, Loops: 2, Memory: 8e9, Duration: time.Hour}
}
