package e2e

import (
	"fmt"
	"testing"

	"loadtest/internal/lab"
	"loadtest/packet"
)

// datagrams is a capture of 16 UDP packets of so many bytes from 10.10.1.2 to 10.10.2.2, each a flow of its own, as change leaves them.
func datagrams(t *testing.T, size int, change func(b []byte)) string {
	t.Helper()
	s := &packet.Store{}
	for i := range 16 {
		b := said{src: fmt.Sprintf("10.10.1.2:%d", 4096+i), dst: "10.10.2.2:9", size: size}.frame()
		if change != nil {
			change(b)
		}
		put16(b[24:], 0)
		var sum int
		for j := 14; j < 34; j += 2 {
			sum += int(b[j])<<8 | int(b[j+1])
		}
		put16(b[24:], ^(sum>>16 + sum&0xffff))
		s.Append(b, int64(i)*1e6, len(b))
	}
	return capture(t, s)
}

// Sources that a router forwards, told its MAC address.
const (
	routed    = "gen,flows=16,src=198.18.N.0/24 a0 b0 --mac-dst a0=02:00:00:00:01:01"
	routedSix = "gen:100,flows=16,ip6,src=fd10:1::2/128,dst=fd10:2::2/128 a0 b0 --mac-dst a0=02:00:00:00:01:01"
)

// What a router does not forward it says by ICMP.
func TestDiagnosisRefused(t *testing.T) {
	device(t, "nft")
	t.Parallel()
	s := scene{Device: lab.Up(t, "linux-router.sh")}
	filter := func(rule string) string {
		return "r: nft 'table inet x { chain f { type filter hook forward priority 0; " + rule + "; }; }'"
	}
	const (
		accept  = "r: nft delete table inet x"
		toRoute = "give the device a route to "
		atB     = " via an address at b0 (--addr b0=IP/LEN)"
		pass    = "a filter drops them: have the device let them pass"
		route   = "r: ip route replace 198.19.0.0/16 via 10.10.2.2"
		again   = "FILE a0 b0"
	)
	s.all(t, []cause{
		{name: "no route", made: "r: ip route del 198.19.0.0/16", args: routed, mend: route,
			likely: "# ICMP from 10.10.1.1: 198.19.0.2 unreachable (net). " + toRoute + "198.19.0.0/16" + atB,
			also:   "a0  link 10G, driver sent #; heard # ICMP (10.10.1.1 says 198.19.0.2 unreachable (net))"},
		{name: "no route IPv6", made: "r: ip route del fd10:2::/64 dev rb", args: routedSix, mend: "r: ip route add fd10:2::/64 dev rb",
			likely: "# ICMP from fd10:1::1: fd10:2::2 unreachable (no route). " + toRoute + "fd10:2::/64" + atB},
		{name: "unreachable host", made: "r: ip route replace unreachable 198.19.0.0/16", args: routed, mend: "r: ip route del unreachable 198.19.0.0/16; ip route replace 198.19.0.0/16 via 10.10.2.2",
			likely: "# ICMP from 10.10.1.1: 198.19.0.2 unreachable (host). its route leads elsewhere: give the device one to 198.19.0.0/16" + atB},
		{name: "prohibited", made: "r: ip route replace prohibit 198.19.0.0/16", args: routed, mend: "r: ip route del prohibit 198.19.0.0/16; ip route replace 198.19.0.0/16 via 10.10.2.2",
			likely: "# ICMP from 10.10.1.1: 198.19.0.2 unreachable (prohibited). " + pass},
		{name: "rejected", made: filter("reject"), args: routed, mend: accept,
			likely: "# ICMP from 10.10.1.1: 198.19.0.2 unreachable (port). " + pass},
		{name: "rejected IPv6", made: filter("udp dport 7 reject with icmpx admin-prohibited"), args: routedSix, mend: accept,
			likely: "# ICMP from fd10:1::1: fd10:2::2 unreachable (prohibited). " + pass},
		{name: "the device itself", args: "gen,flows=16,src=198.18.N.0/24,dst=10.10.2.1/32 a0 b0 --mac-dst a0=02:00:00:00:01:01", again: routed,
			likely: "# ICMP from 10.10.2.1: 10.10.2.1 unreachable (port). that address is the device's own: send to one behind it"},
		{name: "TTL 1", args: again, file: datagrams(t, 60, func(b []byte) { b[22] = 1 }), again: routed,
			likely: "# ICMP from 10.10.1.1: time exceeded. routes lead in a circle, or the TTL in FILE is too small"},
		{name: "fragmentation needed", made: "r: ip link set rb mtu 1300", args: again, file: datagrams(t, 1400, func(b []byte) { b[20] = 0x40 }),
			likely: "# ICMP from 10.10.1.1: fragmentation needed, MTU 1300. frames of 1318 B (1314+FCS) at most, or an MTU of 1386 on the device",
			mend:   "r: ip link set rb mtu 1386"},
		{name: "too big", made: "r: ip link set rb mtu 1300", args: "gen:1400,flows=16,ip6,src=fd10:1::2/128,dst=fd10:2::2/128 a0 b0 --mac-dst a0=02:00:00:00:01:01",
			likely: "# ICMP from fd10:1::1: packet too big, MTU 1300. frames of 1318 B (1314+FCS) at most, or an MTU of 1382 on the device",
			again:  "gen:1318,flows=16,ip6,src=fd10:1::2/128,dst=fd10:2::2/128 a0 b0 --mac-dst a0=02:00:00:00:01:01"},
		{name: "in fragments", args: again, file: datagrams(t, 1400, nil),
			likely: "16 of 16 came back in fragments (1400 → # B). an MTU of 1386 on the device; or smaller packets", mend: "r: ip link set rb mtu 1386"},
		{name: "silence", made: filter("drop"), args: "FILE a0 b0", file: datagrams(t, 60, nil), mend: accept,
			likely: "a0 and b0 hear nothing at all: they lead elsewhere, or the device is off, or drops without a word. " +
				"loadtest ports shows the others; cables, power; the device's routes and filters"},
		{name: "silence of one direction", made: filter("iif rb drop"), mend: accept,
			args:   "gen,flows=16 a0 b0 --both --addr a0=10.10.1.2/24,gw=10.10.1.1 --addr b0=10.10.2.2/24,gw=10.10.2.1",
			likely: "the device drops the packets, or never gets them. its counters, routes and filters say which", also: "loadtest: b0→a0: nothing came back in "},
	})
}

// Routes that lead in a circle, and those that lead to another router.
func TestDiagnosisMisled(t *testing.T) {
	device(t, "nft")
	t.Parallel()
	t.Run("circle", func(t *testing.T) {
		s := scene{Device: lab.Up(t, "linux-router.sh", "hops=2")}
		s.all(t, []cause{
			{name: "IPv4", made: "r2: ip route replace 198.19.0.0/16 via 10.20.0.1", args: routed, mend: "r2: ip route replace 198.19.0.0/16 via 10.10.2.2",
				likely: "# ICMP from 10.20.0.2: time exceeded. routes lead in a circle: the device's must lead to an address at b0 (--addr b0=IP/LEN)"},
			{name: "IPv6", made: "r2: ip route add fd10:2::2 via fd10:20::1", args: routedSix, mend: "r2: ip route del fd10:2::2 via fd10:20::1",
				likely: "# ICMP from fd10:20::2: time exceeded. routes lead in a circle: the device's must lead to an address at b0 (--addr b0=IP/LEN)"},
		})
	})
	s := scene{Device: lab.Up(t, "linux-router.sh")}
	// Between the port and both routers is a switch, which keeps from the port what is for the other router.
	toOther := func(how, family, to string) string {
		return fmt.Sprintf("r: %s; nft 'table netdev switch { chain out { type filter hook egress device ra priority 0; %s daddr %s drop; }; }'", how, family, to)
	}
	s.all(t, []cause{
		{name: "redirect", file: datagrams(t, 60, nil), args: "FILE a0 b0",
			made: toOther("ip neigh add 10.10.1.99 lladdr 02:00:00:00:01:99 dev ra; ip route add 10.10.2.2 via 10.10.1.99; "+
				"sysctl -qw net.ipv4.conf.all.send_redirects=1 net.ipv4.conf.ra.send_redirects=1", "ip", "10.10.2.2"),
			likely: "# ICMP from 10.10.1.1: redirect to 10.10.1.99. --addr a0=10.10.1.2/24,gw=10.10.1.99 --mac-dst a0=gw",
			mend:   "r: nft delete table netdev switch; ip route del 10.10.2.2; ip neigh del 10.10.1.99 dev ra; ip addr add 10.10.1.99/24 dev ra"},
		{name: "redirect IPv6", args: "gen:100,flows=16,ip6,src=fd10:1::/64,dst=fd10:2::2/128 a0 b0 --mac-dst a0=02:00:00:00:01:01",
			made: toOther("ip addr add fe80::1/64 dev ra nodad; ip neigh add fe80::99 lladdr 02:00:00:00:01:99 dev ra; "+
				"ip route add fd10:2::2 via fe80::99 dev ra", "ip6", "fd10:2::2"),
			likely: "# ICMP from fe80::1: redirect to fe80::99. --addr a0=fd10:1::2/64,gw=fe80::99",
			mend:   "r: nft delete table netdev switch; ip route del fd10:2::2 via fe80::99 dev ra; ip neigh del fe80::99 dev ra; ip addr add fe80::99/64 dev ra nodad",
			again:  "gen:100,flows=16,ip6,src=fd10:1::/64,dst=fd10:2::2/128 a0 b0"},
	})
}

// Somebody looks for somebody who is not there: the device for its next hop or for whom it has to tell something, the tester for the
// device.
func TestDiagnosisNeighbors(t *testing.T) {
	device(t, "nft")
	t.Parallel()
	s := scene{Device: lab.Up(t, "linux-router.sh", "neigh=no")}
	const (
		forget = "r: ip neigh flush all nud all"
		next   = "the device looks for its next hop"
		gw     = " --addr a0=10.10.1.2/24,gw=10.10.1.1"
	)
	wrong := func(b []byte) { b[4], b[5] = 9, 9 }
	arp := append([]byte{255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 1, 1, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 1, 1, 10, 10, 1, 1, 0, 0, 0, 0, 0, 0, 10, 10, 1, 77},
		make([]byte, 18)...)
	s.all(t, []cause{
		{name: "ARP", made: forget, args: "FILE a0 b0", file: datagrams(t, 60, nil), mend: forget, likely: next + ". --addr b0=10.10.2.2/24,gw=10.10.2.1",
			also: "b0  link 10G; heard # ARP who-has 10.10.2.2 from 02:00:00:00:02:01, nobody answers"},
		{name: "ND", made: forget, args: "gen:100,flows=16,ip6,src=fd10:1::/64,dst=fd10:2::/64 a0 b0 --mac-dst a0=02:00:00:00:01:01", mend: forget, likely: next + ". --addr b0=fd10:2::2/64,gw=fe80::1",
			also: "b0  link 10G; heard # ND who-has (first fd10:2::2 from 02:00:00:00:02:01), nobody answers"},
		{name: "of a route", made: forget, args: "gen,flows=16 a0 b0" + gw, mend: forget, likely: next + ". --addr b0=10.10.2.2/24,gw=10.10.2.1"},
		{name: "of each host", made: forget, args: "gen,flows=16,src=10.10.1.128/25,dst=10.10.2.128/25 a0 b0" + gw, mend: forget,
			likely: next + ". --addr b0=10.10.2.130/24,gw=10.10.2.1", also: "# ARP who-has (first 10.10.2.130 from 02:00:00:00:02:01), nobody answers"},
		{name: "of another address", made: forget, args: "gen,flows=16 a0 b0 --addr b0=10.10.2.7/24" + gw, mend: forget,
			likely: next + " 10.10.2.2, b0 answers only for 10.10.2.7. --addr b0=10.10.2.2/24,gw=10.10.2.1"},
		{name: "to tell something", made: "r: ip neigh flush all nud all; ip route del 198.19.0.0/16", args: routed,
			likely: "the device looks for 10.10.1.2, to say something to the sender. --addr a0=10.10.1.2/24,gw=10.10.1.1",
			mend:   "r: ip neigh flush all nud all; ip route add 198.19.0.0/16 via 10.10.2.2", again: routed + " --addr b0=10.10.2.2/24"},
		{name: "captured elsewhere", made: forget, args: "FILE a0 b0 --addr b0=10.10.2.2/24" + gw, file: datagrams(t, 60, wrong), mend: forget,
			likely: "FILE is sent to 02:00:00:00:09:09, but a0 hears 02:00:00:00:01:01 (10.10.1.1). --mac-dst a0=gw"},
		{name: "captured elsewhere, no gateway", made: forget, says: arp, args: "FILE a0 b0 --addr b0=10.10.2.2/24",
			file: datagrams(t, 60, wrong), mend: forget, likely: "FILE is sent to 02:00:00:00:09:09, but a0 hears 02:00:00:00:01:01 (10.10.1.1). --mac-dst a0=02:00:00:00:01:01"},
		{name: "made for a bridge", made: forget, args: "gen,flows=16 a0 b0 --addr b0=10.10.2.2/24,gw=10.10.2.1", mend: forget,
			likely: "gen,flows=16 is sent to b0's own MAC address, which a bridge or a cable brings there, but no router. to a router: --addr a0=IP/LEN,gw=IP, or --mac-dst a0=MAC",
			also:   "or: ", again: "gen,flows=16 a0 b0 --addr b0=10.10.2.2/24,gw=10.10.2.1" + gw},
		{name: "made for a bridge, the router is heard", made: forget, says: arp, args: "gen,flows=16 a0 b0 --addr b0=10.10.2.2/24", mend: forget,
			likely: "gen,flows=16 is sent to 02:00:00:00:02:02, but a0 hears 02:00:00:00:01:01 (10.10.1.1). --mac-dst a0=02:00:00:00:01:01, or --addr a0=IP/24,gw=10.10.1.1"},
	})
}
