package preflight

import (
	"math"

	"loadtest/units"
)

// port is about the port itself.
func (j *judge) port() {
	p := &j.p
	if p.UpKnown && !p.Up {
		help := ""
		if p.kernel() {
			device, in := p.device()
			help = ". ip " + in + "link set " + device + " up; is the other end up, and plugged in?"
		}
		j.add(Warn, "link_down", "%s: link is down: nothing can be sent%s", p.Name, help).Port = p.Name
	}
	if p.Merges && j.c.Flows.TCP > 0 {
		device, in := p.device()
		if in != "" {
			in = "ip netns exec " + in[len("-n "):]
		}
		j.add(Warn, PortMerges, "%s merges TCP segments that it receives (GRO, LRO): they would come back as fewer and longer packets. %sethtool -K %s gro off lro off",
			p.Name, in, device).Port = p.Name
	}
}

// rates are about what the line and the backend take.
func (j *judge) rates() {
	c, p, load := &j.c, &j.p, j.o.Load
	bps, pps := c.Mean()
	line := float64(p.LineRate)
	const noise = 1e-9
	if load.Kind == units.Factor && load.Value > 0 && line > 0 && bps > 0 {
		if need := float64(bps) * load.Value; need > line*(1+noise) {
			f := j.add(Refuse, "mean_rate", "%s: %v needs %s of %s's %s; at most x%v", c.Name, load, short(units.BitRate(need)), p.Name, short(p.LineRate),
				floor(line/float64(bps)))
			f.Port, f.NeedBps, f.LineBps = p.Name, new(need), new(line)
		} else if k := c.Times.Peaks; len(k) > 0 && k[0].Bps*load.Value > line*(1+noise) {
			need := k[0].Bps * load.Value
			f := j.add(Warn, "peak_rate", "%s: %v needs %s of %s's %s in its busiest %s: packets leave late there", c.Name, load, short(units.BitRate(need)),
				p.Name, short(p.LineRate), delay(k[0].Window))
			f.Port, f.NeedBps, f.LineBps = p.Name, new(need), new(line)
		}
	}
	need := j.packets(float64(pps))
	if most := float64(p.MostPPS); most > 0 && need > most*(1+noise) {
		f := j.add(Warn, "backend_rate", "%s: %v is %v of these packets, %s sends about %v through %s: the rest stays unsent. Lower: -b %v", c.Name, load,
			units.PacketRate(need), p.Backend, p.MostPPS, p.Name, lower(load, most/need))
		f.Port, f.NeedPps, f.MostPps = p.Name, new(need), new(most)
	}
}

// packets are how many packets per second the load asks for; 0: unknown, or as many as there may be.
func (j *judge) packets(captured float64) float64 {
	load, frame := j.o.Load, j.c.frame()
	if load == (units.Rate{}) || frame == 0 {
		return 0
	}
	r, err := load.Load(j.p.LineRate, frame)
	switch {
	case err != nil || math.IsInf(r.Value, 1):
		return 0
	case r.Kind == units.Packets:
		return r.Value
	case r.Kind == units.Factor:
		return captured * r.Value
	}
	return r.Value / 8 / (frame + units.Overhead)
}

// lower is a load cut down to a part of it.
func lower(r units.Rate, part float64) units.Rate {
	r.Value = floor(r.Value * part)
	return r
}

// floor has three digits that count, and is never more than v.
func floor(v float64) float64 {
	e := math.Floor(math.Log10(v)) - 2
	if e < 0 {
		s := math.Pow(10, -e)
		return math.Floor(v*s) / s
	}
	s := math.Pow(10, e)
	return math.Floor(v/s) * s
}
