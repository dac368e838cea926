package report

// The purposes of the trials of rfc2544, beside Search and Latency.
const (
	LossCurve  = "loss"
	BackToBack = "back-to-back"
	Recovery   = "recovery"
	Soak       = "soak"
)

// Benchmark is the outcome of one test of RFC 2544 at one size. Rates are per stream.
type Benchmark struct {
	AtNs    int64    `json:"at_ns"`
	Test    string   `json:"test"`
	Size    string   `json:"size_label"`
	Left    string   `json:"not_measured"` // why; "": it was
	MaxBps  *float64 `json:"max_wire_bps"` // the theoretical maximum
	MaxPps  *float64 `json:"max_pps"`
	RateBps *float64 `json:"rate_wire_bps"` // the throughput; null: none was found
	RatePps *float64 `json:"rate_pps"`
	OfMax   *float64 `json:"rate_of_max_ratio"`
	Limit   string   `json:"limit"`
	Why     string   `json:"reason"` // of the limit

	Bursts   *Bursts `json:"bursts"`   // of a test of back-to-back frames
	Recovery *Pause  `json:"recovery"` // of a test of the recovery
}

// Bursts are the longest bursts without loss, of several searches (RFC 9004).
type Bursts struct {
	Lengths     []int64 `json:"each_frames"` // what each search found
	Mean        float64 `json:"mean_frames"`
	Least       float64 `json:"min_frames"`
	Most        float64 `json:"max_frames"`
	SD          float64 `json:"sd_frames"`
	ImpliedNs   int64   `json:"implied_buffer_ns"`   // mean / maximum
	CorrectedNs int64   `json:"corrected_buffer_ns"` // implied · (1 - throughput / maximum)
}

// Pause is how long after an overload frames were still lost.
type Pause struct {
	OverloadBps *float64 `json:"overload_wire_bps"`
	RestBps     *float64 `json:"rest_wire_bps"`
	OverloadNs  int64    `json:"overload_ns"`
	Lost        int64    `json:"lost"`
	LowNs       *int64   `json:"last_lost_after_ns"`  // the last frame that was lost was sent later than this after the overload,
	HighNs      *int64   `json:"last_lost_before_ns"` // and not later than this; null: the counts do not tell
}

// Method is how rfc2544 measures, and where that is not as the RFC has it.
type Method struct {
	Tests      []string `json:"tests"`
	TrialNs    int64    `json:"trial_ns"`
	LatencyNs  int64    `json:"latency_ns"`
	SoakNs     int64    `json:"soak_ns"`
	BurstNs    int64    `json:"burst_ns"` // longest burst that is tried
	Repeats    int      `json:"searches"`
	RestNs     int64    `json:"rest_ns"`     // between two trials
	ExpectNs   int64    `json:"expected_ns"` // announced before the start
	MostNs     int64    `json:"at_most_ns"`
	Resumes    string   `json:"resumes"` // id of the run that this one goes on with; "": none
	Deviations []string `json:"deviations"`
}

func (*Benchmark) kind() string { return "benchmark" }
