package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"loadtest/internal/clock"
	"loadtest/internal/neigh"
	"loadtest/internal/preflight"
	"loadtest/nic"
	"loadtest/nic/dial"
	"loadtest/replay"
	"loadtest/report"
)

// A session is a measuring verb under way: open ports, a runner, and the writers of its records.
type session struct {
	*common
	verb    string
	command *cobra.Command
	streams []stream
	devices map[string]nic.Device
	clock   clock.Clock
	hosts   map[string]*neigh.Host
	runner  *replay.Runner
	each    []string // of --sizes, as given
	size    string   // of them, the one at hand
	label   string   // of the size at hand, "" if there is one only

	begun    time.Time
	zero     int64      // the clock at begun
	mu       sync.Mutex // of write
	sinks    []report.Sink
	close    []io.Closer
	line     *report.Redraw
	saved    string              // file of this run
	steps    int                 // numbers trials
	said     []string            // lines of hello
	findings []preflight.Finding // not told yet

	toldUnplayed bool
	alone        *[]report.TesterDelay // by the last selftest; nil: not looked for yet

	atLine  bool  // the load is all that a line takes
	sending bool  // the first record is written, and packets may be sent
	broken  error // the first error of writing results
}

// open reads the captures, opens the ports, finds the gateways and makes the runner: begin says hello. Close undoes it. With
// --dry-run it only looks. outputs are files that the verb will write beside those of the common flags.
func open(c *cobra.Command, common *common, streams []stream, outputs ...output) (_ *session, err error) {
	s := &session{common: common, verb: c.Name(), command: c, streams: streams}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	ctx := c.Context()
	if err := errors.Join(common.allowed(streams), s.checkPorts()); err != nil {
		return nil, err
	}
	if s.each, err = s.sizeList(streams); err != nil {
		return nil, err
	}
	if err := heed(ctx, func() error { return common.readCaptures(streams, c.InOrStdin()) }); err != nil {
		return nil, err
	}
	if err := errors.Join(s.undivided(), keepSources(streams, c.InOrStdin(), append(outputs, common.files()...))); err != nil {
		return nil, err
	}
	if !c.Flags().Changed("seed") {
		if s.seed, err = drawSeed(); err != nil {
			return nil, err
		}
	}
	if s.dryRun {
		if err := s.look(); err != nil {
			return nil, err
		}
		return s, s.resize(0)
	}
	if err := s.openPorts(ctx); err != nil {
		return nil, err
	}
	if err := s.resize(0); err != nil {
		return nil, err
	}
	s.attend()
	s.begun, s.zero = time.Now(), s.clock.Now()
	return s, nil
}

// resize makes the packets of the i-th size, of one run if there are no sizes.
func (s *session) resize(i int) (err error) {
	streams := s.streams
	if len(s.each) > 0 {
		if streams, err = resized(streams, s.each[i]); err != nil {
			return err
		}
		s.size, s.label = s.each[i], streams[0].made.Label()
	}
	s.streams = streams
	return s.prepare(streams)
}

// turn goes on to the i-th size; begin did so for the first.
func (s *session) turn(i int) error {
	if i == 0 {
		return nil
	}
	if err := s.resize(i); err != nil {
		return err
	}
	return s.ready(s.command.Context())
}

// worse is the error of a run of several sizes: what stopped it, then what could not be measured, then what failed.
func worse(a, b error) error {
	rank := func(err error) int {
		return slices.Index([]int{exitPass, exitFail, exitNotMeasured}, exitCode(err))
	}
	if r := rank(b); a == nil || r < 0 || r > rank(a) && rank(a) >= 0 {
		return b
	}
	return a
}

// sized is the number of runs: one for each size.
func (s *session) sized() int { return max(1, len(s.each)) }

// ready makes the runner for the packets at hand, and says hello.
func (s *session) ready(ctx context.Context) error {
	if s.runner != nil {
		_ = s.runner.Close()
	}
	o := replay.Options{Clock: s.clock, Ports: s.devices, Hosts: s.hosts, Tag: s.tag, Seed: s.seed, Credit: s.credit, Drain: s.drain, Spin: len(s.cpus) > 0}
	for _, st := range s.streams {
		o.Streams = append(o.Streams, s.replayed(st))
	}
	var err error
	if s.runner, err = replay.New(o); err != nil {
		return usageError{err}
	}
	return s.greet(ctx)
}

// Close gives the ports back.
func (s *session) Close() error {
	var all []error
	if s.runner != nil {
		all = append(all, s.runner.Close())
	}
	if !s.dryRun {
		all = append(all, dial.Close(s.devices))
	}
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
