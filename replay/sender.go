package replay

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"loadtest/internal/clock"
	"loadtest/internal/neigh"
	"loadtest/internal/pace"
	"loadtest/nic"
	"loadtest/packet"
	"loadtest/trial"
	"loadtest/units"
)

// A sender owns the Send half of one port and the lanes that leave through it. Times named rel and due are ns since start.
type sender struct {
	name     string
	queue    int
	port     nic.Port
	optional nic.Optional
	before   nic.Status
	fare     fare // of a port without a receiver
	player   player
	receiver *receiver // of the same port, if any
	host     *neigh.Host
	lanes    []*lane
	shared   *shared

	virtual bool
	line    float64 // bit/s; 0: not known
	credit  int64
	burst   int
	full    int64 // how long a full port is left alone, ns
	ahead   int64 // how long a packet may wait for its burst, ns; ports of a virtual clock take it at the time it was due

	start, end, count int64 // count: where the pre-roll ends
	loops             bool  // the number of packets is given, and no time
	entries           []entry
	frames            []packet.Frame
	err               error
	down              bool
	finished          atomic.Int64 // when sending ended, on the run's clock; 0: it has not
	hasEnded          bool
	until             int64 // how far the schedule was carried out, on the run's clock
}

// How long a sender waits, in ns.
const (
	fullWait  = int64(10 * time.Microsecond) // for a port that is full
	mostAhead = int64(time.Millisecond)      // at most for a burst to be whole, on a virtual clock
	hungry    = int64(20 * time.Microsecond) // for packets that come from disk
	mostSleep = int64(10 * time.Millisecond) // at most for the next packet: an early end is noticed then
)

// An entry is a packet of the burst at hand, in order of due.
type entry struct {
	lane  *lane
	chunk *chunk
	due   int64
	turn  int64
	pos   int32
	slot  int32 // in the lane's recent
	paced bool
}

func newSender(port string, queue int, o Options, sh *shared) *sender {
	d := o.Ports[port]
	q := d.Queues[queue]
	s := &sender{name: port, queue: queue, port: q, optional: nic.Of(q), shared: sh, virtual: o.Clock.Virtual(), credit: int64(o.Credit), burst: o.Burst, full: fullWait,
		entries: make([]entry, 0, o.Burst), frames: make([]packet.Frame, o.Burst)}
	if queue == 0 {
		s.host = o.Hosts[port]
	}
	if s.virtual {
		s.ahead = min(mostAhead, s.credit)
		if s.line = float64(d.Info.LineRate); s.line > 0 {
			s.full = max(1000, int64(float64(o.Burst)*float64(units.WireBits(0))/s.line*1e9))
		}
	}
	return s
}

func (s *sender) begin(start, end, count int64, loops bool) {
	s.start, s.end, s.count, s.loops = start, end, count, loops
	s.entries = s.entries[:0]
	s.err, s.down, s.hasEnded = nil, false, false
	s.finished.Store(0)
	if s.optional.Reporter != nil {
		s.before = s.optional.Reporter.Status()
	}
	if s.receiver == nil && s.queue == 0 {
		s.fare.wired = s.optional.Wired
		s.fare.begin()
	}
}

// Step sends what is due.
func (s *sender) Step(now int64) (next int64) {
	if s.hasEnded {
		return clock.Never
	}
	rel := now - s.start
	if s.host != nil && s.host.Pending() {
		_ = s.host.Flush(s.port) // what is wrong with the port its own packets will meet, too
	}
	if s.shared.over() {
		return s.finish(now)
	}
	if s.player.on {
		return s.playOn(now)
	}
	s.expire(rel)
	next = s.fill(rel)
	if s.err != nil { // of a disk
		s.shared.stop.Store(true)
		return s.finish(now)
	}
	if len(s.entries) > 0 {
		wait := s.send(now, rel)
		if s.err != nil {
			s.shared.stop.Store(true)
			return s.finish(now)
		}
		if len(s.entries) > 0 {
			next = now - s.start + wait
		}
	}
	for _, l := range s.lanes {
		l.publish()
	}
	if next == clock.Never { // the schedule is over and nothing is held back
		return s.finish(now)
	}
	if next += s.start; !s.virtual {
		return min(next, now+mostSleep)
	}
	if s.host != nil {
		return min(next, now+linger) // an answer may wait
	}
	return next
}

// fill adds due packets to the burst and says when the next one is due; Never when there is none any more.
func (s *sender) fill(rel int64) (next int64) {
	var unsent int64
	for {
		l, due := s.first(rel)
		if due > rel {
			next = s.await(l, due)
			break
		}
		counted := due >= s.count
		if rel-due > s.credit && !l.pacer.Unpaced() {
			if counted {
				l.sent.Intended++
				unsent++
			}
			l.advance()
			continue
		}
		if len(s.entries) == s.burst || len(s.entries) > 0 && counted != (s.entries[0].due >= s.count) {
			next = rel
			break
		}
		if gate := l.gate(due); gate > s.leaves(due, rel) {
			next = gate + s.ahead
			break
		}
		if counted {
			l.sent.Intended++
		}
		s.entries = append(s.entries, entry{l, l.cur, due, l.turn, int32(l.pos), int32(l.slot), !l.pacer.Unpaced()})
		if l.slot++; l.slot == len(l.recent) {
			l.slot = 0
		}
		l.advance()
	}
	if unsent > 0 {
		s.shared.unsent.Add(unsent)
	}
	return next
}

// first is the lane whose packet is due first, and when. Without one it is nil and the time at which the schedule is over;
// Never once that has passed.
func (s *sender) first(rel int64) (first *lane, due int64) {
	due = clock.Never
	for _, l := range s.lanes {
		if l.pacer.Unpaced() {
			l.pacer.Catch(rel)
		}
		d := l.pacer.Due()
		if l.cur == nil && l.left > 0 && d != pace.Never && !s.fed(l, d, rel) {
			if d = max(d, rel+hungry); rel-s.credit > s.end { // too late for all that is missing
				continue
			}
		}
		switch {
		case l.left <= 0 || d == pace.Never:
		case d < due || d == due && l.left > first.left: // those that have no schedule take turns
			first, due = l, d
		}
	}
	if over := s.over(); first == nil && over > rel {
		return nil, over
	}
	return first, due
}

// fed says whether a lane's next packet has been read from disk. In simulated time it is waited for.
func (s *sender) fed(l *lane, due, rel int64) bool {
	if !l.fetch(s.virtual) {
		s.err = fmt.Errorf("stream %s: %w", l.name, l.feed.err)
	}
	if l.cur != nil {
		l.since = pace.Never
		return true
	}
	l.since = min(l.since, due)
	l.starved = max(l.starved, rel-l.since)
	return false
}

// over is when the schedule is over: its end, or, where all lanes are through their loops before, when a next packet would be due.
func (s *sender) over() (over int64) {
	for _, l := range s.lanes {
		if l.left > 0 {
			return s.end
		}
		over = max(over, min(l.pacer.Due(), s.end))
	}
	return over
}

// await is when to be stepped for a packet due later: where it may wait, when its burst is whole.
func (s *sender) await(l *lane, due int64) int64 {
	if s.ahead == 0 || l == nil {
		return due
	}
	return min(due+min(int64(s.burst-1)*min(l.pacer.Gap(), s.ahead), s.ahead), max(due, s.end))
}

// leaves is when a packet that is sent now leaves.
func (s *sender) leaves(due, rel int64) int64 { return max(due, rel-s.ahead) }

// expire gives up packets that the port did not take in time: unsent, or, where nothing says when a packet is due, not intended.
func (s *sender) expire(rel int64) {
	kept, unsent := s.entries[:0], int64(0)
	for _, e := range s.entries {
		switch counted := e.due >= s.count; {
		case e.paced && rel-e.due > s.credit:
			if counted {
				unsent++
			}
		case !e.paced && rel >= s.end:
			if counted {
				e.lane.sent.Intended--
			}
		default:
			kept = append(kept, e)
		}
	}
	s.entries = kept
	if unsent > 0 {
		s.shared.unsent.Add(unsent)
	}
}

// send tags the burst and offers it to the port. It says how long to wait if some of it is left.
func (s *sender) send(now, rel int64) (wait int64) {
	counted := s.entries[0].due >= s.count
	for i := range s.entries {
		e := &s.entries[i]
		l := e.lane
		f := e.chunk.store.Frame(int(e.pos))
		f.Nanos = s.start + e.due
		if l.vary != nil {
			l.vary.put(f.Data, e.chunk.places(int(e.pos), len(l.vary.rules)), e.turn)
		}
		if m := &e.chunk.meta[e.pos]; m.tag >= 0 {
			t := l.tag
			if !counted {
				t.Trial = l.pre
			} else if !l.counting {
				l.counting, l.next = true, 0
			}
			t.Seq, t.Nanos = uint32(l.next), now
			if s.virtual {
				t.Nanos = f.Nanos
			}
			t.Put(f.Data[m.tag:])
			l.next++
		}
		s.frames[i] = f
	}
	for _, l := range s.lanes { // before the receiver can see the first of them
		l.published.next.Store(l.next)
	}
	n, err := s.port.Send(s.frames[:len(s.entries)])
	for i := range s.entries[:n] {
		s.book(&s.entries[i], rel, counted)
	}
	for i := n; i < len(s.entries); i++ {
		if e := &s.entries[i]; e.chunk.meta[e.pos].tag >= 0 {
			e.lane.next--
		}
	}
	s.entries = append(s.entries[:0], s.entries[n:]...)
	if errors.Is(err, nic.ErrDown) {
		s.down = true
		if s.loops && len(s.entries) > 0 && s.entries[0].lane.pacer.Unpaced() {
			s.shared.stop.Store(true) // no deadline would ever end this
		}
		return int64(time.Millisecond)
	}
	s.err = err
	return s.full
}

// book books one packet that the port took.
func (s *sender) book(e *entry, rel int64, counted bool) {
	l, at := e.lane, s.leaves(e.due, rel)
	if e.paced {
		l.recent[e.slot] = departure{at, e.due}
	}
	if !counted {
		return
	}
	m, size := &e.chunk.meta[e.pos], e.chunk.store.Size(int(e.pos))
	l.sent.Sent++
	l.sent.Bytes += int64(size)
	l.sent.WireBits += units.WireBits(size)
	if m.tag >= 0 {
		l.sent.Tagged++
	} else if m.flow >= 0 {
		flow := m.flow
		if l.vary != nil {
			flow = l.vary.flowOf(flow, e.turn)
		}
		l.sent.ByFlow[flow]++
	}
	l.sent.Lateness.Record(at-e.due, 1)
}

// finish ends sending: what was due and not sent before an early end was never intended, and its time was no time of sending.
func (s *sender) finish(now int64) int64 {
	if s.player.on {
		return s.playedOut(now)
	}
	rel := now - s.start
	if _, next := s.first(rel); len(s.entries) > 0 {
		rel = min(rel, s.entries[0].due)
	} else {
		rel = min(rel, next, s.over())
	}
	s.until = s.start + rel
	if s.virtual && s.lanes[0].pacer.Unpaced() {
		s.until = max(s.until, s.start+s.onWire())
	}
	for i := range s.entries {
		if e := &s.entries[i]; e.due >= s.count {
			e.lane.sent.Intended--
		}
	}
	s.entries = s.entries[:0]
	for _, l := range s.lanes {
		l.publish()
	}
	s.hasEnded = true
	s.finished.Store(max(now, 1))
	return clock.Never
}

// onWire is how long all that was sent takes on the line: what the port took from a trial without a pace may still wait in its ring.
func (s *sender) onWire() (ns int64) {
	if s.line <= 0 {
		return 0
	}
	var bits int64
	for _, l := range s.lanes {
		bits += l.sent.WireBits
	}
	return int64(float64(bits) / s.line * 1e9)
}

// facts adds what the port tells about itself since the trial began.
func (s *sender) facts(p trial.Port) trial.Port {
	p.Down = p.Down || s.down
	if s.fare.wired != nil {
		p.Line = s.fare.since()
	}
	if s.optional.Reporter != nil {
		st := s.optional.Reporter.Status()
		p.TxError += st.TxErrors - s.before.TxErrors
		p.Down = p.Down || st.LinkDown || st.Downs > s.before.Downs
	}
	return p
}
