package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"loadtest/internal/clock"
	"loadtest/internal/host"
	"loadtest/nic"
	"loadtest/nic/dial"
	"loadtest/packet"
	"loadtest/replay"
	"loadtest/report"
	"loadtest/search"
	"loadtest/trial"
	"loadtest/units"
)

// A session is a measuring verb under way: open ports, a runner, and the writers of its records.
type session struct {
	*common
	verb    string
	command *cobra.Command
	streams []stream
	devices map[string]nic.Device
	clock   clock.Clock
	runner  trial.Runner

	begun time.Time
	zero  int64 // the clock at begun
	sinks []report.Sink
	close []io.Closer
	line  *report.Redraw
	saved string // file of this run
	shown report.State
	steps int // numbers trials
}

// open reads the captures, opens the ports and makes the runner. Nothing is sent. Close undoes it.
func open(c *cobra.Command, common *common, streams []stream) (*session, error) {
	s := &session{common: common, verb: c.Name(), command: c, streams: streams}
	if err := readCaptures(streams); err != nil {
		return nil, err
	}
	var err error
	if s.devices, s.clock, err = dial.Open(c.Context(), ports(streams)...); err != nil {
		return nil, usageError{err}
	}
	s.process()
	o := replay.Options{Clock: s.clock, Ports: s.devices, Tag: s.tag, Seed: s.seed, Credit: s.credit, Drain: s.drain, Spin: len(s.cpus) > 0}
	for _, st := range streams {
		o.Streams = append(o.Streams, replay.Stream{Name: st.name, Source: st.source, Packets: st.packets, TX: st.tx, RX: st.rx})
	}
	if s.runner, err = replay.New(o); err != nil {
		s.Close()
		return nil, usageError{err}
	}
	s.begun, s.zero = time.Now(), s.clock.Now()
	return s, nil
}

// process sets what belongs to the whole process: processors enough for threads that never yield, and no collector at work
// while packets are counted.
func (s *session) process() {
	if real, ok := s.clock.(*clock.Real); ok {
		real.CPUs, real.Spin = s.cpus, len(s.cpus) > 0
		runtime.GOMAXPROCS(runtime.NumCPU() + 2*len(s.devices))
	}
	if s.clock.Virtual() {
		s.unsent = 0 // there nothing but the device may hold a packet up
	}
	runtime.GC()
	debug.SetGCPercent(-1)
	if memory := host.Read().Memory; memory > 0 {
		debug.SetMemoryLimit(memory / 4 * 3)
	} else {
		debug.SetMemoryLimit(4 << 30)
	}
}

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
	s.sinks = append(s.sinks, report.NewJSON(f))
}

// terminal says whether w is one.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// Close gives the ports back.
func (s *session) Close() error {
	var all []error
	all = append(all, dial.Close(s.devices))
	for _, c := range s.close {
		all = append(all, c.Close())
	}
	return errors.Join(all...)
}

// write hands a record to every sink.
func (s *session) write(r report.Record) error {
	return s.line.Over(func() error {
		for _, k := range s.sinks {
			if err := k.Write(r); err != nil {
				return fmt.Errorf("write results: %w", err)
			}
		}
		return nil
	})
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
	return s.write(r)
}

// mean is the mean padded frame of a stream in bytes without FCS, and the share of its packets that have room for a tag.
func (s *session) mean(st stream) (frame, tagged float64) {
	bytes, tags := 0, 0
	for i := range st.packets.Len() {
		bytes += max(st.packets.Size(i), units.MinFrame)
		if packet.TagOffset(st.packets.Frame(i).Data, s.tag) >= 0 {
			tags++
		}
	}
	n := float64(st.packets.Len())
	return float64(bytes) / n, float64(tags) / n
}

// end writes the run's last records and gives back the error that the exit code comes from.
func (s *session) end(err error) error {
	s.line.Clear()
	e := &report.End{Time: time.Now(), AtNs: s.clock.Now() - s.zero, ExitCode: exitCode(err)}
	var stop interrupted
	e.Interrupted = errors.As(err, &stop)
	if err != nil && !told(err) {
		e.Reason = err.Error()
	}
	if s.saved != "" && !s.quiet { // before the table, whose last line is the answer
		fmt.Fprintf(s.command.ErrOrStderr(), "saved as %s\n", s.saved)
	}
	return errors.Join(err, s.write(e), s.Close())
}

// load resolves a rate for the slowest of the transmitting ports; the zero Rate is its line rate.
func (s *session) load(flag string, r units.Rate) (units.Rate, error) {
	line, on := units.BitRate(math.Inf(1)), ""
	frame := 0.0
	for _, st := range s.streams {
		n := 0
		for _, o := range s.streams {
			if o.tx == st.tx {
				n++
			}
		}
		if l := s.devices[st.tx].Info.LineRate / units.BitRate(n); l < line {
			line, on = l, st.tx
		}
		f, _ := s.mean(st)
		frame = max(frame, f)
	}
	if r == (units.Rate{}) {
		r = units.Rate{Kind: units.Percent, Value: 100}
	}
	if r.Kind == units.Percent && line == 0 {
		return r, usagef("--%s: the line rate of %s is not known; give a rate, as -b 10G", flag, on)
	}
	r, err := r.Load(line, frame)
	if err != nil {
		return r, usagef("--%s %w", flag, err)
	}
	return r, nil
}

// unit is what a resolved rate's load counts.
func unit(r units.Rate) trial.Unit {
	switch r.Kind {
	case units.Packets:
		return trial.Packets
	case units.Factor:
		return trial.Factor
	}
	return trial.WireBits
}

// measured is the first verdict on a trial that stands alone: nil, or why nothing can be said about the device.
func (s *session) measured(r *trial.Result) error {
	for i := range r.Streams {
		st := &r.Streams[i]
		if st.Sent == 0 {
			return &search.NotMeasured{Reason: fmt.Sprintf("%s: nothing was sent", st.Name)}
		}
		if !s.sentOnly(st.Name) && st.Received == 0 {
			return &search.NotMeasured{Reason: fmt.Sprintf("%s: nothing came back: %d sent, 0 of ours received", st.Name, st.Sent)}
		}
	}
	return nil
}

func (s *session) sentOnly(name string) bool {
	return slices.ContainsFunc(s.streams, func(t stream) bool { return t.name == name && t.rx == "" })
}

// about is what every trial's record says about itself.
func (s *session) about(purpose string) report.About {
	a := report.About{Number: s.steps, Purpose: purpose, Start: s.begun, Zero: s.zero}
	if s.clock.Virtual() { // its hours are no hours of the wall's: what ended just now began so long ago
		a.Start = time.Now().Add(-time.Duration(s.clock.Now() - s.zero))
	}
	for _, st := range s.streams {
		if st.rx == "" {
			a.SentOnly = append(a.SentOnly, st.name)
		}
	}
	return a
}

// ctxError is err, or the reason why ctx ended.
func ctxError(ctx context.Context, err error) error {
	if err == nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
