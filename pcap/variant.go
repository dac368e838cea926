package pcap

import "io"

// mostTried is how many records tell which form their headers have.
const mostTried = 3

// variant is the form of record headers that fits the first records; the first one unless it does not, and another surely does.
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
		if captured > maxPacket || wire > maxPacket || int64(c.u32(b[4:]))*c.unit >= 1e9 || snap >= recordHeader && captured > max(snap, 65535) {
			return false, false
		}
		at += size + int(captured)
	}
	return true, true
}

// noHeader is what it means that only n bytes are left where a record would begin.
func (c *classic) noHeader(n int) error {
	if n == 0 && c.in.err == io.EOF {
		return io.EOF
	}
	return c.fail(c.short("a record header has %d bytes, %d there", c.head, n))
}
