// Package search finds the highest load that a device takes. It decides; a trial.Runner does.
//
//	Strategy ─Spec→ Run ─Spec→ trial.Runner ─Result→ Run: judge ─Outcome→ Strategy ─→ Answer
//
// A Strategy says which load is next; it knows neither clock nor port, and never looks at what a load counts. Run is the only
// loop: it warms up, repeats what the tester itself spoilt, judges, and gives up when there is nothing to judge.
package search

import (
	"time"

	"loadtest/trial"
)

// A Strategy is a state machine: Next says the trial to make, or false when the search is over; Report takes how it went.
// Answer may be asked at any time and holds what is known so far.
type Strategy interface {
	Next() (Step, bool)
	Report(Outcome)
	Answer() Answer
}

// A Step is a trial that a Strategy wants, and why.
type Step struct {
	trial.Spec
	Probe bool   // its counts are wanted, not a verdict: it has its full length, and is not repeated
	Why   string // this load, and now: "60 % of the way from 5 Mpps to 6 Mpps"
}

// A Verdict is what a trial says about the device.
type Verdict uint8

// The verdicts. Only the last three reach a Strategy.
const (
	Invalid Verdict = iota // nothing: the tester spoilt it, and it is made again
	Pass                   // the goal was met
	Fail                   // the device lost more than the goal allows
	Limited                // nothing: the tester spoilt it each time it was made
)

func (v Verdict) String() string {
	return [...]string{"invalid", "pass", "fail", "limited"}[v]
}

// An Outcome is one judged trial.
type Outcome struct {
	Step
	Result  trial.Result
	Verdict Verdict
	Reason  string // in plain words; empty where nothing was lost
}

// What limits an Answer.
const (
	LimitDevice  = "device"  // the device failed a step higher
	LimitTester  = "tester"  // the tester could not do the step higher: Load is a lower bound
	LimitMaximum = "maximum" // the highest load to try passed
)

// An Answer is the highest load that passed, and the lowest one above it that did not.
type Answer struct {
	Goal  Goal // as far as the strategy has one
	Unit  trial.Unit
	Load  float64 // per stream; 0 = none passed
	Above float64 // lowest load that failed, or that the tester could not do; 0 = none

	Best, Worst trial.Result // the trials that decided about Load and about Above
	Reason      string       // why Above did not pass
	Limit       string       // LimitDevice, LimitTester, LimitMaximum; empty before the first verdict

	Tally      Tally         // of the trials at Load
	Low, High  float64       // between Low and High some trials were clean and some were not: the limit is soft. 0: it is not
	PerSecond  float64       // packets lost a second in between
	SlowStart  time.Duration // so long is the device slow after a change of load; 0: no sign of it
	Drifted    bool          // the first bounds were others at the end
	Background *Background   // what is lost at every load; nil: no sign of it

	Max, Step float64       // the highest load to try, and the grid
	Duration  time.Duration // of one trial; 0 = until its Loops are done
	Loops     int64         // of one trial; 0 = no limit
	Trials    int           // made, without warm-ups
	Traffic   time.Duration // counted and warm-up traffic sent in all
	Complete  bool          // the search came to its end
}

// NotMeasured says that no verdict about the device is possible: the tester, the wiring or the streams are at fault.
type NotMeasured struct{ Reason string }

func (e *NotMeasured) Error() string { return e.Reason }
