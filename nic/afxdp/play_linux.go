package afxdp

import (
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"loadtest/nic"
	"loadtest/trial"
)

const playFor = int64(time.Millisecond) // one Play

// A player sends packets that were put into chunks once: only descriptors move, and tags.
type player struct {
	schedule nic.Schedule
	lanes    []nic.Lane
	first    []int           // chunk of each lane's first packet
	turns    [burst]nic.Turn // of the burst at hand
	n        int             // of turns, those that the driver has not taken yet
}

// Load fills chunks with the packets, one each. A packet whose chunk the driver has not given back waits: what may be in flight is not
// written. So a capture shorter than the driver's ring is no faster than the driver gives back.
func (p *port) Load(lanes []nic.Lane) error {
	s := &p.player
	s.lanes, s.first = lanes, nil
	at := keepAt
	for _, l := range lanes {
		s.first = append(s.first, at)
		if at += l.Store.Len(); at > chunks {
			return fmt.Errorf("more than %d packets: %w", keepFrames, nic.ErrNotPlayed)
		}
		for i := range l.Store.Len() {
			if err := p.fits(l.Store.Frame(i).Data); err != nil {
				return fmt.Errorf("a packet of %d bytes: %w: %w", l.Store.Size(i), err, nic.ErrNotPlayed)
			}
		}
	}
	if !p.gate.Enter() {
		return nic.ErrClosed
	}
	for i, l := range lanes {
		for k := range l.Store.Len() {
			copy(p.umem[(s.first[i]+k)*p.chunk:], l.Store.Frame(k).Data)
		}
	}
	p.gate.Leave()
	s.schedule.Load(lanes)
	return nil
}

// Begin begins a trial. What one that was cut had not handed over stays here.
func (p *port) Begin(plan nic.Plan) error {
	if !p.gate.Enter() {
		return nic.ErrClosed
	}
	p.reap()
	s := &p.player
	for i := range s.n {
		p.busy[s.chunk(&s.turns[i])] = false
	}
	s.n = 0
	s.schedule.Begin(plan)
	p.gate.Leave()
	return nil
}

// chunk is where a turn's packet lies.
func (s *player) chunk(t *nic.Turn) int { return s.first[t.Lane] + t.Packet }

// Play sends what is due for a while.
func (p *port) Play(now int64) (next int64, err error) {
	if !p.gate.Enter() {
		return 0, nic.ErrClosed
	}
	next, err = p.play(now)
	p.gate.Leave()
	return next, err
}

// fullWait is how long a port that is full is left alone, ns.
const fullWait = int64(10 * time.Microsecond)

func (p *port) play(now int64) (next int64, err error) {
	s := &p.player
	origin := monotonic() - now
	for until := now + playFor; ; now = monotonic() - origin {
		p.reap()
		if s.n == 0 {
			var wait int64
			if wait, err = p.draw(now); s.n == 0 {
				if wait > now || now >= until {
					return wait, err
				}
				continue
			}
		} else if p.giveUp(now); s.n == 0 {
			continue
		}
		full, err := p.hand(now)
		switch {
		case err != nil, full:
			return now + fullWait, err
		case now >= until:
			return now, nil
		}
	}
}

// draw takes a burst of what is due from the schedule.
func (p *port) draw(now int64) (wait int64, err error) {
	s := &p.player
	for s.n < p.burst {
		t := &s.turns[s.n]
		var ok bool
		if *t, wait, ok = s.schedule.Next(now); !ok {
			return wait, nil
		}
		if p.busy[s.chunk(t)] { // the last time has not left yet
			if s.n > 0 {
				return now, nil
			}
			if p.zeroCopy && p.tx.wakeup() {
				err = p.answer(p.kick())
			}
			return now + fullWait, err
		}
		p.busy[s.chunk(t)] = true
		s.schedule.Take(t, now)
		s.n++
	}
	return now, nil
}

// giveUp leaves unsent what has waited too long for the driver.
func (p *port) giveUp(now int64) {
	s, kept := &p.player, 0
	for i := range s.n {
		t := &s.turns[i]
		if s.schedule.Late(t, now) {
			s.schedule.Refused(t)
			p.busy[s.chunk(t)] = false
			continue
		}
		s.turns[kept] = *t
		kept++
	}
	s.n = kept
}

// hand offers the burst to the driver; what it does not take stays, with its number and a new time.
func (p *port) hand(now int64) (full bool, err error) {
	s := &p.player
	n := min(s.n, int(p.tx.room()))
	for i := range n {
		t := &s.turns[i]
		l, chunk := &s.lanes[t.Lane], s.chunk(t)
		at := chunk * p.chunk
		if t.Tagged {
			t.Tag.Nanos = now
			t.Tag.Put(p.umem[at+int(l.Tags[t.Packet]):])
		}
		p.busy[chunk] = true
		p.tx.put(unix.XDPDesc{Addr: uint64(at), Len: uint32(l.Store.Size(t.Packet))})
	}
	sent, err := p.submit(n)
	for i := range sent {
		s.schedule.Done(&s.turns[i], now)
	}
	copy(s.turns[:], s.turns[sent:s.n])
	s.n -= sent
	return s.n > 0, err
}

// Played is how far a lane is.
func (p *port) Played(lane int) nic.Offer { return p.player.schedule.Played(lane) }

// Lateness adds how late a lane's packets left.
func (p *port) Lateness(lane int, into *trial.Histogram) { p.player.schedule.Lateness(lane, into) }

func monotonic() int64 {
	var t unix.Timespec
	unix.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}
