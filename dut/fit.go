package dut

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"
)

// A FitTrial is what a run tells of one trial: the counts of each path through the device, always in the same order.
type FitTrial struct {
	Number   int
	Duration time.Duration // of sending
	Preroll  time.Duration // uncounted traffic at the same load right before
	Paths    []FitCounts
}

// FitCounts are those of a path in a trial. Latencies are negative where nothing was measured.
type FitCounts struct {
	Sent, Lost  int64
	WireBits    int64         // of the sent packets
	Least, High time.Duration // latency, and its 99th percentile
}

// A Fit is a device in a few numbers per path, such that it loses about what the trials lost.
//
//	trials ─FitTrials→ Fit, Residual ─Network→ ports
type Fit struct {
	Common bool // the paths share the first one's capacity and queue
	Bits   bool // capacities count bits on the wire, else packets
	Paths  []FitPath
}

// A FitPath is a way through a fitted device.
type FitPath struct {
	Capacity float64       // per second; 0: no limit was seen
	Queue    int64         // packets that wait before it
	Burst    bool          // they do not wait, but go through at once, as a policer's
	Delay    time.Duration // of a packet that need not wait, 0 also where that is not known
	Loss     float64       // share of packets lost at every load
}

// A Residual is how far a Fit's loss ratios are from those of its trials.
type Residual struct {
	RMS, Worst float64
	Trials     []Misfit
}

// A Misfit is the loss ratio of a path in a trial, measured and of the model. Path -1: of all paths together.
type Misfit struct {
	Trial, Path     int
	Measured, Model float64
}

// FitTrials fits a device to the trials of a run. Capacities are of each path by itself, unless one for all explains the trials clearly
// better, and of packets, unless the trials had packets of several sizes and bits explain them better. The error says what the
// trials do not tell.
func FitTrials(trials []FitTrial) (Fit, Residual, error) {
	if len(trials) == 0 || len(trials[0].Paths) == 0 {
		return Fit{}, Residual{}, errors.New("no trial that counts: want a run with trials below and above the device's limit, as find-limit makes them")
	}
	units := []bool{false}
	if sizes(trials) {
		units = append(units, true)
	}
	var best Fit
	var rest Residual
	found := false
	reason := errors.New("")
	for _, common := range []bool{false, true} {
		if common && len(trials[0].Paths) == 1 {
			continue
		}
		for _, bits := range units {
			f, r, err := fit(trials, common, bits)
			if err != nil {
				reason = err
				continue
			}
			margin := 1.0
			if common != best.Common {
				margin = 0.5
			}
			if !found || total(f, trials) < margin*total(best, trials) {
				best, rest, found = f, r, true
			}
		}
	}
	if !found {
		return Fit{}, Residual{}, reason
	}
	return best, rest, nil
}

// sizes says whether trials differ in the size of their packets.
func sizes(trials []FitTrial) bool {
	least, most := math.Inf(1), 0.0
	for _, t := range trials {
		for _, p := range t.Paths {
			if p.Sent > 0 {
				size := float64(p.WireBits) / float64(p.Sent)
				least, most = min(least, size), max(most, size)
			}
		}
	}
	return most > 1.01*least
}

// fit fits paths one by one, or all as one.
func fit(trials []FitTrial, common, bits bool) (f Fit, r Residual, err error) {
	f = Fit{Common: common, Bits: bits, Paths: make([]FitPath, len(trials[0].Paths))}
	limited := false
	for i := range f.Paths {
		path := i
		if common {
			path = -1
		}
		o := observe(trials, path, bits)
		p, why := o.fit()
		if why != nil && !errors.Is(why, errNoLimit) {
			return f, r, why
		}
		if why != nil {
			err = why
		}
		limited = limited || why == nil
		f.Paths[i] = p
		if common {
			for j := range f.Paths {
				f.Paths[j] = p
				f.Paths[j].Delay = observe(trials, j, bits).delay()
			}
			break
		}
	}
	if !limited {
		return f, r, err
	}
	return f, f.residual(trials), nil
}

// residual compares a fit with trials.
func (f Fit) residual(trials []FitTrial) (r Residual) {
	paths := len(f.Paths)
	if f.Common {
		paths = 1
	}
	squares := 0.0
	for i := range paths {
		path := i
		if f.Common {
			path = -1
		}
		for _, o := range observe(trials, path, f.Bits) {
			m := Misfit{Trial: o.number, Path: path, Measured: o.lost / o.sent, Model: o.loses(f.Paths[i]) / o.sent}
			squares += (m.Measured - m.Model) * (m.Measured - m.Model)
			r.Worst = max(r.Worst, math.Abs(m.Measured-m.Model))
			r.Trials = append(r.Trials, m)
		}
	}
	r.RMS = math.Sqrt(squares / float64(len(r.Trials)))
	slices.SortStableFunc(r.Trials, func(a, b Misfit) int { return cmp.Compare(a.Trial, b.Trial) })
	return r
}

// total is how far a fit's losses of all paths together are from the trials', in squares of ratios: what fits of paths and of all as
// one have in common.
func total(f Fit, trials []FitTrial) (squares float64) {
	model := make(map[int]float64)
	for i := range f.Paths {
		path := i
		if f.Common {
			path = -1
		}
		for _, o := range observe(trials, path, f.Bits) {
			model[o.number] += o.loses(f.Paths[i])
		}
		if f.Common {
			break
		}
	}
	for _, o := range observe(trials, -1, f.Bits) {
		off := (o.lost - model[o.number]) / o.sent
		squares += off * off
	}
	return squares
}
