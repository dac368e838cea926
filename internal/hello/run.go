package hello

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"loadtest/internal/diagnose"
)

const (
	gap   = int64(time.Millisecond) // between two probes of a stream
	pause = int64(time.Second)      // between two rounds

	mostStreams = 256 // of a tag
)

// A run is a Run under way. The steppers of its ports share it and take turns: so few packets need no more.
type run struct {
	o       Options
	ports   []*port
	streams []*stream
	own     map[[6]byte]bool // MAC addresses of the tester and of those it plays

	mu       sync.Mutex
	known    known
	round    int   // from 1
	begun    int64 // when it did
	ended    int64 // when the latest probe left
	last     int64 // when the latest packet of ours came
	deadline int64
	doubted  bool // the round before was as incomplete: then the gap is the device's, and not its waking up
	over     bool
	at       int64 // when it was over
	err      error
}

// newRun prepares the probes. Nothing is sent.
func newRun(o Options) (*run, error) {
	if len(o.Streams) > mostStreams {
		return nil, fmt.Errorf("%d streams: the tag has room for %d", len(o.Streams), mostStreams)
	}
	r := &run{o: o, own: map[[6]byte]bool{}}
	r.known = known{magic: o.Magic, flows: map[uint64][]ref{}, likes: map[likeness][]ref{}}
	for i, s := range o.Streams {
		for _, name := range []string{s.TX, s.RX} {
			if _, ok := o.Ports[name]; !ok {
				return nil, fmt.Errorf("stream %s: no port %q", s.Name, name)
			}
			r.port(name)
		}
		st := newStream(s, uint8(i), o.Tag)
		if len(st.probes) == 0 {
			return nil, fmt.Errorf("%s holds no packets: nothing to send for stream %s", s.Source, s.Name)
		}
		r.streams = append(r.streams, st)
		r.known.add(st)
		for j := range st.probes {
			r.own[[6]byte(st.probes[j].frame[6:])] = true
		}
		tx := r.port(s.TX)
		tx.streams = append(tx.streams, st)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Ports)) { // what comes at the others is astray
		r.own[r.port(name).device.Info.MAC] = true
	}
	return r, nil
}

// port is the port of that name.
func (r *run) port(name string) *port {
	i := slices.IndexFunc(r.ports, func(p *port) bool { return p.name == name })
	if i < 0 {
		i = len(r.ports)
		r.ports = append(r.ports, newPort(r, name))
	}
	return r.ports[i]
}

// begin starts the first round, of no more probes than have the time to come back.
func (r *run) begin(now int64) {
	r.known.since, r.deadline = now, now+int64(r.o.Wait)
	r.next(now, max(1, int(int64(r.o.Wait-r.o.Drain)/gap)+1))
}

// next starts a round of at most so many probes of each stream.
func (r *run) next(now int64, most int) {
	r.round++
	r.begun, r.ended = now, now
	for _, s := range r.streams {
		s.begin(most)
	}
	for _, p := range r.ports {
		p.begin()
	}
}

// back tells whether something of each stream is back in this round, and whether all is; sent, whether all has left.
func (r *run) back() (some, all, sent bool) {
	some, all, sent = true, true, true
	for _, s := range r.streams {
		some, all, sent = some && s.back > 0, all && s.back == s.end, sent && s.pos == s.end
	}
	return some, all, sent
}

// again is when the next round is due; fits: it can end before the deadline.
func (r *run) again() (at int64, fits bool) {
	longest := 0
	for _, s := range r.streams {
		longest = max(longest, len(s.probes))
	}
	length := int64(longest-1) * gap
	at = r.begun + length + pause
	return at, at+length+int64(r.o.Drain) <= r.deadline
}

// quiet is when nothing of ours will have come for the drain time.
func (r *run) quiet() int64 { return max(r.last, r.ended) + int64(r.o.Drain) }

// advance ends the run or starts a round, if it is time.
func (r *run) advance(now int64) {
	some, all, sent := r.back()
	at, fits := r.again()
	switch {
	case all || now >= r.deadline || some && sent && now >= r.quiet() && (r.doubted || !fits):
		r.over, r.at = true, now
	case fits && now >= at && (!some || sent && now >= r.quiet()):
		r.doubted = some
		r.next(now, math.MaxInt)
	}
}

// wake is when advance will have something to do if nothing comes.
func (r *run) wake() int64 {
	some, _, sent := r.back()
	at, fits := r.again()
	switch {
	case some && sent && !r.doubted && fits:
		return min(r.deadline, max(at, r.quiet()))
	case some && sent:
		return min(r.deadline, r.quiet())
	case !some && fits:
		return min(r.deadline, at)
	}
	return r.deadline
}

// fail ends the run.
func (r *run) fail(err error, now int64) { r.over, r.at, r.err = true, now, err }

// seen is what a diagnosis looks at.
func (r *run) seen() (seen diagnose.Seen) {
	for _, s := range r.streams {
		seen.Streams = append(seen.Streams, s.seen())
	}
	for _, p := range r.ports {
		seen.Ports = append(seen.Ports, p.seen())
	}
	return seen
}
