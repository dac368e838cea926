package search

import (
	"fmt"
	"math"
)

// A Rule says when the trials of one load are believed. Good trials met the goal, bad ones did not.
type Rule interface {
	fmt.Stringer         // as ParseRule reads it
	Judge(Tally) Verdict // Pass, Fail, or Invalid while it takes more trials to tell
	Most() int           // trials that it takes at most
}

// A Tally is what the trials of one load came to.
type Tally struct {
	Good, Bad int
	Loss      float64 // greatest loss ratio of a stream in the last bad one
}

func (t Tally) all() int { return t.Good + t.Bad }

// Sure is the rule for so many trials: 1 is Single, more are Lead by their root.
func Sure(trials int) Rule {
	if trials <= 1 {
		return Single{}
	}
	return Lead{int(math.Ceil(math.Sqrt(float64(trials)))), trials}
}

// ParseRule reads what a Rule's String writes: single, retry 3, verify 1, lead 5 of 21, bad 10 of 21, and majority of 21.
func ParseRule(s string) (Rule, error) {
	const most = 1_000_000
	var r Rule
	var a, b int
	var z float64
	scan := func(format string, to ...any) bool {
		n, err := fmt.Sscanf(s, format, to...)
		return err == nil && n == len(to)
	}
	switch {
	case s == "single":
		return Single{}, nil
	case scan("retry %d", &a):
		r = Retry(a)
	case scan("verify %d up to %g", &a, &z):
		r = Verify{a, z}
	case scan("verify %d", &a):
		r = Verify{Repeats: a}
	case scan("lead %d of %d", &a, &b):
		r = Lead{a, b}
	case scan("majority of %d", &b):
		r = Majority(b)
	case scan("bad %d of %d", &a, &b):
		r = Quota{Of: b, Bad: a}
	}
	if r == nil || a < 0 || r.Most() < 1 || r.Most() > most || a > r.Most() || z < 0 || z >= 1 {
		return nil, fmt.Errorf("rule %q: want single, retry 3, verify 1, lead 5 of 21, majority of 21 or bad 10 of 21", s)
	}
	return r, nil
}
