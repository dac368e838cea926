package dut

// A cause is why a frame was dropped.
type cause uint8

const (
	queueFull cause = iota
	tooLong
	fragmentLost
	ttlExpired
	noRoute
	forNode
	notIP
	malformed
	badChecksum
	otherMAC
	wouldReturn
	reserved
	byLoss
	byEvery
	notStarted
	ringFull
	portClosed
	nCauses
)

// String is the cause in words, as Drops shows it.
func (c cause) String() string {
	return [...]string{
		queueFull: "queue full", tooLong: "longer than the MTU", fragmentLost: "fragment lost", ttlExpired: "TTL expired", noRoute: "no route",
		forNode: "for the node itself", notIP: "not IP", malformed: "malformed", badChecksum: "bad header checksum",
		otherMAC: "other MAC address", wouldReturn: "would go back where it came from", reserved: "reserved MAC address",
		byLoss: "random loss", byEvery: "every Nth", notStarted: "not started", ringFull: "receive ring full", portClosed: "port closed",
	}[c]
}

// causes counts drops by cause.
type causes [nCauses]int64
