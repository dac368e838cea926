// Package units names the quantities of a load test and holds what a frame costs on an Ethernet wire.
//
//	text ─Parse…→ Rate, Size, Loss, duration ─Load→ BitRate, PacketRate, Ratio ─String→ text
//
// A rate in bit/s always means bits on the wire: the frame, its FCS and what surrounds it.
package units

// Ethernet around a frame, in bytes (IEEE 802.3, clauses 3.1.1 and 4.4.2). Nothing else in the program spells these numbers out.
const (
	Preamble   = 7
	StartFrame = 1
	FCS        = 4
	Gap        = 12

	// Overhead is what a frame without FCS takes on the wire beside its own bytes: 24 bytes.
	Overhead = Preamble + StartFrame + FCS + Gap

	// MinFrame is the shortest frame without FCS; the wire pads what is shorter.
	MinFrame = 60
)

// BitRate is a rate in bits per second on the wire.
type BitRate float64

// Bit rates.
const (
	Bps  BitRate = 1
	Kbps         = 1e3 * Bps
	Mbps         = 1e6 * Bps
	Gbps         = 1e9 * Bps
	Tbps         = 1e12 * Bps
)

// PacketRate is a rate in packets per second.
type PacketRate float64

// Packet rates.
const (
	Pps  PacketRate = 1
	Kpps            = 1e3 * Pps
	Mpps            = 1e6 * Pps
)

// WireBits is how many bits a frame of so many bytes, without FCS, takes on the wire, padding and Overhead included.
func WireBits(frame int) int64 {
	return int64(max(frame, MinFrame)+Overhead) * 8
}
