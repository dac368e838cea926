package search

import "fmt"

// Verify repeats a bad trial, unless it lost too much for that (ETSI GS NFV-TST 009, 12.3.3: binary search with loss verification).
type Verify struct {
	Repeats int
	Above   float64 // loss ratio above which a bad trial is believed at once; 0 = none is
}

// Judge passes with the first good trial.
func (v Verify) Judge(t Tally) Verdict {
	if t.Good == 0 && t.Bad > 0 && v.Above > 0 && t.Loss > v.Above {
		return Fail
	}
	return Retry(v.Repeats).Judge(t)
}

// Most is one more than the repeats.
func (v Verify) Most() int { return v.Repeats + 1 }

func (v Verify) String() string {
	if v.Above > 0 {
		return fmt.Sprintf("verify %d up to %g", v.Repeats, v.Above)
	}
	return fmt.Sprintf("verify %d", v.Repeats)
}
