// Package host tells what a report must say about the machine that measured.
//
//	/proc, /sys, Go's runtime ─Read→ Facts ─→ the run line of the JSON output
package host

import (
	"os"
	"runtime"
)

// Facts are what was true of the machine when it was asked. What cannot be told is empty, zero or nil.
type Facts struct {
	Hostname string `json:"hostname"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	Kernel   string `json:"kernel,omitempty"` // release, as uname -r
	CPU      string `json:"cpu,omitempty"`    // model
	Cores    int    `json:"cores"`            // logical CPUs that this process may use
	Governor string `json:"cpu_governor,omitempty"`
	Memory   int64  `json:"memory_bytes,omitempty"`
	Free     int64  `json:"memory_available_bytes,omitempty"` // what programs can take without swapping
	BootID   string `json:"boot_id,omitempty"`                // changes with each start of the machine
	Go       string `json:"go"`

	// Load are the run queue's mean lengths over 1, 5 and 15 minutes: what else the machine was doing.
	Load *[3]float64 `json:"load_average,omitempty"`
}

// Read asks the machine.
func Read() Facts {
	f := Facts{OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.NumCPU(), Go: runtime.Version()}
	f.Hostname, _ = os.Hostname()
	f.system()
	return f
}
