package search

// Single believes each trial (RFC 2544, 26.1).
type Single struct{}

// Judge is the trial's own verdict.
func (Single) Judge(t Tally) Verdict { return Retry(0).Judge(t) }

// Most is 1.
func (Single) Most() int { return 1 }

func (Single) String() string { return "single" }
