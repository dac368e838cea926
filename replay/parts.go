package replay

import (
	"cmp"
	"slices"

	"loadtest/packet"
	"loadtest/trial"
	"loadtest/units"
)

// A part is what of a stream leaves through one queue: the packets of a lane, and which share of the stream they are, 0..1.
type part struct {
	Stream
	queue         int
	bits, packets float64
}

// parts deals a stream out to queues: a flow stays in one of them, and so in order; their wire bits are as even as the flows allow.
// A part keeps its packets' places in the stream's time. What comes from disk leaves through one queue.
func parts(s Stream, queues int) []part {
	if queues > 1 && s.Disk == nil && s.Packets.Len() > 1 {
		if of, n := deal(s.Packets, queues); n > 1 {
			return cut(s, of, n)
		}
	}
	return []part{{s, 0, 1, 1}}
}

// deal says which queue each packet leaves through, and how many queues have any: the flow with the most bits first, each to the
// queue that has the least.
func deal(p *packet.Store, queues int) (of []int, n int) {
	type flow struct {
		bits  int64
		first int // its first packet
		queue int
	}
	known, flows, of := map[uint64]int{}, []flow{}, make([]int, p.Len())
	for i := range of {
		key := packet.Flow(p.Frame(i).Data)
		f, ok := known[key]
		if !ok {
			f = len(flows)
			known[key], flows = f, append(flows, flow{first: i})
		}
		flows[f].bits += units.WireBits(p.Size(i))
		of[i] = f
	}
	largest := make([]*flow, len(flows))
	for i := range flows {
		largest[i] = &flows[i]
	}
	slices.SortFunc(largest, func(a, b *flow) int {
		return cmp.Or(cmp.Compare(b.bits, a.bits), cmp.Compare(a.first, b.first))
	})
	loads := make([]int64, min(queues, len(flows)))
	for _, f := range largest {
		f.queue = slices.Index(loads, slices.Min(loads))
		loads[f.queue] += f.bits
	}
	for i, f := range of {
		of[i] = flows[f].queue
	}
	return of, len(loads)
}

// cut makes the parts of a stream.
func cut(s Stream, of []int, n int) []part {
	epoch, span := s.Epoch, s.Span
	if lead, wrap := gaps(s); span == 0 {
		epoch, span = s.Packets.Frame(0).Nanos-lead, wrap
		for i := range of[1:] {
			span += max(0, s.Packets.Frame(i+1).Nanos-s.Packets.Frame(i).Nanos)
		}
	}
	all, index, bits := make([]part, n), make([][]int, n), make([]int64, n)
	at := s.Packets.Frame(0).Nanos // never back, as a lane's own times
	for q := range all {
		all[q] = part{s, q, 0, 0}
		all[q].Packets, all[q].Epoch, all[q].Span = new(packet.Store), epoch, span
	}
	for i, q := range of {
		f := s.Packets.Frame(i)
		if i > 0 {
			at += max(0, f.Nanos-s.Packets.Frame(i-1).Nanos)
		}
		all[q].Packets.Append(f.Data, at, len(f.Data))
		bits[q] += units.WireBits(len(f.Data))
		index[q] = append(index[q], i)
	}
	var sum int64
	for _, b := range bits {
		sum += b
	}
	for q := range all {
		all[q].bits, all[q].packets = float64(bits[q])/float64(sum), float64(len(index[q]))/float64(len(of))
		if server := s.FromServer; server != nil {
			all[q].FromServer = func(i int) bool { return server(index[q][i]) }
		}
	}
	return all
}

// share is which part of the stream's load the lane carries.
func (p *part) share(u trial.Unit) float64 {
	switch u {
	case trial.WireBits:
		return p.bits
	case trial.Packets:
		return p.packets
	}
	return 1 // at the captured pace each packet has its own time
}
