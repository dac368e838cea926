package report

import (
	"slices"
	"time"
)

// Run is the first line: what was asked for, and where. It repeats the run.
type Run struct {
	Time     time.Time         `json:"time"` // of the run's start, which is 0 ns
	Tool     string            `json:"tool_version"`
	Command  []string          `json:"command"` // as given, with the program's name
	Folder   string            `json:"folder"`  // that the program was started in; "": not known
	Verb     string            `json:"verb"`
	Name     string            `json:"name"` // of the device, for tables
	Labels   map[string]string `json:"labels"`
	Seed     int64             `json:"seed"`
	Settings Settings          `json:"settings"`
	Host     Host              `json:"host"`
	Ports    []Port            `json:"ports"`
	Streams  []Stream          `json:"streams"`
}

// Settings are the knobs of all verbs with their defaults filled in; null where the verb has no such knob.
type Settings struct {
	RateWireBps      *float64  `json:"rate_wire_bps"` // the load, or the highest to try; per stream
	RatePps          *float64  `json:"rate_pps"`      // the same, when it was given in packets
	RateFactor       *float64  `json:"rate_factor"`   // the same, when it is a multiple of the captured pace
	PrecisionWireBps *float64  `json:"precision_wire_bps"`
	StepWireBps      *float64  `json:"step_wire_bps"`
	PrecisionPps     *float64  `json:"precision_pps"`
	PrecisionFactor  *float64  `json:"precision_factor"`
	StepFactor       *float64  `json:"step_factor"`
	DurationNs       *int64    `json:"duration_ns"` // of one trial; 0 is until stopped
	Loops            *int64    `json:"loops"`       // passes of one trial through its packets; null: no limit
	WaitNs           *int64    `json:"wait_ns"`
	DrainNs          *int64    `json:"drain_ns"`
	CreditNs         *int64    `json:"credit_ns"`
	MaxUnsentRatio   *float64  `json:"max_unsent_ratio"`
	Retries          *int64    `json:"retries"`
	Search           string    `json:"search"`
	PerStream        bool      `json:"per_stream"` // a limit for each stream, not one for all
	Program          string    `json:"program"`
	Exec             string    `json:"exec"`
	GoalLossRatios   []float64 `json:"goal_loss_ratio"`
	Goals            []Goal    `json:"goals"`
	SlowStartNs      *int64    `json:"slow_start_ns"`   // longest slow start that the search sees through
	WarmupNs         *int64    `json:"warmup_ns"`       // uncounted traffic before each new load
	Repeats          *int64    `json:"invalid_repeats"` // in a row, of a trial that the tester spoilt
	Sizes            []string  `json:"size_labels"`     // when the run is made once per size: "64 B", "imix"
	CPUs             []int     `json:"cpu_list"`
	Method           *Method   `json:"rfc2544"` // null: another verb
}

// Goal is what a search looks for: the highest load that meets it.
type Goal struct {
	Name      string  `json:"name"`
	LossRatio float64 `json:"loss_ratio"` // greatest acceptable, of each stream
	TrialNs   int64   `json:"trial_ns"`   // 0: until its loops are done
	Loops     int64   `json:"loops"`
	Rule      string  `json:"rule"` // when a load is believed: "lead 5 of 21", "retry 3"
	Width     float64 `json:"width_ratio"`
}

// Host is the tester's machine.
type Host struct {
	Name    string `json:"name"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Kernel  string `json:"kernel"`
	CPU     string `json:"cpu"`
	CPUs    int    `json:"cpus"`
	Memory  int64  `json:"memory_bytes"`
	Go      string `json:"go_version"`
	Virtual bool   `json:"virtual_time"` // a simulation: its time is its own
}

// Port is one of the tester's ports.
type Port struct {
	Name    string   `json:"name"`
	Backend string   `json:"backend"`
	Driver  string   `json:"driver"`
	Mode    string   `json:"mode"`
	MAC     string   `json:"mac"`
	LineBps *float64 `json:"line_rate_bps"` // null: unknown
	MTU     int      `json:"mtu_bytes"`
	NUMA    *int     `json:"numa_node"`
	Passed  string   `json:"faster_refused"` // why no faster way to the device was taken; "": none is known

	Addresses []string `json:"addresses"` // that the tester answers for, each with its gateway, in words
}

// Stream is what goes out of one port and is expected at another.
type Stream struct {
	Name        string   `json:"name"`
	Source      string   `json:"source"`
	TX          string   `json:"tx"`
	RX          string   `json:"rx"`      // "": sent only
	Packets     int64    `json:"packets"` // in one pass through the source
	MeanBytes   *float64 `json:"mean_fcs_bytes"`
	TaggedRatio *float64 `json:"taggable_ratio"` // of the packets; the rest is matched by flow
	Share       float64  `json:"share_ratio"`    // factor on the load; 0 is 1, may exceed 1

	// Of a capture: what it holds, and what became of that on the way to the port, in packets by what was done to them.
	CapturePackets *int64           `json:"capture_packets"`
	CaptureBytes   *int64           `json:"capture_bytes"`         // as captured
	PeakBps        *float64         `json:"capture_peak_wire_bps"` // at its own pace, in its busiest moment
	Rewritten      map[string]int64 `json:"rewritten"`
	Skipped        map[string]int64 `json:"skipped_by"` // why they are not sent
}

// whole is r with its lists and maps empty where they are nil: a list that is absent is not null.
func (r Run) whole() *Run {
	if r.Labels == nil {
		r.Labels = map[string]string{}
	}
	r.Command, r.Ports, r.Streams = some(r.Command), slices.Clone(some(r.Ports)), slices.Clone(some(r.Streams))
	for i := range r.Ports {
		r.Ports[i].Addresses = some(r.Ports[i].Addresses)
	}
	for i := range r.Streams {
		for _, by := range []*map[string]int64{&r.Streams[i].Rewritten, &r.Streams[i].Skipped} {
			if *by == nil {
				*by = map[string]int64{}
			}
		}
	}
	s := &r.Settings
	s.GoalLossRatios, s.Goals, s.Sizes, s.CPUs = some(s.GoalLossRatios), some(s.Goals), some(s.Sizes), some(s.CPUs)
	return &r
}

func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (*Run) kind() string { return "run" }
