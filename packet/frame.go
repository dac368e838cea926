// Package packet holds packets as the wire has them: a Store of many, a Frame to look at one, views of its headers, and the
// tag by which the tester knows its own packets again.
//
//	capture, generator ─Append→ Store ─Frame(i)→ Frame ─Put→ tag ─wire→ Frame ─Parse→ tag, flow key
package packet

// A Frame is a view of one Ethernet frame without FCS. Whoever hands it out says how long the view may be used.
type Frame struct {
	Data []byte

	// Nanos is a time on the run's clock in ns: on Send when the frame is due, on Recv when it arrived; in a Store it is the
	// capture's own time, in ns since 1970. 0 means unstamped.
	Nanos int64
}
