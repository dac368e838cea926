package dut

import "loadtest/units"

// A server is a FIFO queue before something that takes time: a link, or a node's capacity. Nothing in it rounds twice: what a
// departure in whole ps leaves over is carried to the next.
type server struct {
	rate    int64 // wire bits or packets per second; 0 = takes no time
	packets bool  // rate counts packets
	limit   int64 // of what waits, beside what is being served: packets or bytes
	inBytes bool  // limit counts bytes
	burst   bool  // what would wait does not, as at a policer: the queue is its bucket

	free, rest int64 // when the last one accepted is done: free + rest/rate, in ps
	waiting    ring[waiter]
	bytes      int64 // that wait

	work      int64 // bits or packets of the last one: a cache of
	each, mod int64 // each + mod/rate, its time in ps

	stall *stalls // nil: none
	cold  *cold   // nil: none
}

// A waiter is a frame that was accepted before its service began.
type waiter struct {
	start int64 // ps
	size  int64 // bytes
}

// cold is a server that needs time to get up to speed.
type cold struct {
	until int64 // ps
	rate  int64 // before that
}

// serve accepts a frame of so many bytes at time t and says when it is done, or refuses it: the queue is full.
func (s *server) serve(t int64, size int) (done int64, ok bool) {
	if s.rate == 0 && s.stall == nil {
		return t, true
	}
	s.forget(t)
	if t > s.free {
		s.free, s.rest = t, 0
	}
	start := s.free
	if s.stall != nil {
		start = s.stall.after(start)
	}
	if start > t {
		if !s.room(size) || start > far/2 { // so late that times would overflow
			return 0, false
		}
		s.waiting.push(waiter{start, int64(size)})
		s.bytes += int64(size)
	}
	if s.rate == 0 {
		s.free = start
		return start, true
	}
	s.take(start, size)
	if s.stall != nil {
		s.free = s.stall.over(start, s.free)
	}
	if s.burst {
		return t, true
	}
	return s.free, true
}

// take moves free past the service of a frame that starts at start.
func (s *server) take(start int64, size int) {
	if start > s.free {
		s.rest = 0
	}
	work := int64(1)
	if !s.packets {
		work = units.WireBits(size)
	}
	if s.cold != nil && start < s.cold.until {
		s.free, s.rest = start+work*psPerSecond/s.cold.rate, 0
		return
	}
	if work != s.work {
		s.work, s.each, s.mod = work, work*psPerSecond/s.rate, work*psPerSecond%s.rate
	}
	s.free = start + s.each
	if s.rest += s.mod; s.rest >= s.rate {
		s.rest -= s.rate
		s.free++
	}
}

const psPerSecond = 1e12

// forget takes what is served at t, or was before, off the queue.
func (s *server) forget(t int64) {
	for s.waiting.len() > 0 && s.waiting.front().start <= t {
		s.bytes -= s.waiting.pop().size
	}
}

// room tells whether one more may wait.
func (s *server) room(size int) bool {
	if s.inBytes {
		return s.bytes+int64(size) <= s.limit
	}
	return int64(s.waiting.len()) < s.limit
}

// stalls are the times when a server stands still. They depend on the seed alone, so both directions of a node stall together.
type stalls struct {
	mean, length int64 // ps; mean is that of the time between two
	random       random
	start, end   int64 // of the present one, or of the next
}

func (s *stalls) setSeed(seed uint64) {
	s.random, s.end = random(seed), 0
	s.advance()
}

// advance moves to the next stall. The time between two is even between 0 and twice the mean.
func (s *stalls) advance() {
	s.start = s.end + s.random.below(2*s.mean)
	s.end = s.start + s.length
}

// after is the first time from t on that is outside a stall.
func (s *stalls) after(t int64) int64 {
	for s.end <= t {
		s.advance()
	}
	if s.start <= t {
		return s.end
	}
	return t
}

// over is when a service from start to done ends, with the stalls that begin within it. after(start) was called.
func (s *stalls) over(start, done int64) int64 {
	for s.end <= start {
		s.advance()
	}
	for s.start < done && s.start >= start {
		done += s.length
		s.advance()
	}
	return done
}
