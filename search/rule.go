package search

// A Rule says when the trials of one load are believed. Good trials met the goal, bad ones did not.
type Rule interface {
	Judge(Tally) Verdict // Pass, Fail, or Invalid while it takes more trials to tell
	Most() int           // trials that it takes at most
}

// A Tally is what the trials of one load came to.
type Tally struct {
	Good, Bad int
	Loss      float64 // greatest loss ratio of a stream in the last bad one
}

func (t Tally) all() int { return t.Good + t.Bad }
