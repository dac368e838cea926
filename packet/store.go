package packet

// A Store keeps packets in one flat block of bytes: 16 bytes beside each packet's own, and nothing for the collector to follow.
// It is filled by one goroutine; once filled, any number may read it.
type Store struct {
	Link uint16 // LINKTYPE_ number of the capture's headers: 1 is Ethernet; 0 (made here) is Ethernet too

	bytes   []byte
	ends    []int64       // ends[i] is where packet i ends in bytes
	nanos   []int64       // capture time of packet i, ns since 1970; 0 = none
	snapped map[int]int32 // length on the wire of the packets that were captured short
}

// Grow makes room for so many more packets and bytes.
func (s *Store) Grow(packets, bytes int) {
	s.bytes = append(make([]byte, 0, len(s.bytes)+bytes), s.bytes...)
	s.ends = append(make([]int64, 0, len(s.ends)+packets), s.ends...)
	s.nanos = append(make([]int64, 0, len(s.nanos)+packets), s.nanos...)
}

// Append copies a packet to the end of the store. wire is its length on the wire without FCS, nanos its time in ns since 1970;
// a wire length above len(data) marks it as captured short ("snapped").
func (s *Store) Append(data []byte, nanos int64, wire int) {
	if wire > len(data) {
		if s.snapped == nil {
			s.snapped = make(map[int]int32)
		}
		s.snapped[len(s.ends)] = int32(wire)
	}
	s.bytes = append(s.bytes, data...)
	s.ends = append(s.ends, int64(len(s.bytes)))
	s.nanos = append(s.nanos, nanos)
}

// Len is the number of packets.
func (s *Store) Len() int { return len(s.ends) }

// Bytes is the number of stored bytes.
func (s *Store) Bytes() int64 { return int64(len(s.bytes)) }

// Frame is a view of packet i. Its capacity is clipped: append cannot reach the neighbour.
func (s *Store) Frame(i int) Frame {
	end := s.ends[i]
	start := int64(0)
	if i > 0 {
		start = s.ends[i-1]
	}
	return Frame{Data: s.bytes[start:end:end], Nanos: s.nanos[i]}
}

// Size is the length of packet i in bytes, without FCS.
func (s *Store) Size(i int) int {
	if i == 0 {
		return int(s.ends[0])
	}
	return int(s.ends[i] - s.ends[i-1])
}

// Wire is the length that packet i had on the wire, without FCS: more than Size(i) where it was captured short.
func (s *Store) Wire(i int) int {
	if n, ok := s.snapped[i]; ok {
		return int(n)
	}
	return s.Size(i)
}

// Snapped is the number of packets that were captured short.
func (s *Store) Snapped() int { return len(s.snapped) }
