package replay

import (
	"container/heap"
	"encoding/binary"
	"math/rand/v2"

	"loadtest/internal/clock"
	"loadtest/nic"
	"loadtest/packet"
	"loadtest/trial"
	"loadtest/units"
)

// A fact is what the device knows of a frame that arrives: where it came from and what was done to it.
type fact struct {
	lane   int // -1: foreign
	trial  int // in which it was sent
	pre    bool
	tagged bool
	seq    int64 // of the lane's tagged packets
	flow   string
	kind   string // what it is to who does not know it
	sent   int64
	size   int
	harm   harm
	as     int // the lane that a damaged tag names
	at     int64
}

type harm int

const (
	whole     harm = iota
	noTag          // the tag's check fails
	noMagic        // nothing of the tag is left
	otherFlow      // an address is another
)

// A parcel is a frame on its way through the device.
type parcel struct {
	fact
	n    int
	data []byte
	to   string
}

type parcels []parcel

func (p parcels) Len() int { return len(p) }
func (p parcels) Less(i, j int) bool {
	return p[i].at < p[j].at || p[i].at == p[j].at && p[i].n < p[j].n
}
func (p parcels) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p *parcels) Push(x any)   { *p = append(*p, x.(parcel)) }
func (p *parcels) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}

// A device does random things to packets, and knows what it did.
type device struct {
	rng   *rand.Rand
	ports map[string]*devicePort
	made  [][]fact // by lane and packet of the store
	to    []string // where each lane is expected

	drop, double, harm, astray, chatter, linger, refuse float64
	delay, jitter                                       int64

	heap   parcels
	n      int
	trial  int
	count  int64 // when counting starts
	begun  bool  // the trial is running: what Recv gives is taken
	seq    map[[2]int]int64
	sent   map[int][]fact    // of this trial, counted, by lane
	handed map[string][]fact // of this trial, by port
}

func (d *device) begin(count int64) {
	d.trial++
	d.count, d.begun = count, false
	d.seq, d.sent, d.handed = map[[2]int]int64{}, map[int][]fact{}, map[string][]fact{}
}

// Step hands what has arrived to its ports.
func (d *device) Step(now int64) int64 {
	d.begun = true
	for len(d.heap) > 0 && d.heap[0].at <= now {
		p := heap.Pop(&d.heap).(parcel)
		d.ports[p.to].ready = append(d.ports[p.to].ready, p)
	}
	if len(d.heap) == 0 {
		return clock.Never
	}
	return d.heap[0].at
}

func (d *device) add(f fact, data []byte, to string, at int64) {
	d.n++
	f.at = max(at, 1)
	heap.Push(&d.heap, parcel{f, d.n, append([]byte(nil), data...), to})
}

type devicePort struct {
	d     *device
	name  string
	ready []parcel
	lent  [][]byte
}

func (p *devicePort) Close() error { return nil }

func (p *devicePort) Recv(frames []packet.Frame) (int, error) {
	for _, b := range p.lent { // what was lent is lent no longer
		for i := range b {
			b[i] = 0xee
		}
	}
	p.lent = p.lent[:0]
	n := min(len(frames), len(p.ready))
	for i, f := range p.ready[:n] {
		frames[i] = packet.Frame{Data: f.data, Nanos: f.at}
		p.lent = append(p.lent, f.data)
		if p.d.begun {
			p.d.handed[p.name] = append(p.d.handed[p.name], f.fact)
		}
	}
	p.ready = p.ready[n:]
	return n, nil
}

func (p *devicePort) Send(frames []packet.Frame) (int, error) {
	d := p.d
	for i, f := range frames {
		if d.rng.Float64() < d.refuse {
			return i, nil
		}
		lane, at := int(f.Data[11]), f.Nanos
		o := d.made[lane][binary.BigEndian.Uint32(f.Data[2:])]
		o.trial, o.pre, o.sent = d.trial, at < d.count, at
		if o.tagged {
			phase := [2]int{lane, 0}
			if o.pre {
				phase[1] = 1
			}
			o.seq = d.seq[phase]
			d.seq[phase]++
		}
		if !o.pre {
			d.sent[lane] = append(d.sent[lane], o)
		}
		d.treat(o, f.Data, at)
	}
	return len(frames), nil
}

// treat does to a packet what chance wants.
func (d *device) treat(o fact, data []byte, at int64) {
	if d.rng.Float64() < d.chatter {
		kind, frame := foreign(d.rng)
		d.add(fact{lane: -1, kind: kind}, frame, d.somewhere(), at+d.rng.Int64N(1e6))
	}
	copies := 1
	if d.rng.Float64() < d.drop {
		copies = 0
	} else if d.rng.Float64() < d.double {
		copies += 1 + d.rng.IntN(3)
	}
	for range copies {
		to, when := d.to[o.lane], at+d.delay+d.rng.Int64N(d.jitter+1)
		if to == "" || d.rng.Float64() < d.astray {
			to = d.somewhere()
		}
		if d.rng.Float64() < d.linger {
			when += d.rng.Int64N(400e6)
		}
		c, b := o, data
		if d.rng.Float64() < d.harm {
			b = append([]byte(nil), data...)
			d.damage(&c, b)
		}
		d.add(c, b, to, when)
	}
}

func (d *device) somewhere() string { return []string{"a", "b", "c"}[d.rng.IntN(3)] }

// damage flips one bit.
func (d *device) damage(o *fact, b []byte) {
	bit := byte(1) << d.rng.IntN(8)
	if !o.tagged {
		h, _ := packet.Parse(b)
		o.harm = otherFlow
		switch h.Type {
		case packet.TypeIPv4:
			b[h.L3+12] ^= bit
		case packet.TypeIPv6:
			b[h.L3+8] ^= bit
		default:
			b[h.L3+2] ^= bit
		}
		return
	}
	h, _ := packet.Parse(b)
	tag := b[h.End-packet.TagLen : h.End]
	switch at := d.rng.IntN(packet.TagLen); at {
	case 2, 3:
		tag[at] ^= bit
		o.harm = noMagic
	default:
		tag[at] ^= bit
		o.harm, o.as = noTag, int(tag[4])
	}
}

// books are what the device says that the runner should have counted.
func (d *device) books(r *Runner, s trial.Spec, until int64) ([]trial.Stream, map[string]map[string]int64) {
	streams := make([]trial.Stream, len(r.lanes))
	ports := map[string]map[string]int64{}
	half := [2]int64{d.count + int64(s.Duration/2), d.count + int64(s.Duration)}
	flows := map[string]map[string]bool{} // by port: untagged flows that are expected
	for _, p := range r.receivers {
		flows[p.name], ports[p.name] = map[string]bool{}, map[string]int64{}
	}
	for lane, made := range d.made {
		for _, o := range made {
			if !o.tagged && d.to[lane] != "" {
				flows[d.to[lane]][o.flow] = true
			}
		}
	}
	arrived, bytes, wire := map[string]int64{}, map[string]int64{}, map[string]int64{}
	seen, top, came := map[[2]int64]bool{}, map[int]int64{}, map[int][]fact{}
	for name := range ports {
		here := func(lane int) bool { return lane < len(d.to) && d.to[lane] == name }
		for _, f := range d.handed[name] {
			count := func(b *trial.Stream) {
				if f.at >= half[0] && f.at < half[1] {
					b.Half.Packets++
					b.Half.Bytes += int64(f.size)
					b.Half.WireBits += units.WireBits(f.size)
				}
			}
			switch known := f.lane >= 0 && f.harm != otherFlow && flows[name][f.flow]; {
			case f.tagged && f.harm == noTag:
				if here(f.as) {
					streams[f.as].Corrupt++
				} else {
					ports[name]["other"]++
				}
			case f.tagged && f.harm == whole && !here(f.lane):
				ports[name]["ours at the wrong port"]++
			case f.tagged && f.harm == whole && f.trial != d.trial:
				streams[f.lane].Late++
			case f.tagged && f.harm == whole && f.pre:
			case f.tagged && f.harm == whole:
				b := &streams[f.lane]
				id := [2]int64{int64(f.lane), f.seq}
				if seen[id] {
					b.Duplicated++
					continue
				}
				seen[id] = true
				if f.seq < top[f.lane] {
					b.Reordered++
				}
				top[f.lane] = max(top[f.lane], f.seq+1)
				b.Received++
				b.ReceivedBytes += int64(f.size)
				b.RecvWireBits += units.WireBits(f.size)
				b.Latency.Record(f.at-f.sent, 1)
				b.Stamps = trial.Stamps{Sent: trial.Exact, Arrived: trial.Exact}
				came[f.lane] = append(came[f.lane], f)
				count(b)
			case known:
				arrived[f.flow]++
				bytes[f.flow] += int64(f.size)
				wire[f.flow] += units.WireBits(f.size)
				count(&streams[f.lane])
			default:
				ports[name][f.kind]++
			}
		}
	}
	for i := range streams {
		b := &streams[i]
		b.Name, b.Variation = r.lanes[i].name, variation(came[i])
		sent := map[string]int64{}
		for _, o := range d.sent[i] {
			b.Sent++
			b.SentBytes += int64(o.size)
			b.SentWireBits += units.WireBits(o.size)
			if !o.tagged {
				b.Untagged++
				sent[o.flow]++
			}
		}
		if d.to[i] != "" {
			for flow, n := range sent {
				got := min(n, arrived[flow])
				b.Received += got
				b.Surplus += arrived[flow] - got
				if got > 0 {
					b.ReceivedBytes += bytes[flow] * got / arrived[flow]
					b.RecvWireBits += wire[flow] * got / arrived[flow]
				}
			}
		}
		if b.Half.During = s.Duration - s.Duration/2; s.Duration == 0 || until < half[1] {
			b.Half = trial.Arrivals{}
		}
	}
	return streams, ports
}

// variation is how the delays of a lane's packets vary, in the order of their arrival.
func variation(came []fact) (v trial.Variation) {
	delay, at := map[int64]int64{}, map[int64]int{} // by sequence number: its place among those that came
	jitter, top := int64(0), int64(0)               // in sixteenths, as RFC 3550, A.8 rounds it
	for i, f := range came {
		delay[f.seq], at[f.seq] = f.at-f.sent, i
		if i > 0 {
			d := delay[f.seq] - delay[came[i-1].seq]
			jitter += max(d, -d) - (jitter+8)>>4
			v.Compared++
		}
		top = max(top, f.seq)
	}
	v.Jitter = jitter >> 4
	for seq, i := range at {
		before, ok := at[seq-1]
		if !ok {
			continue
		}
		first := seq // of both, which one waits for the other, and may be forgotten meanwhile
		if before < i {
			first = seq - 1
		}
		forgotten := false
		for younger := first + 256; younger <= top && !forgotten; younger += 256 {
			j, ok := at[younger]
			forgotten = ok && j < max(i, before)
		}
		if !forgotten {
			v.Between.Record(delay[seq] - delay[seq-1])
		}
	}
	return v
}

// deviceWith is a device of three ports with random habits.
func deviceWith(rng *rand.Rand) *device {
	some := func(most float64) float64 { return most * rng.Float64() * float64(rng.IntN(2)) }
	d := &device{rng: rng, ports: map[string]*devicePort{}, drop: some(0.1), double: some(0.1), harm: some(0.05), astray: some(0.05),
		chatter: some(0.05), linger: some(0.02), delay: rng.Int64N(300e3), jitter: rng.Int64N(2) * rng.Int64N(200e3), refuse: some(0.01)}
	for _, name := range []string{"a", "b", "c"} {
		d.ports[name] = &devicePort{d: d, name: name}
	}
	return d
}

func (d *device) devices() map[string]nic.Device {
	m := map[string]nic.Device{}
	for name, p := range d.ports {
		m[name] = nic.Device{Info: nic.Info{Name: name, LineRate: 10 * units.Gbps, MTU: 1500, MaxFrame: 1518}, Queues: []nic.Port{p}}
	}
	return m
}
