// Package yamlbound refuses YAML that its library would take long or large to read: it is quadratic in depth, in the keys of a
// mapping and in empty lines of a block.
//
//	text ─Empty→ lexer ─Tokens→ parser
//
// The bounds are far above what people write.
package yamlbound

import (
	"bytes"
	"fmt"

	"github.com/goccy/go-yaml/token"
)

const (
	maxEmpty = 100  // lines in a row
	maxKeys  = 1000 // of one mapping
	maxDeep  = 100  // brackets in brackets, or columns before a list's dash
)

// A Fault is where a text goes beyond a bound, from 1, and beyond which: "nested more than 100 deep".
type Fault struct {
	Line, Column int
	What         string
}

// Empty finds too many empty lines; nil: there are none.
func Empty(text []byte) *Fault {
	ends := 0 // of lines since there was something else than blanks
	for i, c := range text {
		switch c {
		case ' ':
		case '\n', '\r':
			if ends++; ends > maxEmpty+1 {
				return &Fault{bytes.Count(text[:i], []byte{'\n'}) + 1, 1, fmt.Sprintf("more than %d empty lines in a row", maxEmpty)}
			}
		default:
			ends = 0
		}
	}
	return nil
}

// Tokens finds brackets and lists nested too deep, and mappings of too many keys; nil: there are none.
func Tokens(all token.Tokens) *Fault {
	depth, columns, keys := 0, []int(nil), []int(nil) // of the mappings around the token: columns and numbers of keys
	for _, t := range all {
		p := t.Position
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth = max(0, depth-1)
			continue
		case token.MappingValueType:
			if t.Prev != nil {
				p = t.Prev.Position
			}
		case token.MappingKeyType, token.SequenceEntryType:
		default:
			continue
		}
		if depth > maxDeep || t.Type == token.SequenceEntryType && p.Column > maxDeep {
			return &Fault{p.Line, p.Column, fmt.Sprintf("nested more than %d deep", maxDeep)}
		}
		if depth > 0 {
			continue
		}
		n := len(columns)
		for n > 0 && columns[n-1] > p.Column {
			n--
		}
		columns, keys = columns[:n], keys[:n]
		switch {
		case t.Type == token.SequenceEntryType:
		case n == 0 || columns[n-1] < p.Column:
			columns, keys = append(columns, p.Column), append(keys, 1)
		default:
			if keys[n-1]++; keys[n-1] > maxKeys {
				return &Fault{p.Line, p.Column, fmt.Sprintf("more than %d keys in one mapping", maxKeys)}
			}
		}
	}
	return nil
}
