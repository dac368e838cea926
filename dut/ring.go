package dut

// A ring is a queue that grows to what it must hold and then allocates no more.
type ring[T any] struct {
	buf        []T // its length is a power of two, or 0
	head, tail uint
}

func (r *ring[T]) len() int  { return int(r.tail - r.head) }
func (r *ring[T]) front() *T { return &r.buf[r.head&uint(len(r.buf)-1)] }

func (r *ring[T]) pop() T {
	v := r.buf[r.head&uint(len(r.buf)-1)]
	r.head++
	return v
}

func (r *ring[T]) push(v T) {
	if r.len() == len(r.buf) {
		r.grow()
	}
	r.buf[r.tail&uint(len(r.buf)-1)] = v
	r.tail++
}

func (r *ring[T]) grow() {
	bigger := make([]T, max(2*len(r.buf), 16))
	n := uint(0)
	for ; r.head != r.tail; n++ {
		bigger[n] = r.pop()
	}
	r.buf, r.head, r.tail = bigger, 0, n
}

// An arrival is a frame and when it comes, in ps.
type arrival struct {
	at int64
	f  *frame
}
