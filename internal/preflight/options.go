package preflight

import (
	"time"

	"loadtest/packet"
	"loadtest/units"
)

// Options are what the user asked for.
type Options struct {
	Load     units.Rate    // as a rate is written, not resolved; the zero Rate: nothing is known of it
	Loops    int64         // passes through the capture; 0: as many as Duration takes
	Duration time.Duration // 0: not bounded by time

	MACs bool // destination and source are given: packets without an Ethernet header get one
	Skip Skips

	TakeWhole    bool          // of a capture that is cut off the whole packets are taken
	MaxGap       time.Duration // longer gaps become so long; 0: as captured
	Split        bool          // said, be it no
	Vary         bool          // each pass has other addresses or ports
	Resegment    bool
	FixChecksums bool
	Tag          packet.TagMode

	Memory int64 // this machine's, in bytes; 0: unknown
	Room   int64 // captures that take more bytes of memory stream from disk; 0: none does

	Verbs []string // that make connections of their own, as traffic; none are named that do not exist
}

// Skips are what is left out and counted, instead of refused.
type Skips struct {
	Oversize, Snapped, Multicast bool

	Made bool // packets are made here: no flag leaves any out, and no message says so
}
