package report

// Model is what was measured instead of a device: one whose numbers are fitted to a saved run. Its results are no device's.
type Model struct {
	Text      string `json:"text"`       // it and its residual in words
	Of        string `json:"of"`         // the run, in short
	File      string `json:"file"`       // its records
	Common    bool   `json:"common"`     // one capacity for all paths
	WireRates bool   `json:"wire_rates"` // capacities are in wire bits, else in packets

	Paths  []ModelPath  `json:"paths"`
	RMS    float64      `json:"residual_rms_loss_ratio"` // how far the model's loss ratios are from the run's
	Worst  float64      `json:"residual_worst_loss_ratio"`
	Trials []ModelTrial `json:"trials"`
}

// ModelPath are a model's numbers from one port to another.
type ModelPath struct {
	From    string   `json:"from"`
	To      string   `json:"to"`
	Bps     *float64 `json:"capacity_wire_bps"` // null: the other unit, or no limit was seen
	Pps     *float64 `json:"capacity_pps"`
	Queue   int64    `json:"queue_packets"`
	Burst   bool     `json:"queue_is_burst"` // its packets do not wait
	DelayNs int64    `json:"delay_ns"`
	Loss    float64  `json:"loss_ratio"` // at every load
}

// ModelTrial is a trial of the run beside what the model makes of it.
type ModelTrial struct {
	Trial int     `json:"trial"`
	From  string  `json:"from"` // ports; "": all paths together
	To    string  `json:"to"`
	Loss  float64 `json:"loss_ratio"`
	Model float64 `json:"model_loss_ratio"`
}

func (*Model) kind() string { return "model" }

// model is its line: "model  of run 7f3a, fitted: 1Mpps, queue of 512 packets; its loss ratios are off by 0.1 % …".
func model(m *Model) string { return talk("model", m.Text) }
