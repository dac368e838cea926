package dut

// random is splitmix64: all chance in a network. Each interface has its own, so the two directions do not disturb each other.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9E3779B97F4A7C15
	return mix(uint64(*r))
}

// below is a number from 0 to n-1; n is at most 2^62.
func (r *random) below(n int64) int64 { return int64(r.next()>>1) % n }

// hit is true with the probability that a threshold stands for.
func (r *random) hit(threshold uint64) bool { return r.next() < threshold }

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
