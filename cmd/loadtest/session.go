package main

import (
	"context"
	"errors"
	"io"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"loadtest/internal/clock"
	"loadtest/internal/host"
	"loadtest/nic"
	"loadtest/nic/dial"
	"loadtest/replay"
	"loadtest/report"
	"loadtest/trial"
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
	steps int    // numbers trials

	atLine  bool  // the load is all that a line takes
	sending bool  // the first record is written, and packets may be sent
	broken  error // the first error of writing results
}

// open reads the captures, opens the ports and makes the runner. Nothing is sent. Close undoes it. outputs are files that the
// verb will write beside those of the common flags.
func open(c *cobra.Command, common *common, streams []stream, outputs ...output) (*session, error) {
	s := &session{common: common, verb: c.Name(), command: c, streams: streams}
	if err := common.check(streams); err != nil {
		return nil, err
	}
	if err := heed(c.Context(), func() error { return readCaptures(streams, c.InOrStdin()) }); err != nil {
		return nil, err
	}
	if err := keepSources(streams, c.InOrStdin(), append(outputs, output{"--json ", common.json})); err != nil {
		return nil, err
	}
	var err error
	if !c.Flags().Changed("seed") {
		if s.seed, err = drawSeed(); err != nil {
			return nil, err
		}
	}
	if s.devices, s.clock, err = dial.Open(c.Context(), ports(streams)...); err != nil {
		return nil, usageError{err}
	}
	s.process()
	o := replay.Options{Clock: s.clock, Ports: s.devices, Tag: s.tag, Seed: s.seed, Credit: s.credit, Drain: s.drain, Spin: len(s.cpus) > 0}
	for _, st := range streams {
		o.Streams = append(o.Streams, replay.Stream{Name: st.name, Source: st.from(), Packets: st.packets, TX: st.tx, RX: st.rx})
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

// Close gives the ports back.
func (s *session) Close() error {
	var all []error
	all = append(all, dial.Close(s.devices))
	for _, c := range s.close {
		all = append(all, c.Close())
	}
	return errors.Join(all...)
}

// heed does what may wait for ever, for input, until ctx ends: what it then leaves behind ends with the process.
func heed(ctx context.Context, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// ctxError is err, or the reason why ctx ended.
func ctxError(ctx context.Context, err error) error {
	if err == nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
