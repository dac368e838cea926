package dut

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"

	"loadtest/internal/yamlbound"
)

// Bounds of a text beside those of yamlbound, far above what people write: the library repeats whatever an alias stands for.
const (
	maxText   = 100_000 // bytes, each of which may be a token of some 250, or a value of some 800
	maxValues = 1 << 16 // with those that aliases repeat
)

// tokens are those of a text within the bounds.
func (s *source) tokens(text []byte) (token.Tokens, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("%s:1:1: longer than %d bytes: want ports, links and nodes", s.name, maxText)
	}
	if f := yamlbound.Empty(text); f != nil {
		return nil, fmt.Errorf("%s:%d:%d: %s: want fewer", s.name, f.Line, f.Column, f.What)
	}
	all := lexer.Tokenize(string(text))
	if f := yamlbound.Tokens(all); f != nil {
		return nil, fmt.Errorf("%s:%d:%d: %s: want ports, links and nodes", s.name, f.Line, f.Column, f.What)
	}
	return all, nil
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
