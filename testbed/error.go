package testbed

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"loadtest/internal/spell"
)

// An Error says what is wrong with a description, and where.
type Error struct {
	File         string
	Line, Column int // from 1; columns are characters, a tab is one
	Text         string
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Text) }

// show is a value for an error text: as it was written where that can be read, else quoted; never long.
func show(s string) string {
	if utf8.RuneCountInString(s) > 40 {
		s = string([]rune(s)[:40]) + "…"
	}
	odd := func(r rune) bool { return !unicode.IsGraphic(r) || r == utf8.RuneError || unicode.IsSpace(r) }
	if s == "" || strings.ContainsFunc(s, odd) {
		return strconv.Quote(s)
	}
	return s
}

// nearest is the word that was probably meant, or "".
func nearest(s string, words []string) string {
	best, least := "", 3 // two slips of the finger at most
	for _, w := range words {
		if d := spell.Slips(strings.ToLower(s), w); d < least && d < len(w)-1 {
			best, least = w, d
		}
	}
	return best
}
