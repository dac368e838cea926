package replay

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"loadtest/internal/clock"
	"loadtest/internal/pace"
	"loadtest/nic"
	"loadtest/trial"
	"loadtest/units"
)

// A player is what a sender knows of a port that sends by a plan.
type player struct {
	nic.Player
	loaded, on      bool
	through         bool  // all of the plan is played
	refused         error // why the port does not play these packets
	plan            nic.Plan
	unsent, unfound int64 // as told to the others: packets that stayed unsent, and those of them that will be missed
}

// ahead of what a Player has issued a receiver believes sequence numbers: more than any port sends in the time of one Play.
const playAhead = 1 << 20

// plan is the trial as a Player carries it out; nil: it is none for a Player, or the port is none.
func (s *sender) plan(spec trial.Spec, end int64, number, pre uint8) (*nic.Plan, error) {
	p := &s.player
	if p.on = false; s.optional.Player == nil || s.virtual || p.refused != nil || !playable(spec, s.lanes) {
		return nil, nil
	}
	if !p.loaded {
		p.Player = s.optional.Player
		switch err := p.Load(s.stock()); {
		case errors.Is(err, nic.ErrNotPlayed):
			p.refused = err
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		p.loaded = true
	}
	plan := nic.Plan{Trial: number, Preroll: pre, End: end, Credit: s.credit}
	for _, l := range s.lanes {
		load, ok := l.load(spec)
		if !ok {
			return nil, nil
		}
		plan.Lanes = append(plan.Lanes, load)
	}
	return &plan, nil
}

// NotPlayed says why ports that could send by themselves do not send what they were given, by port. After the first trial.
func (r *Runner) NotPlayed() map[string]error {
	why := map[string]error{}
	for _, s := range r.senders {
		if s.player.refused != nil {
			why[s.name] = s.player.refused
		}
	}
	return why
}

// playable says whether a trial needs no more of a sender than a Player can: loads are constant, all passes are alike and in memory,
// and nobody must know which of the packets that have no tag was sent.
func playable(spec trial.Spec, lanes []*lane) bool {
	for _, p := range spec.Load {
		if p.Load != spec.Load[0].Load {
			return false
		}
	}
	return len(spec.Load) > 0 && !slices.ContainsFunc(lanes, func(l *lane) bool {
		return l.feed != nil || l.vary != nil || l.untagged > 0 && l.receiver != nil
	})
}

// stock is the lanes as a Player holds them.
func (s *sender) stock() (all []nic.Lane) {
	for _, l := range s.lanes {
		c := l.cur
		n := nic.Lane{ID: l.id, Magic: l.magic, Store: c.store, Tags: make([]int32, len(c.meta)), Gaps: make([]int64, len(c.meta))}
		for i := range c.meta {
			n.Tags[i], n.Gaps[i] = c.meta[i].tag, c.gap(i)
		}
		all = append(all, n)
	}
	return all
}

// load is the lane's schedule in a trial that begin has prepared it for.
func (l *lane) load(spec trial.Spec) (load nic.Load, ok bool) {
	load.Unit = spec.Unit
	if l.left < math.MaxInt64 {
		load.Packets = l.left
	}
	var most int64
	for i := range l.cur.meta {
		switch spec.Unit {
		case trial.WireBits:
			most = max(most, units.WireBits(l.cur.store.Size(i)))
		case trial.Packets:
			most = 1
		case trial.Factor:
			most = max(most, l.cur.gap(i))
		}
	}
	share, named := spec.Share[l.name]
	if !named {
		share = 1
	}
	load.Num, load.Den, ok = pace.Fraction(spec.Unit, spec.Load[0].Load*share*l.part.share(spec.Unit), most)
	if due := l.pacer.Due(); due != pace.Never {
		load.Lead = due
	}
	return load, ok
}

// play hands the trial that the sender has begun to the port, where there is a plan for it.
func (s *sender) play(plan *nic.Plan) error {
	if plan == nil {
		return nil
	}
	p := &s.player
	p.plan, p.on, p.through, p.unsent, p.unfound = *plan, true, false, 0, 0
	p.plan.Start, p.plan.Count = s.start, s.start+s.count
	if p.plan.End != nic.Never {
		p.plan.End += s.start
	}
	switch err := p.Begin(p.plan); {
	case errors.Is(err, nic.ErrNotPlayed):
		p.on = false
	case err != nil:
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

// playOn is Step where the port plays.
func (s *sender) playOn(now int64) (next int64) {
	for _, l := range s.lanes { // before the receiver can see the first of them
		l.published.next.Store(l.next + playAhead)
	}
	if s.player.through {
		return s.playOut(now)
	}
	next, err := s.player.Play(now)
	s.played()
	switch {
	case errors.Is(err, nic.ErrDown):
		s.down = true
		if s.loops && s.lanes[0].pacer.Unpaced() {
			s.shared.stop.Store(true) // no deadline would ever end this
		}
		next = max(next, now+int64(fullWait))
	case err != nil:
		s.err = err
		s.shared.stop.Store(true)
		return s.finish(now)
	}
	if next == nic.Never {
		s.player.through = true
		return s.playOut(now)
	}
	return min(next, now+mostSleep)
}

// playOut waits for the end of the schedule, behind its last packet.
func (s *sender) playOut(now int64) (next int64) {
	if over := s.nextDue(); now < over {
		return min(over, now+mostSleep)
	}
	return s.finish(now)
}

// played takes the port's books over.
func (s *sender) played() {
	var unsent, refused int64
	for i, l := range s.lanes {
		o := s.player.Played(i)
		l.next = o.Issued
		l.sent.Intended, l.sent.Sent, l.sent.Tagged = o.Intended, o.Sent, o.Tagged
		l.sent.Bytes, l.sent.WireBits = o.Bytes, o.WireBits
		l.publish()
		unsent += o.Intended - o.Sent
		refused += o.Refused
	}
	p := &s.player
	s.shared.unsent.Add(unsent - p.unsent)
	s.shared.missing.Add(p.unfound - refused) // their numbers will not come
	p.unsent, p.unfound = unsent, refused
}

// playedOut is finish where the port plays.
func (s *sender) playedOut(now int64) int64 {
	s.played()
	for i, l := range s.lanes {
		l.published.next.Store(l.next)
		s.player.Lateness(i, &l.sent.Lateness)
	}
	s.until = min(now, s.nextDue())
	s.hasEnded = true
	s.finished.Store(max(now, 1))
	return clock.Never
}

// nextDue is when the port would have sent the next packet; where the lanes' limits end a trial, when one more would have been due.
func (s *sender) nextDue() int64 {
	over, due := s.start, int64(clock.Never)
	for i, l := range s.player.plan.Lanes {
		at := min(s.player.Played(i).Due, s.player.plan.End)
		if over = max(over, at); l.Packets == 0 || s.player.Played(i).Intended < l.Packets {
			due = min(due, at)
		}
	}
	if due == clock.Never { // all are through
		return over
	}
	return due
}
