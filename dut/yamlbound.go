package dut

import (
	"bytes"
	"fmt"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// Bounds of a text, far above what people write. Within them the YAML library ends in little time and memory: it is quadratic in
// depth, in the keys of a mapping and in empty lines of a block, and repeats whatever an alias stands for.
const (
	maxText   = 100_000 // bytes, each of which may be a token of some 250, or a value of some 800
	maxEmpty  = 100     // lines in a row
	maxKeys   = 1000    // of one mapping
	maxDeep   = 100     // brackets in brackets, or columns before a list's dash
	maxValues = 1 << 16 // with those that aliases repeat
)

// tokens are those of a text within the bounds.
func (s *source) tokens(text []byte) (token.Tokens, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("%s:1:1: longer than %d bytes: want ports, links and nodes", s.name, maxText)
	}
	ends := 0 // of lines since there was something else than blanks
	for i, c := range text {
		switch c {
		case ' ':
		case '\n', '\r':
			if ends++; ends > maxEmpty+1 {
				return nil, fmt.Errorf("%s:%d:1: more than %d empty lines in a row: want fewer", s.name, bytes.Count(text[:i], []byte{'\n'})+1, maxEmpty)
			}
		default:
			ends = 0
		}
	}
	all := lexer.Tokenize(string(text))
	return all, s.shallow(all)
}

// shallow refuses brackets and lists nested too deep, and mappings of too many keys.
func (s *source) shallow(all token.Tokens) error {
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
			return fmt.Errorf("%s:%d:%d: nested more than %d deep: want ports, links and nodes", s.name, p.Line, p.Column, maxDeep)
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
				return fmt.Errorf("%s:%d:%d: more than %d keys in one mapping: want ports, links and nodes", s.name, p.Line, p.Column, maxKeys)
			}
		}
	}
	return nil
}

// weight is how many values a node stands for, up to one more than there may be; anchors are the weights of those before it.
func weight(n ast.Node, anchors map[string]int) int {
	w := 1
	switch n := n.(type) {
	case *ast.SequenceNode:
		for _, v := range n.Values {
			w = min(w+weight(v, anchors), maxValues+1)
		}
	case *ast.MappingNode:
		for _, v := range n.Values {
			w = min(w+weight(v.Value, anchors), maxValues+1)
		}
	case *ast.TagNode:
		return weight(n.Value, anchors)
	case *ast.AnchorNode:
		w = weight(n.Value, anchors)
		anchors[n.Name.GetToken().Value] = w
	case *ast.AliasNode:
		return max(1, anchors[n.Value.GetToken().Value])
	}
	return w
}
