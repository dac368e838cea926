package trial

import "time"

// A Result is what one trial counted. Counts first: ratios are methods, and are absent (false) where their base is zero.
type Result struct {
	Start   int64         // ns on the run's clock: the first deadline
	Elapsed time.Duration // measured: from Start to the end of sending, pre-roll excluded
	Stopped bool          // ended early: StopAt was reached
	Cut     bool          // ended by its context before sending was over

	// What the machine took from the tester; 0 in virtual time. A trial that stood still does not count: see Stall.
	Stolen    time.Duration // longest time that a hot thread was not run though it was due
	Suspended time.Duration // how long the machine slept, which is no part of Elapsed

	// Starved is the longest time that a packet that was due waited for the disk, where that was too long: packets of captures
	// larger than memory stayed unsent by it. 0 else.
	Starved time.Duration

	Streams []Stream // by the Runner's order of names
	Ports   []Port
}

// A Stream is the books of one stream in one trial. Every packet ends in exactly one of received, lost, unsent.
type Stream struct {
	Name string

	Intended int64 // due within the trial: Sent + unsent
	Sent     int64 // taken by the port
	Received int64 // came back, each packet once
	Untagged int64 // of Sent: without a tag, matched by flow: a copy can hide a loss

	SentBytes, ReceivedBytes   int64 // frames without FCS
	SentWireBits, RecvWireBits int64 // with padding, FCS and wire overhead

	Duplicated int64 // further copies of packets already received
	Reordered  int64 // received after a packet that was sent later
	Late       int64 // another trial's packets
	Corrupt    int64 // our magic, but the tag's check fails
	Surplus    int64 // like ours, but more than were sent, or too old to tell
	Skipped    int64 // of the capture, each pass: never intended, as the port cannot send it

	// Half counts what was received in the second half of the sending time: the rate at which the device really forwards,
	// whatever its queues took in at first.
	Half Arrivals

	Latency   Histogram // ns from sending to arrival of tagged packets
	Variation Variation // of these
	Stamps    Stamps    // where these times come from
	Lateness  Histogram // ns from a packet's deadline to its sending
}

// Stamps say who read the clock for a stream's latencies, at either end: what lies between him and the wire is part of them.
type Stamps struct{ Sent, Arrived Stamp }

// A Stamp is who reads the clock. Of several the least exact one counts.
type Stamp uint8

// The stamps; the zero value is of what is not known.
const (
	Exact    Stamp = iota + 1 // a device in software, in its own time
	Hardware                  // the network card
	Kernel                    // the kernel: between it and the wire are the driver and the card
	Software                  // this program, about when it hands frames over: between it and the wire are its kernel calls, too
)

// String is a stamp's name; "" of what is not known.
func (s Stamp) String() string {
	return [...]string{"", "exact", "hardware", "kernel", "software"}[s]
}

// Arrivals counts packets that came in during a stretch of time.
type Arrivals struct {
	Packets, Bytes, WireBits int64
	During                   time.Duration
}

// A Port is what one of the tester's ports saw beside the streams.
type Port struct {
	Name    string
	Foreign []Foreign // by kind, in order of Kind
	Missed  int64     // dropped in the tester's own receive path
	TxError int64     // frames that the driver took and could not send, if it tells
	Down    bool      // the link went down during the trial
	Line    Line
}

// Line is how a port's line fared during the trial, as far as its driver counts that.
type Line struct {
	Told bool // the driver tells anything of it

	Pauses int64 // PAUSE frames that came: the other end held this port up (IEEE 802.3, annex 31B)
	Broken int64 // frames that came with a wrong FCS, invalid symbols, or blocks that FEC could not mend: a cable or an optic
}

// Foreign counts packets of one kind that are not ours.
type Foreign struct {
	Kind    string // "ARP", "IPv6 ND", "LLDP", …
	Packets int64
	Example string // the first of them, decoded; may be empty
}

// Lost is how many packets went out and did not come back. Never negative.
func (s *Stream) Lost() int64 { return s.Sent - s.Received }

// Unsent is how many packets were due and never sent.
func (s *Stream) Unsent() int64 { return s.Intended - s.Sent }

// LossRatio is lost / sent (RFC 1242, 3.6: frame loss rate, on what was really offered); false if nothing was sent.
func (s *Stream) LossRatio() (float64, bool) { return ratio(s.Lost(), s.Sent) }

// UnsentRatio is unsent / intended; false if nothing was intended.
func (s *Stream) UnsentRatio() (float64, bool) { return ratio(s.Unsent(), s.Intended) }

func ratio(n, of int64) (float64, bool) {
	if of == 0 {
		return 0, false
	}
	return float64(n) / float64(of), true
}

// Missed is how many packets the tester's own receive path dropped.
func (r *Result) Missed() (n int64) {
	for i := range r.Ports {
		n += r.Ports[i].Missed
	}
	return n
}

// Foreign is how many packets were not ours, on all ports.
func (r *Result) Foreign() (n int64) {
	for i := range r.Ports {
		for _, f := range r.Ports[i].Foreign {
			n += f.Packets
		}
	}
	return n
}

// Pauses is how many PAUSE frames the ports got: what stayed unsent meanwhile was held up by the other end.
func (r *Result) Pauses() (n int64) {
	for i := range r.Ports {
		n += r.Ports[i].Line.Pauses
	}
	return n
}

// Sum adds one count over all streams.
func (r *Result) Sum(of func(*Stream) int64) (n int64) {
	for i := range r.Streams {
		n += of(&r.Streams[i])
	}
	return n
}

// A Sample is how far a running trial is. Counts are those since its start.
type Sample struct {
	At      time.Duration // since the trial's start
	Streams []Progress
}

// Progress is a stream's counts so far.
type Progress struct {
	Name                   string
	Intended               int64
	Sent, Received         int64
	SentWireBits, RecvBits int64
}
