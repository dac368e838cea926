package dut_test

import (
	"strings"
	"testing"

	"loadtest/dut"
)

// pair is a network that is right; the tests of errors spoil it.
const pair = `ports:
  - name: a
  - name: b
links:
  - name: left
    between: [a, g1.in]
    rate: 1G
  - name: mid
    between: [g1.out, g2.out]
  - name: right
    between: [g2.in, b]
nodes:
  - name: g1
    kind: gateway
    interfaces:
      - {name: in, mac: 02:00:00:00:00:01, addresses: [10.1.0.1]}
      - name: out
    tunnels:
      - {name: t, interface: out, local: 10.0.0.1, remote: 10.0.0.2}
    routes:
      - {to: 10.2.0.0/16, tunnel: t}
  - name: g2
    kind: gateway
    interfaces: [{name: in}, {name: out}]
    tunnels: [{name: t, interface: out, local: 10.0.0.2, remote: 10.0.0.1}]
    loss: 1%
    capacity:
      rate: 1Mpps
`

func TestYAMLErrors(t *testing.T) {
	if _, err := dut.ParseNetwork("pair.yaml", []byte(pair)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, old, new, want string }{
		{"syntax", "[a, g1.in]", "[a, g1.in", "7:5: ',' or ']' must be specified"},
		{"key twice", "    rate: 1G", "    rate: 1G\n    rate: 2G", `8:5: mapping key "rate" already defined at [7:5]`},
		{"unknown key", "    rate: 1G", "    speed: 1G", `7:5: unknown key "speed": want name, between, rate, delay, queue, queue-bytes, mtu, too-long`},
		{"unknown key at the top", "ports:", "port:", `1:1: unknown key "port": want seed, ports, links, nodes`},
		{"list where text", "rate: 1G", "rate: [1G]", `7:11: cannot unmarshal`},
		{"text where number", "    rate: 1G", "    mtu: big", `7:10: cannot unmarshal string`},
		{"documents", "nodes:", "---\nnodes:", `1:1: 2 YAML documents: want one, with ports, links and nodes`},
		{"no ports", "ports:\n  - name: a\n  - name: b\n", "", `1:1: no ports: want at least one, as the tester's way in`},
		{"rate", "rate: 1G", "rate: 1GB", `7:11: rate "1GB": bytes are no rate here. 10 Gbit/s on the wire: 10G; packets: 1.2Mpps; share of the line: 40%`},
		{"rate of a link in packets", "rate: 1G", "rate: 1Mpps", `7:11: rate "1Mpps": want bits on the wire per second, such as 1G`},
		{"rate in percent", "rate: 1Mpps", "rate: 5%", `28:13: rate "5%": want bits on the wire per second, such as 1G, or packets per second, such as 1Mpps`},
		{"rate too high", "rate: 1G", "rate: 11T", `7:11: rate "11T": want 1 to 10T`},
		{"no rate", "      rate: 1Mpps", "      queue: 1", `28:7: rate "": want a rate.`},
		{"delay", "rate: 1G", "delay: soon", `7:12: "soon": want a duration.`},
		{"long delay", "rate: 1G", "delay: 2h", `7:12: "2h": want 0s to 1h0m0s`},
		{"queue", "rate: 1G", "queue: -1", `7:12: -1: want 0 to 1073741824`},
		{"two queues", "rate: 1G", "queue: 1\n    queue-bytes: 1", `8:18: queue and queue-bytes: want one of them`},
		{"mtu", "rate: 1G", "mtu: 67", `7:10: 67: want 68 to 65535`},
		{"policy", "rate: 1G", "too-long: cut", `7:15: too-long "cut": want drop, fragment, too-big`},
		{"no such port", "[a, g1.in]", "[c, g1.in]", `6:15: no port and no node "c": want one of a, b, g1.in, g1.out, g2.in, g2.out`},
		{"no such interface", "[a, g1.in]", "[a, g1.inn]", `6:18: g1 has no such interface: "g1.inn". It has g1.in, g1.out`},
		{"one end", "[a, g1.in]", "[a]", `6:14: a link between 1 ends: want two, such as [node1, gateway1.private]`},
		{"two links", "[g2.in, b]", "[g2.in, a]", `11:22: a has link left already: want one link for each port and interface`},
		{"port without link", "[a, g1.in]\n    rate: 1G\n  - name: mid\n    between: [g1.out, g2.out]\n  - name: right\n    between: [g2.in, b]", "[a, g1.in]\n    rate: 1G",
			`5:3: port b has no link: want one with between: [b, …]`},
		{"interface without link", "interfaces: [{name: in}, {name: out}]", "interfaces: [{name: in}, {name: out}, {name: up}]", `24:44: interface g2.up has no link: want one with between: [g2.up, …]`},
		{"link name twice", "name: mid", "name: left", `8:11: name "left" stands twice: want each link's once`},
		{"node name twice", "name: g2\n", "name: a\n", `22:11: name "a" stands twice: want each once among ports and nodes`},
		{"no name", "  - name: b\n", "  - mac: 02:00:00:00:00:09\n", `3:5: no name: want letters, digits, - and _`},
		{"bad name", "  - name: b\n", "  - name: b/c\n", `3:11: name "b/c": want letters, digits, - and _`},
		{"kind", "kind: gateway\n    interfaces: [", "kind: switch\n    interfaces: [", `23:11: kind "switch": want bridge, router, gateway`},
		{"router with tunnels", "kind: gateway\n    interfaces: [", "kind: router\n    interfaces: [", `25:14: a router has no tunnels: want kind: gateway`},
		{"bridge with tunnels", "kind: gateway\n    interfaces: [", "kind: bridge\n    interfaces: [", `25:14: a bridge has no tunnels: want kind: router or gateway`},
		{"mac", "02:00:00:00:00:01", "02:00", `16:25: MAC address "02:00": want six bytes, such as 02:00:00:00:00:01`},
		{"address", "[10.1.0.1]", "[10.1.0]", `16:56: address "10.1.0": want IPv4 or IPv6, such as 172.16.0.10 or fd00:16::10`},
		{"prefix", "to: 10.2.0.0/16", "to: 10.2.0.0", `21:14: prefix "10.2.0.0": want an address and a length, such as 172.17.0.0/16 or fd01::/16`},
		{"no such tunnel", "tunnel: t}", "tunnel: u}", `21:35: g1 has no tunnel "u": want one of t`},
		{"route nowhere", ", tunnel: t}", "}", `21:10: route to 10.2.0.0/16: want either interface or tunnel`},
		{"route by no interface", "tunnel: t}", "interface: up}", `21:38: g1 has no interface "up": want one of in, out`},
		{"tunnel of two families", "remote: 10.0.0.2", "remote: fd00::2", `19:60: tunnel from 10.0.0.1 to fd00::2: want addresses of one family`},
		{"no peer", "remote: 10.0.0.2", "remote: 10.0.0.3", `19:10: tunnel t has no peer: want one in another gateway, with local and remote the other way round and the same udp`},
		{"loss", "loss: 1%", "loss: 100%", `26:11: "100%": want less than all packets.`},
		{"every", "loss: 1%", "every: 0", `26:12: 0: want 1 to 1099511627776`},
		{"stall", "loss: 1%", "stall: {mean: 1s}", `26:13: stall: want mean and length, such as mean: 100ms, length: 1ms`},
		{"per", "rate: 1Mpps", "rate: 1Mpps\n      per: link", `29:12: per "link": want node, direction`},
		{"cold rate", "rate: 1Mpps", "rate: 1Mpps\n      cold-until: 1s\n      cold-rate: 1G", `30:18: cold-rate "1G" of rate "1Mpps": want both in bits or both in packets`},
		{"chatter", "      - name: out\n", "      - name: out\n        chatter: [{kind: cdp, every: 1s}]\n", `18:26: chatter "cdp": want arp, nd, lldp, stp`},
		{"chatter without every", "      - name: out\n", "      - name: out\n        chatter: [{kind: stp}]\n", `18:20: chatter without every: want a time, such as every: 5s`},
		{"chatter's target", "      - name: out\n", "      - name: out\n        chatter: [{kind: nd, every: 1s, target: 10.0.0.1}]\n", `18:49: target 10.0.0.1 of nd: want IPv4 for arp, IPv6 for nd`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if strings.Count(pair, tt.old) != 1 {
				t.Fatalf("%q stands %d times in the network, want once", tt.old, strings.Count(pair, tt.old))
			}
			_, err := dut.ParseNetwork("pair.yaml", []byte(strings.Replace(pair, tt.old, tt.new, 1)))
			if err == nil || !strings.HasPrefix(err.Error(), "pair.yaml:"+tt.want) {
				t.Errorf("got  %v\nwant pair.yaml:%s", err, tt.want)
			}
		})
	}
}

func TestYAMLCircle(t *testing.T) {
	_, err := dut.ParseNetwork("c.yaml", []byte(`ports: [{name: a}]
links:
  - {name: l0, between: [a, x]}
  - {name: l1, between: [x, y]}
  - {name: l2, between: [y, z]}
  - {name: l3, between: [z, x]}
nodes: [{name: x, kind: bridge}, {name: y, kind: bridge}, {name: z, kind: bridge}]
`))
	const want = "c.yaml:6:6: bridges in a circle: want a tree, as no spanning tree is spoken"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
