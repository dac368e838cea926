package replay

import (
	"fmt"

	"loadtest/internal/match"
	"loadtest/internal/tally"
	"loadtest/nic"
)

// classifyEvery is how often a receiver asks a port that counts our packets by itself, ns.
const classifyEvery = int64(200e3)

// classify lets the port count our packets with a tag, if it can.
func (r *receiver) classify() error {
	if r.optional.Classifier == nil || len(r.lanes) == 0 || r.virtual {
		return nil
	}
	a := nic.Await{Magic: r.table.Magic, Trial: r.table.Trial, Preroll: r.table.Preroll, Half: r.half, HalfEnd: r.halfEnd}
	for _, l := range r.lanes {
		a.Lanes = append(a.Lanes, l.id)
	}
	if err := r.optional.Classifier.Classify(a); err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	r.classifies, r.asked = true, 0
	return nil
}

// classified takes over what the port has counted, if it is time; it says whether that was more than before.
func (r *receiver) classified(now int64) (more bool) {
	if !r.classifies || now-r.asked < classifyEvery {
		return false
	}
	r.asked = now
	for _, l := range r.lanes {
		a := r.optional.Classifier.Classified(l.id)
		c := &l.back.Counted
		more = more || a.Received > c.Received
		*c = tally.Counted{Received: a.Received, Bytes: a.Bytes, WireBits: a.WireBits, Duplicated: a.Duplicated, Reordered: a.Reordered, TooOld: a.TooOld, Half: a.Half}
		l.top = a.Top
		r.last = max(r.last, a.Last)
	}
	return more
}

// unclassify ends the trial's classifying, and takes the last counts over.
func (r *receiver) unclassify() {
	if !r.classifies {
		return
	}
	r.asked = -classifyEvery
	r.classified(0)
	for _, l := range r.lanes {
		r.optional.Classifier.Latency(l.id, &l.back.Latency)
	}
	_ = r.optional.Classifier.Classify(nic.Await{}) // a port that is gone passes nothing on
	r.classifies = false
}

// missingOf is how many packets of a lane have certainly not come. Where the port counts most of them, and passes on what it does not
// understand, only both together tell.
func (r *receiver) missingOf(l *lane) int64 {
	if !r.classifies {
		return l.back.Missing
	}
	return max(0, max(l.top, l.back.Top())-match.Horizon-l.back.Arrived())
}
