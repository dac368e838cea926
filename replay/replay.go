// Package replay sends stored packets at a load and matches what comes back: one trial at a time.
//
//	packet.Store ─pace→ sender ─nic.Port→ device ─nic.Port→ receiver ─match→ tally → trial.Result
//
// One sender per transmitting port and one receiver per expecting port, each a clock.Stepper with its own books; they meet
// only in a few atomic numbers, published once per burst. Time comes from the clock alone: on a virtual one a trial is exact.
package replay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"loadtest/internal/clock"
	"loadtest/internal/neigh"
	"loadtest/internal/pace"
	"loadtest/nic"
	"loadtest/packet"
	"loadtest/packet/rewrite"
	"loadtest/trial"
)

// Defaults of Options.
const (
	Burst  = 32
	Credit = 10 * time.Millisecond
	Drain  = 50 * time.Millisecond

	maxDrain  = 2 * time.Second
	longest   = int64(10 * time.Second) // a drain, where our packets never cease to come
	mostLanes = 256                     // a tag tells apart

	linger = int64(time.Millisecond) // after the last packet is back: copies that follow at once belong to this trial
)

// A Stream is packets that leave at one port and are expected at another.
type Stream struct {
	Name    string
	Source  string        // where Packets came from, for messages
	Packets *packet.Store // sent in a loop; the Runner's from New on: it makes room for tags in them
	TX, RX  string        // names in Options.Ports; RX "": only sent

	// Disk is set for a capture that is larger than memory: all of it is read while it is sent, and Packets are the first of it.
	// Then Count is the number of packets of one pass, Untagged has seen them all, and Epoch and Span are given.
	Disk     packet.Source
	Count    int64
	Untagged *Untagged

	// Vary are the fields that differ from pass to pass, so that no pass repeats the flows of the one before. FromServer says which
	// packets the side that answers has sent; nil: none has.
	Vary       []rewrite.Vary
	FromServer func(i int) bool

	Skipped int // packets of the source that are not in Packets, as the port cannot send them

	// Of a source that is one part of a capture, for loads in multiples of its pace: the time of the capture's first packet and
	// the length of a pass, ns. Span 0: the packets' own.
	Epoch, Span int64
}

// Options are what a Runner is made of. Ports stay the caller's, who closes them.
type Options struct {
	Clock   clock.Clock
	Ports   map[string]nic.Device
	Streams []Stream
	Hosts   map[string]*neigh.Host // by port: who answers there for the tester's addresses, between trials too

	Tag    packet.TagMode
	Seed   uint64        // of the tag's magic number
	Credit time.Duration // how late a packet may be sent; what is older stays unsent. Default 10 ms
	Drain  time.Duration // of a Spec that names none. Default 50 ms
	Burst  int           // packets handed to a port at once. Default 32
	Spin   bool          // receivers never wait in the kernel
}

// A Runner sends its streams; it is a trial.Runner.
type Runner struct {
	o         Options
	lanes     []*lane
	senders   []*sender
	receivers []*receiver
	shared    shared
	trial     uint8
	drain     time.Duration
	wake      func() // ends the rest between two trials
}

// New checks that every stream can be sent as it is and prepares its packets. Nothing is sent. From the first trial until Close
// the Runner attends to the neighbours of ports that have a host.
func New(o Options) (*Runner, error) {
	if o.Burst <= 0 {
		o.Burst = Burst
	}
	if o.Credit <= 0 {
		o.Credit = Credit
	}
	if o.Drain <= 0 {
		o.Drain = Drain
	}
	if len(o.Streams) > mostLanes {
		return nil, fmt.Errorf("%d streams: the tag has room for %d", len(o.Streams), mostLanes)
	}
	r := &Runner{o: o, drain: o.Drain, wake: func() {}}
	magic := Magic(o.Seed)
	for i, s := range o.Streams {
		if slices.ContainsFunc(o.Streams[:i], func(t Stream) bool { return t.Name == s.Name }) {
			return nil, fmt.Errorf("stream name %q stands twice: results could not be told apart", s.Name)
		}
		tx, ok := o.Ports[s.TX]
		if !ok {
			return nil, fmt.Errorf("stream %s: no port %q", s.Name, s.TX)
		}
		if err := sendable(s, tx.Info); err != nil {
			return nil, err
		}
		if _, ok := o.Ports[s.RX]; !ok && s.RX != "" {
			return nil, fmt.Errorf("stream %s: no port %q", s.Name, s.RX)
		}
		own := !slices.ContainsFunc(o.Streams[:i], func(t Stream) bool { return t.Packets == s.Packets })
		for _, p := range parts(s, min(len(tx.Queues), mostLanes/len(o.Streams))) {
			l := newLane(p, uint8(len(r.lanes)), o, own || p.Packets != s.Packets)
			l.magic = magic
			r.lanes = append(r.lanes, l)
			t := r.sender(s.TX, p.queue)
			t.lanes = append(t.lanes, l)
			if s.RX != "" {
				r.receiver(s.RX, magic).await(l, o.Spin)
			}
		}
	}
	if err := r.expect(); err != nil {
		return nil, err
	}
	for _, port := range slices.Sorted(maps.Keys(o.Hosts)) {
		if _, ok := o.Ports[port]; ok {
			r.receiver(port, magic)
		}
	}
	r.join()
	return r, nil
}

// expect makes every receiver ready for its lanes.
func (r *Runner) expect() error {
	for _, t := range r.receivers {
		if err := t.expect(); err != nil {
			return err
		}
	}
	return nil
}

// Expect says how the device hands on the packets without a tag of a stream: flow is their packet.Flow when they come back, of
// one as it is sent. Not while a trial runs.
func (r *Runner) Expect(stream string, flow func([]byte) uint64) error {
	for _, l := range r.lanes {
		if l.name == stream {
			l.flow = flow
		}
	}
	return r.expect()
}

// Magic is the number that tells the tags of a run with this seed from those of others.
func Magic(seed uint64) uint16 { return uint16(rand.New(rand.NewPCG(seed, 0)).Uint32N(0xffff)) + 1 }

// join tells the two halves of a port of each other, and every receiver whose lanes it awaits.
func (r *Runner) join() {
	for _, s := range r.senders {
		for _, t := range r.receivers {
			if t.name == s.name {
				s.receiver, t.own = t, append(t.own, s)
			}
			if len(t.lanes) == 0 || slices.ContainsFunc(s.lanes, func(l *lane) bool { return l.receiver == t }) {
				t.senders = append(t.senders, s)
			}
		}
	}
}

func (r *Runner) sender(port string, queue int) *sender {
	i := slices.IndexFunc(r.senders, func(s *sender) bool { return s.name == port && s.queue == queue })
	if i < 0 {
		i = len(r.senders)
		r.senders = append(r.senders, newSender(port, queue, r.o, &r.shared))
	}
	return r.senders[i]
}

func (r *Runner) receiver(port string, magic uint16) *receiver {
	i := slices.IndexFunc(r.receivers, func(s *receiver) bool { return s.name == port })
	if i < 0 {
		i = len(r.receivers)
		r.receivers = append(r.receivers, newReceiver(port, r.o, &r.shared, magic))
	}
	return r.receivers[i]
}

// Run carries out one trial.
func (r *Runner) Run(ctx context.Context, s trial.Spec, see func(trial.Sample)) (trial.Result, error) {
	if err := context.Cause(ctx); err != nil {
		return trial.Result{}, ended(err)
	}
	r.wake()
	defer r.rest()
	if s.Drain <= 0 {
		s.Drain = r.drain
	}
	defer func() {
		for _, l := range r.lanes {
			l.end()
		}
	}()
	defer r.unclassify()
	if err := r.begin(ctx, s); err != nil {
		return trial.Result{}, err
	}
	cut, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() {
		if cause := context.Cause(ctx); errors.Is(cause, trial.ErrStop) {
			r.shared.stop.Store(true)
		} else {
			cancel(cause)
		}
	})()
	var steppers []clock.Stepper
	for _, t := range r.senders {
		steppers = append(steppers, t)
	}
	for _, t := range r.receivers {
		if len(t.lanes) == 0 {
			steppers = append(steppers, listener{t})
		} else {
			steppers = append(steppers, t)
		}
	}
	if see != nil && s.Interval > 0 {
		steppers = append(steppers, &sampler{r: r, every: int64(s.Interval), see: see})
	}
	err := r.o.Clock.Run(cut, steppers...)
	r.unclassify()
	result := r.result(s, err != nil)
	if real, ok := r.o.Clock.(*clock.Real); ok {
		result.Stolen, result.Suspended = real.Lost().Stolen, real.Lost().Suspended
	}
	for _, t := range r.senders {
		if err == nil && t.err != nil {
			err = fmt.Errorf("%s: %w", t.name, t.err)
		}
	}
	for _, t := range r.receivers {
		if err == nil && t.err != nil {
			err = fmt.Errorf("%s: %w", t.name, t.err)
		}
	}
	return result, err
}

func (r *Runner) unclassify() {
	for _, t := range r.receivers {
		t.unclassify()
	}
}

func ended(err error) error {
	if errors.Is(err, trial.ErrStop) {
		return nil
	}
	return err
}

// Untagged says whether packets of some stream have no tag: then no traffic can be left uncounted before a trial.
func (r *Runner) Untagged() bool {
	return slices.ContainsFunc(r.lanes, func(l *lane) bool { return l.untagged > 0 })
}

// begin sets all parts to the start of a trial.
func (r *Runner) begin(ctx context.Context, s trial.Spec) error {
	pre := uint8(0)
	if s.Preroll > 0 {
		for _, l := range r.lanes {
			if l.untagged > 0 {
				return fmt.Errorf("stream %s: %d of %d packets have no tag, which a pre-roll needs", l.name, l.untagged, l.pass)
			}
		}
		pre = r.number()
	}
	if s.Unit > trial.Packets && s.Unit != trial.Factor {
		return errors.New("packets are sent by bits, packets or captured pace, not by sessions")
	}
	if err := r.ends(s); err != nil {
		return err
	}
	end := int64(pace.Never)
	if s.Duration > 0 {
		end = int64(s.Preroll + s.Duration)
	}
	points := slices.Clone(s.Load)
	for i := range points {
		points[i].At += s.Preroll
	}
	number := r.number()
	for _, l := range r.lanes {
		share, ok := s.Share[l.name]
		if !ok {
			share = 1
		}
		if err := l.begin(ctx, s, points, end, share*l.part.share(s.Unit), number, pre); err != nil {
			return err
		}
	}
	r.shared.begin(s)
	now := r.o.Clock.Now()
	for _, t := range r.receivers {
		if err := t.begin(now, number, pre, s); err != nil {
			return err
		}
	}
	played := make([]*nic.Plan, len(r.senders))
	for i, t := range r.senders {
		var err error
		if played[i], err = t.plan(s, end, number, pre); err != nil {
			return err
		}
	}
	start := r.o.Clock.Now()
	if !r.o.Clock.Virtual() {
		start += int64(time.Millisecond) // every thread is up before the first packet is due
	}
	r.shared.count = start + int64(s.Preroll)
	for _, t := range r.receivers {
		if s.Duration > 0 {
			t.halves(r.shared.count+int64(s.Duration/2), r.shared.count+int64(s.Duration))
		}
		if err := t.classify(); err != nil {
			return err
		}
	}
	for i, t := range r.senders {
		t.begin(start, end, int64(s.Preroll), s.Loops > 0 && s.Duration == 0)
		if err := t.play(played[i]); err != nil {
			return err
		}
	}
	return nil
}

// number is that of the next trial or pre-roll: 1 to 255, and again.
func (r *Runner) number() uint8 {
	r.trial = r.trial%255 + 1
	return r.trial
}

// ends refuses what would never end: as fast as possible, in simulated time, out of a port that is never full.
func (r *Runner) ends(s trial.Spec) error {
	unpaced := slices.ContainsFunc(s.Load, func(p trial.Point) bool { return math.IsInf(p.Load, 1) })
	if !unpaced || s.Loops > 0 || !r.o.Clock.Virtual() {
		return nil
	}
	for _, t := range r.senders {
		if t.line <= 0 {
			return fmt.Errorf("%s has no line rate that would hold back a load without a pace; give a rate, as 10G", t.name)
		}
	}
	return nil
}
