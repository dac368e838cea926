package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"loadtest/internal/testfile"
)

// readTest takes from -f what the command line does not say.
func (a *sources) readTest(c *cobra.Command, args []string) error {
	if a.file == "" {
		return nil
	}
	text, err := os.ReadFile(a.file)
	if err != nil {
		return usagef("--file %w", err)
	}
	t, err := testfile.Read(a.file, text)
	if err != nil {
		return usageError{err}
	}
	if t.Verb != "" && t.Verb != c.Name() {
		return usagef("%s is a test of %s: loadtest %s -f %s", a.file, t.Verb, t.Verb, a.file)
	}
	for _, f := range t.Flags {
		flag := c.Flags().Lookup(f.Name)
		switch {
		case flag == nil:
			return usagef("%s:%d: %s has no flag --%s; see loadtest %s --help", a.file, f.Line, c.Name(), f.Name, c.Name())
		case slices.Contains([]string{"file", "stream", "dry-run", "check", "help"}, flag.Name):
			return usagef("%s:%d: --%s belongs on the command line", a.file, f.Line, flag.Name)
		case flag.Changed || flag.Name == "duration" && c.Flags().Changed("d"): // the other letter of the same flag
			continue
		}
		if _, repeats := flag.Value.(repeated); len(f.Values) > 1 && !repeats {
			return usagef("%s:%d: --%s takes one value, here are %d", a.file, f.Line, flag.Name, len(f.Values))
		}
		for _, v := range f.Values {
			if err := c.Flags().Set(flag.Name, v); err != nil {
				return usagef("%s:%d: %w", a.file, f.Line, flagError(c, err))
			}
		}
	}
	if len(args) > 0 || len(a.streams) > 0 {
		return nil
	}
	for _, st := range t.Streams {
		s := stream{name: st.Name, source: st.Source, tx: st.TX, rx: st.RX, share: st.Share, at: fmt.Sprintf("%s:%d: ", a.file, st.Line)}
		if err := s.weigh(st.Rate, ""); err != nil {
			return usagef("%s%w", s.at, err)
		}
		s.title()
		a.streams = append(a.streams, s)
	}
	return nil
}

// repeated is a flag that may be given several times.
type repeated interface{ Texts() []string }

// writeTest writes the test to each -o NAME.yaml: what -f reads as the same run.
func (s *session) writeTest() error {
	files := s.written(".yaml")
	if len(files) == 0 {
		return nil
	}
	t := testfile.Test{Verb: s.verb}
	for _, st := range s.given {
		x := testfile.Stream{Name: st.name, Source: st.source, TX: st.tx, RX: st.rx}
		if st.rate.Value > 0 {
			x.Rate = st.rate.String()
		} else if st.share != 0 {
			x.Share = st.share
		}
		t.Streams = append(t.Streams, x)
	}
	s.command.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains([]string{"file", "stream", "dry-run", "check"}, f.Name) {
			return
		}
		name := f.Name
		if name == "d" { // the other letter of the same flag
			name = "duration"
		}
		values := []string{f.Value.String()}
		if r, ok := f.Value.(repeated); ok {
			values = r.Texts()
		}
		if name == "output" { // not this file
			values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return strings.HasSuffix(v, ".yaml") })
		}
		if len(values) == 0 {
			return
		}
		if !slices.ContainsFunc(t.Flags, func(g testfile.Flag) bool { return g.Name == name }) {
			t.Flags = append(t.Flags, testfile.Flag{Name: name, Values: values})
		}
	})
	var b bytes.Buffer
	if err := t.Write(&b); err != nil {
		return err
	}
	for _, name := range files {
		if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
			return usagef("-o: %w", err)
		}
		if !s.quiet {
			fmt.Fprintf(s.command.ErrOrStderr(), "%s written; the same run: loadtest %s -f %s\n", name, s.verb, name)
		}
	}
	return nil
}
