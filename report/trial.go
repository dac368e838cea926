package report

import (
	"slices"
	"strings"
	"time"

	"loadtest/trial"
)

// What a trial is for.
const (
	Warmup  = "warmup"
	Search  = "search"
	Ramp    = "ramp"
	Replay  = "replay"
	Latency = "latency"
)

// What is said about a trial.
const (
	Pass    = "pass"
	Fail    = "fail"
	Invalid = "invalid" // the tester was at fault: nothing is said about the device
	None    = "none"    // nobody judged it
)

// Trial is one trial: what was asked, what was counted, what was said about it.
type Trial struct {
	Number          int       `json:"trial"` // from 1, in the order of the run
	Purpose         string    `json:"purpose"`
	Size            string    `json:"size_label"` // when the run has several sizes
	Time            time.Time `json:"time"`
	StartNs         int64     `json:"start_ns"`
	AskedNs         *int64    `json:"duration_asked_ns"` // null: until stopped, or until the source ends
	DurationNs      int64     `json:"duration_ns"`       // measured: first deadline to end of sending, pre-roll excluded
	PrerollNs       int64     `json:"preroll_ns"`        // uncounted traffic at the first load, right before
	IntendedWireBps *float64  `json:"intended_wire_bps"` // asked load per stream, its peak if it changes; null in another unit
	IntendedPps     *float64  `json:"intended_pps"`
	IntendedFactor  *float64  `json:"intended_factor"` // of the captured pace
	IntendedText    string    `json:"intended_text"`   // what no rate says: "max", "x10"

	// The load really sent, per stream: every stream sent at least this much (times its share). The packets are those of the
	// stream that decides.
	RateWireBps *float64 `json:"rate_wire_bps"`
	RatePps     *float64 `json:"rate_pps"`
	LoadFactor  *float64 `json:"load_factor"` // in multiples of the captured pace; null in another unit

	StolenNs    int64 `json:"stolen_ns"`    // longest time that a hot thread of the tester was not run though it was due
	SuspendedNs int64 `json:"suspended_ns"` // how long the machine slept; no part of the duration
	DiskWaitNs  int64 `json:"disk_wait_ns"` // longest time that a packet that was due waited for the disk, if too long

	Stopped bool          `json:"stopped_early"` // failure was certain
	Cut     bool          `json:"cut"`           // interrupted
	Verdict string        `json:"verdict"`
	Reason  string        `json:"reason"`       // of the verdict, in the judge's words
	Retries *int64        `json:"retries_left"` // after a failure; null: none
	Goal    string        `json:"goal_name"`
	Why     string        `json:"chosen"` // why this load and time, in the search's words
	Probe   bool          `json:"probe"`  // made for its counts: the verdict decides nothing
	Streams []TrialStream `json:"streams"`
	Ports   []TrialPort   `json:"ports"`
}

// TrialStream is a stream's books: intended = sent + unsent, sent = received + lost. Of a stream that is sent only nothing is
// known but its sending. Of one without any tag, duplicated, reordered, late, corrupt and latency are not known.
type TrialStream struct {
	Name     string `json:"name"`
	Intended int64  `json:"intended"`
	Sent     int64  `json:"sent"`
	Received *int64 `json:"received"`
	Lost     *int64 `json:"lost"`
	Unsent   int64  `json:"unsent"`
	Untagged int64  `json:"untagged"` // of sent: matched by flow, a copy can hide a loss

	Duplicated *int64 `json:"duplicated"`
	Reordered  *int64 `json:"reordered"`
	Late       *int64 `json:"late"` // another trial's packets
	Corrupt    *int64 `json:"corrupt"`
	Surplus    *int64 `json:"surplus"`
	Skipped    int64  `json:"skipped"` // never intended: the port cannot send them

	SentBytes     int64  `json:"sent_bytes"` // frames without FCS
	ReceivedBytes *int64 `json:"received_bytes"`
	SentWire      int64  `json:"sent_wire_bytes"` // with padding, FCS, preamble and gap
	ReceivedWire  *int64 `json:"received_wire_bytes"`

	LossRatio   *float64 `json:"loss_ratio"`   // of sent
	UnsentRatio *float64 `json:"unsent_ratio"` // of intended
	SentBps     *float64 `json:"sent_wire_bps"`
	SentPps     *float64 `json:"sent_pps"`
	ReceivedBps *float64 `json:"received_wire_bps"`
	ReceivedPps *float64 `json:"received_pps"`

	HalfBps *float64 `json:"second_half_received_wire_bps"` // received in the second half: what the device forwards for good
	HalfPps *float64 `json:"second_half_received_pps"`

	HalfReceived *int64 `json:"second_half_received"`
	HalfNs       int64  `json:"second_half_ns"`

	LatencyCount *int64 `json:"latency_samples"`
	Delay
	Variation
	Lateness

	// How well the tester kept the pace: the share of sent packets that left more than a millisecond after their deadline, and all
	// of them by lateness, as pairs of a least lateness in ns and a number of packets.
	LateRatio    *float64   `json:"sent_late_ratio"`
	LatenessBars [][2]int64 `json:"lateness_histogram"`
}

// mostLate is the share of packets that may leave late without a word: above it the pacing was disturbed.
const mostLate = 0.01

// lateBy is when a packet is late, ns.
const lateBy = int64(time.Millisecond)

// Times are a distribution in ns; nil where nothing was measured.
type Times struct{ MinNs, P50Ns, P90Ns, P99Ns, P999Ns, MaxNs *int64 }

// Delay is Times from a packet's sending to its arrival.
type Delay struct {
	MinNs  *int64 `json:"latency_min_ns"`
	P50Ns  *int64 `json:"latency_p50_ns"`
	P90Ns  *int64 `json:"latency_p90_ns"`
	P99Ns  *int64 `json:"latency_p99_ns"`
	P999Ns *int64 `json:"latency_p999_ns"`
	MaxNs  *int64 `json:"latency_max_ns"`
}

// Lateness is Times from a packet's deadline to its sending: how well the tester kept the pace.
type Lateness struct {
	MinNs  *int64 `json:"lateness_min_ns"`
	P50Ns  *int64 `json:"lateness_p50_ns"`
	P90Ns  *int64 `json:"lateness_p90_ns"`
	P99Ns  *int64 `json:"lateness_p99_ns"`
	P999Ns *int64 `json:"lateness_p999_ns"`
	MaxNs  *int64 `json:"lateness_max_ns"`
}

// TrialPort is what a port saw beside the streams.
type TrialPort struct {
	Name    string    `json:"name"`
	Foreign []Foreign `json:"foreign"`
	Missed  int64     `json:"missed"` // dropped in the tester's own receive path
	TxError int64     `json:"tx_errors"`
	Down    bool      `json:"link_down"`

	Pauses *int64 `json:"pause_frames"`  // that came: the other end held this port up; null: the driver does not tell
	Broken *int64 `json:"broken_frames"` // frames that came with a wrong FCS or symbol, blocks that FEC could not mend
}

// Foreign counts packets of one kind that are not ours.
type Foreign struct {
	Kind    string `json:"kind"`
	Packets int64  `json:"packets"`
	Example string `json:"example"` // the first of them, in words
}

// stall is why a trial in which the tester stood still does not count.
func (t *Trial) stall() string {
	r := trial.Result{Stolen: time.Duration(t.StolenNs), Suspended: time.Duration(t.SuspendedNs)}
	return r.Stall()
}

// starved says that packets were not read from disk in time; "" where they were, or the verdict says so.
func (t *Trial) starved() string {
	if t.DiskWaitNs <= 0 || strings.HasPrefix(t.Reason, "packets waited ") {
		return ""
	}
	return "limited by disk: packets waited " + delay(&t.DiskWaitNs)
}

// again says whether a trial that is no search's is made again, because the tester stood still. Not for a link that went down.
func (t *Trial) again() bool {
	return t.Verdict == Invalid && t.stall() != "" && !slices.ContainsFunc(t.Ports, func(p TrialPort) bool { return p.Down })
}

func (*Trial) kind() string { return "trial" }
