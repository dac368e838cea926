package testfile

import (
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"loadtest/internal/spell"
)

// wanted is a test, as an example.
const wanted = "want verb: find-limit, streams, and flags under their long names, as rate: 10G"

// Read reads a test; name is that of the file, for errors. They say file:line:column, what is wrong, and what would be right.
func Read(name string, text []byte) (t Test, err error) {
	d := document{name: name}
	defer func() {
		if p := recover(); p != nil { // the YAML library's, on foreign bytes
			t, err = Test{}, d.errorf(1, 1, "no YAML (%v): %s", p, wanted)
		}
	}()
	top, err := d.parse(text)
	if err != nil {
		return Test{}, err
	}
	seen := make(map[string]int)
	for _, e := range top.Values {
		if err := d.entry(&t, e, seen); err != nil {
			return Test{}, err
		}
	}
	return t, nil
}

// entry reads what stands under one key. seen are the lines of those before it.
func (d *document) entry(t *Test, e *ast.MappingValueNode, seen map[string]int) error {
	key, err := d.key(e, seen)
	if err != nil {
		return err
	}
	switch key {
	case "verb":
		t.Verb, err = d.word(key, e.Value)
		if err == nil && !longName.MatchString(t.Verb) {
			err = d.errorAt(e.Value, "verb %q: want the name of a verb, as find-limit", t.Verb)
		}
	case "streams":
		t.Streams, err = d.streams(e.Value)
	default:
		f := Flag{Name: key, Line: seen[key]}
		if err := d.flagName(e.Key, key); err != nil {
			return err
		}
		f.Values, err = d.values(key, e.Value)
		t.Flags = append(t.Flags, f)
	}
	return err
}

// longName is how verbs and the long names of flags look.
var longName = regexp.MustCompile(`^[a-z][a-z0-9]+(-[a-z0-9]+)*$`)

// flagName refuses what can be no flag's name, or is all but a key of this file.
func (d *document) flagName(n ast.Node, name string) error {
	if !longName.MatchString(name) {
		return d.errorAt(n, "%q: want the long name of a flag, in small letters and without dashes before it, as rate", name)
	}
	for _, own := range []string{"verb", "streams"} {
		if spell.Slips(name, own) == 1 {
			return d.errorAt(n, "unknown key %q: did you mean %s?", name, own)
		}
	}
	return nil
}

// values reads one text or a list of them.
func (d *document) values(key string, n ast.Node) ([]string, error) {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		s, err := d.text(key, n)
		return []string{s}, err
	}
	if len(list.Values) == 0 {
		return nil, d.errorAt(n, "%s is an empty list: want values, or no such line", key)
	}
	var values []string
	for _, v := range list.Values {
		s, err := d.text(key, v)
		if err != nil {
			return nil, err
		}
		values = append(values, s)
	}
	return values, nil
}

// nearest is the word that was probably meant, or "".
func nearest(word string, words []string) string {
	best, least := "", 3 // two slips of the finger at most
	for _, w := range words {
		if n := spell.Slips(strings.ToLower(word), w); n < least && n < len(w)-1 {
			best, least = w, n
		}
	}
	return best
}
