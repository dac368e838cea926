package pcap

import (
	"io"
	"slices"
)

// mostTried is how many records tell which form their headers have.
const mostTried = 3

// variant is the form of record headers that fits the first records: the usual one unless it does not, and another surely does.
// snap is the longest record that the file promises.
func (c *classic) variant(heads []head, snap uint32) head {
	if len(heads) > 1 {
		if fits, _ := c.fits(heads[0].size, snap); fits {
			return heads[0]
		}
		for _, h := range heads[1:] {
			if fits, surely := c.fits(h.size, snap); fits && surely {
				return h
			}
		}
	}
	return heads[0]
}

// fits says whether headers of so many bytes make sense of the first records, as far as they are at hand, and surely so where
// one record leads to the next, or to the end.
func (c *classic) fits(size int, snap uint32) (fits, surely bool) {
	at := 0
	for n := range mostTried {
		b := c.in.peek(min(at+size, bufferSize))
		if len(b) < at+size {
			return true, n > 0 && len(b) == at
		}
		b = b[at:]
		captured, wire := c.u32(b[8:]), c.u32(b[12:])
		if captured > maxPacket || wire > maxPacket || int64(c.u32(b[4:]))*c.unit >= 1e9 || snap >= recordHeader && captured > max(snap, 65535) ||
			!c.makesSense(b[recordHeader:size]) {
			return false, false
		}
		at += size + int(captured)
	}
	return true, true
}

// makesSense looks at what a variant has beside: a Nokia a word of few values; Linux an interface's index, which were small once and
// never 0, an EtherType or what Linux has instead, where the packet came from or went to, and debris.
func (c *classic) makesSense(b []byte) bool {
	switch {
	case len(b) == 4:
		v := c.u32(b)
		return v&0x0fff00f0 == 0x0fbf0000 && slices.Contains([]uint32{9, 11}, v>>28) && slices.Contains([]uint32{11, 13}, v>>12&15) &&
			slices.Contains([]uint32{6, 9}, v>>8&15) && slices.Contains([]uint32{1, 2}, v&15)
	case len(b) >= 8:
		protocol := c.u16(b[4:])
		known := protocol >= 0x600 || protocol <= 0x17 || slices.Contains([]uint16{0x60, 0x200, 0x400}, protocol)
		return c.u32(b) > 0 && c.u32(b) <= 10_000 && known && b[6] <= 4
	}
	return true
}

// noHeader is what it means that only n bytes are left where a record would begin.
func (c *classic) noHeader(n int) error {
	if n == 0 && c.in.err == io.EOF {
		return io.EOF
	}
	return c.fail(c.short("a record header has %d bytes, %d there", c.head, n))
}
