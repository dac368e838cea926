package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"loadtest/internal/host"
	"loadtest/report"
	"loadtest/trial"
	"loadtest/units"
)

// writers opens what the records go to.
func (s *session) writers() error {
	out, talk := s.command.OutOrStdout(), s.command.ErrOrStderr()
	switch {
	case s.json == "-":
		s.sinks = append(s.sinks, report.NewJSON(out))
		out = io.Discard
	case s.json != "":
		f, err := os.Create(s.json)
		if err != nil {
			return usagef("--json: %w", err)
		}
		s.close = append(s.close, f)
		s.sinks = append(s.sinks, report.NewJSON(f))
	}
	s.save(talk)
	if terminal(talk) && !s.quiet {
		s.line = report.NewRedraw(talk)
	}
	s.sinks = append(s.sinks, report.NewText(report.TextOptions{Out: out, Err: talk, Verbose: s.verbose, Quiet: s.quiet, Live: true,
		Color: terminal(out) && !s.noColor && os.Getenv("NO_COLOR") == ""}))
	return nil
}

// save opens the run's own file. A measurement does not fail for want of it.
func (s *session) save(talk io.Writer) {
	if s.noSave {
		return
	}
	f, err := createRun()
	if err != nil {
		fmt.Fprintf(talk, "loadtest: this run is not saved: %v; another folder: LOADTEST_RUNS=DIR, none: --no-save\n", err)
		return
	}
	s.saved = f.Name()
	s.close = append(s.close, f)
	s.sinks = append(s.sinks, &spare{report.NewJSON(f), talk})
}

// A spare is a sink whose failure is told and then forgotten.
type spare struct {
	sink report.Sink // nil: it failed
	talk io.Writer
}

func (k *spare) Write(r report.Record) error {
	if k.sink == nil {
		return nil
	}
	if err := k.sink.Write(r); err != nil {
		fmt.Fprintf(k.talk, "loadtest: this run is saved in part only: %v\n", err)
		k.sink = nil
	}
	return nil
}

// write hands a record to every sink. One that fails is told no more, the others get the whole run. The first error stays.
func (s *session) write(r report.Record) error {
	return s.line.Over(func() error {
		s.sinks = slices.DeleteFunc(s.sinks, func(k report.Sink) bool {
			err := k.Write(r)
			if err != nil {
				s.fault(fmt.Errorf("write results: %w", err))
			}
			return err != nil
		})
		return s.broken
	})
}

// fault notes what kept results from being written.
func (s *session) fault(err error) {
	switch {
	case s.broken != nil:
	case s.sending:
		s.broken = portError{err}
	default:
		s.broken = usageError{err}
	}
}

// whole is the error of a run together with its fault, told once. There is no verdict without its results.
func (s *session) whole(err error) error {
	var fail failure
	switch {
	case s.broken == nil || errors.Is(err, s.broken):
		return err
	case err == nil || errors.As(err, &fail):
		return s.broken
	}
	return fmt.Errorf("%w; %w", err, s.broken)
}

// begin opens the writers and writes the run's first record.
func (s *session) begin(set report.Settings) error {
	if err := s.writers(); err != nil {
		return err
	}
	set.DrainNs, set.CreditNs, set.MaxUnsentRatio, set.CPUs = new(int64(s.drain)), new(int64(s.credit)), new(float64(s.unsent)), s.cpus
	facts := host.Read()
	r := &report.Run{Time: s.begun, Tool: version(), Command: os.Args, Verb: s.verb, Name: s.name, Seed: int64(s.seed), Settings: set,
		Host: report.Host{Name: facts.Hostname, OS: facts.OS, Arch: facts.Arch, Kernel: facts.Kernel, CPU: facts.CPU, CPUs: facts.Cores,
			Memory: facts.Memory, Go: facts.Go, Virtual: s.clock.Virtual()}}
	for _, name := range ports(s.streams) {
		i := s.devices[name].Info
		p := report.Port{Name: name, Backend: i.Backend, Driver: i.Driver, Mode: i.Mode, MTU: i.MTU,
			MAC: fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", i.MAC[0], i.MAC[1], i.MAC[2], i.MAC[3], i.MAC[4], i.MAC[5])}
		if i.LineRate > 0 {
			p.LineBps = report.Number(float64(i.LineRate))
		}
		r.Ports = append(r.Ports, p)
	}
	for _, st := range s.streams {
		frame, tagged := s.mean(st)
		r.Streams = append(r.Streams, report.Stream{Name: st.name, Source: st.source, TX: st.tx, RX: st.rx, Packets: int64(st.packets.Len()),
			MeanBytes: report.Number(frame + units.FCS), TaggedRatio: report.Number(tagged), Share: 1})
	}
	err := s.write(r)
	s.sending = err == nil
	return err
}

// end writes the run's last records and gives back the error that the exit code comes from.
func (s *session) end(err error) error {
	s.line.Clear()
	err = s.whole(err)
	e := &report.End{Time: time.Now(), AtNs: s.clock.Now() - s.zero, ExitCode: exitCode(err)}
	var stop interrupted
	e.Interrupted = errors.As(err, &stop)
	if err != nil && !told(err) {
		e.Reason = err.Error()
	}
	if s.saved != "" && !s.quiet { // before the table, whose last line is the answer
		fmt.Fprintf(s.command.ErrOrStderr(), "saved as %s\n", s.saved)
	}
	_ = s.write(e) // whole tells it
	if cerr := s.Close(); cerr != nil {
		s.fault(cerr)
	}
	return s.whole(err)
}

// about is what every trial's record says about itself.
func (s *session) about(purpose string, r *trial.Result) report.About {
	a := report.About{Number: s.steps, Purpose: purpose, Start: s.begun, Zero: s.zero, SentOnly: s.sentOnly()}
	if s.clock.Virtual() { // its hours are no hours of the wall's: the trial ended just now, and began no earlier than the run
		at := time.Now().Add(-time.Duration(s.clock.Now() - r.Start))
		if at.Before(s.begun) {
			at = s.begun
		}
		a.Start = at.Add(-time.Duration(r.Start - s.zero))
	}
	return a
}
