package xdp

import (
	"sync/atomic"
	"unsafe"

	"loadtest/trial"
)

// The memory that the generator, the tracepoints and Go share: a head, the lanes, a ring. Go sees it as this struct's parts; the
// programs know the offsets. All times in it are of CLOCK_MONOTONIC.
type head struct {
	wait  uint64 // when the next packet is due, if none was due now; 0: one was sent; never: all lanes are through
	given uint64 // frames given to the driver
	done  uint64 // frames that it said yes or no to
	tid   uint64 // the thread that plays

	end, count, credit uint64 // of the plan
	turn               uint64 // number of the lane that was due first
}

// A lane is the state of one, the plan's part first.
type lane struct {
	due  uint64 // of the next packet; never: there is none any more
	rem  uint64 // of a ns, in 1/den
	num  uint64
	den  uint64
	unit uint64
	left uint64 // packets until its limit

	pos, first, limit uint64 // indices of packets: next, first, behind the last
	tat               uint64 // when one at twice the load would be through with what was sent

	countedHead, prerollHead uint64 // magic, lane and trial of a tag, in place above the sequence number
	counting                 uint64 // the pre-roll is over

	next     uint64 // when the next packet would be due, also behind the end
	seq      uint64
	intended uint64
	sent     uint64 // given to the driver
	bytes    uint64
	wire     uint64
	tagged   uint64

	refused, refusedBytes, refusedWire, refusedTagged uint64 // of these

	lateMin, lateMax, lateSum uint64
	index                     uint64 // its own
	_                         [4]uint64
}

const (
	headSize = int(unsafe.Sizeof(head{}))
	laneSize = int(unsafe.Sizeof(lane{}))
	never    = 1<<63 - 1

	ringSlots = 256 // more than a driver may owe an answer for: it is asked after 16 at the latest
	ringAt    = headSize + mostLanes*laneSize
	stateSize = ringAt + 4*ringSlots

	mostLanes = 16 // a power of two; the generator looks at each of them for each packet
	cellsSize = 8 * trial.HistogramCells
)

// An entry of the ring says whose a frame is: lane, flags, length.
const (
	flagCounted = 1 << 8
	flagTagged  = 1 << 9
	lengthShift = 16
)

// A packet is what the generator knows of one beside its bytes.
type template struct {
	at     uint32 // its bytes, in units of 8
	length uint16
	tag    uint16 // offset; noTag: none
	gap    uint64 // captured time to the next one, ns
}

const (
	templateSize = int(unsafe.Sizeof(template{}))
	noTag        = 0xffff
)

// get reads what a program writes.
func get(v *uint64) int64 { return int64(atomic.LoadUint64(v)) }
