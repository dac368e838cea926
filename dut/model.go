// Package dut is devices under test in software: Model, arithmetic that answers at once, and Network, packets in virtual time.
//
//	search ─Spec→ Model ─Result→ search        replay ─frames→ Port → Network → Port ─frames→ replay
//
// Both give the same numbers on every machine.
package dut

import (
	"fmt"
	"math/bits"
	"strconv"

	"loadtest/units"
)

// A Model is a device in arithmetic: a Runner that answers a trial in microseconds, the same on every machine. The zero
// value of each parameter but the capacity switches its effect off.
//
//	m := &dut.Model{Capacity: 3 * units.Gbps}
type Model struct {
	ModelParams

	Capacity  units.BitRate // of each stream's path on the wire; used where Cap0 is 0
	FrameSize int           // bytes without FCS; default units.MinFrame
	RunSeed   uint64        // another seed is another run of the same device
	Names     []string      // of the streams; default "stream1", "stream2"

	trials int64    // made so far
	now    int64    // ns, the end of the last trial
	load   [2]int64 // of the last trial, packets/s
	warm   int64    // µs of traffic at that load so far
}

// ModelParams are the numbers of a device. Rates are packets/s.
type ModelParams struct {
	ID            string    `json:"id"`
	Class         string    `json:"cls"`
	Seed          ModelSeed `json:"seed"`
	Streams       int       `json:"nstreams"`        // 1 (also as 0) or 2
	Cap0          int64     `json:"cap0"`            // capacity of the first stream's path
	Cap1          int64     `json:"cap1"`            // and of the second's; 0 = Cap0
	Gen           int64     `json:"gen"`             // what the tester itself can send; 0 = no limit
	SigmaPPM      int64     `json:"sigma_ppm"`       // deviation of the capacity from slice to slice
	TrialSigmaPPM int64     `json:"trial_sigma_ppm"` // and from trial to trial
	Queue         int64     `json:"queue"`           // packets
	StallMeanMS   int64     `json:"stall_mean_ms"`   // mean time between stalls
	StallUS       int64     `json:"stall_us"`        // length of one
	FloorPPT      int64     `json:"floor_ppt"`       // background loss in units of 1e-12
	FloorFrom     int64     `json:"floor_from"`      // from this load on
	ColdUS        int64     `json:"cold_us"`         // slow for so long after a change of load
	ColdPermille  int64     `json:"cold_permille"`   // capacity while it is cold
}

// A ModelSeed is written as "0x…" in JSON, whose numbers end at 2^53.
type ModelSeed uint64

// MarshalText writes it in hexadecimal.
func (s ModelSeed) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "0x%016x", uint64(s)), nil }

// UnmarshalText reads any notation of Go.
func (s *ModelSeed) UnmarshalText(b []byte) error {
	v, err := strconv.ParseUint(string(b), 0, 64)
	if err != nil {
		return fmt.Errorf("seed %q: want a number such as 0x5cdd460d718f9b97", b)
	}
	*s = ModelSeed(v)
	return nil
}

// A ModelTrial is all that one trial of a Model depends on.
type ModelTrial struct {
	Load       [2]int64 // packets/s of each stream
	TotalUS    int64    // pre-roll included
	PrerollUS  int64    // sent and not counted
	AbortLimit int64    // end once more packets than this are lost, or unsent beyond Spare; -1: never
	Spare      int64
	WarmUS     int64 // traffic at this load before the trial
	RunSeed    uint64
	Index      int64 // of the trial in its run
}

// ModelCounts are what a trial counted.
type ModelCounts struct {
	Intended, Sent, Lost [2]int64
	ElapsedUS            int64 // pre-roll included
	FirstLossUS          int64 // end of the first counted slice with a packet lost or unsent, since the pre-roll; -1: none
	Stopped              bool  // by AbortLimit

	served [2]int64 // forwarded in the slices of the second half
}

// modelSlice is the step of a model's time in µs.
const modelSlice = 10000

// Trial carries out one trial exactly, whatever came before it.
func (m *Model) Trial(in ModelTrial) ModelCounts {
	r := m.begin(in)
	for r.slice() {
	}
	return r.ModelCounts
}

// modelRun is a trial under way.
type modelRun struct {
	ModelParams
	ModelCounts
	in             ModelTrial
	caps           [2]int64
	rng            uint64
	drift          int64
	backlog, carry [2]int64
}

func (m *Model) begin(in ModelTrial) *modelRun {
	r := &modelRun{ModelParams: m.ModelParams, in: in}
	if r.Streams == 0 {
		r.Streams = 1
	}
	if r.Cap0 == 0 {
		r.Cap0 = int64(float64(m.Capacity) / float64(units.WireBits(m.frame())))
	}
	if r.Cap1 == 0 {
		r.Cap1 = r.Cap0
	}
	r.caps = [2]int64{r.Cap0, r.Cap1}
	r.rng = modelMix(uint64(r.Seed) + in.RunSeed*0xA0761D6478BD642F + uint64(in.Index)*0xE7037ED1A0B428DB)
	r.FirstLossUS = -1
	if r.TrialSigmaPPM > 0 {
		r.drift = r.gauss() * r.TrialSigmaPPM
	}
	return r
}

// slice moves the trial on by one slice; false once it is over.
func (r *modelRun) slice() bool {
	t0 := r.ElapsedUS
	t1 := min(t0+modelSlice, r.in.TotalUS)
	if t0 >= t1 {
		return false
	}
	counted := t0 >= r.in.PrerollUS
	for i := range r.Streams {
		want, n, unsent := r.generate(i, t0, t1)
		lost, served := r.forward(i, n, t0, t1)
		if t0 >= r.halfSlice() {
			r.served[i] += served
		}
		if counted {
			r.Intended[i] += want
			r.Sent[i] += want - unsent
			r.Lost[i] += lost
		}
		if counted && r.FirstLossUS < 0 && r.bad() > 0 {
			r.FirstLossUS = t1 - r.in.PrerollUS
		}
	}
	r.ElapsedUS = t1
	r.Stopped = counted && r.in.AbortLimit >= 0 && r.bad() > r.in.AbortLimit
	return !r.Stopped && t1 < r.in.TotalUS
}

// halfSlice is when the first slice of the trial's second half begins, in µs.
func (r *modelRun) halfSlice() int64 {
	half := (r.in.TotalUS - r.in.PrerollUS + 1) / 2
	return r.in.PrerollUS + (half+modelSlice-1)/modelSlice*modelSlice
}

// bad is how many packets stand between the trial and a clean one.
func (r *modelRun) bad() int64 {
	lost := r.Lost[0] + r.Lost[1]
	unsent := r.Intended[0] + r.Intended[1] - r.Sent[0] - r.Sent[1]
	return lost + max(0, unsent-r.in.Spare)
}

// modelDue is how many packets of a rate fall into [t0, t1) µs.
func modelDue(rate, t0, t1 int64) int64 { return rate*t1/1000000 - rate*t0/1000000 }

// generate is what is due of stream i in a slice, what the generator sends, and what it gives up: a generator that is too
// slow carries two packets over.
func (r *modelRun) generate(i int, t0, t1 int64) (want, sent, unsent int64) {
	want = modelDue(r.in.Load[i], t0, t1)
	if r.Gen <= 0 {
		return want, want, 0
	}
	y := r.carry[i] + want
	sent = min(y, modelDue(r.Gen, t0, t1))
	y -= sent
	unsent = max(0, y-2)
	r.carry[i] = y - unsent
	return want, sent, unsent
}

// forward is the device: n packets of stream i arrive in a slice.
func (r *modelRun) forward(i int, n, t0, t1 int64) (lost, served int64) {
	c := r.service(i, t0, t1)
	if r.FloorPPT > 0 {
		lost = r.background(r.in.Load[i], n)
	}
	m, queue, b := n-lost, r.Queue+2, r.backlog[i]
	if r.StallMeanMS > 0 && r.stalls() {
		x := min(r.StallUS, t1-t0)
		a := m * x / (t1 - t0)
		if b += a; b > queue {
			lost, b = lost+b-queue, queue
		}
		m -= a
		c = c * (t1 - t0 - x) / (t1 - t0)
	}
	b += m
	served = min(b, c)
	if b -= served; b > queue {
		lost, b = lost+b-queue, queue
	}
	r.backlog[i] = b
	return lost, served
}

// service is how many packets the path of stream i can forward in a slice.
func (r *modelRun) service(i int, t0, t1 int64) int64 {
	const deviation = 65536 * 1000000 // of gauss, in ppm
	c := modelDue(r.caps[i], t0, t1)
	if t0+r.in.WarmUS < r.ColdUS {
		c = c * r.ColdPermille / 1000
	}
	if r.TrialSigmaPPM > 0 {
		c += c * r.drift / deviation
	}
	if r.SigmaPPM > 0 {
		c += c * r.SigmaPPM * r.gauss() / deviation
	}
	return max(c, 0)
}

// background is the loss of n packets at FloorPPT, its fraction by lot.
func (r *modelRun) background(load, n int64) int64 {
	const whole = 1000000000000
	lot, _ := bits.Mul64(r.next(), whole)
	if load < r.FloorFrom {
		return 0
	}
	mean := n * r.FloorPPT
	lost := mean / whole
	if lot < uint64(mean%whole) {
		lost++
	}
	return min(lost, n)
}

// stalls draws whether the device stalls in this slice of 10 ms.
func (r *modelRun) stalls() bool {
	lot := r.next()
	if r.StallMeanMS <= 10 {
		return true
	}
	below, _ := bits.Div64(10, 0, uint64(r.StallMeanMS))
	return lot < below
}

// next is splitmix64: Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014.
func (r *modelRun) next() uint64 {
	r.rng += 0x9E3779B97F4A7C15
	return modelMix(r.rng)
}

func modelMix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// gauss is a sum of twelve uniform 16-bit numbers: mean 0, standard deviation 65536.
func (r *modelRun) gauss() int64 {
	sum := int64(-393210)
	for range 3 {
		for v, k := r.next(), 0; k < 4; v, k = v>>16, k+1 {
			sum += int64(v & 0xffff)
		}
	}
	return sum
}
