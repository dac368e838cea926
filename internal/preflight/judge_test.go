package preflight_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadtest/internal/preflight"
	"loadtest/packet"
	"loadtest/units"
)

func TestJudge(t *testing.T) {
	type (
		C = preflight.Capture
		P = preflight.Port
		O = preflight.Options
	)
	load := func(kind units.RateKind, v float64) func(*C, *P, *O) {
		return func(_ *C, _ *P, o *O) { o.Load = units.Rate{Kind: kind, Value: v} }
	}
	x1 := units.Rate{Kind: units.Factor, Value: 1}
	seen := func(n, record int64, size int) preflight.Seen {
		return preflight.Seen{Packets: n, First: at(record), Size: size, Wire: size, Longest: size}
	}
	for _, tt := range []struct {
		name  string
		set   func(*C, *P, *O)
		level preflight.Level
		kind  string
		want  string
	}{
		{"empty", func(c *C, _ *P, _ *O) { *c = C{Name: "prod.pcapng"} }, preflight.Refuse, "empty", "prod.pcapng holds no packets: nothing to send"},
		{"cut", func(c *C, _ *P, _ *O) { c.Cut = "prod.pcapng: packet 1001 at byte 99: unexpected EOF" }, preflight.Refuse, "cut",
			"prod.pcapng: packet 1001 at byte 99: unexpected EOF. To send the 1000 whole packets before it: --take-whole"},
		{"cut and taken", func(c *C, _ *P, o *O) {
			c.Cut, o.TakeWhole = "prod.pcapng: packet 1001 at byte 99: unexpected EOF", true
		}, preflight.Note, "cut",
			"prod.pcapng: packet 1001 at byte 99: unexpected EOF; 1000 whole packets are taken"},
		{"FCS", func(c *C, _ *P, _ *O) { c.FCS = 4 }, preflight.Note, "fcs",
			"prod.pcapng: frames end with their FCS (4 bytes), as the file says: it is taken off, the wire makes a new one"},
		{"memory", func(c *C, _ *P, o *O) { o.Room = 1e6 }, preflight.Note, "streams",
			"prod.pcapng takes 1.02 MB of memory, of which it may have 1 MB: it streams from disk while it is sent"},
		{"link type", func(c *C, _ *P, _ *O) { c.Links = []preflight.Link{{Type: 113, Packets: 1000}} }, preflight.Refuse, "link_type",
			"prod.pcapng has no Ethernet header (Linux cooked, 113): --mac-dst gw with --addr eth2=IP/LEN,gw=IP, or --mac-dst MAC --mac-src MAC"},
		{"some of a link type", func(c *C, _ *P, _ *O) { c.Links = []preflight.Link{{Type: 1, Packets: 990}, {Type: 14, Packets: 10}} }, preflight.Refuse, "link_type",
			"prod.pcapng has no Ethernet header (raw IP, 14); 10 of 1000 records are without: --mac-dst gw with --addr eth2=IP/LEN,gw=IP, or --mac-dst MAC --mac-src MAC"},
		{"a link type that nothing carries", func(c *C, _ *P, o *O) {
			c.Links, o.MACs = []preflight.Link{{Type: 113, Packets: 600}, {Type: 253, Packets: 400}}, true
		}, preflight.Refuse, "link_type", "prod.pcapng: link type 253 (netlink): Ethernet carries no such packets; 400 of 1000 records are without; want Ethernet, raw IP, loopback or Linux cooked"},
		{"captured short", func(c *C, _ *P, _ *O) { c.Snapped = preflight.Seen{Packets: 30, First: at(99), Size: 96, Wire: 1000} }, preflight.Refuse, "snapped",
			"prod.pcapng record 99 was captured short: 96 of 1000 bytes; 30 of 1000 records are. Capture again with the full length (tcpdump -s 0), or --skip-snapped"},
		{"captured short, skipped", func(c *C, _ *P, o *O) {
			c.Snapped, o.Skip.Snapped = preflight.Seen{Packets: 30, First: at(99), Size: 96, Wire: 1000}, true
		}, preflight.Note, "snapped", "prod.pcapng record 99 was captured short: 96 of 1000 bytes; 30 of 1000 records are and are left out"},
		{"no frame", func(c *C, _ *P, _ *O) { c.Short = seen(2, 7, 9) }, preflight.Refuse, "too_short",
			"prod.pcapng record 7: 9 bytes are no Ethernet frame, want at least 14; 2 of 1000 records are too short"},

		{"multicast", func(c *C, _ *P, _ *O) { c.Groups = seen(120, 5, 60) }, preflight.Warn, "multicast",
			"prod.pcapng: 12.0 % of the packets are multicast or broadcast: a router forwards none of them: they would count as lost. --skip-multicast"},
		{"multicast skipped", func(c *C, _ *P, o *O) { c.Groups, o.Skip.Multicast = seen(1, 5, 60), true }, preflight.Note, "multicast",
			"prod.pcapng: 0.10 % of the packets are multicast or broadcast: they are left out"},
		{"link control", func(c *C, _ *P, _ *O) { c.Control = seen(10, 7, 60) }, preflight.Warn, "link_control",
			"prod.pcapng record 7: for the next bridge only (LLDP, STP, LACP, pause); 10 of 1000 records are so: no bridge forwards them. --skip-multicast"},
		{"runts", func(c *C, _ *P, _ *O) { c.Runts = seen(51, 1, 34) }, preflight.Note, "padded",
			"prod.pcapng record 1: 34 bytes; 51 of 1000 records are shorter than 60 bytes: the wire pads them"},
		{"merged", func(c *C, _ *P, _ *O) { c.Merged = seen(312, 12, 4410) }, preflight.Warn, "merged",
			"prod.pcapng record 12: 4410 bytes of TCP; 312 of 1000 records are longer than an MTU of 1500 allows: receive offload merged segments, " +
				"or the MTU was larger. --resegment makes segments of them"},
		{"merged, to be cut", func(c *C, _ *P, o *O) { c.Merged, o.Resegment = seen(312, 12, 4410), true }, preflight.Note, "merged",
			"prod.pcapng record 12: 4410 bytes of TCP; 312 of 1000 records are longer than an MTU of 1500 allows: receive offload merged segments, " +
				"or the MTU was larger: made segments of what the port takes"},
		{"IP length 0", func(c *C, _ *P, _ *O) { c.NoIPLen = seen(1, 1, 2030) }, preflight.Warn, "ip_length_zero",
			"prod.pcapng record 1: IP length 0; 1 of 1000 records are so: captured before the card made segments of it: a device drops such packets. " +
				"--resegment makes segments of them"},
		{"damaged", func(c *C, _ *P, _ *O) { c.Damaged = seen(3, 8, 60) }, preflight.Warn, "damaged",
			"prod.pcapng record 8: the headers of its IP packet are cut or contradict themselves; 3 of 1000 records are so: a device drops them"},
		{"checksums", func(c *C, _ *P, _ *O) {
			c.Wrong = []preflight.Wrong{{"IPv4", preflight.Seen{}}, {"TCP", seen(312, 4, 60)}}
		}, preflight.Warn, "checksum_tcp",
			"prod.pcapng record 4: wrong TCP checksum; 312 of 1000 packets have one (captured before the card filled it in?): a device may drop them. --fix-checksums"},
		{"checksums made right", func(c *C, _ *P, o *O) { c.Wrong, o.FixChecksums = []preflight.Wrong{{"UDP", seen(1, 4, 60)}}, true }, preflight.Note, "checksum_udp",
			"prod.pcapng record 4: wrong UDP checksum; 1 of 1000 packets have one: made right"},
		{"both sides", func(c *C, _ *P, _ *O) { c.Flows.TwoSided = 1240 }, preflight.Refuse, "two_sided",
			"prod.pcapng holds both sides of 1240 TCP flows; sent out of one port, a firewall drops one side. SOURCE A B --split, or as it is: --split=no"},
		{"both sides of one", func(c *C, _ *P, _ *O) { c.Flows.TwoSided = 1 }, preflight.Refuse, "two_sided",
			"prod.pcapng holds both sides of a TCP flow; sent out of one port, a firewall drops one side. SOURCE A B --split, or as it is: --split=no"},
		{"both sides, split", func(c *C, _ *P, o *O) { c.Flows.TwoSided, o.Split = 1240, true }, 0, "", ""},
		{"TCP twice", func(c *C, _ *P, o *O) { c.Flows.TCP, o.Loops = 1240, 2 }, preflight.Warn, "tcp_repeats",
			"prod.pcapng: pass 2 repeats 1240 TCP connections that a stateful device still holds: --loops 1, or --vary src-ip:1000"},
		{"TCP for a time", func(c *C, _ *P, o *O) { c.Flows.TCP, o.Loops, o.Duration = 1, 0, time.Hour }, preflight.Warn, "tcp_repeats",
			"prod.pcapng: pass 2 repeats 1 TCP connection that a stateful device still holds: --loops 1, or --vary src-ip:1000"},
		{"TCP for a pass", func(c *C, _ *P, o *O) { c.Flows.TCP, o.Loops, o.Duration, o.Load = 1, 0, time.Second, x1 }, 0, "", ""},
		{"TCP for a pass at a rate", func(c *C, _ *P, o *O) {
			c.Flows.TCP, o.Loops, o.Duration, o.Load = 1, 0, 1025*time.Millisecond, units.Rate{Value: 8e6}
		}, preflight.Warn, "tcp_repeats", "prod.pcapng: pass 2 repeats 1 TCP connection that a stateful device still holds: --loops 1, or --vary src-ip:1000"},
		{"TCP once", func(c *C, _ *P, o *O) { c.Flows.TCP, o.Duration = 1240, time.Hour }, 0, "", ""},
		{"TCP, others in each pass", func(c *C, _ *P, o *O) { c.Flows.TCP, o.Loops, o.Vary = 1240, 2, true }, 0, "", ""},
		{"handshakes", func(c *C, _ *P, _ *O) { c.Flows.Opened = 1100 }, preflight.Note, "no_answers",
			"prod.pcapng opens 1100 TCP connections: a device that answers SYN itself (proxy, load balancer, SYN cookies) or rewrites sequence numbers will not follow a replay"},
		{"handshakes, verbs for them", func(c *C, _ *P, o *O) { c.Flows.Opened, o.Verbs = 1, []string{"traffic", "flows"} }, preflight.Note, "no_answers",
			"prod.pcapng opens 1 TCP connection: a device that answers SYN itself (proxy, load balancer, SYN cookies) or rewrites sequence numbers will not " +
				"follow a replay. Connections that answer: loadtest traffic, or flows"},
		{"no zeros for tags", func(c *C, _ *P, _ *O) { c.Tagged.Auto = 400 }, preflight.Note, "untagged",
			"prod.pcapng: 600 of 1000 packets have no room of zeros for the tag: matched by flow; latency and order are not measured for them. --tag always overwrites payload"},
		{"no room for tags", func(c *C, _ *P, _ *O) { c.Tagged = preflight.Tagged{Auto: 400, Always: 400} }, preflight.Note, "untagged",
			"prod.pcapng: 600 of 1000 packets have no room for the tag: matched by flow; latency and order are not measured for them"},
		{"no room for some tags", func(c *C, _ *P, _ *O) { c.Tagged = preflight.Tagged{Auto: 400, Always: 900} }, preflight.Note, "untagged",
			"prod.pcapng: 600 of 1000 packets have no room of zeros for the tag: matched by flow; latency and order are not measured for them. " +
				"--tag always overwrites payload and leaves 100"},
		{"no room for tags, always", func(c *C, _ *P, o *O) { c.Tagged, o.Tag = preflight.Tagged{Auto: 400, Always: 900}, packet.TagAlways }, preflight.Note, "untagged",
			"prod.pcapng: 100 of 1000 packets have no room for the tag: matched by flow; latency and order are not measured for them"},
		{"no tags wanted", func(c *C, _ *P, o *O) { c.Tagged, o.Tag = preflight.Tagged{}, packet.TagNever }, 0, "", ""},

		{"no times", func(c *C, _ *P, o *O) { c.Times, o.Load = preflight.Times{Untimed: 1000}, x1 }, preflight.Refuse, "untimed",
			"prod.pcapng: its packets carry no times to replay; give a rate (-b 1G)"},
		{"no times, a rate", func(c *C, _ *P, o *O) {
			c.Times, o.Load = preflight.Times{Untimed: 1000}, units.Rate{Value: 1e9}
		}, preflight.Note, "untimed", "prod.pcapng: its packets carry no times to replay; give a rate (-b 1G)"},
		{"one time", func(c *C, _ *P, o *O) { c.Times, o.Load = preflight.Times{First: new(int64(1))}, x1 }, preflight.Refuse, "untimed",
			"prod.pcapng: no time passes between its packets: there is no pace to replay; give a rate (-b 1G)"},
		{"one packet once", func(c *C, _ *P, o *O) {
			c.Packets, c.Tagged, c.Times, o.Load = 1, preflight.Tagged{Auto: 1, Always: 1}, preflight.Times{First: new(int64(1))}, x1
		}, 0, "", ""},
		{"no times of some", func(c *C, _ *P, o *O) { c.Times.Untimed, o.Load = 3, x1 }, preflight.Warn, "partly_untimed",
			"prod.pcapng: 3 of 1000 packets have no time: each leaves right behind the one before it"},
		{"time goes back", func(c *C, _ *P, o *O) {
			c.Times.Back, c.Times.BackMost, o.Load = preflight.Seen{Packets: 3, First: at(17)}, 1_200_000_000, x1
		}, preflight.Warn, "time_back", "prod.pcapng record 17: time goes back, by 1.2s at most; 3 of 1000 records are early: they leave right behind the packet before them"},
		{"time goes back, a rate", func(c *C, _ *P, o *O) {
			c.Times.Back, c.Times.BackMost, o.Load = preflight.Seen{Packets: 1, First: at(17)}, 7, units.Rate{Value: 1e9}
		}, preflight.Note, "time_back", "prod.pcapng record 17: time goes back, by 7ns at most; 1 of 1000 records are early: they leave right behind the packet before them"},
		{"long gap", func(c *C, _ *P, o *O) { *c.Times.Longest, o.Load = 3_661e9, x1 }, preflight.Warn, "long_gap",
			"prod.pcapng record 2 comes 1h1m1s after the packet before it: so long nothing is sent. --max-gap 1s"},
		{"long gap, a rate", func(c *C, _ *P, o *O) { *c.Times.Longest = 10_000_000_001 }, preflight.Note, "long_gap",
			"prod.pcapng record 2 comes 10s after the packet before it: so long nothing is sent. --max-gap 1s"},
		{"long gap cut", func(c *C, _ *P, o *O) { *c.Times.Longest, o.MaxGap = 2e9, time.Second }, preflight.Note, "long_gap",
			"prod.pcapng record 2 comes 2s after the packet before it: cut to 1s"},
		{"gap of 10 s", func(c *C, _ *P, o *O) { *c.Times.Longest, o.Load = 10e9, x1 }, 0, "", ""},
		{"passes", func(c *C, _ *P, o *O) { o.Load, o.Loops = units.Rate{Kind: units.Factor, Value: 0.5}, 90 }, preflight.Note, "passes",
			"prod.pcapng: a pass at x0.5 takes 2s, 90 of them 3m"},
		{"part of a pass", func(c *C, _ *P, o *O) { o.Load, o.Duration = x1, 250*time.Millisecond }, preflight.Note, "part_of_a_pass",
			"prod.pcapng: a pass at x1 takes 1s, the trial 250ms: the rest of it is not sent"},
		{"part of a pass at a rate", func(c *C, _ *P, o *O) { o.Load, o.Duration = units.Rate{Value: 8192}, time.Second }, preflight.Note, "part_of_a_pass",
			"prod.pcapng: a pass at 8.192kbps takes 16m40s, the trial 1s: the rest of it is not sent"},
		{"so many passes that nobody waits for them", func(c *C, _ *P, o *O) { o.Load, o.Loops = x1, 1<<62 }, preflight.Note, "passes",
			"prod.pcapng: a pass at x1 takes 1s, 4611686018427387904 of them 1281023h53m38s"},
		{"a whole pass", func(c *C, _ *P, o *O) { o.Load, o.Duration = x1, time.Second }, 0, "", ""},

		{"link down", func(_ *C, p *P, _ *O) { p.Up = false }, preflight.Warn, "link_down",
			"eth2: link is down: nothing can be sent. ip link set eth2 up; is the other end up, and plugged in?"},
		{"link down in a namespace", func(_ *C, p *P, _ *O) { p.Up, p.Name = false, "eth2@lab" }, preflight.Warn, "link_down",
			"eth2@lab: link is down: nothing can be sent. ip -n lab link set eth2 up; is the other end up, and plugged in?"},
		{"link of another kind down", func(_ *C, p *P, _ *O) { p.Up, p.Backend, p.Name = false, "dpdk", "dpdk:0" }, preflight.Warn, "link_down",
			"dpdk:0: link is down: nothing can be sent"},
		{"link unknown", func(_ *C, p *P, _ *O) { p.Up, p.UpKnown = false, false }, 0, "", ""},
		{"port merges", func(c *C, p *P, _ *O) { p.Merges, c.Flows.TCP = true, 3 }, preflight.Warn, "port_merges",
			"eth2 merges TCP segments that it receives (GRO, LRO): they would come back as fewer and longer packets. ethtool -K eth2 gro off lro off"},
		{"port in a namespace merges", func(c *C, p *P, _ *O) { p.Merges, p.Name, c.Flows.TCP = true, "afpacket:eth2@lab", 3 }, preflight.Warn, "port_merges",
			"afpacket:eth2@lab merges TCP segments that it receives (GRO, LRO): they would come back as fewer and longer packets. " +
				"ip netns exec lab ethtool -K eth2 gro off lro off"},
		{"port merges what is not there", func(_ *C, p *P, _ *O) { p.Merges = true }, 0, "", ""},

		{"mean above the line", load(units.Factor, 1734), preflight.Refuse, "mean_rate",
			"prod.pcapng: x1734 needs 14.205 Gbps of eth2's 10 Gbps; at most x1220"},
		{"mean above a slow line", func(c *C, p *P, o *O) { p.LineRate, o.Load = 1*units.Mbps, x1 }, preflight.Refuse, "mean_rate",
			"prod.pcapng: x1 needs 8.192 Mbps of eth2's 1 Mbps; at most x0.122"},
		{"mean at the line", func(c *C, p *P, o *O) { p.LineRate, o.Load = 8.192*units.Mbps, x1 }, 0, "", ""},
		{"line unknown", func(c *C, p *P, o *O) { p.LineRate, o.Load = 0, units.Rate{Kind: units.Factor, Value: 1e6} }, 0, "", ""},
		{"peak above the line", func(c *C, _ *P, o *O) {
			c.Times.Peaks, o.Load = []preflight.Peak{{1e6, 6.05e9, 1e6}, {1e9, 1e9, 1e5}}, units.Rate{Kind: units.Factor, Value: 2}
		}, preflight.Warn, "peak_rate", "prod.pcapng: x2 needs 12.1 Gbps of eth2's 10 Gbps in its busiest 1ms: packets leave late there"},
		{"peak below the line", func(c *C, _ *P, o *O) { c.Times.Peaks, o.Load = []preflight.Peak{{1e6, 6.05e9, 1e6}}, x1 }, 0, "", ""},
		{"too many packets", func(_ *C, p *P, o *O) { p.MostPPS, o.Load = 1e6, units.Rate{Kind: units.Percent, Value: 100} }, preflight.Warn, "backend_rate",
			"prod.pcapng: 100% is 1.221 Mpps of these packets, afpacket sends about 1.000 Mpps through eth2: the rest stays unsent. Lower: -b 81.9%"},
		{"too many packets at a factor", func(_ *C, p *P, o *O) { p.MostPPS, o.Load = 1e6, units.Rate{Kind: units.Factor, Value: 1200} }, preflight.Warn, "backend_rate",
			"prod.pcapng: x1200 is 1.200 Mpps of these packets, afpacket sends about 1.000 Mpps through eth2: the rest stays unsent. Lower: -b x1000"},
		{"too many packets asked for", func(_ *C, p *P, o *O) { p.MostPPS, o.Load = 1e6, units.Rate{Kind: units.Packets, Value: 1.1e6} }, preflight.Warn, "backend_rate",
			"prod.pcapng: 1.1Mpps is 1.100 Mpps of these packets, afpacket sends about 1.000 Mpps through eth2: the rest stays unsent. Lower: -b 1Mpps"},
		{"as many packets as there may be", func(_ *C, p *P, o *O) { p.MostPPS, o.Load = 1e6, units.Rate{Kind: units.Max} }, 0, "", ""},
		{"few packets", func(_ *C, p *P, o *O) { p.MostPPS, o.Load = 1e6, units.Rate{Value: 1e9} }, 0, "", ""},
		{"nothing to say", func(*C, *P, *O) {}, 0, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, p, o := clean(), eth2(), preflight.Options{Loops: 1}
			tt.set(&c, &p, &o)
			got := preflight.Judge(c, p, preflight.Tally{}, o)
			if tt.want == "" && len(got) > 0 {
				t.Fatalf("found %v: %s; want nothing", got[0].Level, got[0].Text)
			} else if tt.want == "" {
				return
			}
			if len(got) != 1 || got[0].Kind != tt.kind || got[0].Level != tt.level {
				t.Fatalf("found %+v\nwant one %v %s", got, tt.level, tt.kind)
			}
			if d := cmp.Diff(tt.want, got[0].Text); d != "" {
				t.Errorf("text (-want +got):\n%s", d)
			}
		})
	}
}

// Worst first, and the same each time.
func TestJudgeOrder(t *testing.T) {
	p := eth2()
	p.Up = false
	got := preflight.Judge(busy(), p, preflight.Tally{}, options())
	if !slices.IsSortedFunc(got, func(a, b preflight.Finding) int { return int(a.Level) - int(b.Level) }) || len(got) < 12 {
		t.Errorf("%d findings, want them sorted by their level", len(got))
	}
	for range 10 {
		if d := cmp.Diff(got, preflight.Judge(busy(), p, preflight.Tally{}, options())); d != "" {
			t.Fatalf("another time:\n%s", d)
		}
	}
}

// Frames that are too long are found by a Check; Judge tells what it saw, also when they will be cut.
func TestJudgeTally(t *testing.T) {
	k, _ := check(eth2(), preflight.Skips{}, packet.Record{Data: tcp(4410, 4396)}, packet.Record{Data: frame(60, 8, 0)})
	for _, tt := range []struct {
		name  string
		o     preflight.Options
		level preflight.Level
		want  string
	}{
		{"refused", preflight.Options{Loops: 1}, preflight.Refuse, "prod.pcapng record 1: 4410 bytes, eth2 takes 1514 (MTU 1500); 1 of 2 records are too long, " +
			"TCP that receive offload merged. --resegment, ip link set eth2 mtu 4396, or --skip-oversize"},
		{"cut already", preflight.Options{Loops: 1, Resegment: true}, preflight.Refuse,
			"prod.pcapng record 1: 4410 bytes, eth2 takes 1514 (MTU 1500); 1 of 2 records are too long. ip link set eth2 mtu 4396, or --skip-oversize"},
		{"skipped", preflight.Options{Loops: 1, Skip: preflight.Skips{Oversize: true}}, preflight.Note,
			"prod.pcapng record 1: 4410 bytes, eth2 takes 1514 (MTU 1500); 1 of 2 records are too long and are left out"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := preflight.Judge(clean(), eth2(), k.Tally(), tt.o)
			if len(got) != 1 || got[0].Kind != "oversize" || got[0].Level != tt.level || *got[0].Limit != 1514 || *got[0].Bytes != 4410 || got[0].Place.Record != 1 {
				t.Fatalf("found %+v", got)
			}
			if d := cmp.Diff(tt.want, got[0].Text); d != "" {
				t.Errorf("text (-want +got):\n%s", d)
			}
		})
	}
}
