package search

import "fmt"

// Quota lets so many of Of trials be bad, and ends as soon as the rest cannot change that: a strict majority of 21 is
// Quota{21, 10}. It is MLRsearch's exceed ratio (RFC 9971) with trials of one duration: Bad = ratio · Of.
type Quota struct{ Of, Bad int }

// Majority of an odd number of trials.
func Majority(of int) Quota { return Quota{of, (of - 1) / 2} }

// Judge counts against the quota.
func (q Quota) Judge(t Tally) Verdict {
	switch {
	case t.Bad > q.Bad:
		return Fail
	case t.Good >= q.Of-q.Bad:
		return Pass
	}
	return Invalid
}

// Most is Of.
func (q Quota) Most() int { return q.Of }

func (q Quota) String() string { return fmt.Sprintf("bad %d of %d", q.Bad, q.Of) }
