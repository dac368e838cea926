package guard

import (
	"net/netip"
	"testing"
)

// machine is a namespace: lo 1, eth0 2, eth1 3, eth0.5 4 on eth0, br0 5 of eth1, macvlan0 6 on eth0.5, and what change makes of it.
func machine(change func(*facts)) facts {
	ip := func(s string) []netip.Addr { return []netip.Addr{netip.MustParseAddr(s)} }
	f := facts{index: 2, links: []link{
		{index: 1, name: "lo", loopback: true, up: true, addresses: ip("127.0.0.1")},
		{index: 2, name: "eth0", up: true, addresses: ip("10.0.0.1")},
		{index: 3, name: "eth1", up: true, master: 5},
		{index: 4, name: "eth0.5", kind: "vlan", lower: 2, up: true, addresses: ip("10.0.5.1")},
		{index: 5, name: "br0", kind: "bridge", up: true, addresses: ip("fe80::5")},
		{index: 6, name: "macvlan0", kind: "macvlan", lower: 4, up: true, addresses: ip("10.0.6.1")},
	}}
	change(&f)
	return f
}

func TestJudge(t *testing.T) {
	ssh := func(client, server string) session { return session{address(client), address(server)} }
	const cut = ": load on it would cut you off. Another port, or --force-port P"
	for _, tt := range []struct {
		name   string
		change func(*facts)
		want   string
	}{
		{"nothing", func(*facts) {}, ""},
		{"default route", func(f *facts) { f.defaults = []int{2} }, "P carries the default route" + cut},
		{"default route elsewhere", func(f *facts) { f.defaults = []int{1, 3, 5} }, ""},
		{"default route of a VLAN", func(f *facts) { f.defaults = []int{4} }, "P carries the default route of eth0.5" + cut},
		{"default route of a macvlan on a VLAN", func(f *facts) { f.defaults = []int{6} }, "P carries the default route of macvlan0" + cut},
		{"two default routes", func(f *facts) { f.defaults = []int{6, 2} }, "P carries the default route" + cut},
		{"the VLAN below that", func(f *facts) { f.index, f.defaults = 4, []int{6} }, "P carries the default route of macvlan0" + cut},
		{"a VLAN is not below its device", func(f *facts) { f.index, f.defaults = 4, []int{2} }, ""},
		{"default route of the bridge", func(f *facts) { f.index, f.defaults = 3, []int{5} },
			"P carries the default route of br0, and is a port of bridge br0" + cut},
		{"the bridge", func(f *facts) { f.index, f.defaults = 5, []int{5} }, "P carries the default route" + cut},
		{"in a circle", func(f *facts) { f.links[1].lower, f.defaults = 6, []int{6} }, "P carries the default route of macvlan0" + cut},
		{"down", func(f *facts) { f.links[1].up, f.defaults = false, []int{2} }, ""},
		{"loopback", func(f *facts) { f.index, f.defaults = 1, []int{1} }, ""},

		{"session", func(f *facts) { f.session = ssh("10.1.2.3", "10.0.0.1") }, "P carries your SSH session from 10.1.2.3" + cut},
		{"session and default route", func(f *facts) { f.session, f.defaults = ssh("10.1.2.3", "10.0.0.1"), []int{2} },
			"P carries the default route and your SSH session from 10.1.2.3" + cut},
		{"session to a VLAN", func(f *facts) { f.session = ssh("10.1.2.3", "10.0.5.1") }, "P carries your SSH session from 10.1.2.3" + cut},
		{"session to another interface", func(f *facts) { f.index, f.session = 4, ssh("10.1.2.3", "10.0.0.1") }, ""},
		{"the way to the client", func(f *facts) { f.session, f.toClient = ssh("10.1.2.3", "198.51.100.1"), 4 },
			"P carries your SSH session from 10.1.2.3" + cut},
		{"the way to the client elsewhere", func(f *facts) { f.session, f.toClient = ssh("10.1.2.3", "198.51.100.1"), 3 }, ""},
		{"only the client is known", func(f *facts) { f.session, f.toClient = session{client: address("10.1.2.3")}, 2 },
			"P carries your SSH session from 10.1.2.3" + cut},
		{"mapped", func(f *facts) { f.session = ssh("::ffff:10.1.2.3", "::ffff:10.0.0.1") }, "P carries your SSH session from 10.1.2.3" + cut},
		{"from this machine", func(f *facts) { f.session = ssh("10.0.6.1", "10.0.0.1") }, ""},
		{"zone", func(f *facts) { f.index, f.session = 5, ssh("fe80::9%br0", "fe80::5%br0") }, "P carries your SSH session from fe80::9%br0" + cut},
		{"another zone", func(f *facts) { f.index, f.session = 5, ssh("fe80::9%eth0", "fe80::5%eth0") }, ""},

		{"read", func(f *facts) { f.readers = []process{{123, "tcpdump"}} },
			"P is in use by tcpdump (pid 123), which receives from it: stop it, or --force-port P"},
		{"read by two", func(f *facts) { f.readers = []process{{123, "tcpdump"}, {}} },
			"P is in use by tcpdump (pid 123) and another program, which receive from it: stop them, or --force-port P"},
		{"XDP", func(f *facts) { f.links[1].xdp, f.links[1].program = true, 12 },
			"P has an XDP program (id 12): stop what uses it (bpftool prog show id 12), or --force-port P"},
		{"bridge", func(f *facts) { f.index = 3 }, "P is a port of bridge br0: ip -n lab link set eth1 nomaster, or --force-port P"},
		{"bond", func(f *facts) { f.index, f.links[4].kind, f.links[4].name = 3, "bond", "bond0" },
			"P is a port of bond bond0: ip -n lab link set eth1 nomaster, or --force-port P"},
		{"Open vSwitch", func(f *facts) { f.index, f.links[4].kind, f.links[4].name = 3, "openvswitch", "ovs-system" },
			"P is a port of Open vSwitch: ovs-vsctl del-port eth1, or --force-port P"},
		{"VRF", func(f *facts) { f.index, f.links[4].kind, f.defaults = 3, "vrf", []int{5} }, ""},
		{"everything", func(f *facts) {
			f.index, f.defaults, f.readers, f.links[2].xdp, f.session = 3, []int{3}, []process{{1, "x"}}, true, ssh("1.1.1.1", "fe80::5")
		}, "P carries the default route and your SSH session from 1.1.1.1, and is in use by x (pid 1), which receives from it, " +
			"and has an XDP program (id 0), and is a port of bridge br0" + cut},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if reasons := judge(machine(tt.change), "ip -n lab"); len(reasons) > 0 {
				got = (&Refused{"P", reasons}).Error()
			}
			if got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}
