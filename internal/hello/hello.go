// Package hello sends a few packets of each stream before the first trial, and says what the device does to them.
//
//	a packet of each flow ─1 kpps→ device → known by tag, flow or likeness ─→ Result: what is back, Change, diagnose.Seen
//
// It asks again each second until every stream has come back: gateways that still exchange keys are waited for.
package hello

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"loadtest/internal/clock"
	"loadtest/internal/diagnose"
	"loadtest/internal/neigh"
	"loadtest/nic"
	"loadtest/packet"
)

// A Stream is packets that leave at one port and are expected at another.
type Stream struct {
	Name, Source string // Source as messages call it
	Packets      *packet.Store
	TX, RX       string // names in Options.Ports
	Captured     bool   // from a capture: its first 100 packets are sent; else one of each flow, at most 256
}

// Options say what to send, and where.
type Options struct {
	Clock   clock.Clock
	Ports   map[string]nic.Device
	Hosts   map[string]*neigh.Host    // of every port that has one
	Addrs   map[string][]netip.Prefix // that they answer for
	Streams []Stream                  // at most 256, none empty

	Tag   packet.TagMode
	Magic uint16        // of the tags
	Wait  time.Duration // until every stream must have come back
	Drain time.Duration // quiet after the last probe; default 50 ms
}

// A Result is what came back.
type Result struct {
	Streams []Back
	Seen    diagnose.Seen // counts of packets are of the last round, those of what came wrong of the last one in which it did
	Elapsed time.Duration
}

// Back is what came back of one stream in the last round.
type Back struct {
	Name       string
	Sent, Back int    // probes; Back each once
	Missing    string // one of those that did not come back; "" if all did, or none
	Change     Change

	Untagged, Packets int // packets without a tag, and all, of the whole store
	Smallest          int // bytes with FCS from which on most of those without room for a tag would have it; 0: not known
	room              room
}

// Complete tells whether each stream came back.
func (r *Result) Complete() bool {
	return !slices.ContainsFunc(r.Streams, func(b Back) bool { return b.Back == 0 })
}

// Run sends the probes in rounds, each a second after the one before. It returns when every stream has come back in one round, and
// all else of it has had Drain to come, or when Wait is over; where only a part of a stream came, the next round has to say the same,
// as a device may have woken up in the middle of one. That a link is down is no error. Where ctx ends, its cause is one.
func Run(ctx context.Context, o Options) (Result, error) {
	if o.Drain <= 0 {
		o.Drain = 50 * time.Millisecond
	}
	r, err := newRun(o)
	if err != nil {
		return Result{}, err
	}
	var steppers []clock.Stepper
	for _, p := range r.ports {
		steppers = append(steppers, p)
	}
	began := o.Clock.Now()
	start := began
	if !o.Clock.Virtual() {
		start += int64(time.Millisecond) // every thread is up before the first packet is due
	}
	r.begin(start)
	if err := o.Clock.Run(ctx, steppers...); err != nil {
		return Result{}, err
	}
	res := Result{Seen: r.seen(), Elapsed: time.Duration(r.at - began)}
	for _, s := range r.streams {
		res.Streams = append(res.Streams, s.result(o.Tag))
	}
	return res, r.err
}
