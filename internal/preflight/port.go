package preflight

import (
	"fmt"
	"strings"

	"loadtest/nic"
	"loadtest/packet"
	"loadtest/units"
)

// A Port is what is known of a port.
type Port struct {
	Name, Backend, Driver, Mode string

	UpKnown, Up bool
	MTU         int
	MaxFrame    int              // longest frame without FCS that it takes; 0: unknown
	LineRate    units.BitRate    // 0: unknown
	MostPPS     units.PacketRate // that its backend is known to send; 0: unknown
	Merges      bool             // it hands up several TCP segments as one (GRO, LRO)
}

// PortOf is what a device says about itself. Whether its link is up only the kernel's ports tell.
func PortOf(i nic.Info) Port {
	p := Port{Name: i.Name, Backend: i.Backend, Driver: i.Driver, Mode: i.Mode, Up: !i.Down, MTU: i.MTU, MaxFrame: i.MaxFrame, LineRate: i.LineRate, Merges: i.Merges}
	p.UpKnown = p.kernel()
	return p
}

// kernel says whether the port is one of the system's interfaces, which ip and ethtool know.
func (p Port) kernel() bool {
	switch p.Backend {
	case "afpacket", "afxdp", "xdp":
		return true
	}
	return strings.HasPrefix(p.Backend, "fastest of ") // it is not open yet
}

// widen is how to give a port of the kernel an MTU for frames so long; "" where there is no way.
func (p Port) widen(frame int) string {
	mtu := frame - packet.EtherLen
	if !p.kernel() || mtu > 65535 {
		return ""
	}
	device, in := p.device()
	return fmt.Sprintf("ip %slink set %s mtu %d", in, device, mtu)
}

// device is the interface of a kernel port, and how ip finds its namespace.
func (p Port) device() (name, in string) {
	name = p.Name
	if _, rest, ok := strings.Cut(name, ":"); ok {
		name = rest
	}
	name, netns, ok := strings.Cut(name, "@")
	if ok {
		in = "-n " + netns + " "
	}
	return name, in
}
