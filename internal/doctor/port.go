package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"loadtest/internal/device"
)

// A port is a device that is being judged.
type port struct {
	*device.Device
	build device.Build
	cpus  device.CPUs
	found []Finding
}

func (p *port) add(s Severity, what, why, mend string) {
	p.found = append(p.found, Finding{s, p.Port(), what, why, mend})
}

func (p *port) judge() {
	for _, r := range p.Refused {
		p.add(Fault, r.Fact, "a run would refuse it; "+r.Instead+", or --force-port "+p.Port(), "")
	}
	best, ok := p.ways()
	if !ok {
		return
	}
	if p.Name == "" { // all else is asked of the kernel's interface
		return
	}
	p.link()
	p.offloads(best.Backend == "afpacket")
	p.size()
	p.others()
	p.flowControl()
	p.sleep()
	p.errors()
	p.rings()
	p.queues()
	p.interrupts()
	p.threads()
}

// ways tells the backend that opens the port, and those that would be faster.
func (p *port) ways() (best device.Way, ok bool) {
	all := p.Ways(p.build)
	i := slices.IndexFunc(all, func(w device.Way) bool { return w.Why == "" })
	if i < 0 {
		last := all[len(all)-1]
		for _, w := range all {
			if w.Mend != "" || slices.Contains(p.build.Backends, w.Backend) {
				last = w
			}
		}
		p.add(Fault, "no backend opens it", last.Why, last.Mend)
		return best, false
	}
	best = all[i]
	told := ""
	for _, w := range all[:i] {
		if w.Mend != "" && w.Mend != told { // which may help a slower one, too
			told = w.Mend
			p.add(Note, fmt.Sprintf("is not opened with %s, %s a core", w.Backend, w.Speed), w.Why, w.Mend)
		}
	}
	name := strings.TrimSpace(best.Backend + " " + best.Mode)
	p.add(OK, "opens with "+name, "one core sends "+best.Speed+" of 64 B, as far as is known", "")
	return best, true
}

func (p *port) link() {
	switch {
	case !p.Set:
		p.add(Fault, "is set down", "nothing can be sent", p.In("ip link set %s up", p.Name))
	case !p.Up && p.Kind == "veth":
		p.add(Fault, "has no carrier", "its far end is down, so nothing can be sent", "")
	case !p.Up:
		p.add(Fault, "has no carrier", "nothing can be sent; look at cable, optic and far end", "")
	case p.Settings.HalfDuplex:
		p.add(Fault, "is half duplex", "collisions look like loss in the device", p.In("ethtool -s %s autoneg on", p.Name))
	case p.Speed == 0:
		p.add(Note, "does not tell its speed", "shares of the line (--rate 40%) mean nothing, so give rates as numbers", "")
	}
}

// offloads judges what makes one frame of several before anybody sees them. Programs of XDP see frames before the kernel merges them.
func (p *port) offloads(afterKernel bool) {
	severity, seen := Note, "packets without a tag may arrive several as one frame"
	if afterKernel {
		severity, seen = Warning, "several TCP segments arrive as one frame, and the rest counts as lost"
	}
	if afterKernel || p.Kind != "veth" { // a veth has it on for its far end's XDP programs
		p.switchOff(severity, "merges received segments", seen, [][2]string{{"rx-gro", "gro"}, {"rx-lro", "lro"}, {"rx-gro-hw", "rx-gro-hw"}})
	}
	if !afterKernel {
		p.switchOff(Note, "takes VLAN tags out of received frames", "XDP programs do not see them, so packets with a tag are not known again",
			[][2]string{{"rx-vlan-hw-parse", "rxvlan"}})
	}
	if p.Kind != "device" {
		p.switchOff(Note, "lets programs of this machine send segments unsplit", "only packets that loadtest did not make are longer than the MTU",
			[][2]string{{"tx-tcp-segmentation", "tso"}, {"tx-generic-segmentation", "gso"}})
	}
}

// switchOff tells of features that are on, by their long names, and how to turn them off, by those of ethtool -K.
func (p *port) switchOff(s Severity, what, why string, features [][2]string) {
	var on, off, fixed []string
	for _, f := range features {
		if feature := p.Settings.Features[f[0]]; feature.On {
			on = append(on, f[1])
			if feature.Fixed {
				fixed = append(fixed, f[1])
			} else {
				off = append(off, f[1]+" off")
			}
		}
	}
	if on == nil {
		return
	}
	mend := ""
	if off != nil {
		mend = p.In("ethtool -K %s %s", p.Name, strings.Join(off, " "))
	}
	if fixed != nil {
		why += "; " + strings.Join(fixed, ", ") + " cannot be switched here"
	}
	p.add(s, fmt.Sprintf("%s (%s)", what, strings.Join(on, ", ")), why, mend)
}

func (p *port) size() {
	if p.MTU < 1500 {
		p.add(Warning, fmt.Sprintf("has MTU %d", p.MTU), "frames of 1518 B do not fit", p.In("ip link set %s mtu 1500", p.Name))
	}
}

// others judges who else is at the port, as far as a run does not refuse it.
func (p *port) others() {
	var global []string
	for _, a := range p.Addresses {
		if !a.Addr().IsLinkLocalUnicast() {
			global = append(global, a.String())
		}
	}
	if len(global) > 0 && len(p.Refused) == 0 {
		p.add(Warning, "has addresses: "+strings.Join(global, ", "), "the kernel answers what arrives for them, so resets and errors go back into the device",
			p.In("ip addr flush dev %s", p.Name))
	}
	if p.Promiscuous && len(p.Refused) == 0 {
		p.add(Note, "is promiscuous", "another program listens there, and what it reads costs time", "")
	}
}

// unequal tells of lines that are slower than another.
func unequal(ports []device.Device) (all []Finding) {
	if len(ports) == 0 {
		return nil
	}
	fastest := slices.MaxFunc(ports, func(a, b device.Device) int { return cmp.Compare(a.Speed, b.Speed) })
	for _, p := range ports {
		if p.Up && p.Speed != 0 && p.Speed < fastest.Speed {
			all = append(all, Finding{Note, p.Port(), fmt.Sprintf("has %s, %s has %s", p.Line(), fastest.Port(), fastest.Line()),
				"the slower line is the limit of what passes both", ""})
		}
	}
	return all
}
