package testbed

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A place in the text, from 1.
type place struct{ line, column int }

// A token of YANG's data syntax (RFC 7950, section 6.1).
type token struct {
	kind  kind
	text  string // of a word: its value, without quotes
	at    place
	apart bool // something blank stands before it
}

type kind uint8

const (
	end kind = iota
	open
	shut
	semicolon
	word
)

func (t token) String() string {
	switch t.kind {
	case end:
		return "the end of the text"
	case word:
		return show(t.text)
	}
	return `"` + t.text + `"`
}

type lexer struct {
	file string
	text string // what is left
	at   place  // of text[0]
}

func (l *lexer) errorf(at place, format string, a ...any) error {
	return &Error{File: l.file, Line: at.line, Column: at.column, Text: fmt.Sprintf(format, a...)}
}

// skip moves n bytes on.
func (l *lexer) skip(n int) string {
	s := l.text[:n]
	l.text = l.text[n:]
	if k := strings.LastIndexByte(s, '\n'); k >= 0 {
		l.at.line += strings.Count(s, "\n")
		l.at.column = 1 + utf8.RuneCountInString(s[k+1:])
	} else {
		l.at.column += utf8.RuneCountInString(s)
	}
	return s
}

// blanks skips white space and comments and says whether there was any.
func (l *lexer) blanks() (bool, error) {
	start := l.at
	for {
		l.skip(len(l.text) - len(strings.TrimLeft(l.text, " \t\r\n\v\f")))
		switch {
		case strings.HasPrefix(l.text, "//"):
			n := strings.IndexByte(l.text, '\n')
			if n < 0 {
				n = len(l.text)
			}
			l.skip(n)
		case strings.HasPrefix(l.text, "/*"):
			n := strings.Index(l.text[2:], "*/")
			if n < 0 {
				return false, l.errorf(l.at, "the comment has no end: want */")
			}
			l.skip(n + 4)
		default:
			return l.at != start, nil
		}
	}
}

// next reads one token.
func (l *lexer) next() (token, error) {
	apart, err := l.blanks()
	t := token{at: l.at, apart: apart}
	if err != nil || l.text == "" {
		return t, err
	}
	switch c := l.text[0]; c {
	case '{', '}', ';':
		t.kind = map[byte]kind{'{': open, '}': shut, ';': semicolon}[c]
		t.text = l.skip(1)
	case '"', '\'':
		t.kind = word
		t.text, err = l.sum()
	case '/':
		return t, l.errorf(l.at, "a bare /: want // or /* of a comment, or quotes around the text")
	default:
		t.kind = word
		n := strings.IndexAny(l.text, " \t\r\n\v\f;{}\"'/")
		if n < 0 {
			n = len(l.text)
		}
		t.text = l.skip(n)
	}
	return t, err
}

// sum reads quoted strings joined by +.
func (l *lexer) sum() (string, error) {
	var whole strings.Builder
	for {
		s, err := l.quoted()
		if err != nil {
			return "", err
		}
		whole.WriteString(s)
		rest := *l
		if _, err := rest.blanks(); err != nil || !strings.HasPrefix(rest.text, "+") {
			return whole.String(), err
		}
		rest.skip(1)
		if _, err := rest.blanks(); err != nil {
			return "", err
		}
		if !strings.HasPrefix(rest.text, `"`) && !strings.HasPrefix(rest.text, "'") {
			return "", l.errorf(rest.at, "no quoted text after +: want + \"…\" or + '…'")
		}
		*l = rest
	}
}

// quoted reads one quoted string. No value of a description holds a line break, so one within quotes means that the end is missing.
func (l *lexer) quoted() (string, error) {
	start := l.at
	quote := l.skip(1)
	var s strings.Builder
	for {
		n := strings.IndexAny(l.text, quote+"\\\n")
		if n < 0 || l.text[n] == '\n' {
			return "", l.errorf(start, "the quoted text has no end on its line: want %s", quote)
		}
		s.WriteString(l.skip(n))
		switch {
		case l.text[0] == quote[0]:
			l.skip(1)
			return s.String(), nil
		case quote == "'":
			s.WriteString(l.skip(1)) // a backslash is nothing special here
		default:
			k := strings.IndexByte(`nt"\`, l.text[min(1, len(l.text)-1)])
			if k < 0 || len(l.text) < 2 {
				return "", l.errorf(l.at, `a bare \ in quotes: want \n, \t, \" or \\`)
			}
			l.skip(2)
			s.WriteByte("\n\t\"\\"[k])
		}
	}
}
