package dut

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"loadtest/units"
)

// A FitPort is a port of the run that a model was fitted to.
type FitPort struct {
	Name string
	Line units.BitRate // 0: not known, so sending takes no time
	MTU  int           // 0: 1500
}

// Network is the fitted device between ports: what is sent out of one comes back at another, whatever its addresses. ways are the
// ports, from and to, of the Fit's paths; no two may begin at one port. frame is the mean size of the trials' packets without FCS. mode
// is what its ports call themselves.
func (f Fit) Network(name, mode string, ports []FitPort, ways [][2]string, frame int) (*Network, error) {
	n := &Network{name: name, mode: mode, chatAt: far}
	nd := &node{net: n, name: "model", kind: patch}
	n.nodes = []*node{nd}
	for i, fp := range ports {
		p := &port{net: n, name: fp.Name, closed: true, mac: [6]byte{2, 0, 0, 1, 0, byte(i)}, ring: defaultQueue}
		in := &iface{node: nd, name: "model." + fp.Name, chatAt: far, order: 2 * i, mac: [6]byte{2, 0, 0, 2, 0, byte(i)}, next: p.mac}
		mtu := fp.MTU
		if mtu == 0 {
			mtu = defaultMTU
		}
		line := server{rate: int64(fp.Line), limit: defaultQueue}
		p.out = &hop{server: line, net: n, link: fp.Name, from: fp.Name, mtu: mtu, in: in}
		in.out = &hop{server: server{limit: maxQueue}, net: n, link: fp.Name, from: in.name, mtu: mostMTU, port: p}
		n.ports, nd.ifaces, n.hops = append(n.ports, p), append(nd.ifaces, in), append(n.hops, p.out, in.out)
	}
	for i, way := range ways {
		from := slices.IndexFunc(ports, func(p FitPort) bool { return p.Name == way[0] })
		to := slices.IndexFunc(ports, func(p FitPort) bool { return p.Name == way[1] })
		in := nd.ifaces[from]
		if in.to != nil {
			return nil, fmt.Errorf("port %s sends to several ports: a model knows by its port alone where a packet goes", way[0])
		}
		in.to = nd.ifaces[to]
		nd.ordered = nd.ordered || slices.ContainsFunc(nd.ifaces, func(o *iface) bool { return o != in && o.to == in.to })
		f.into(in, f.Paths[i], ports[from].Line, frame)
	}
	if f.Common {
		nd.ordered = true
		nd.shared = f.server(f.Paths[0])
	}
	n.SetSeed(0)
	return n, nil
}

// into makes an interface behave as a path: loss, capacity, and what is left of its delay besides those of the line and the capacity.
func (f Fit) into(in *iface, p FitPath, line units.BitRate, frame int) {
	in.loss = uint64(math.Ldexp(p.Loss, 64))
	if p.Loss > 0 {
		in.node.faulty = true
	}
	if !f.Common {
		in.server = f.server(p)
	}
	rest := p.Delay.Seconds()
	bits := float64(units.WireBits(frame))
	if line > 0 {
		rest -= bits / float64(line)
	}
	switch {
	case p.Burst:
	case p.Capacity > 0 && f.Bits:
		rest -= bits / p.Capacity
	case p.Capacity > 0:
		rest -= 1 / p.Capacity
	}
	in.to.out.delay = max(in.to.out.delay, int64(max(0, rest)*psPerSecond))
}

func (f Fit) server(p FitPath) server {
	if p.Capacity == 0 {
		return server{}
	}
	rate := min(max(1, int64(math.Round(p.Capacity))), maxRate)
	return server{rate: rate, packets: !f.Bits, limit: min(p.Queue, maxQueue), burst: p.Burst}
}

// String says a fit in a line: "1.000 Mpps, 512 packets wait, delay 21µs, background loss 1e-4".
func (f Fit) String() string {
	var all []string
	for _, p := range f.Paths {
		text := "no limit seen"
		if p.Capacity > 0 {
			unit := map[bool]units.RateKind{true: units.Wire, false: units.Packets}[f.Bits]
			rate, _ := strconv.ParseFloat(fmt.Sprintf("%.4g", p.Capacity), 64)
			text = units.Rate{Kind: unit, Value: rate}.String()
			if text += fmt.Sprintf(", queue of %d packets", p.Queue); p.Burst {
				text += " that do not wait"
			}
		}
		if p.Delay > 0 {
			text += fmt.Sprintf(", delay %v", p.Delay)
		}
		if p.Loss > 0 {
			text += fmt.Sprintf(", %.3g %% lost at every load", 100*p.Loss)
		}
		all = append(all, text)
	}
	if f.Common {
		return "one capacity for all: " + all[0]
	}
	return strings.Join(all, "; ")
}
