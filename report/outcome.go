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
	GoalLossRatio float64  `json:"goal_loss_ratio"`
	RateWireBps   *float64 `json:"rate_wire_bps"` // highest load that passed, per stream; null: none did
	RatePps       *float64 `json:"rate_pps"`
	PrecisionBps  *float64 `json:"precision_wire_bps"`
	AboveBps      *float64 `json:"above_wire_bps"` // lowest load that failed; null: none did

	// The same in multiples of the captured pace, where these are the loads; the rates are then means.
	LoadFactor      *float64 `json:"load_factor"`
	PrecisionFactor *float64 `json:"precision_factor"`
	AboveFactor     *float64 `json:"above_factor"`

	Trials     int      `json:"trials"`          // made for it
	Trial      *int     `json:"trial"`           // number of the trial that shows the rate
	AboveTrial *int     `json:"above_trial"`     // number of the trial that shows what happens above
	Limit      string   `json:"limit"`           // "": not known
	TesterBps  *float64 `json:"tester_wire_bps"` // what the tester does without a device, if that was tried
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
