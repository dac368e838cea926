package doctor

import (
	"fmt"
	"strings"
)

// flowControl judges PAUSE frames.
func (p *port) flowControl() {
	f := p.Settings.Pause
	if f == nil || !f.Rx && !f.Tx {
		return
	}
	ways := "sends PAUSE frames"
	why := "it slows the device down instead of counting what the tester could not take"
	if f.Rx {
		ways, why = "obeys PAUSE frames", "a device that is too slow makes the tester wait, and loses nothing"
	}
	if f.Rx && f.Tx {
		ways = "sends and obeys PAUSE frames"
	}
	if n := p.Wire.PauseRx; n > 0 {
		ways += fmt.Sprintf("; %d came so far", n)
	}
	off := "rx off tx off"
	if f.Autoneg {
		off = "autoneg off " + off
	}
	p.add(Warning, "has flow control on ("+ways+")", why, p.In("ethtool -A %s %s", p.Name, off))
}

// sleep judges energy efficient Ethernet.
func (p *port) sleep() {
	e := p.Settings.EEE
	if e == nil || !e.Enabled {
		return
	}
	severity, what := Note, "may let the line sleep (EEE), but the far end does not"
	if e.Active {
		severity, what = Warning, "lets the line sleep between frames (EEE)"
	}
	p.add(severity, what, "frames wait until it is awake again, so the latency of low loads is the line's", p.In("ethtool --set-eee %s eee off", p.Name))
}

// errors tells of frames that the line spoilt.
func (p *port) errors() {
	var counted []string
	for _, c := range []struct {
		n    int64
		what string
	}{
		{p.Wire.CRC, "frames with a wrong FCS"},
		{p.Wire.Symbol, "invalid symbols"},
		{p.Wire.Length, "frames of a wrong length"},
		{p.Wire.FECUncorrected, "blocks that FEC could not correct"},
	} {
		if c.n > 0 {
			counted = append(counted, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	if counted != nil {
		p.add(Warning, "has counted "+strings.Join(counted, ", "), "such frames are lost on the line, not in the device; look at cable and optic", "")
	}
}

// enough is how many descriptors a ring should have: at 14.88 Mpps they are 69 µs.
const enough = 1024

func (p *port) rings() {
	r := p.Settings.Rings
	if r == nil {
		return
	}
	var more []string
	for _, ring := range []struct {
		name      string
		now, most int
	}{{"rx", r.Rx, r.MaxRx}, {"tx", r.Tx, r.MaxTx}} {
		if ring.now < enough && ring.now < ring.most {
			more = append(more, fmt.Sprintf("%s %d", ring.name, min(ring.most, 4*enough)))
		}
	}
	if more != nil {
		p.add(Warning, fmt.Sprintf("has short rings: %d descriptors to receive, %d to send", r.Rx, r.Tx), "they overflow when a thread stops for a moment, which is loss in the tester",
			p.In("ethtool -G %s %s", p.Name, strings.Join(more, " ")))
	}
}

func (p *port) queues() {
	q := p.Settings.Queues
	cpus := len(p.build.Machine.CPUs)
	if q == nil || q.Combined+q.Rx != 1 || cpus < 2 {
		return
	}
	more := ""
	switch {
	case q.MaxCombined > 1:
		more = fmt.Sprintf("combined %d", min(q.MaxCombined, cpus))
	case q.MaxRx > 1 && q.MaxTx > 1:
		more = fmt.Sprintf("rx %d tx %d", min(q.MaxRx, cpus), min(q.MaxTx, cpus))
	default:
		return
	}
	p.add(Note, "has one queue", "one core receives all of it", p.In("ethtool -L %s %s", p.Name, more))
}
