package search

import "fmt"

// Lead believes once one kind of trial leads by By; after Of trials the majority decides, a tie passes. Lead{5, 21} decides as the
// majority of 21 does (the chances differ by 0.006 at most) with half of the trials where things are clear.
type Lead struct{ By, Of int }

// Judge says who leads by enough.
func (l Lead) Judge(t Tally) Verdict {
	lead := t.Good - t.Bad
	switch {
	case lead >= l.By, t.all() >= l.Of && lead >= 0:
		return Pass
	case -lead >= l.By, t.all() >= l.Of:
		return Fail
	}
	return Invalid
}

// Most is Of.
func (l Lead) Most() int { return l.Of }

func (l Lead) String() string { return fmt.Sprintf("lead %d of %d", l.By, l.Of) }
