package testfile

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Write writes a test for people to read and change, and for Read. The same Test gives the same bytes. The error is w's, or that
// of a text that YAML cannot hold.
func (t Test) Write(w io.Writer) error {
	if bad := t.foreign(); bad != "" {
		return fmt.Errorf("a test file holds text in UTF-8 only, not %q", bad)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `# A test of loadtest. It runs with:  loadtest %s -f FILE
#
# Flags on the command line override those of this file. Every flag of the verb can stand here, under its long name, as
#     rate: 10G        a text or a number, written as on the command line
#     both: true       what is on or off
#     label: [A, B]    what is given several times
# Paths begin at the folder that loadtest is started in, as on the command line.
`, cmp.Or(t.Verb, "VERB"))
	if t.Verb != "" {
		fmt.Fprintf(&b, "\nverb: %s\n", quoted(t.Verb))
	}
	if len(t.Streams) > 0 {
		b.WriteString("\n# Each goes out of port tx and is expected at rx; without rx it is only sent. Of its own it may have a rate (rate: 1G), or a\n" +
			"# share of the test's rate (share: 2).\nstreams:\n")
	}
	for _, s := range t.Streams {
		b.WriteString("  - " + s.flow() + "\n")
	}
	if len(t.Flags) > 0 {
		b.WriteString("\n# Flags.\n")
	}
	for _, f := range t.Flags {
		f.block(&b)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// flow is a stream in one line.
func (s Stream) flow() string {
	share := ""
	if s.Share != 0 {
		share = strconv.FormatFloat(s.Share, 'g', -1, 64)
	}
	var parts []string
	for _, p := range [][2]string{{"name", s.Name}, {"source", s.Source}, {"tx", s.TX}, {"rx", s.RX}, {"rate", s.Rate}, {"share", share}} {
		if p[1] != "" {
			parts = append(parts, p[0]+": "+quoted(p[1]))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// block writes a flag: one value beside its name, several below it.
func (f Flag) block(b *bytes.Buffer) {
	switch len(f.Values) {
	case 0: // as if it were not there
		return
	case 1:
		fmt.Fprintf(b, "%s: %s\n", f.Name, quoted(f.Values[0]))
		return
	}
	fmt.Fprintf(b, "%s:\n", f.Name)
	for _, v := range f.Values {
		fmt.Fprintf(b, "  - %s\n", quoted(v))
	}
}

// quoted is a text as YAML reads it back, inside braces too: as it is where nothing in it means something else, also to other
// programs, else in quotes.
func quoted(s string) string {
	word := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '/' || r == '.' || r == '_'
	}
	first, _ := utf8.DecodeRuneInString(s)
	odd := func(r rune) bool { return !word(r) && !strings.ContainsRune("-+=%@^→⇄", r) }
	null := slices.Contains([]string{"", "null", "Null", "NULL"}, s)
	switch {
	case !null && word(first) && !strings.ContainsFunc(s, odd):
		return s
	case strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		return escaped(s)
	case strings.ContainsAny(s, `"\`):
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return `"` + s + `"`
}

// escaped is a text with what cannot be seen, in double quotes.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return `"` + b.String() + `"`
}

// foreign is the first text that is not UTF-8; "" if there is none.
func (t Test) foreign() string {
	all := []string{t.Verb}
	for _, s := range t.Streams {
		all = append(all, s.Name, s.Source, s.TX, s.RX, s.Rate)
	}
	for _, f := range t.Flags {
		all = append(append(all, f.Name), f.Values...)
	}
	if i := slices.IndexFunc(all, func(s string) bool { return !utf8.ValidString(s) }); i >= 0 {
		return all[i]
	}
	return ""
}
