package search

import "strconv"

// Retry tries a load again so often after a bad trial; one good trial is enough (Snabb's loadtest).
type Retry int

// Judge passes with the first good trial.
func (r Retry) Judge(t Tally) Verdict {
	switch {
	case t.Good > 0:
		return Pass
	case t.Bad > int(r):
		return Fail
	}
	return Invalid
}

// Most is one more than the retries.
func (r Retry) Most() int { return int(r) + 1 }

func (r Retry) String() string { return "retry " + strconv.Itoa(int(r)) }
