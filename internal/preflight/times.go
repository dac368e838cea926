package preflight

import (
	"math"
	"time"

	"loadtest/units"
)

// Times are those of a capture, all in ns. What is nil there is none of.
type Times struct {
	First   *int64 `json:"first_unix_ns"`
	Span    int64  `json:"span_ns"` // sum of all gaps, steps back left out
	Untimed int64  `json:"untimed"` // packets without a time

	Back     Seen  `json:"steps_back"` // packets whose time is before that of one before them
	BackMost int64 `json:"longest_step_back_ns"`

	Median    *int64 `json:"gap_p50_ns"`
	P99       *int64 `json:"gap_p99_ns"`
	Longest   *int64 `json:"gap_max_ns"`
	LongestAt *Place `json:"gap_max_before"` // the record behind it

	Peaks []Peak `json:"peaks"` // shortest window first
}

// A Peak is the busiest window of so long.
type Peak struct {
	Window int64   `json:"window_ns"`
	Bps    float64 `json:"wire_bps"`
	Pps    float64 `json:"pps"`
}

// timed says whether there is a pace to replay.
func (c *Capture) timed() bool { return c.Times.Span > 0 }

// pass is how long a pass through the capture takes in its own time: a mean gap follows the last packet.
func (c *Capture) pass() float64 {
	if c.Packets < 2 {
		return 0
	}
	return float64(c.Times.Span) * float64(c.Packets) / float64(c.Packets-1)
}

// Mean is the mean pace on the wire; nothing where there is none.
func (c *Capture) Mean() (bps units.BitRate, pps units.PacketRate) {
	p := c.pass() / 1e9
	if p == 0 {
		return 0, 0
	}
	return units.BitRate(float64(c.WireBits) / p), units.PacketRate(float64(c.Packets) / p)
}

// longGap is a silence that nobody expects of a load.
const longGap = 10 * time.Second

// times is about the captured pace.
func (j *judge) times() {
	c, o := &j.c, j.o
	t := &c.Times
	factor := 0.0
	if o.Load.Kind == units.Factor {
		factor = o.Load.Value
	}
	level := Note // the load has its own pace
	if factor > 0 {
		level = Warn
	}
	if s := t.Back; s.Packets > 0 {
		j.add(level, "time_back", "%v: time goes back, by %s at most; %s: they leave right behind the packet before them", s.First, delay(t.BackMost),
			are(s.Packets, c.Packets, "early")).at(s)
	}
	if c.Packets > 0 && !c.timed() && (c.Packets > 1 || o.Loops != 1) {
		l := level
		if l == Warn {
			l = Refuse
		}
		why := "its packets carry no times to replay"
		if t.First != nil {
			why = "no time passes between its packets: there is no pace to replay"
		}
		j.add(l, "untimed", "%s: %s; give a rate (-b 1G)", c.Name, why)
		return
	}
	if t.Untimed > 0 {
		j.add(level, "partly_untimed", "%s: %d of %d packets have no time: each leaves right behind the one before it", c.Name, t.Untimed, c.Packets)
	}
	switch {
	case t.Longest == nil || t.LongestAt == nil:
	case o.MaxGap > 0 && *t.Longest > int64(o.MaxGap):
		j.add(Note, "long_gap", "%v comes %s after the packet before it: cut to %s", *t.LongestAt, delay(*t.Longest), delay(int64(o.MaxGap))).Place = t.LongestAt
	case *t.Longest > int64(longGap):
		j.add(level, "long_gap", "%v comes %s after the packet before it: so long nothing is sent. --max-gap 1s", *t.LongestAt, delay(*t.Longest)).Place = t.LongestAt
	}
	j.passes()
}

// lasts is how long a pass takes at the load that was asked for, in ns; 0: unknown.
func (j *judge) lasts() float64 {
	_, captured := j.c.Mean()
	pps := j.packets(float64(captured))
	if pps == 0 {
		return 0
	}
	return 1e9 * float64(j.c.Packets) / pps
}

// again says whether a trial goes through the capture more than once; where that cannot be told it does.
func (j *judge) again() bool {
	o := j.o
	return o.Loops > 1 || o.Loops == 0 && o.Duration > 0 && float64(o.Duration) > j.lasts()
}

// passes is about how long the capture lasts, and how often that is asked for.
func (j *judge) passes() {
	c, o, pass := &j.c, j.o, j.lasts()
	trial := float64(o.Duration)
	switch {
	case pass == 0:
	case trial > 0 && trial < pass:
		j.add(Note, "part_of_a_pass", "%s: a pass at %v takes %s, the trial %s: the rest of it is not sent", c.Name, o.Load, delay(nanos(pass)), delay(int64(o.Duration)))
	case o.Loops > 1 && (trial == 0 || float64(o.Loops)*pass <= trial):
		j.add(Note, "passes", "%s: a pass at %v takes %s, %d of them %s", c.Name, o.Load, delay(nanos(pass)), o.Loops, delay(nanos(float64(o.Loops)*pass)))
	}
}

// nanos is a time that may be longer than 292 years.
func nanos(ns float64) int64 { return int64(min(ns, math.MaxInt64/2)) }
