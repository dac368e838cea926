//go:build dpdk && cgo && linux

package dpdk

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loadtest/internal/lab"
	"loadtest/nic"
	"loadtest/packet"
	"loadtest/trial"
	"loadtest/units"
)

const magic = 0xa5c3

// lane is n packets, of which every bare-th has no tag (0: each has one); number i says so in its first byte of payload.
func lane(t testing.TB, id uint8, bare int, sizes ...int) nic.Lane {
	l := nic.Lane{ID: id, Magic: magic, Store: &packet.Store{}}
	for i, size := range sizes {
		b := append([]byte(nil), bases(t)[0]...)
		b = append(b, make([]byte, max(0, size-len(b)))...)
		b = b[:max(size, 60)]
		b[16], b[17] = byte((len(b)-14)>>8), byte(len(b)-14)
		b[38], b[39] = byte((len(b)-34)>>8), byte(len(b)-34)
		b[4], b[5] = id, byte(i)
		tag := int32(len(b) - packet.TagLen)
		if bare > 0 && i%bare == 0 {
			tag = -1
		}
		l.Store.Append(b, 0, len(b))
		l.Tags, l.Gaps = append(l.Tags, tag), append(l.Gaps, int64(i)*700)
	}
	return l
}

// A model is the rules of nic.Plan for one queue, in Go, packet by packet, into a wire with limited room.
type model struct {
	nic.Plan
	stock   []nic.Lane
	lanes   []modelLane
	pending []modelEntry
	room    int      // packets that the wire still takes
	out     []string // what left
}

type modelLane struct {
	nic.Offer
	pos       int
	left      int64
	rem       uint64
	next      uint32
	counting  bool
	slot      int
	at, ought [32]int64
	lateness  trial.Histogram
}

type modelEntry struct {
	lane, pos, slot int
	due             int64
}

func newModel(p nic.Plan, stock []nic.Lane) *model {
	m := &model{Plan: p, stock: stock, lanes: make([]modelLane, len(stock))}
	for i := range m.lanes {
		l := &m.lanes[i]
		l.Due, l.left = p.Start+p.Lanes[i].Lead, p.Lanes[i].Packets
		if l.left == 0 {
			l.left = math.MaxInt64
		}
		if p.Lanes[i].Den == 0 {
			l.left, l.Due = 0, nic.Never
		}
		for k := range l.at {
			l.at[k] = math.MinInt64 / 2
		}
	}
	return m
}

func (m *model) first(now int64) (best int) {
	best = -1
	for i := range m.lanes {
		l := &m.lanes[i]
		if l.left <= 0 {
			continue
		}
		if m.Lanes[i].Num == 0 {
			l.Due = max(l.Due, now)
		}
		if l.Due < m.End && (best < 0 || l.Due < m.lanes[best].Due || l.Due == m.lanes[best].Due && l.left > m.lanes[best].left) {
			best = i
		}
	}
	return best
}

func (m *model) advance(i int) {
	l, s, load := &m.lanes[i], &m.stock[i], m.Lanes[i]
	cost := uint64(units.WireBits(s.Store.Size(l.pos)))
	switch load.Unit {
	case trial.Packets:
		cost = 1
	case trial.Factor:
		cost = uint64(s.Gaps[l.pos])
	}
	if load.Num > 0 {
		sum := cost*load.Num + l.rem
		l.Due, l.rem = l.Due+int64(sum/load.Den), sum%load.Den
	}
	l.left--
	l.pos = (l.pos + 1) % s.Store.Len()
}

func (m *model) step(now int64) (next int64) {
	m.pending = slices.DeleteFunc(m.pending, func(e modelEntry) bool {
		paced := m.Lanes[e.lane].Num > 0
		if paced && now-e.due > m.Credit {
			if e.due >= m.Count {
				m.lanes[e.lane].Intended++
			}
			return true
		}
		return !paced && now >= m.End
	})
	next = m.fill(now)
	if len(m.pending) == 0 {
		return next
	}
	if m.send(now); len(m.pending) > 0 {
		return now
	}
	return next
}

func (m *model) fill(now int64) int64 {
	for late := 0; ; {
		i := m.first(now)
		if i < 0 {
			return nic.Never
		}
		l := &m.lanes[i]
		due := l.Due
		if due > now {
			return due
		}
		if m.Lanes[i].Num > 0 && now-due > m.Credit {
			if due >= m.Count {
				l.Intended++
			}
			m.advance(i)
			if late++; late == 4096 { // looks at the clock
				return now
			}
			continue
		}
		if len(m.pending) == 32 || len(m.pending) > 0 && (m.pending[0].due >= m.Count) != (due >= m.Count) {
			return now
		}
		if gate := l.at[l.slot] + (due-l.ought[l.slot])/2; gate > now {
			return gate
		}
		m.pending = append(m.pending, modelEntry{i, l.pos, l.slot, due})
		l.slot = (l.slot + 1) % 32
		m.advance(i)
	}
}

func (m *model) send(now int64) {
	n := min(len(m.pending), m.room)
	m.room -= n
	for _, e := range m.pending[:n] {
		l, s := &m.lanes[e.lane], &m.stock[e.lane]
		counted, tagged, size := e.due >= m.Count, s.Tags[e.pos] >= 0, s.Store.Size(e.pos)
		b := append([]byte(nil), s.Store.Frame(e.pos).Data...)
		if tagged {
			t := packet.Tag{Magic: s.Magic, Lane: s.ID, Trial: m.Trial, Nanos: now}
			if !counted {
				t.Trial = m.Preroll
			} else if !l.counting {
				l.counting, l.next = true, 0
			}
			t.Seq = l.next
			l.next++
			t.Put(b[s.Tags[e.pos]:])
		}
		m.out = append(m.out, string(b))
		if m.Lanes[e.lane].Num > 0 {
			l.at[e.slot], l.ought[e.slot] = now, e.due
		}
		if !counted {
			continue
		}
		l.Intended++
		l.Sent++
		l.Bytes += int64(size)
		l.WireBits += units.WireBits(size)
		l.lateness.Record(now-e.due, 1)
		if tagged {
			l.Tagged++
			l.Issued++
		}
	}
	m.pending = append(m.pending[:0], m.pending[n:]...)
}

// TestPlayerAsModel steps C's player and the model at the same times, into a wire that is often full and with long delays: what
// leaves, when the next step is due, and the books are the same.
func TestPlayerAsModel(t *testing.T) {
	lab.Need(t, "dpdk")
	const room = 127
	a, b := ringWire(t, room+1, Options{})
	tx, rx := a.Queues[0].(*port), b.Queues[0]
	unsent, sent := int64(0), int64(0)
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 10))
		plan := nic.Plan{Trial: 7, Preroll: 6, Start: 1e9, Credit: r.Int64N(300e3), End: 1e9 + r.Int64N(5e6)}
		plan.Count = plan.Start + r.Int64N(2)*r.Int64N(1e6)
		var stock []nic.Lane
		for i := range 1 + r.IntN(4) {
			sizes := make([]int, 1+r.IntN(9))
			for k := range sizes {
				sizes[k] = 60 + r.IntN(1455)
			}
			stock = append(stock, lane(t, uint8(i), r.IntN(4), sizes...))
			l := nic.Load{Unit: []trial.Unit{trial.WireBits, trial.Packets, trial.Factor}[r.IntN(3)], Num: 1 + r.Uint64N(1e6), Den: 1 + r.Uint64N(1e5), Lead: r.Int64N(1e4)}
			switch l.Unit {
			case trial.WireBits:
				l.Num, l.Den = 1e9, 1+r.Uint64N(40e9)
			case trial.Packets:
				l.Num, l.Den = 1e9, 1+r.Uint64N(5e6)
			default:
				l.Num = 1 + r.Uint64N(3)
				l.Den = 1 + r.Uint64N(7)
				stock[i].Gaps[0] = 1 + r.Int64N(5000)
			}
			if k := r.IntN(12); k == 0 {
				l.Num, l.Den = 0, 1
			} else if k == 1 {
				l.Den = 0
			}
			if r.IntN(3) == 0 {
				l.Packets = 1 + r.Int64N(2000)
			}
			plan.Lanes = append(plan.Lanes, l)
		}
		if err := tx.Load(stock); err != nil {
			t.Fatal(err)
		}
		if err := tx.Begin(plan); err != nil {
			t.Fatal(err)
		}
		m := newModel(plan, stock)
		m.room = room
		frames, got := make([]packet.Frame, 256), 0
		drain := func() {
			for n, _ := rx.Recv(frames); n > 0; n, _ = rx.Recv(frames) {
				for _, f := range frames[:n] {
					if got == len(m.out) || string(f.Data) != m.out[got] {
						t.Fatalf("seed %d: packet %d differs of %d", seed, got, len(m.out))
					}
					got++
				}
			}
			m.room = room
		}
		for now, steps := plan.Start-100, 0; ; steps++ {
			next, want := tx.step(now), m.step(now)
			if next != want {
				t.Fatalf("seed %d, step %d at %d: next is %d, want %d", seed, steps, now, next, want)
			}
			for i := range stock {
				want := m.lanes[i].Offer
				for _, e := range m.pending {
					if e.lane == i {
						want.Due = e.due
						break
					}
				}
				if o := tx.Played(i); o != want {
					t.Fatalf("seed %d, step %d at %d, lane %d, plan %+v:\n got %+v\nwant %+v", seed, steps, now, i, plan, o, want)
				}
			}
			if next == nic.Never {
				break
			}
			if now = max(now+1, min(next, now+r.Int64N(1e5))); r.IntN(3) > 0 {
				drain()
			}
			if r.IntN(40) == 0 {
				now += r.Int64N(1e6)
			}
		}
		drain()
		if got != len(m.out) {
			t.Fatalf("seed %d: %d packets came, want %d", seed, got, len(m.out))
		}
		for i := range m.lanes {
			var late trial.Histogram
			tx.Lateness(i, &late)
			if w := &m.lanes[i].lateness; fmt.Sprint(late.Count, late.Min, late.Max, late.Sum, late.Bars()) != fmt.Sprint(w.Count, w.Min, w.Max, w.Sum, w.Bars()) {
				t.Fatalf("seed %d, lane %d: lateness %+v, want %+v", seed, i, late, w)
			}
			sent += m.lanes[i].Sent
			unsent += m.lanes[i].Intended - m.lanes[i].Sent
		}
	}
	t.Logf("%d packets sent, %d unsent", sent, unsent)
	if sent < 50000 || unsent < 5000 {
		t.Error("too few to compare")
	}
}

// monotonic is the run's clock with epoch 0.
func monotonic() int64 {
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return ts.Nano()
}

// play plays to the end on a thread of its own.
func play(p nic.Player, done chan<- error) {
	runtime.LockOSThread()
	for until := time.Now().Add(60 * time.Second); time.Now().Before(until); {
		next, err := p.Play(monotonic())
		if err != nil || next == nic.Never {
			done <- err
			return
		}
		if d := next - monotonic(); d > 100e3 {
			time.Sleep(time.Duration(d - 100e3))
		}
	}
	done <- errors.New("the plan is not over")
}

// TestMillions: of 10 million tagged packets through a wire that is always full none is lost, doubled or out of order.
func TestMillions(t *testing.T) {
	lab.Need(t, "dpdk")
	const packets = 10e6
	a, b := ringWire(t, 4096, Options{})
	tx, rx := nic.Of(a.Queues[0]), b.Queues[0]
	if err := tx.Player.Load([]nic.Lane{lane(t, 3, 0, 60, 61, 300), lane(t, 9, 0, 64)}); err != nil {
		t.Fatal(err)
	}
	c := nic.Of(rx).Classifier
	start := monotonic() + 1e6
	if err := c.Classify(nic.Await{Magic: magic, Trial: 2, Preroll: 1, Lanes: []uint8{3, 9}, Half: start, HalfEnd: nic.Never}); err != nil {
		t.Fatal(err)
	}
	if err := tx.Player.Begin(nic.Plan{Trial: 2, Preroll: 1, Start: start, Count: start, End: nic.Never, Credit: 1e6,
		Lanes: []nic.Load{{Den: 1, Packets: packets / 2}, {Den: 1, Packets: packets / 2}}}); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go play(tx.Player, done)
	var wg sync.WaitGroup
	wg.Go(func() {
		runtime.LockOSThread()
		frames := make([]packet.Frame, 64)
		for until := time.Now().Add(60 * time.Second); time.Now().Before(until); {
			if n, err := rx.Recv(frames); n > 0 || err != nil {
				t.Errorf("Recv = %d, %v; all frames are the classifier's", n, err)
				return
			}
			if c.Classified(3).Received+c.Classified(9).Received == packets {
				return
			}
		}
	})
	if err := <-done; err != nil {
		t.Error(err)
	}
	wg.Wait()
	for i, id := range []uint8{3, 9} {
		o, got := tx.Player.Played(i), c.Classified(id)
		if o.Intended != packets/2 || o.Sent != packets/2 || o.Tagged != packets/2 || o.Issued != packets/2 || o.Refused != 0 {
			t.Errorf("lane %d: %+v", id, o)
		}
		if got.Received != packets/2 || got.Duplicated+got.Reordered+got.TooOld != 0 || got.Top != packets/2 || got.Bytes != o.Bytes || got.WireBits != o.WireBits {
			t.Errorf("lane %d: %+v", id, got)
		}
		if got.Half != (trial.Arrivals{Packets: got.Received, Bytes: got.Bytes, WireBits: got.WireBits}) || got.Last < start || got.Last > monotonic() {
			t.Errorf("lane %d: %+v, started at %d", id, got, start)
		}
		var late, latency trial.Histogram
		tx.Player.Lateness(i, &late)
		c.Latency(id, &latency)
		if late.Count != packets/2 || latency.Count != packets/2 || latency.Max > got.Last-start {
			t.Errorf("lane %d: %d counts of lateness, %d of latency", id, late.Count, latency.Count)
		}
		p50, _ := latency.Percentile(50)
		t.Logf("lane %d: latency %d..%d ns, p50 %d", id, latency.Min, latency.Max, p50)
	}
	if s := nic.Of(rx).Reporter.Status(); s.Missed != 0 {
		t.Errorf("status %+v", s)
	}
	if err := c.Classify(nic.Await{}); err != nil {
		t.Fatal(err)
	}
	mine := lane(t, 3, 0, 60).Store.Frame(0)
	packet.Tag{Magic: magic, Lane: 3, Trial: 2}.Put(mine.Data[len(mine.Data)-packet.TagLen:])
	if n, err := a.Queues[0].Send([]packet.Frame{mine}); n != 1 || err != nil {
		t.Fatalf("Send after the plan = %d, %v", n, err)
	}
	if n, err := rx.Recv(make([]packet.Frame, 2)); n != 1 || err != nil {
		t.Errorf("Recv after the trial = %d, %v; want the packet", n, err)
	}
}

// What is not for the classifier reaches Recv, also among packets that are.
func TestOthersReachRecv(t *testing.T) {
	lab.Need(t, "dpdk")
	a, b := ringWire(t, 4096, Options{})
	c := nic.Of(b.Queues[0]).Classifier
	if err := c.Classify(awaited); err != nil {
		t.Fatal(err)
	}
	var sent []packet.Frame
	own, foreign := int64(0), 0
	for i := range 3000 {
		f := packet.Frame{Data: append([]byte(nil), bases(t)[0]...)}
		tag := packet.Tag{Magic: awaited.Magic, Lane: 2, Trial: awaited.Trial, Seq: uint32(own)}
		switch i % 5 {
		case 3:
			tag.Lane = 7
		case 4:
			tag.Trial = 9
		default:
			own++
		}
		tag.Put(f.Data[len(f.Data)-packet.TagLen:])
		sent = append(sent, f)
	}
	if n, err := a.Queues[0].Send(sent); n != len(sent) || err != nil {
		t.Fatalf("Send = %d, %v", n, err)
	}
	frames := make([]packet.Frame, 7)
	for range 3000 {
		n, _ := b.Queues[0].Recv(frames)
		for _, f := range frames[:n] {
			for foreign%5 < 3 {
				foreign++
			}
			if string(f.Data) != string(sent[foreign].Data) {
				t.Fatalf("frame %d differs", foreign)
			}
			foreign++
		}
	}
	if got := c.Classified(2); foreign != len(sent) || got.Received != own || got.Top != own || got.Duplicated != 0 {
		t.Errorf("%d of %d frames seen, counted %+v of %d", foreign, len(sent), got, own)
	}
}

// TestGoneWhilePlaying: a plan whose interface is deleted says that the link is down.
func TestGoneWhilePlaying(t *testing.T) {
	lab.Need(t, "dpdk", "netns", "afpacket")
	wire := lab.Veth(t)
	a := open1(t, "net_af_packet900,iface="+wire.A, Options{}).Queues[0]
	p := nic.Of(a).Player
	if err := p.Load([]nic.Lane{lane(t, 3, 0, 60)}); err != nil {
		t.Fatal(err)
	}
	start := monotonic()
	if err := p.Begin(nic.Plan{Trial: 2, Start: start, Count: start, End: nic.Never, Credit: 10e6, Lanes: []nic.Load{{Unit: trial.Packets, Num: 1e9, Den: 1000}}}); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go play(p, done)
	time.Sleep(50 * time.Millisecond)
	wire.IP("a", "link", "del", "a0")
	if err := <-done; !errors.Is(err, nic.ErrDown) {
		t.Errorf("Play = %v, want %v", err, nic.ErrDown)
	}
	if o := p.Played(0); o.Sent == 0 || o.Sent > o.Intended {
		t.Errorf("%+v", o)
	}
	if s := nic.Of(a).Reporter.Status(); !s.LinkDown || s.Downs != 1 || s.TxErrors == 0 {
		t.Errorf("status %+v, want a link that went down once and frames that were not sent", s)
	}
}

func TestLoadRefuses(t *testing.T) {
	lab.Need(t, "dpdk")
	p := nic.Of(open1(t, "net_null7", Options{}).Queues[0]).Player
	err := p.Load([]nic.Lane{lane(t, 1, 0, 60, 1600)})
	if !errors.Is(err, nic.ErrNotPlayed) || !strings.HasPrefix(err.Error(), "packet 2, of 1600 bytes: frame is too long for the port") {
		t.Errorf("Load of a packet that is too long = %v", err)
	}
}

// A device that forwards is DPDK's own: frames from a come out at b, and are counted there.
func TestTestpmd(t *testing.T) {
	lab.Need(t, "dpdk", "testpmd", "netns")
	d := lab.Up(t, "testpmd.sh", "driver=memif")
	var ports []nic.Device
	for i := range 2 {
		ports = append(ports, open1(t, fmt.Sprintf("net_memif90%d,role=client,id=%d,socket=%s/memif.sock,socket-abstract=no", i, i, d.Dir), Options{}))
	}
	if down := nic.WaitUp(t.Context(), map[string]nic.Device{"a": ports[0], "b": ports[1]}, 5*time.Second); len(down) > 0 {
		t.Fatalf("links of %v do not come up", down)
	}
	p, rx := nic.Of(ports[0].Queues[0]).Player, ports[1].Queues[0]
	c := nic.Of(rx).Classifier
	if err := errors.Join(p.Load([]nic.Lane{lane(t, 3, 0, 60, 1514)}), c.Classify(nic.Await{Magic: magic, Trial: 2, Lanes: []uint8{3}})); err != nil {
		t.Fatal(err)
	}
	start := monotonic()
	if err := p.Begin(nic.Plan{Trial: 2, Start: start, Count: start, End: nic.Never, Credit: 100e6,
		Lanes: []nic.Load{{Unit: trial.Packets, Num: 1e9, Den: 20e3, Packets: 20e3}}}); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go play(p, done)
	frames, over := make([]packet.Frame, 64), false
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); {
		if _, err := rx.Recv(frames); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			if over = true; err != nil {
				t.Fatal(err)
			}
			until = time.Now().Add(200 * time.Millisecond)
		default:
		}
	}
	o, got := p.Played(0), c.Classified(3)
	t.Logf("sent %d of %d, %d came back", o.Sent, o.Intended, got.Received)
	if !over || got.Received == 0 || got.Received > o.Sent || got.Duplicated != 0 || got.Reordered != 0 {
		t.Errorf("over %v, sent %+v, received %+v", over, o, got)
	}
}
