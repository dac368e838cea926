package replay

import (
	"fmt"

	"loadtest/internal/match"
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
		b := l.back
		more = more || a.Received > b.Received
		b.Received, b.Bytes, b.WireBits = a.Received, a.Bytes, a.WireBits
		b.Duplicated, b.Reordered, b.TooOld = a.Duplicated, a.Reordered, a.TooOld
		b.Missing = max(0, a.Top-match.Horizon-a.Received)
		half := b.Half.During
		b.Half = a.Half
		b.Half.During = half
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
