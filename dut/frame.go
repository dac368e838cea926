package dut

// A frame is a packet somewhere in the network.
type frame struct {
	data   []byte  // as a tester would see it, never encrypted
	tunnel *tunnel // that it is in; nil: none
	outer  int     // length of the frame that carries it through the tunnel, without FCS; kept where it comes out
	ttl    uint8   // of the outer header
	class  uint8
	next   *frame // in the list of free ones
}

// size is the length in bytes that the frame has on a link, without FCS.
func (f *frame) size() int {
	if f.tunnel != nil {
		return f.outer
	}
	return len(f.data)
}

// classes are the capacities of frames' bytes: small ones lie close together, which is what the cache likes.
var classes = [...]int{128, 2048, 16384, 65536 + ethernet}

// chunk is how many frames of the smallest classes are allocated at a time.
const chunk = 64

// A slab holds the frames of a network; in steady state it allocates nothing.
type slab struct {
	free [len(classes)]*frame
	live int64 // frames that are not free
}

// get is a frame with n bytes of any content.
func (s *slab) get(n int) *frame {
	class := 0
	for n > classes[class] {
		class++
	}
	f := s.free[class]
	if f == nil {
		s.grow(class)
		f = s.free[class]
	}
	s.free[class] = f.next
	s.live++
	f.data, f.outer = f.data[:n], 0
	return f
}

// put frees a frame.
func (s *slab) put(f *frame) {
	f.tunnel = nil
	f.next = s.free[f.class]
	s.free[f.class] = f
	s.live--
}

// clone is a copy of a frame.
func (s *slab) clone(f *frame) *frame {
	c := s.get(len(f.data))
	copy(c.data, f.data)
	c.tunnel, c.outer, c.ttl = f.tunnel, f.outer, f.ttl
	return c
}

func (s *slab) grow(class int) {
	n, size := chunk, classes[class]
	if class == len(classes)-1 {
		n = 1
	}
	frames, bytes := make([]frame, n), make([]byte, n*size)
	for i := range frames {
		frames[i] = frame{data: bytes[i*size : i*size : (i+1)*size], class: uint8(class), next: s.free[class]}
		s.free[class] = &frames[i]
	}
}
