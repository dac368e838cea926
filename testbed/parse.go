package testbed

import (
	"slices"
	"strings"
)

// A block is one interface, or the whole text, as it was written.
type block struct {
	name   string // "" for the whole text
	at     place  // of its name
	leaves []leaf
}

// A leaf is one "name value;".
type leaf struct {
	name      string
	value     string
	at, wants place // of the name and of the value
}

// find looks a leaf up.
func (b *block) find(name string) (leaf, bool) {
	i := slices.IndexFunc(b.leaves, func(l leaf) bool { return l.name == name })
	if i < 0 {
		return leaf{}, false
	}
	return b.leaves[i], true
}

// Parse reads a description in Vita's gentest syntax; name is what errors call the text. What is left out has the default that
// Vita's tools give it. It is stricter than they are: what is given must be of use to both of them. Errors are *Error.
func Parse(name string, text []byte) (*Testbed, error) {
	p := parser{lexer: lexer{file: name, text: string(text), at: place{1, 1}}}
	whole, blocks, err := p.whole()
	if err != nil {
		return nil, err
	}
	return p.build(whole, blocks)
}

type parser struct {
	lexer
	token token
}

// advance goes to the next token.
func (p *parser) advance() (err error) {
	p.token, err = p.next()
	return err
}

// settings and interfaces are the names at the top, fields those within an interface; the public ones also have a queue.
func settings() []string {
	return []string{"route-prefix", "nroutes", "packet-size", "negotiation-ttl", "sa-ttl"}
}

func interfaces() []string {
	return []string{"private-interface4", "public-interface4", "private-interface6", "public-interface6"}
}

func fields(block string) []string {
	names := []string{"pci", "ifname", "mac", "ip", "nexthop-ip", "nexthop-mac"}
	if strings.HasPrefix(block, "public") {
		names = append(names, "queue")
	}
	return names
}

// whole reads the text to its end.
func (p *parser) whole() (whole block, blocks []block, err error) {
	if err := p.advance(); err != nil {
		return whole, nil, err
	}
	for p.token.kind != end {
		t := p.token
		switch {
		case t.kind != word:
			return whole, nil, p.errorf(t.at, "%s here: want a field such as nroutes", t)
		case slices.Contains(settings(), t.text):
			err = p.leaf(&whole)
		case !slices.Contains(interfaces(), t.text):
			err = p.unknown(t, "of a gentest description", append(settings(), interfaces()...))
		default:
			i := slices.IndexFunc(blocks, func(b block) bool { return b.name == t.text })
			if i >= 0 && strings.HasPrefix(t.text, "private") {
				return whole, nil, p.errorf(t.at, "%s again: line %d has it", t, blocks[i].at.line)
			}
			if len(blocks) > maxPublic {
				return whole, nil, p.errorf(t.at, "more than %d interfaces: want a private one, and a public one for each queue", maxPublic+1)
			}
			var b block
			b, err = p.block()
			blocks = append(blocks, b)
		}
		if err != nil {
			return whole, nil, err
		}
	}
	return whole, blocks, nil
}

// block reads an interface; its name is the token.
func (p *parser) block() (block, error) {
	b := block{name: p.token.text, at: p.token.at}
	if err := p.want(open, `"{"`, b.name); err != nil {
		return b, err
	}
	if err := p.advance(); err != nil {
		return b, err
	}
	for p.token.kind != shut {
		t := p.token
		switch {
		case t.kind != word:
			return b, p.errorf(t.at, `%s in the %s of line %d: want a field such as ip, or "}"`, t, b.name, b.at.line)
		case slices.Contains(fields(b.name), t.text):
			if err := p.leaf(&b); err != nil {
				return b, err
			}
		case slices.Contains(settings(), t.text) || slices.Contains(interfaces(), t.text):
			return b, p.errorf(t.at, `%s in the %s of line %d: want "}" before it`, t, b.name, b.at.line)
		default:
			return b, p.unknown(t, "of "+b.name, fields(b.name))
		}
	}
	return b, p.advance()
}

// leaf reads "name value;" into b; the name is the token.
func (p *parser) leaf(b *block) error {
	l := leaf{name: p.token.text, at: p.token.at}
	if old, ok := b.find(l.name); ok {
		return p.errorf(l.at, "%s again: line %d has it", l.name, old.at.line)
	}
	if err := p.want(word, "a value", l.name); err != nil {
		return err
	}
	if !p.token.apart {
		return p.errorf(p.token.at, "%s right after %s: want a blank between them", p.token, l.name)
	}
	l.value, l.wants = p.token.text, p.token.at
	if err := p.want(semicolon, `";"`, l.name+" "+show(l.value)); err != nil {
		return err
	}
	b.leaves = append(b.leaves, l)
	return p.advance()
}

// want goes to the next token, which must be of a kind.
func (p *parser) want(k kind, what, after string) error {
	if err := p.advance(); err != nil {
		return err
	}
	if p.token.kind != k {
		return p.errorf(p.token.at, "%s after %s: want %s", p.token, after, what)
	}
	return nil
}

// unknown is the error about a name that there is not.
func (p *parser) unknown(t token, of string, names []string) error {
	if near := nearest(t.text, names); near != "" {
		return p.errorf(t.at, "%s is no field %s: did you mean %s?", t, of, near)
	}
	return p.errorf(t.at, "%s is no field %s: want one of %s", t, of, strings.Join(names, ", "))
}
