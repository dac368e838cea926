package testfile

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"loadtest/internal/yamlbound"
)

// maxText is how many bytes a file may have, each of which may be a token of some 250: far above what a test with 256 streams needs.
const maxText = 150_000

// A document is a YAML text that errors can point into.
type document struct{ name string }

func (d *document) errorf(line, column int, format string, args ...any) error {
	return fmt.Errorf("%s:%d:%d: %s", d.name, line, column, fmt.Sprintf(format, args...))
}

// errorAt is an error at a node.
func (d *document) errorAt(n ast.Node, format string, args ...any) error {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		n = m.Values[0].Key // its own token is its first colon
	}
	p := n.GetToken().Position
	return d.errorf(p.Line, p.Column, format, args...)
}

// parse gives the one mapping that a test is.
func (d *document) parse(text []byte) (*ast.MappingNode, error) {
	text = bytes.ReplaceAll(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("\r\n"), []byte("\n")) // Windows
	if len(text) > maxText {
		return nil, d.errorf(1, 1, "longer than %d bytes: %s", maxText, wanted)
	}
	if err := d.plain(text); err != nil {
		return nil, err
	}
	if f := yamlbound.Empty(text); f != nil {
		return nil, d.errorf(f.Line, f.Column, "%s: want fewer", f.What)
	}
	tokens := lexer.Tokenize(string(text))
	if f := yamlbound.Tokens(tokens); f != nil {
		return nil, d.errorf(f.Line, f.Column, "%s: %s", f.What, wanted)
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // key refuses those, in plainer words
	if err != nil {
		return nil, d.syntax(err)
	}
	for i, doc := range file.Docs {
		switch {
		case doc.Body != nil && doc.Body.Type() == ast.DirectiveType:
			return nil, d.errorAt(doc.Body, "a directive of YAML is not understood here: leave the line out")
		case i > 0 && doc.Start != nil:
			return nil, d.errorf(doc.Start.Position.Line, 1, "a second document: want one test in a file")
		case i > 0:
			return nil, d.errorf(1, 1, "%d documents: want one test in a file", len(file.Docs))
		}
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, d.errorf(1, 1, "nothing in it: %s", wanted)
	}
	top, ok := file.Docs[0].Body.(*ast.MappingNode)
	if !ok || len(top.Values) == 0 {
		return nil, d.errorAt(file.Docs[0].Body, "no test: %s", wanted)
	}
	return top, nil
}

// plain refuses what is no text, at its first wrong byte.
func (d *document) plain(text []byte) error {
	line, column := 1, 1
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1, r < ' ' && r != '\t' && r != '\n', r == 0x7f:
			return d.errorf(line, column, "byte 0x%02x is no text in UTF-8: %s", text[0], wanted)
		case r == '\n':
			line, column = line+1, 1
		default:
			column++
		}
		text = text[n:]
	}
	return nil
}

// syntax puts an error of YAML into our form.
func (d *document) syntax(err error) error {
	line, column, text := 1, 1, ""
	var e yaml.Error
	if !errors.As(err, &e) {
		text = err.Error()
	} else { // its Error shows the text around it, and takes long over much
		text = e.GetMessage()
		if t := e.GetToken(); t != nil {
			line, column = t.Position.Line, t.Position.Column
		}
	}
	return d.errorf(line, column, `no YAML: %s; a text that begins with one of - %% @ & * ! [ { or holds ": " wants quotes`, text)
}

// key is what stands before the colon, with "-" for "_". It notes the line in seen.
func (d *document) key(e *ast.MappingValueNode, seen map[string]int) (string, error) {
	at := e.Key.GetToken()
	switch e.Key.(type) {
	case *ast.MappingKeyNode, *ast.MergeKeyNode:
		return "", d.errorAt(e.Key, "%s of YAML is not understood here: want a key and its value, as rate: 10G", at.Value)
	}
	key := strings.ReplaceAll(at.Value, "_", "-")
	if line, ok := seen[key]; ok {
		return "", d.errorAt(e.Key, "%s stands in line %d already: want it once; several values are a list, as addr: [A, B]", key, line)
	}
	seen[key] = at.Position.Line
	return key, nil
}

// text is a value as it stands in the file; nothing is converted.
func (d *document) text(key string, n ast.Node) (string, error) {
	switch n := n.(type) {
	case *ast.StringNode:
		if n.Token.Type == token.StringType && strings.Contains(strings.TrimSpace(n.Token.Origin), "\t") { // the library drops it
			return "", d.errorAt(n, "%s: a tab inside a text without quotes: want a space, or quotes", key)
		}
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, nil
	case *ast.NullNode:
		return "", d.errorAt(n, `%s has no value: want a text, a number, true or false; the empty text is ""`, key)
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		return "", d.errorAt(n, "%s: %s of YAML is not understood here: want the value itself; a text that begins so wants quotes", key, n.GetToken().Value)
	}
	return "", d.errorAt(n, `%s: want a text, a number, true or false, or a list of them; a text with ": " wants quotes`, key)
}

// word is a text that is not empty.
func (d *document) word(key string, n ast.Node) (string, error) {
	s, err := d.text(key, n)
	if err == nil && s == "" {
		err = d.errorAt(n, "%s is empty: want a value, or no such key", key)
	}
	return s, err
}
