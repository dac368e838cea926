// Package plan is what a benchmark of RFC 2544 consists of: which test of which frame size, for how long, what is next.
//
//	Options ─New→ Plan ─Next→ Item, search.Strategy ─search.Run→ Answer ─Report→ Plan
//	trials on disk ─→ Book ─→ search.Run: what was measured already is not measured again
package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"loadtest/search"
)

// A Test is one of the benchmark's.
type Test string

// The tests, in the order in which they are made.
const (
	Throughput Test = "throughput"   // RFC 2544, 26.1
	Latency    Test = "latency"      // 26.2
	Loss       Test = "loss"         // 26.3
	Bursts     Test = "back-to-back" // 26.4, as RFC 9004 has it
	Recovery   Test = "recovery"     // 26.5
	Soak       Test = "soak"         // not in RFC 2544: long at the throughput
)

func tests() []Test { return []Test{Throughput, Latency, Loss, Bursts, Recovery, Soak} }

// ParseTests reads names between commas. The throughput is always among them: the others need it.
func ParseTests(s string) ([]Test, error) {
	want := map[Test]bool{Throughput: true}
	for _, name := range strings.Split(s, ",") {
		t := Test(strings.ToLower(strings.TrimSpace(name)))
		if !slices.Contains(tests(), t) {
			return nil, fmt.Errorf("%q: want some of throughput, latency, loss, back-to-back, recovery, soak, with commas", name)
		}
		want[t] = true
	}
	return slices.DeleteFunc(tests(), func(t Test) bool { return !want[t] }), nil
}

// A Size is one frame size, or a mix.
type Size struct {
	Label string  // "" if there is only one
	Bits  float64 // of a frame on the wire, the mean of a mix
	Mixed bool
}

// Options are all that a Plan depends on. Loads are wire bits per second and stream.
type Options struct {
	Tests  []Test
	Sizes  []Size
	Max    float64 // the theoretical maximum
	Search func() search.Strategy
	Trials [2]float64 // full lengths that a Search takes, expected and at most

	Trial, Latency, Soak time.Duration // of one trial of a test
	Burst                time.Duration // longest burst to try
	Repeats              int           // searches for the longest burst
	Rest, Drain          time.Duration // between trials; for the residual frames of a trial that lost some
}

// An Item is one test of one size.
type Item struct {
	Test         Test
	Size         int           // index
	Expect, Most time.Duration // that it takes
}

// A Plan is the items in order, and what is known of those behind.
type Plan struct {
	o     Options
	items []Item
	at    int
	found float64 // throughput of the size at hand; 0: none
}

// New makes the plan: size by size, and of each the throughput first.
func New(o Options) *Plan {
	p := &Plan{o: o}
	for i := range o.Sizes {
		for _, t := range o.Tests {
			p.items = append(p.items, p.item(t, i))
		}
	}
	return p
}

// Items are all of them.
func (p *Plan) Items() []Item { return p.items }

// Total is the time of all items.
func (p *Plan) Total() (expect, most time.Duration) {
	for _, it := range p.items {
		expect, most = expect+it.Expect, most+it.Most
	}
	return expect, most
}

// item estimates the time of a test. Of a search half of the trials are expected to fail, and those end early.
func (p *Plan) item(t Test, size int) Item {
	o := &p.o
	of := func(trials float64, each, rest time.Duration) time.Duration {
		return time.Duration(trials * float64(each+rest))
	}
	it := Item{Test: t, Size: size}
	switch t {
	case Throughput:
		it.Expect = of(o.Trials[0], o.Trial/2, o.Rest+o.Drain/2)
		it.Most = of(o.Trials[1], o.Trial, o.Rest+o.Drain)
	case Latency:
		it.Expect = of(float64(len(latencyShares())), o.Latency, o.Rest)
		it.Most = it.Expect + 4*o.Drain
	case Loss:
		it.Expect, it.Most = of(5, o.Trial, o.Rest+o.Drain/2), of(10, o.Trial, o.Rest+o.Drain)
	case Bursts:
		// A first search from the longest burst, then for each repetition two trials around the answer, one of which fails; more
		// where the answers differ.
		first := math.Ceil(math.Log2(max(2, o.Burst.Seconds()*o.Max/o.Sizes[size].Bits)))
		again := 2 * float64(o.Repeats-1)
		if o.Sizes[size].Mixed {
			return it
		}
		it.Expect = 2*o.Burst + of(first+again, o.Rest+o.Drain/2, 0)
		it.Most = 2*o.Burst + of(2*first+3*again, o.Rest+o.Drain, 0)
	case Recovery:
		it.Expect = 2*o.Trial + o.Rest
		it.Most = it.Expect + o.Drain
	case Soak:
		it.Expect = o.Soak + o.Rest
		it.Most = it.Expect + o.Drain
	}
	return it
}

// Next is the item that is next and how its trials are chosen, or why it cannot be measured; false at the end.
func (p *Plan) Next() (it Item, s search.Strategy, why string, more bool) {
	if p.at == len(p.items) {
		return Item{}, nil, "", false
	}
	it = p.items[p.at]
	o := &p.o
	switch {
	case it.Test == Throughput:
		p.found = 0
		return it, o.Search(), "", true
	case it.Test == Loss: // of all loads, so it needs no throughput
		return it, &curve{max: o.Max, trial: o.Trial}, "", true
	case p.found == 0:
		return it, nil, "no throughput was found", true
	case it.Test == Bursts && o.Sizes[it.Size].Mixed:
		return it, nil, "a burst of a mix has no one length", true
	case it.Test == Bursts && p.found >= o.Max:
		return it, nil, "the throughput is the line's maximum: no burst is too long (RFC 9004)", true
	case it.Test == Latency:
		return it, &list{steps: latencies(p.found, o.Latency)}, "", true
	case it.Test == Bursts:
		return it, newBursts(o.Max, o.Sizes[it.Size].Bits, o.Burst, o.Repeats), "", true
	case it.Test == Recovery:
		return it, &list{steps: []search.Step{overload(p.found, o.Max, o.Trial)}}, "", true
	}
	return it, &list{steps: []search.Step{flat(p.found, o.Soak, "soak at the throughput", false)}}, "", true
}

// Report takes the load that a throughput search found; of the other tests nothing.
func (p *Plan) Report(load float64) {
	if p.items[p.at].Test == Throughput {
		p.found = load
	}
	p.at++
}

// Found is the throughput of the size at hand; 0: none.
func (p *Plan) Found() float64 { return p.found }
