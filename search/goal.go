package search

import (
	"fmt"
	"time"
)

// A Goal is what a load has to meet, in the terms of MLRsearch (RFC 9971): a goal loss ratio, and trials of one duration that are
// believed by a rule.
type Goal struct {
	Name  string
	Loss  float64       // greatest acceptable lost/sent of each stream; 0: the no-drop rate
	Trial time.Duration // of one trial that counts; 0 = until its Loops are done
	Loops int64         // passes of one trial through the packets; 0 = no limit
	Rule  Rule
	Width float64 // greatest relative distance of the load that failed; 0 = the grid is in multiples
}

// check says what is wrong with a goal.
func (g *Goal) check() error {
	switch {
	case !(g.Loss >= 0 && g.Loss < 1):
		return fmt.Errorf("search: acceptable loss %v: want a ratio from 0 to below 1", g.Loss)
	case g.Trial < 0:
		return fmt.Errorf("search: duration %v: want a time above 0", g.Trial)
	case g.Loops < 0:
		return fmt.Errorf("search: %d loops: want 0 or more", g.Loops)
	case g.Trial == 0 && g.Loops == 0:
		return fmt.Errorf("search: trials without an end: want a duration or loops")
	case g.Rule == nil:
		return fmt.Errorf("search: no rule: want Single, Lead, ...")
	}
	return nil
}
