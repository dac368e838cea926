package dut_test

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"testing"

	"loadtest/dut"
	"loadtest/internal/clock"
	"loadtest/nic"
	"loadtest/packet"
	"loadtest/units"
)

// load is a network by name, and parse one by its YAML.
func load(t testing.TB, name string) *dut.Network {
	t.Helper()
	n, err := dut.LoadNetwork(name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func parse(t testing.TB, text string) *dut.Network {
	t.Helper()
	n, err := dut.ParseNetwork("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func open(t testing.TB, n *dut.Network, port string) nic.Port {
	t.Helper()
	d, err := n.Port(port)
	if err != nil {
		t.Fatal(err)
	}
	return d.Queues[0]
}

// ipv4 is a frame of so many bytes in all, as genpcap makes them: addresses, TTL 64, protocol 255.
func ipv4(size int, src, dst string) []byte {
	b := make([]byte, max(size, 60))
	copy(b, "\x02\x00\x00\x00\x00\x01")
	copy(b[6:], "\x02\x00\x00\x00\x00\x77")
	b[12], b[13] = 8, 0
	ip := b[14:]
	ip[0], ip[8], ip[9] = 0x45, 64, 255
	binary.BigEndian.PutUint16(ip[2:], uint16(size-14))
	copy(ip[12:], ip4(src))
	copy(ip[16:], ip4(dst))
	binary.BigEndian.PutUint16(ip[10:], checksum(ip[:20]))
	return b
}

func checksum(b []byte) uint16 {
	sum := uint32(0)
	for i := 0; i+1 < len(b); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	if len(b)%2 == 1 {
		sum += uint32(b[len(b)-1]) << 8
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}

// A sender sends its frames in turn at exact times; it is stepped when a burst is due, and then sends all that is due.
type sender struct {
	port   nic.Port
	frames [][]byte
	due    func(i int64) int64 // ns, of packet i
	count  int64
	burst  int64

	sent    int64
	refused int64
	batch   []packet.Frame
}

func (s *sender) Step(now int64) int64 {
	s.batch = s.batch[:0]
	for i := s.sent; i < s.count && s.due(i) <= now; i++ {
		s.batch = append(s.batch, packet.Frame{Data: s.frames[i%int64(len(s.frames))], Nanos: s.due(i)})
	}
	n, err := s.port.Send(s.batch)
	if err != nil {
		panic(err)
	}
	s.sent += int64(n)
	switch {
	case n < len(s.batch):
		s.refused++
		return now + 1000
	case s.sent == s.count:
		return clock.Never
	}
	return max(now+1, s.due(min(s.sent+s.burst, s.count)-1))
}

// A receiver counts what comes, and remembers it in a hash.
type receiver struct {
	port   nic.Port
	count  int64
	last   int64
	times  []int64 // kept if not nil
	frames [][]byte
	hash   uint64
	batch  [32]packet.Frame
}

func (r *receiver) Step(int64) int64 {
	h := fnv.New64a()
	for {
		n, err := r.port.Recv(r.batch[:])
		if err != nil {
			panic(err)
		}
		for _, f := range r.batch[:n] {
			r.count++
			if f.Nanos < r.last {
				panic("arrivals out of order")
			}
			r.last = f.Nanos
			if r.times != nil {
				r.times = append(r.times, f.Nanos)
				r.frames = append(r.frames, append([]byte(nil), f.Data...))
				h.Reset()
				h.Write(f.Data)
				r.hash = r.hash*31 + h.Sum64() + uint64(f.Nanos)
			}
		}
		if n < len(r.batch) {
			return clock.Never
		}
	}
}

// run steps senders, receivers and the network as the virtual clock does, until nothing is due before end.
func run(n *dut.Network, end int64, steppers ...clock.Stepper) { runFrom(n, 0, end, steppers...) }

func runFrom(n *dut.Network, now, end int64, steppers ...clock.Stepper) {
	for {
		next := int64(clock.Never)
		for _, s := range steppers {
			next = min(next, s.Step(now))
		}
		next = min(next, n.Step(now))
		if next > end {
			return
		}
		now = next
	}
}

// at is the due times of a constant load of wire bits per second over frames in turn.
func at(load float64, frames [][]byte) func(i int64) int64 {
	var total int64
	starts := make([]int64, len(frames)) // bits before each
	for i, f := range frames {
		starts[i] = total
		total += units.WireBits(len(f))
	}
	return func(i int64) int64 {
		k := int64(len(frames))
		return int64(math.Ceil(float64(i/k*total+starts[i%k]) / load * 1e9))
	}
}
