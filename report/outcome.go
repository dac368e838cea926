package report

import "time"

// Sample is how far a running trial is. Counts are those since its start.
type Sample struct {
	Trial   int            `json:"trial"`
	AtNs    int64          `json:"at_ns"`
	Streams []SampleStream `json:"streams"`
}

// SampleStream is a stream's counts so far.
type SampleStream struct {
	Name         string `json:"name"`
	Intended     int64  `json:"intended"`
	Sent         int64  `json:"sent"`
	Received     *int64 `json:"received"` // null: sent only
	SentWire     int64  `json:"sent_wire_bytes"`
	ReceivedWire *int64 `json:"received_wire_bytes"`
}

// Event is something that happened and is no trial: "hello", "plan", "warning", "link".
type Event struct {
	AtNs  int64  `json:"at_ns"`
	Event string `json:"event"`
	Port  string `json:"port"`
	Text  string `json:"text"`
}

// What limits a load.
const (
	ByDevice = "device"
	ByLine   = "line"   // line rate passed
	ByAsked  = "asked"  // the highest load asked for passed
	ByTester = "tester" // a lower bound: the tester cannot do more
)

// Verdict is the answer for one goal at one size.
type Verdict struct {
	Size          string   `json:"size_label"`
	Stream        string   `json:"stream"` // "": all of them, at one load
	Goal          string   `json:"goal_name"`
	GoalLossRatio float64  `json:"goal_loss_ratio"`
	Rule          string   `json:"rule"`          // that made a load believed
	TrialNs       int64    `json:"trial_ns"`      // of the trials that count; 0: until their loops are done
	RateWireBps   *float64 `json:"rate_wire_bps"` // highest load that passed, per stream; null: none did
	RatePps       *float64 `json:"rate_pps"`
	PrecisionBps  *float64 `json:"precision_wire_bps"`
	AboveBps      *float64 `json:"above_wire_bps"` // lowest load that failed; null: none did

	LossRatio      *float64 `json:"loss_ratio"`       // of the stream that lost most in the trial that shows the rate
	AboveLossRatio *float64 `json:"above_loss_ratio"` // and in the one that shows what is above

	// The same in multiples of the captured pace, where these are the loads; the rates are then means.
	LoadFactor      *float64 `json:"load_factor"`
	PrecisionFactor *float64 `json:"precision_factor"`
	AboveFactor     *float64 `json:"above_factor"`

	Flags       []string    `json:"flags"`              // what to know before the rate is believed
	Clean       int         `json:"clean_trials"`       // trials at the rate that met the goal
	Lossy       int         `json:"lossy_trials"`       // and that did not
	SoftLowBps  *float64    `json:"soft_low_wire_bps"`  // from here some trials pass and some do not,
	SoftHighBps *float64    `json:"soft_high_wire_bps"` // up to here; null: the limit is sharp
	LossPps     *float64    `json:"soft_loss_pps"`      // packets lost a second in between
	SlowStartNs *int64      `json:"slow_start_ns"`      // so long is the device slow after a change of load; null: no sign of it
	Background  *Background `json:"background"`         // loss at every load; null: no sign of it

	Trials     int      `json:"trials"` // made for it
	TrafficNs  int64    `json:"traffic_ns"`
	Trial      *int     `json:"trial"`           // number of the trial that shows the rate
	AboveTrial *int     `json:"above_trial"`     // number of the trial that shows what happens above
	Limit      string   `json:"limit"`           // "": not known
	TesterBps  *float64 `json:"tester_wire_bps"` // what the tester does without a device, if that was tried
}

// What to know before a rate is believed.
const (
	FlagBackground = "background_loss" // packets are lost at every load: no rate is free of loss
	FlagSoft       = "soft"            // no sharp limit: an interval
	FlagSlowStart  = "slow_start"      // after a change of load the device is slow at first; it was measured warm
	FlagTester     = "tester_limited"  // a lower bound
	FlagUnstable   = "unstable"        // more than a quarter of the trials at the rate failed
	FlagDrifted    = "drifted"         // the first bounds of the search were others at its end
)

// Background is a loss that does not depend on the load.
type Background struct {
	Ratio    float64  `json:"loss_ratio"`
	Low      float64  `json:"loss_low_ratio"` // 95 % bounds
	High     float64  `json:"loss_high_ratio"`
	Lost     int64    `json:"lost"`
	Sent     int64    `json:"sent"`
	FromBps  *float64 `json:"from_wire_bps"` // it was the same between these loads
	ToBps    *float64 `json:"to_wire_bps"`
	CliffBps *float64 `json:"cliff_wire_bps"`      // above, more is lost; null: up to the highest load it is not
	HalfBps  *float64 `json:"half_clean_wire_bps"` // load at which half of the trials have no loss, by luck
	Goal     float64  `json:"cliff_goal_loss_ratio"`
}

// End is the last line. A file without it is of a run that was killed.
type End struct {
	Time        time.Time `json:"time"`
	AtNs        int64     `json:"at_ns"`
	ExitCode    int       `json:"exit_code"`
	Interrupted bool      `json:"interrupted"`
	Reason      string    `json:"reason"` // the error that ended it
}

func (*Sample) kind() string  { return "sample" }
func (*Event) kind() string   { return "event" }
func (*Verdict) kind() string { return "verdict" }
func (*End) kind() string     { return "end" }
