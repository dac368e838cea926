package replay

import (
	"fmt"
	"time"

	"loadtest/internal/clock"
	"loadtest/internal/dissect"
	"loadtest/internal/match"
	"loadtest/internal/neigh"
	"loadtest/internal/tally"
	"loadtest/nic"
	"loadtest/packet"
	"loadtest/trial"
	"loadtest/units"
)

// A receiver owns the Recv half of one port and the books of the lanes that are expected there. It owns the Send half, too,
// where no sender does.
type receiver struct {
	name     string
	port     nic.Port
	clock    clock.Clock
	optional nic.Optional
	before   nic.Status
	fare     fare
	own      []*sender // of the same port
	lanes    []*lane
	shared   *shared
	senders  []*sender // whose lanes are expected here; without lanes all
	host     *neigh.Host
	hostDue  int64 // when the host has something to do

	virtual, spin bool
	table         match.Table
	lane          [256]*lane
	flows         tally.Flows
	owners        []*tally.Back // of each flow
	kinds         [match.Kinds]int64
	examples      [match.Kinds][]byte // the first frame of each kind
	frames        []packet.Frame

	classifies bool  // the port counts our packets with a tag
	asked      int64 // when it was asked for its counts

	half, halfEnd int64 // the second half of the sending time, on the run's clock
	drain         int64
	last          int64 // when the latest packet of ours came
	allBack       int64 // when the last one was seen to be back; 0: some are out
	missing       int64 // as told to the others
	err           error
}

func newReceiver(port string, o Options, sh *shared, magic uint16) *receiver {
	d := o.Ports[port]
	q := d.Port()
	r := &receiver{name: port, port: q, clock: o.Clock, optional: nic.Of(q), shared: sh, host: o.Hosts[port],
		virtual: o.Clock.Virtual(), frames: make([]packet.Frame, 64)}
	r.table.Magic = magic
	r.fare.wired = r.optional.Wired
	return r
}

// await makes the receiver await a lane.
func (r *receiver) await(l *lane, spin bool) {
	r.lanes, r.spin = append(r.lanes, l), spin
	r.table.Lanes[l.id] = true
	l.back = &tally.Back{}
	l.back.Grow()
	l.receiver = r
	r.lane[l.id] = l
}

// expect fills the table of flows with those of all lanes' packets without a tag.
func (r *receiver) expect() error {
	r.table.Forget()
	r.owners = r.owners[:0]
	own := 0
	for i, l := range r.lanes {
		if i == 0 || l.name != r.lanes[i-1].name { // the lanes of a stream may have flows in common
			own = r.table.Flows()
		}
		if err := r.expectLane(l, own); err != nil {
			return err
		}
	}
	n := r.table.Flows()
	r.flows = tally.Flows{Packets: make([]int64, n), Bytes: make([]int64, n), WireBits: make([]int64, n)}
	for _, l := range r.lanes {
		l.sent.ByFlow = make([]int64, n)
	}
	return nil
}

// expectLane expects a lane's flows; own is the number of its stream's first one.
func (r *receiver) expectLane(l *lane, own int) error {
	add := func(b []byte, i int) (int32, error) { return r.expectFlow(l, l.flow(b), own, i) }
	if l.vary != nil {
		l.restore()
		return l.vary.expect(l, add)
	}
	return l.bare(func(i int, b []byte) error {
		flow, err := add(b, i)
		l.number(i, flow)
		return err
	})
}

// expectFlow expects a flow of a lane's i-th packet, which has no tag; own is the number of its stream's first flow.
func (r *receiver) expectFlow(l *lane, key uint64, own, i int) (int32, error) {
	flow, known := r.table.Expect(key)
	if known && int(flow) < own {
		return 0, fmt.Errorf("stream %s: packet %d has no room for a tag, and another stream sends the same flow to %s: they could not be told apart",
			l.name, int64(i)%l.pass+1, r.name)
	}
	if !known {
		r.owners = append(r.owners, l.back)
	}
	return flow, nil
}

// begin empties the port and the books.
func (r *receiver) begin(now int64, number, pre uint8, s trial.Spec) error {
	for flushed := 0; flushed < 1<<22; {
		n, err := r.port.Recv(r.frames)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		if flushed += n; n == 0 {
			break
		}
		for i := range r.frames[:n] {
			r.between(r.frames[i].Data, now)
		}
	}
	r.table.Trial, r.table.Preroll = number, pre
	for _, l := range r.lanes {
		l.back.Reset()
		l.top = 0
	}
	clear(r.flows.Packets)
	clear(r.flows.Bytes)
	clear(r.flows.WireBits)
	r.kinds = [match.Kinds]int64{}
	r.drain, r.last, r.allBack, r.missing, r.err = int64(s.Drain), now, 0, 0, nil
	r.half, r.halfEnd = 0, 0
	if r.optional.Reporter != nil {
		r.before = r.optional.Reporter.Status()
	}
	r.fare.begin()
	return nil
}

// halves sets the window of the second half of sending, [from, to).
func (r *receiver) halves(from, to int64) { r.half, r.halfEnd = from, to }

// Step takes what has arrived; the trial is over when all is back, or nothing of ours came for the drain time.
func (r *receiver) Step(now int64) (next int64) {
	n, err := r.port.Recv(r.frames)
	if n > 0 && r.frames[0].Nanos == 0 { // now is of before: what came since, if this thread was put aside, would seem faster than it was
		now = r.clock.Now()
	}
	for i := range r.frames[:n] {
		r.take(&r.frames[i], now)
	}
	if n > 0 || r.classified(now) {
		r.publish()
	}
	if err != nil {
		r.err = err
		r.shared.stop.Store(true)
		return clock.Never
	}
	if r.host != nil {
		r.attend(now)
	}
	heard := now // what came until then has been read
	if n > 0 && r.frames[n-1].Nanos != 0 {
		heard = min(now, r.frames[n-1].Nanos)
	}
	until := r.until(now)
	switch { // a flood of foreign frames must not put the end off, and a receiver that lags must not make it early
	case until <= heard:
		return clock.Never
	case n == len(r.frames):
		return now
	}
	if r.virtual {
		return max(now, min(until, now+int64(time.Millisecond)))
	}
	if len(r.lanes) == 0 { // nobody's latency depends on it
		return min(until, now+int64(time.Millisecond))
	}
	if n == 0 && !r.spin && r.optional.Waiter != nil {
		r.optional.Waiter.Wait(time.Duration(min(until-now, int64(time.Millisecond))))
	}
	return now
}

// between hears a frame that came before the trial: who asks then is answered, too.
func (r *receiver) between(b []byte, now int64) {
	if r.host != nil && r.table.Match(b).Verdict == match.Foreign {
		r.host.Hear(b, now)
	}
}

// attend does for the neighbours what is due; it sends, where nobody else does.
func (r *receiver) attend(now int64) {
	if now >= r.hostDue {
		r.hostDue = r.host.Step(now)
	}
	if r.host.Pending() && r.mute() {
		_ = r.host.Flush(r.port) // a port that is down has nobody to answer
	}
}

// mute says whether no sender of the port is at work, who would send for the host.
func (r *receiver) mute() bool {
	for _, s := range r.own {
		if s.host != nil && s.finished.Load() == 0 {
			return false
		}
	}
	return true
}

// A listener is a receiver that no lane is expected at: it hears neighbours and what comes back the wrong way, off the hot threads.
type listener struct{ *receiver }

// Aside keeps it off the hot threads.
func (listener) Aside() {}

// until is when the trial is over if nothing more comes.
func (r *receiver) until(now int64) int64 {
	var ended int64
	for _, s := range r.senders {
		t := s.finished.Load()
		if t == 0 {
			return clock.Never
		}
		ended = max(ended, t)
	}
	if r.allBack == 0 && r.complete() {
		r.allBack = now
	}
	until := min(max(r.last, ended)+r.drain, ended+max(longest, r.drain))
	if r.allBack > 0 {
		until = min(until, max(r.allBack, r.last, ended)+linger)
	}
	return until
}

// complete says whether everything that was sent is back.
func (r *receiver) complete() bool {
	var back, sent int64
	for _, l := range r.lanes {
		back += l.back.Arrived()
		sent += l.published.sent.Load()
	}
	for flow, n := range r.flows.Packets {
		var sent int64
		for _, l := range r.lanes { // the sender has ended: its book stands still
			sent += l.sent.ByFlow[flow]
		}
		back += min(sent, n)
	}
	return back >= sent
}

// take books one frame.
func (r *receiver) take(f *packet.Frame, now int64) {
	at := f.Nanos
	if at == 0 {
		at = now
	}
	hit := r.table.Match(f.Data)
	switch hit.Verdict {
	case match.Foreign:
		if r.host != nil && r.host.Hear(f.Data, now) {
			return
		}
		r.foreign(hit.Kind, f.Data)
		return
	case match.Astray:
		r.foreign(match.OursAstray, f.Data)
		return
	case match.Preroll:
	case match.ByFlow:
		size := len(f.Data)
		r.flows.Packets[hit.Flow]++
		r.flows.Bytes[hit.Flow] += int64(size)
		bits := units.WireBits(size)
		r.flows.WireBits[hit.Flow] += bits
		b := r.owners[hit.Flow]
		b.Untagged++
		b.UntaggedBits += bits
		r.second(b, size, at)
	case match.Tagged:
		l := r.lane[hit.Lane]
		got := l.back.See(hit.Seq)
		if got == match.Ahead { // of what was known to be sent
			l.back.Limit = l.published.next.Load()
			got = l.back.See(hit.Seq)
		}
		switch got {
		case match.New:
			r.receive(l.back, len(f.Data), at)
			l.back.Took(hit.Seq, at-hit.Nanos)
		case match.Ahead:
			l.back.Forged++
		}
	case match.Late:
		r.lane[hit.Lane].back.Late++
	case match.Corrupt:
		if l := r.lane[hit.Lane]; l != nil {
			l.back.Corrupt++
		} else {
			r.foreign(match.Other, f.Data)
		}
	}
	r.last = max(r.last, at)
}

// foreign books a frame that is not ours, and keeps the first of its kind to show.
func (r *receiver) foreign(k match.Kind, b []byte) {
	if r.kinds[k] == 0 {
		r.examples[k] = append(r.examples[k][:0], b...)
	}
	r.kinds[k]++
}

// receive books a tagged packet that came for the first time.
func (r *receiver) receive(b *tally.Back, size int, at int64) {
	bits := units.WireBits(size)
	b.Bytes += int64(size)
	b.WireBits += bits
	r.second(b, size, at)
}

// second books what came in the second half of the sending time.
func (r *receiver) second(b *tally.Back, size int, at int64) {
	if at >= r.half && at < r.halfEnd {
		b.Half.Packets++
		b.Half.Bytes += int64(size)
		b.Half.WireBits += units.WireBits(size)
	}
}

func (r *receiver) publish() {
	var missing int64
	for _, l := range r.lanes {
		b := l.back
		missing += r.missingOf(l)
		l.published.returned.Store(b.Arrived() + b.Untagged)
		l.published.returnedBits.Store(b.WireBits + b.Counted.WireBits + b.UntaggedBits)
	}
	if missing != r.missing {
		r.shared.missing.Add(missing - r.missing)
		r.missing = missing
	}
}

// result is what the port saw beside the streams.
func (r *receiver) result() trial.Port {
	p := trial.Port{Name: r.name, Line: r.fare.since()}
	for k, n := range r.kinds {
		if n > 0 {
			p.Foreign = append(p.Foreign, trial.Foreign{Kind: match.Kind(k).String(), Packets: n, Example: dissect.Line(r.examples[k])})
		}
	}
	if r.optional.Reporter != nil {
		st := r.optional.Reporter.Status()
		p.Missed = st.Missed - r.before.Missed
		p.Down = st.LinkDown || st.Downs > r.before.Downs
	}
	for _, s := range r.own {
		p = s.facts(p)
	}
	return p
}
