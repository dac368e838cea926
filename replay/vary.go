package replay

import (
	"fmt"

	"loadtest/packet"
	"loadtest/packet/rewrite"
)

// A variety is what makes each pass of a lane differ from the one before: the k-th pass has the k-th values of all rules. After
// period passes they begin anew.
type variety struct {
	rules  []rewrite.Vary
	period int64

	flows   int     // different ones of packets without a tag, in one pass
	numbers []int32 // of flow f in pass k the receiver's number, at k·flows + f
}

// mostVaried is how many flows of packets without a tag a lane may have in all its passes.
const mostVaried = 1 << 22

func newVariety(rules []rewrite.Vary) *variety {
	if len(rules) == 0 {
		return nil
	}
	v := &variety{rules: rules, period: 1}
	for _, r := range rules {
		n := r.Values()
		if v.period = v.period / gcd(v.period, n) * n; v.period > 1<<40 { // longer than any run
			v.period = 1 << 40
			break
		}
	}
	return v
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// places adds where the rules find their fields in a packet.
func (v *variety) places(all []rewrite.Place, b []byte, fromServer bool) []rewrite.Place {
	for i := range v.rules {
		p, _ := v.rules[i].Place(b, fromServer) // the zero Place: it has no such field
		all = append(all, p)
	}
	return all
}

// put makes of a packet that of a pass; at are its places.
func (v *variety) put(b []byte, at []rewrite.Place, pass int64) {
	for i := range v.rules {
		if at[i] != (rewrite.Place{}) {
			v.rules[i].Put(b, at[i], uint64(pass))
		}
	}
}

// expect numbers the flows of a lane's packets without a tag, in each pass; add expects one of them.
func (v *variety) expect(l *lane, add func(b []byte, i int) (int32, error)) error {
	known := map[uint64]int32{}
	var first []int // packet that showed each flow first
	if err := l.bare(func(i int, b []byte) error {
		key := packet.Flow(b)
		f, ok := known[key]
		if !ok {
			f = int32(len(first))
			known[key], first = f, append(first, i)
		}
		l.number(i, f)
		return nil
	}); err != nil {
		return err
	}
	if v.flows = len(first); int64(v.flows)*v.period > mostVaried {
		return fmt.Errorf("stream %s: %d flows without room for a tag, each in %d variations: want at most %d in all; fewer variations, or --tag always",
			l.name, v.flows, v.period, mostVaried)
	}
	v.numbers = v.numbers[:0]
	var buf []byte
	var at []rewrite.Place
	for pass := int64(0); pass < v.period && len(first) > 0; pass++ {
		for _, i := range first {
			buf, at = l.varied(i, buf)
			v.put(buf, at, pass)
			n, err := add(buf, i)
			if err != nil {
				return err
			}
			v.numbers = append(v.numbers, n)
		}
	}
	return nil
}

// flowOf is the receiver's number of a flow in a pass.
func (v *variety) flowOf(f int32, pass int64) int32 {
	return v.numbers[int(pass%v.period)*v.flows+int(f)]
}
