package pace

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"loadtest/trial"
)

// A schedule is what a Pacer must say, in fractions without any rounding.
type schedule struct {
	points []trial.Point
	end    int64
	share  float64
	line   Line
	due    *big.Rat // nil: never
	lines  int      // entered after the first
}

func scheduled(points []trial.Point, end int64, share float64) *schedule {
	s := &schedule{points: points, end: end, share: share, line: LineAt(points, 0, end), due: new(big.Rat)}
	s.next(0)
	return s
}

func (s *schedule) next(c Cost) {
	left := new(big.Rat).SetInt(new(big.Int).SetUint64(uint64(c)))
	for s.due != nil {
		load := s.line.Load * s.share
		rest := new(big.Rat).Sub(new(big.Rat).SetInt64(s.line.End), s.due)
		if math.IsInf(load, 1) && rest.Sign() > 0 {
			return
		}
		if load > 0 {
			rate := new(big.Rat).SetFloat64(min(load, 1<<63))
			if t := new(big.Rat).Quo(left, rate); t.Cmp(rest) < 0 {
				s.due.Add(s.due, t)
				return
			}
			left.Sub(left, rest.Mul(rest, rate))
		}
		if s.line.End >= s.end {
			s.due = nil
			return
		}
		s.due.SetInt64(s.line.End)
		s.line = LineAt(s.points, s.line.End, s.end)
		s.lines++
	}
}

func floor(x *big.Rat) int64 { return new(big.Int).Div(x.Num(), x.Denom()).Int64() }

// follow compares a Pacer with the exact schedule. Within a line nothing is rounded; where a packet's cost is paid on several,
// less than 2^-20 ns is, so a packet that is due at the whole ns may be due one before or after it.
func follow(t *testing.T, points []trial.Point, end int64, share float64, costs []Cost) {
	t.Helper()
	p, s := New(points, end, share), scheduled(points, end, share)
	for i := 0; ; i++ {
		got, want := p.Due(), int64(Never)
		if s.due != nil {
			want = floor(s.due)
		}
		off := got != want
		if s.lines > 0 && off && got != Never && want != Never {
			off = got-want > 1 || want-got > 1
		} else if s.lines > 0 && off { // the end is the whole ns
			off = min(got, want) != end-1
		}
		if off {
			t.Fatalf("points %v, end %d, share %g: packet %d of %d is due at %d, want %d", points, end, share, i, costs, got, want)
		}
		if i == len(costs) || got == Never || want == Never {
			return
		}
		p.Next(costs[i])
		s.next(costs[i])
		if p.Due() < got || p.Due() != Never && p.Gap() != p.Due()-got {
			t.Fatalf("points %v, share %g: packet %d is due at %d, after %d; its gap is %d", points, share, i+1, p.Due(), got, p.Gap())
		}
	}
}

func TestExact(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	loads := []float64{1e-6, 0.1, 1.0 / 3, 0.333, 7.3, 1e6, 185000, 0.609e9, 400e9, 1e13, 5e-324, 1e-300, 1e18, 1e300, math.MaxFloat64, 0x1p63, 0x1p53, 0x1p-11, 0x1p-12}
	load := func() float64 {
		switch r.IntN(4) {
		case 0:
			return loads[r.IntN(len(loads))]
		case 1:
			return math.Exp2(r.Float64()*100 - 50)
		case 2:
			return float64(r.IntN(1 << 20))
		}
		return r.Float64() * 400e9
	}
	cost := func() Cost {
		switch r.IntN(5) {
		case 0:
			return OnePacket
		case 1:
			return Wait(r.Int64() >> r.IntN(63))
		case 2:
			return Cost(r.Uint64())
		case 3:
			return 0
		}
		return Bits(r.Int64N(65560) * 8)
	}
	for range 20000 {
		points, end := flat(load()), int64(Never)
		if r.IntN(2) == 0 { // levels and steps, and short slopes between them
			points = nil
			for at := int64(0); len(points) < 8; at += r.Int64() >> (36 + r.IntN(20)) {
				x := load()
				points = append(points, trial.Point{At: time.Duration(at), Load: x})
				at += r.Int64() >> (4 + r.IntN(50))
				points = append(points, trial.Point{At: time.Duration(at), Load: x}, trial.Point{At: time.Duration(at), Load: load()})
			}
			end = r.Int64() >> r.IntN(40)
		}
		costs := make([]Cost, 20)
		for i := range costs {
			costs[i] = cost()
		}
		share := 1.0
		if r.IntN(2) == 0 {
			share = r.ExpFloat64()
		}
		follow(t, points, end, share, costs)
	}
}

// Over a month at any rate, looked at each hour, a schedule is where the exact fractions say, whatever was computed before.
func TestMonthAtAnyRate(t *testing.T) {
	for _, tt := range []struct {
		name  string
		load  float64
		share float64
		costs []Cost
	}{
		{"a third of a packet per second", 1.0 / 3, 1, []Cost{OnePacket}},
		{"mixed sizes at 0.609 Gbit/s", 0.609e9, 1, []Cost{Bits(672), Bits(12304), Bits(4912)}},
		{"a third of the captured pace", 0.333, 1, []Cost{Wait(100e6)}},
		{"7.3 times the captured pace, with a share", 7.3, 0.7, []Cost{Wait(100e6), Wait(1), Wait(33_333_333)}},
		{"a packet in two weeks", 1e-6, 1, []Cost{OnePacket}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const month = 31 * 24 * int64(time.Hour)
			p := New(flat(tt.load), Never, tt.share)
			rate, sum, hour := new(big.Rat).SetFloat64(tt.load*tt.share), new(big.Int), int64(0)
			all := new(big.Int)
			for _, c := range tt.costs {
				all.Add(all, new(big.Int).SetUint64(uint64(c)))
			}
			rounds := max(1, int64(float64(time.Hour)*tt.load*tt.share/float64(all.Int64())/50)) // a fiftieth of an hour as one cost
			for p.Due() < month {
				if p.Due() >= hour {
					if want := floor(new(big.Rat).Quo(new(big.Rat).SetInt(sum), rate)); p.Due() != want {
						t.Fatalf("at hour %d a packet is due at %d ns, want %d", hour/int64(time.Hour), p.Due(), want)
					}
					hour = (p.Due()/int64(time.Hour) + 1) * int64(time.Hour)
				}
				for _, c := range tt.costs {
					c *= Cost(rounds)
					sum.Add(sum, new(big.Int).SetUint64(uint64(c)))
					p.Next(c)
				}
			}
		})
	}
}

func FuzzPacer(f *testing.F) {
	f.Add(1e9, 1.0, uint64(OnePacket), uint64(Bits(672)), int64(Never))
	f.Add(0.333, 0.5, uint64(Wait(100e6)), uint64(0), int64(1e9))
	f.Add(5e-324, 1e6, uint64(1<<63), uint64(1), int64(1))
	f.Add(math.MaxFloat64, 2.0, uint64(math.MaxUint64), uint64(math.MaxUint64), int64(1<<40))
	f.Fuzz(func(t *testing.T, load, share float64, a, b uint64, end int64) {
		if math.IsNaN(load) || math.IsNaN(share) || math.IsNaN(load*share) || end < 0 {
			return
		}
		var costs []Cost
		for i := range 30 {
			costs = append(costs, Cost(a>>(i%7)), Cost(b))
		}
		follow(t, flat(load), end, share, costs)
	})
}
