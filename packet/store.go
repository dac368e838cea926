package packet

import (
	"encoding/binary"
	"slices"
)

// A Store keeps packets in one flat block: their bytes from its front, 16 bytes beside for each from its back, and nothing for the
// collector to follow. So a capture file, with a header of 16 bytes or more before each packet, fits into a block of its size.
// It is filled by one goroutine; once filled, any number may read it.
type Store struct {
	// Link is the LINKTYPE_ number that Append gives to packets: 1 is Ethernet; 0 (made here) is Ethernet too. Captures of several
	// interfaces may change it on the way.
	Link uint16

	block []byte
	n     int      // packets
	used  int      // bytes from the front
	tails int      // packets with farSize bytes behind theirs
	links []uint16 // that packets have, in order of appearance
}

// entrySize is what a packet takes from the back of the block: its mark and its capture time (ns since 1970; 0: none).
const entrySize = 8 + 8

// A mark is where a packet ends in the block (40 bits), how much longer it was on the wire (20 bits, signed), which of links it
// has (4).
type mark uint64

// A packet whose wire length or link type does not fit its mark has both behind its bytes: 32 and 16 bits.
const (
	far      = -1 << 19 // stands for how much longer it was on the wire
	farLinks = 16       // links that a mark can tell apart
	farSize  = 4 + 2
)

func (m mark) end() int   { return int(m >> 24) }
func (m mark) extra() int { return int(int32(m<<8) >> 12) }
func (m mark) link() int  { return int(m & (farLinks - 1)) }

// entry is where in the block the entry of packet i begins; that of packet i-1 is behind it.
func (s *Store) entry(i int) int { return len(s.block) - entrySize*(i+1) }

func (s *Store) mark(i int) mark { return mark(binary.LittleEndian.Uint64(s.block[s.entry(i):])) }

// start is where in the block packet i begins.
func (s *Store) start(i int) int {
	if i == 0 {
		return 0
	}
	return s.mark(i - 1).end()
}

// Grow makes room for so many more packets and bytes, where there is less.
func (s *Store) Grow(packets, bytes int) {
	if size := s.used + bytes + entrySize*(s.n+packets); size > len(s.block) {
		s.resize(size)
	}
}

// resize moves all to a block of so many bytes.
func (s *Store) resize(size int) {
	block, entries := newBlock(size), entrySize*s.n
	copy(block, s.block[:s.used])
	copy(block[size-entries:], s.block[len(s.block)-entries:])
	s.block = block
}

// Reset takes all packets out and keeps the room.
func (s *Store) Reset() { s.n, s.used, s.tails, s.links = 0, 0, 0, s.links[:0] }

// Append copies a packet to the end of the store. wire is its length on the wire without FCS, less than 2^32, nanos its time in ns
// since 1970; a wire length above len(data) marks it as captured short ("snapped").
func (s *Store) Append(data []byte, nanos int64, wire int) {
	if len(s.links) == 0 || s.links[0] != s.Link || wire-len(data) <= far || wire-len(data) >= -far {
		s.appendRare(data, nanos, wire)
		return
	}
	s.append(data, nanos, wire-len(data), 0)
}

// appendRare is Append for what not all packets have.
func (s *Store) appendRare(data []byte, nanos int64, wire int) {
	link := slices.Index(s.links, s.Link)
	if link < 0 {
		link = len(s.links)
		s.links = append(s.links, s.Link)
	}
	extra := wire - len(data)
	if link < farLinks && extra > far && extra < -far {
		s.append(data, nanos, extra, link)
		return
	}
	s.append(data, nanos, far, 0)
	if len(s.block)-entrySize*s.n < s.used+farSize {
		s.resize(s.more(farSize))
	}
	tail := binary.LittleEndian.AppendUint32(s.block[:s.used], uint32(wire))
	s.used = len(binary.LittleEndian.AppendUint16(tail, s.Link))
	s.tails++
	at := s.entry(s.n - 1)
	binary.LittleEndian.PutUint64(s.block[at:], uint64(s.mark(s.n-1))+farSize<<24)
}

// append adds a packet whose mark says all.
func (s *Store) append(data []byte, nanos int64, extra, link int) {
	if len(s.block)-entrySize*(s.n+1) < s.used+len(data) {
		s.resize(s.more(entrySize + len(data)))
	}
	s.used += copy(s.block[s.used:], data)
	b := s.block[s.entry(s.n):][:entrySize]
	binary.LittleEndian.PutUint64(b, uint64(s.used)<<24|uint64(extra)<<4&0xfffff0|uint64(link))
	binary.LittleEndian.PutUint64(b[8:], uint64(nanos))
	s.n++
}

// more is the size of a block with room for so many more bytes: growing again and again costs no more than a few copies of all.
func (s *Store) more(bytes int) int {
	size := s.used + entrySize*s.n
	return size + max(bytes, min(size, size/4+1<<20))
}

// Len is the number of packets.
func (s *Store) Len() int { return s.n }

// Bytes is the number of stored bytes.
func (s *Store) Bytes() int64 { return int64(s.used - farSize*s.tails) }

// Frame is a view of packet i. Its capacity is clipped: append cannot reach the neighbour.
func (s *Store) Frame(i int) Frame {
	b := s.block[s.entry(i):][:entrySize]
	m := mark(binary.LittleEndian.Uint64(b))
	end := m.end()
	if m.extra() == far {
		end -= farSize
	}
	return Frame{Data: s.block[s.start(i):end:end], Nanos: int64(binary.LittleEndian.Uint64(b[8:]))}
}

// Size is the length of packet i in bytes, without FCS.
func (s *Store) Size(i int) int {
	m := s.mark(i)
	size := m.end() - s.start(i)
	if m.extra() == far {
		size -= farSize
	}
	return size
}

// Wire is the length that packet i had on the wire, without FCS: more than Size(i) where it was captured short, less where what
// captured it added something.
func (s *Store) Wire(i int) int {
	m := s.mark(i)
	if m.extra() == far {
		return int(binary.LittleEndian.Uint32(s.block[m.end()-farSize:]))
	}
	return m.end() - s.start(i) + m.extra()
}

// LinkOf is the link type of packet i.
func (s *Store) LinkOf(i int) uint16 {
	m := s.mark(i)
	if m.extra() == far {
		return binary.LittleEndian.Uint16(s.block[m.end()-2:])
	}
	return s.links[m.link()]
}

// Links are the link types of the packets, in order of appearance.
func (s *Store) Links() []uint16 { return s.links }
