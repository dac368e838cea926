// Package trial is the waist of the program: who decides hands a Spec to a Runner, who sends hands a Result back.
//
//	load, search ─Spec→ Runner (replay, traffic, dut.Model) ─Result→ search, report
//
// Everything here is plain data: no store, no port, no path, no clock.
package trial

import (
	"context"
	"errors"
	"time"
)

// Unit says what a load counts.
type Unit uint8

// The units of load; each is per second but Concurrent and Factor.
const (
	WireBits     Unit = iota // bits on the wire, overhead included
	Packets                  // packets
	Sessions                 // sessions opened
	Transactions             // transactions
	Concurrent               // sessions open at once
	Factor                   // multiple of the captured pace
)

// A Point is a load at a time since the trial's start. Between two points the load is linear.
type Point struct {
	At   time.Duration
	Load float64 // in the Spec's Unit, per stream; +Inf is "as fast as the port takes it"
}

// A Spec says what one trial is. It names streams; the Runner knows what they are.
type Spec struct {
	Unit  Unit
	Load  []Point            // at least one; constant before the first and after the last
	Share map[string]float64 // factor on Load by stream name; absent = 1

	Duration time.Duration // of counted sending; 0 = until stopped or Loops are done
	Loops    int64         // each stream ends after so many passes through its packets; 0 = no limit
	Preroll  time.Duration // sent at the first load before counting starts; needs tags
	Drain    time.Duration // silence of our own packets that ends the trial; 0 = the Runner's default
	Interval time.Duration // between Samples; 0 = none

	// StopAt ends the trial early once lost packets, and unsent ones beyond Spare, of all streams together certainly reach
	// it; 0 = never. Packets without a tag are never certainly lost while the trial runs.
	StopAt, Spare int64
}

// Flat is a Spec of one constant load of wire bits per second.
func Flat(load float64, d time.Duration) Spec {
	return Spec{Load: []Point{{Load: load}}, Duration: d}
}

// At is the load at time t since the start, without Share.
func (s Spec) At(t time.Duration) float64 {
	for i, p := range s.Load {
		if t < p.At {
			if i == 0 {
				return p.Load
			}
			q := s.Load[i-1]
			if p.Load == q.Load { // also where both are +Inf
				return p.Load
			}
			return q.Load + (p.Load-q.Load)*float64(t-q.At)/float64(p.At-q.At)
		}
	}
	if len(s.Load) == 0 {
		return 0
	}
	return s.Load[len(s.Load)-1].Load
}

// A Runner carries out trials, one at a time. see may be nil; else it is called off the hot threads.
// If ctx ends with ErrStop as its cause, sending stops, the trial is drained and nil is returned; with any other cause
// the trial is cut, the Result is whole as far as it goes, and the cause is returned.
type Runner interface {
	Run(ctx context.Context, s Spec, see func(Sample)) (Result, error)
}

// ErrStop as the cause of a cancelled context asks a Runner to end the trial in order.
var ErrStop = errors.New("stop")
