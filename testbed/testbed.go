// Package testbed describes a test of a gateway in plain data: its interfaces, the routes behind it, the sizes of the packets.
// Descriptions are read from the text of Vita's test generators, "gentest".
//
//	gentest text ─Parse→ Testbed ─genconf→ configuration of the device under test
//	                        └─────genpcap→ packets for each of its routes
package testbed

import (
	"fmt"
	"net"
	"net/netip"
	"time"
)

// MaxRoutes is the highest number of routes: the route is an octet of the addresses behind it.
const MaxRoutes = 255

// maxPublic bounds the queues, and with them a configuration: that has a line or three for each of them in each route.
const maxPublic = 512

// MaxSize is the longest frame, without FCS, that Vita has room for.
const MaxSize = 10240

// A Testbed is one test of one gateway.
type Testbed struct {
	Private Interface   // towards the tester
	Public  []Interface // towards the other gateway, one for each queue; at least one

	RoutePrefix string // what the addresses behind the routes begin with: "172.17", "fd01"
	Routes      int    // 1..MaxRoutes
	Sizes       []int  // of the packets in the order they are sent: bytes of frame without FCS

	NegotiationTTL time.Duration // whole seconds a key exchange may take
	SATTL          time.Duration // whole seconds a security association lives; 0 = as the gateway likes
}

// An Interface is one port of the gateway. The addresses of all of them are of one family.
type Interface struct {
	PCI, Ifname string // the device: one of the two
	MAC         net.HardwareAddr
	IP          netip.Addr
	Nexthop     netip.Addr
	NexthopMAC  net.HardwareAddr // nil: to be asked for by ARP or neighbour discovery
	Queue       int              // 1..65535; 0 for the private one
}

// IMIX is the mix of sizes that Vita calls by this name: 7 × 54, 4 × 590 and 1 × 1514 bytes of frame without FCS.
func IMIX() []int {
	return []int{54, 54, 54, 54, 54, 54, 54, 590, 590, 590, 590, 1514}
}

// Family is 4 or 6.
func (t *Testbed) Family() int {
	if t.Private.IP.Is6() {
		return 6
	}
	return 4
}

// MinSize is the shortest frame in bytes that has room for the Ethernet and IP headers.
func (t *Testbed) MinSize() int {
	if t.Family() == 6 {
		return 14 + 40
	}
	return 14 + 20
}

// Net is the network behind a route, counted from 1, as Vita's configuration has it. An IPv6 prefix of more than one group
// makes networks that overlap: the /24 ends within the first two groups.
func (t *Testbed) Net(route int) string {
	if t.Family() == 6 {
		return fmt.Sprintf("%s:%x00::0/24", t.RoutePrefix, route)
	}
	return fmt.Sprintf("%s.%d.0/24", t.RoutePrefix, route)
}

// Host is the address of a host behind a route: 1..254 in IPv4, 1..0xfffe in IPv6. The error is about RoutePrefix.
func (t *Testbed) Host(route, host int) (netip.Addr, error) {
	text := fmt.Sprintf("%s.%d.%d", t.RoutePrefix, route, host)
	if t.Family() == 6 {
		text = fmt.Sprintf("%s:%x00::%x", t.RoutePrefix, route, host)
	}
	a, err := netip.ParseAddr(text)
	if err != nil || a.Is6() != (t.Family() == 6) || a.Zone() != "" {
		return netip.Addr{}, fmt.Errorf("route prefix %s: it makes the address %s, which is not one of IPv%d", show(t.RoutePrefix), show(text), t.Family())
	}
	return a, nil
}
