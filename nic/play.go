package nic

import (
	"math"

	"loadtest/packet"
	"loadtest/trial"
)

// A Player is a Port that holds the packets itself and sends them by a plan, without asking for each. It owns the Send half
// while Play runs; between two calls of it, before and after, Send works. Begin may come before Play says Never: then the trial was cut.
type Player interface {
	// Load takes the lanes of this queue in, once per run. An error is ErrNotPlayed, with the reason: then they are sent by Send.
	Load(lanes []Lane) error

	// Begin prepares a trial: counts are zero, each lane is at its first packet. ErrNotPlayed as above.
	Begin(Plan) error

	// Play carries the plan on from now, ns on the run's clock, for a short while: a millisecond at most. It says when to be called
	// again: Never once the plan is over. An error ends it, as one of Send.
	Play(now int64) (next int64, err error)

	// Played says how far a lane is, by its place in what was loaded. It belongs to the goroutine of Play.
	Played(lane int) Offer

	// Lateness adds how late the counted packets of a lane left, ns after their deadline; perhaps those, too, that the driver then
	// refused. After the trial, by the goroutine of Play.
	Lateness(lane int, into *trial.Histogram)
}

// Never is the time of what will not happen.
const Never = math.MaxInt64

// A Lane is one stream on one transmit queue: packets that are sent in a loop.
type Lane struct {
	ID    uint8         // in the tag
	Magic uint16        // in the tag
	Store *packet.Store // not changed while it is loaded; where there is to be a tag its bytes are zero, and the checksum is right
	Tags  []int32       // of each packet: where its tag is, -1: it has none
	Gaps  []int64       // of each packet: captured time to the next one, ns
}

// A Plan is one trial of constant loads. Times are ns on the run's clock.
type Plan struct {
	Trial, Preroll uint8 // numbers in tags
	Start          int64 // first deadline
	Count          int64 // packets that are due before it belong to the pre-roll, if later than Start: sent and not counted
	End            int64 // what is due then or later is not sent; Never: the lanes' limits end it
	Credit         int64 // ns; a packet that is later than that stays unsent
	Lanes          []Load
}

// A Load is the schedule of one lane. A packet of cost c is followed by the next one after c·Num/Den ns: whole ns and a remainder
// in 1/Den ns, which is carried on, so that nothing is ever rounded. c·Num + Den is below 2^63 for each packet of the lane.
type Load struct {
	Unit     trial.Unit // cost: WireBits is units.WireBits of the packet's length, Packets 1, Factor its gap in ns
	Num, Den uint64     // Den 0: nothing is sent; Num 0: as fast as the port takes them
	Lead     int64      // ns from Start to the first deadline
	Packets  int64      // how many at most, the pre-roll's among them; 0: no limit
}

// An Offer is what a Player did with a lane in a trial; counts only grow. Packets that are due and not counted yet are in none.
type Offer struct {
	Intended, Sent  int64 // counted packets: due; taken by the driver. The rest is unsent
	Bytes, WireBits int64 // of Sent
	Tagged          int64 // of Sent
	Issued          int64 // sequence numbers given out since counting began
	Refused         int64 // of these, those that the driver did not take
	Due             int64 // of the next packet, on the run's clock
}

// A Classifier is a Port that knows the tester's own packets by itself. Tagged packets of the lanes that it awaits, of the trial
// and of its pre-roll, whose tag is whole, never reach Recv; all other frames do.
type Classifier interface {
	// Classify begins a trial: what was counted before is forgotten. Without lanes it ends it: every frame reaches Recv.
	Classify(Await) error

	// Classified is what came of a lane since. By the goroutine of Recv; may lag by what is under way.
	Classified(lane uint8) Arrivals

	// Latency adds the times from sending to arrival of a lane's packets, ns. After the trial.
	Latency(lane uint8, into *trial.Histogram)
}

// Await is what a Classifier is to know of a trial.
type Await struct {
	Magic          uint16
	Trial, Preroll uint8 // Preroll 0: there is none
	Lanes          []uint8
	Half, HalfEnd  int64 // window of Arrivals.Half on the run's clock
}

// Arrivals is what came of a lane in a trial, as match.Window and tally.Back count it; packets of the pre-roll are not counted.
type Arrivals struct {
	Received, Bytes, WireBits     int64 // each packet once
	Duplicated, Reordered, TooOld int64
	Top                           int64 // highest sequence number seen + 1
	Last                          int64 // arrival of the last of ours, the pre-roll's too, on the run's clock; 0: none came
	Half                          trial.Arrivals
}
