package hello

// mostEntries bounds a book: a wire may say anything.
const mostEntries = 256

// A book counts packets by what they say, each in the latest round that had any.
type book[K comparable] []entry[K]

type entry[K comparable] struct {
	of      K
	round   int
	packets int
}

// add counts a packet. first: it is the first of its kind.
func (b *book[K]) add(k K, round int) (first bool) {
	for i := range *b {
		e := &(*b)[i]
		if e.of != k {
			continue
		}
		if e.round != round {
			e.round, e.packets = round, 0
		}
		e.packets++
		return false
	}
	if len(*b) < mostEntries {
		*b = append(*b, entry[K]{k, round, 1})
		return true
	}
	return false
}
