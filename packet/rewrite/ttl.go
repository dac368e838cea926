package rewrite

import (
	"fmt"
	"strconv"
	"strings"
)

// A TTLOp changes IPv4's time to live and IPv6's hop limit. The zero value changes nothing.
type TTLOp struct {
	Kind TTLKind
	N    uint8
}

// TTLKind is what a TTLOp does.
type TTLKind uint8

// Kinds of TTLOp. None of them makes a TTL of 0, and none goes beyond 255.
const (
	TTLKeep TTLKind = iota
	TTLSet
	TTLDec
	TTLInc
	TTLMin // raise to N what is less
)

// ParseTTL reads N, dec:N, inc:N or min:N. Errors begin with the text.
func ParseTTL(text string) (TTLOp, error) {
	op := TTLOp{Kind: TTLSet}
	word, number, two := strings.Cut(text, ":")
	if two {
		op.Kind = map[string]TTLKind{"dec": TTLDec, "inc": TTLInc, "min": TTLMin}[word]
	} else {
		number = word
	}
	n, err := strconv.ParseUint(number, 10, 8)
	if err != nil || n == 0 || op.Kind == TTLKeep {
		return TTLOp{}, fmt.Errorf("%q: want a TTL of 1 to 255, as 64, or dec:N, inc:N, min:N", text)
	}
	op.N = uint8(n)
	return op, nil
}

// String is what ParseTTL reads; "" of the zero value.
func (o TTLOp) String() string {
	return [...]string{"", "", "dec:", "inc:", "min:"}[o.Kind] + strings.TrimPrefix(strconv.Itoa(int(o.N)), "0")
}

func (o TTLOp) of(ttl uint8) uint8 {
	switch o.Kind {
	case TTLSet:
		return o.N
	case TTLDec:
		return uint8(max(1, int(ttl)-int(o.N)))
	case TTLInc:
		return uint8(min(255, int(ttl)+int(o.N)))
	case TTLMin:
		return max(ttl, o.N)
	}
	return ttl
}

// apply says whether the TTL changed.
func (o TTLOp) apply(p *ip) bool {
	at := p.l3 + 8
	if p.v6 {
		at = p.l3 + 7
	}
	was := p.b[at]
	now := o.of(was)
	p.b[at] = now
	if !p.v6 {
		correct(p.b[p.l3+10:], uint32(now)<<8+uint32(^(uint16(was)<<8)), 0)
	}
	return now != was
}
