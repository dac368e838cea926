package dut

import (
	"errors"
	"math"
	"slices"
	"time"
)

// observed is what a trial tells of a path.
type observed struct {
	number         int
	sent, lost     float64
	each           float64 // what a packet takes of the capacity: 1, or its bits on the wire
	time, preroll  float64 // s
	least, highest float64 // s, latency; negative: not measured
}

type observations []observed

// observe are the observations of a path in ascending order of load, -1 is all of them together.
func observe(trials []FitTrial, path int, bits bool) (all observations) {
	for _, t := range trials {
		o := observed{number: t.Number, each: 1, time: t.Duration.Seconds(), preroll: t.Preroll.Seconds(), least: -1, highest: -1}
		wire := 0.0
		for i, p := range t.Paths {
			if path >= 0 && i != path {
				continue
			}
			o.sent, o.lost, wire = o.sent+float64(p.Sent), o.lost+float64(p.Lost), wire+float64(p.WireBits)
			if p.Least >= 0 && p.High >= 0 {
				if o.least < 0 {
					o.least = p.Least.Seconds()
				}
				o.least, o.highest = min(o.least, p.Least.Seconds()), max(o.highest, p.High.Seconds())
			}
		}
		if o.sent == 0 || o.time <= 0 {
			continue
		}
		if bits {
			o.each = wire / o.sent
		}
		all = append(all, o)
	}
	slices.SortStableFunc(all, func(a, b observed) int {
		switch x, y := a.load(), b.load(); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return all
}

// load is what was asked of the capacity per second.
func (o observed) load() float64 { return o.sent * o.each / o.time }

// loses is how many packets a device of these numbers loses of a trial: a share by chance; of the others what comes beyond its
// capacity, once the queue is full.
func (o observed) loses(p FitPath) float64 {
	lost := o.sent * p.Loss
	if p.Capacity == 0 {
		return lost
	}
	beyond := (o.sent-lost)/o.time - p.Capacity/o.each
	if beyond <= 0 {
		return lost
	}
	room := float64(p.Queue) - min(float64(p.Queue), beyond*o.preroll)
	return lost + max(0, beyond*o.time-room)
}

// overloaded says whether a trial lost more than the share that is lost at every load explains.
func (o observed) overloaded(loss float64) bool {
	mean := o.sent * loss
	return o.lost > mean+5*math.Sqrt(mean)+0.5
}

// off is how unlikely the losses of a model are, as the deviance of counts: a packet counts much where hardly any is lost, and little
// where most are.
func (all observations) off(p FitPath) (sum float64) {
	for _, o := range all {
		mean := max(o.loses(p), 0.01)
		if sum += 2 * (mean - o.lost); o.lost > 0 {
			sum += 2 * o.lost * math.Log(o.lost/mean)
		}
	}
	return sum
}

// delay is that of a packet which need not wait.
func (all observations) delay() time.Duration {
	least := math.Inf(1)
	for _, o := range all {
		if o.least >= 0 {
			least = min(least, o.least)
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return time.Duration(math.Round(least * 1e9))
}

var (
	errNoLimit = errors.New("no trial above the device's limit, so its capacity is not known: want a run that tried more, as by a higher -b")
	errNoBelow = errors.New("no trial below the device's limit, so what it loses at every load is not known: want a run with lower loads, as find-limit makes them")
)

// mostLoss is the greatest share that a device may lose at every load: what lost more was above its limit.
const mostLoss = 0.1

// fit tries each load as the last one below the limit, and takes the numbers that explain all trials best. errNoLimit comes with what
// is known without one.
func (all observations) fit() (best FitPath, err error) {
	err = errNoLimit
	delay := all.delay()
	sent, lost, off := 0.0, 0.0, math.Inf(1)
	for i, o := range all {
		sent, lost = sent+o.sent, lost+o.lost
		if i+1 < len(all) && all[i+1].load() == o.load() {
			continue
		}
		p := FitPath{Delay: delay, Loss: lost / sent}
		if i+1 == len(all) {
			if all.off(p) < off || err != nil {
				best, err = p, errNoLimit
			}
			break
		}
		if p.Loss < mostLoss && all.capacity(&p, i+1) && all.off(p) < off {
			best, off, err = p, all.off(p), nil
		}
	}
	if len(all) > 0 && all[0].lost > all[0].sent*mostLoss {
		return best, errNoBelow
	}
	return best, err
}

// capacity finds capacity and queue of the trials from one on; false: none is overloaded. The queue is what latencies say, unless the
// device lost as if it had a much longer one: then packets do not wait there.
func (all observations) capacity(p *FitPath, from int) bool {
	over := slices.DeleteFunc(slices.Clone(all[from:]), func(o observed) bool { return !o.overloaded(p.Loss) })
	if len(over) == 0 {
		return false
	}
	all.queue(p, over)
	wait := over.wait(p.Delay)
	if wait < 0 {
		return true
	}
	waits := *p
	queue := func(capacity float64) int64 { return int64(math.Round(wait * capacity / over[0].each)) }
	waits.Capacity, _ = all.at(waits, over, queue)
	waits.Queue = queue(waits.Capacity)
	if p.Burst = p.Queue > 2*waits.Queue && all.off(*p) < all.off(waits)/2; !p.Burst {
		*p = waits
	}
	return true
}

// wait is how long a packet waits in a queue that is full, s: nearly all latencies of an overloaded trial are below their 99th
// percentile, and few stalls of a tester are above it. Negative: not measured.
func (over observations) wait(delay time.Duration) float64 {
	var waits []float64
	for _, o := range over {
		if o.highest >= 0 {
			waits = append(waits, max(0, o.highest-delay.Seconds()))
		}
	}
	if waits == nil {
		return -1
	}
	slices.Sort(waits)
	return waits[len(waits)/2]
}

// queue finds both from losses alone, which trials of several lengths tell apart: a queue saves a short trial more than a long one. One
// that explains hardly more than none is none.
func (all observations) queue(p *FitPath, over observations) {
	const worth = 10
	least := math.Inf(1)
	for queue := 0.0; queue < 1<<24; queue = math.Ceil(max(queue+1, queue*1.3)) {
		capacity, off := all.at(*p, over, func(float64) int64 { return int64(queue) })
		if p.Queue == 0 {
			off += min(queue, 1) * worth
		}
		if off < least {
			p.Capacity, p.Queue, least = capacity, int64(queue), off
		}
	}
	for _, step := range []int64{p.Queue / 10, p.Queue / 40, p.Queue / 160, p.Queue / 640, 1} {
		for _, queue := range []int64{p.Queue - 3*step, p.Queue - 2*step, p.Queue - step, p.Queue + step, p.Queue + 2*step, p.Queue + 3*step} {
			if p.Queue == 0 || queue <= 0 {
				continue
			}
			if capacity, off := all.at(*p, over, func(float64) int64 { return queue }); off < least {
				p.Capacity, p.Queue, least = capacity, queue, off
			}
		}
	}
}

// at is the capacity that explains the trials best with the queue that it has then. It lies between those that each overloaded trial
// alone has: golden section.
func (all observations) at(p FitPath, over observations, queue func(capacity float64) int64) (capacity, off float64) {
	low, high := math.Inf(1), 0.0
	for _, o := range over {
		got := (o.sent - o.lost) * o.each / o.time
		low, high = min(low, got), max(high, got)
	}
	p.Queue = queue(high)
	for _, o := range over { // without what the queue kept
		low = min(low, max(low/100, (o.sent-o.lost-float64(p.Queue))*o.each/o.time))
	}
	try := func(c float64) float64 {
		p.Capacity, p.Queue = c, queue(c)
		return all.off(p)
	}
	const ratio = 0.6180339887498949
	a, b := high-ratio*(high-low), low+ratio*(high-low)
	offA, offB := try(a), try(b)
	for range 36 {
		if offA <= offB {
			high, b, offB = b, a, offA
			a = high - ratio*(high-low)
			offA = try(a)
		} else {
			low, a, offA = a, b, offB
			b = low + ratio*(high-low)
			offB = try(b)
		}
	}
	return (low + high) / 2, min(offA, offB)
}
