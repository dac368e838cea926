package replay

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"loadtest/internal/tally"
	"loadtest/trial"
)

// result closes the books.
func (r *Runner) result(s trial.Spec, cut bool) trial.Result {
	res := trial.Result{Start: r.shared.count, Stopped: r.shared.early.Load(), Cut: cut}
	end := r.shared.count
	for _, t := range r.senders {
		if !t.hasEnded { // it was cut
			t.finish(r.o.Clock.Now())
		}
		end = max(end, t.until)
		if t.receiver == nil {
			res.Ports = addPort(res.Ports, t.facts(trial.Port{Name: t.name}))
		}
	}
	res.Elapsed = time.Duration(end - r.shared.count)
	for _, t := range r.receivers {
		res.Ports = append(res.Ports, t.result())
	}
	for lanes := range r.streams() {
		res.Streams = append(res.Streams, r.stream(lanes, s, &res))
	}
	if res.Sum(func(s *trial.Stream) int64 { return s.Late }) > 0 {
		r.drain = max(r.drain, min(2*r.drain, maxDrain))
	}
	return res
}

// streams are the lanes of each stream; New has put them side by side.
func (r *Runner) streams() iter.Seq[[]*lane] {
	return func(yield func([]*lane) bool) {
		for i := 0; i < len(r.lanes); {
			n := 1
			for i+n < len(r.lanes) && r.lanes[i+n].name == r.lanes[i].name {
				n++
			}
			if !yield(r.lanes[i : i+n]) {
				return
			}
			i += n
		}
	}
}

// stream is the merge of a stream's lanes.
func (r *Runner) stream(lanes []*lane, s trial.Spec, res *trial.Result) (st trial.Stream) {
	l := lanes[0]
	sent, flows := l.sent, (*tally.Flows)(nil)
	if l.receiver != nil {
		flows = &l.receiver.flows
		sent.ByFlow = slices.Clone(sent.ByFlow) // what a device makes one flow of may come from several queues
	}
	pass := l.pass
	for _, o := range lanes[1:] {
		for flow, n := range o.sent.ByFlow {
			sent.ByFlow[flow] += n
		}
		pass += o.pass
	}
	st = tally.Stream(l.name, &sent, l.back, flows)
	st.Stamps = r.stamps(l)
	for _, o := range lanes[1:] {
		part := o.sent
		part.ByFlow = nil
		p := tally.Stream(o.name, &part, o.back, flows)
		p.Stamps = r.stamps(o)
		st.Add(&p)
	}
	st.Skipped = st.Intended * int64(l.skipped) / pass
	for _, o := range lanes {
		if wait := o.starved; wait > int64(r.o.Credit) {
			res.Starved = max(res.Starved, time.Duration(wait))
		}
	}
	if st.Half.During = s.Duration - s.Duration/2; res.Elapsed < s.Duration || s.Duration == 0 {
		st.Half = trial.Arrivals{} // sending ended early: there was no second half
	}
	return st
}

// stamps are who read the clock for a lane's latencies; nobody, where there are none.
func (r *Runner) stamps(l *lane) trial.Stamps {
	switch {
	case l.back == nil || l.back.Latency.Count == 0:
		return trial.Stamps{}
	case r.o.Clock.Virtual():
		return trial.Stamps{Sent: trial.Exact, Arrived: trial.Exact}
	}
	s := trial.Stamps{Sent: trial.Software, Arrived: cmp.Or(r.o.Ports[l.receiver.name].Info.Arrived, trial.Software)}
	if i := slices.IndexFunc(r.senders, func(t *sender) bool { return slices.Contains(t.lanes, l) }); r.senders[i].player.on {
		s.Sent = cmp.Or(r.o.Ports[r.senders[i].name].Info.Played, trial.Software)
	}
	return s
}

// addPort adds what one queue of a port saw.
func addPort(all []trial.Port, p trial.Port) []trial.Port {
	i := slices.IndexFunc(all, func(q trial.Port) bool { return q.Name == p.Name })
	if i < 0 {
		return append(all, p)
	}
	all[i].TxError += p.TxError
	all[i].Down = all[i].Down || p.Down
	if p.Line.Told {
		all[i].Line = p.Line
	}
	return all
}
