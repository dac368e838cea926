package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	for ending, sink := range map[string]func(io.Writer) report.Sink{
		".jsonl": func(w io.Writer) report.Sink { return report.NewJSON(w) },
		".csv":   func(w io.Writer) report.Sink { return report.NewCSV(w) },
	} {
		for _, name := range s.written(ending) {
			f, err := os.Create(name)
			if err != nil {
				return usagef("-o: %w", err)
			}
			s.close = append(s.close, f)
			s.sinks = append(s.sinks, sink(f))
		}
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
	if s.noSave || s.check {
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
	s.mu.Lock()
	defer s.mu.Unlock()
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

// begin opens the writers, writes the run's first record, finds the gateways, and says hello. With --check that is all.
func (s *session) begin(set report.Settings) error {
	if err := s.writers(); err != nil {
		return err
	}
	if err := s.writeTest(); err != nil {
		return err
	}
	ctx := s.command.Context()
	gateways := slices.ContainsFunc(s.addrs, func(a portAddress) bool { return a.Gateway.IsValid() })
	if !gateways { // else the record has to wait: it names them
		if err := s.record(set); err != nil {
			return err
		}
	}
	err := s.up(ctx)
	if err == nil {
		err = s.resolve(ctx)
	}
	if gateways {
		err = errors.Join(s.record(set), err)
	}
	if err != nil {
		return err
	}
	if gateways { // their addresses are known now
		if err := s.prepare(s.streams); err != nil {
			return err
		}
	}
	s.warn()
	s.conflicts()
	if err := s.ready(ctx); err != nil {
		return err
	}
	if s.check {
		return errChecked
	}
	return nil
}

// errChecked ends a run that was to be checked only.
var errChecked = errors.New("checked")

// conflicts tells of addresses that others claim.
func (s *session) conflicts() {
	for _, name := range ports(s.streams) {
		h := s.hosts[name]
		if h == nil {
			continue
		}
		for _, c := range h.Conflicts() {
			s.tell("port", name, fmt.Sprintf("%s is claimed by %s, too: two stations have that address", c.IP, macText(c.MAC)))
		}
	}
}

func macText(m [6]byte) string { return net.HardwareAddr(m[:]).String() }

// addresses are those of a port with what is known of their gateways: "198.18.0.2, gateway 198.18.0.1 is 00:1b:21:aa:00:01".
func (s *session) addresses(port string) (texts []string) {
	for _, a := range s.addrs {
		if a.port != port {
			continue
		}
		text := a.Prefix.Addr().String()
		if a.VLAN != 0 {
			text += fmt.Sprintf(" in VLAN %d", a.VLAN)
		}
		if h := s.hosts[port]; h != nil && a.Gateway.IsValid() {
			for _, g := range h.Gateways() {
				if g.Known && g.Gateway == a.Gateway && g.VLAN == a.VLAN {
					text += fmt.Sprintf(", gateway %s is %s", g.Gateway, macText(g.MAC))
				}
			}
		}
		texts = append(texts, text)
	}
	return texts
}

// record writes the run's first record.
func (s *session) record(set report.Settings) error {
	set.DrainNs, set.CreditNs, set.MaxUnsentRatio, set.CPUs = new(int64(s.drain)), new(int64(s.credit)), new(float64(s.unsent)), s.cpus
	set.WaitNs = new(int64(s.wait))
	for _, size := range s.each {
		made, err := s.streams[0].made.With(size)
		if err != nil {
			return usageError{err}
		}
		set.Sizes = append(set.Sizes, made.Label())
	}
	folder, _ := os.Getwd() // only to repeat the run
	facts := host.Read()
	r := &report.Run{Time: s.begun, Tool: version(), Command: os.Args, Verb: s.verb, Folder: folder, Name: s.name, Seed: int64(s.seed), Settings: set,
		Host: report.Host{Name: facts.Hostname, OS: facts.OS, Arch: facts.Arch, Kernel: facts.Kernel, CPU: facts.CPU, CPUs: facts.Cores,
			Memory: facts.Memory, Go: facts.Go, Virtual: s.clock.Virtual()}}
	for _, name := range ports(s.streams) {
		i := s.devices[name].Info
		p := report.Port{Name: name, Backend: i.Backend, Driver: i.Driver, Mode: i.Mode, MTU: i.MTU,
			MAC: macText(i.MAC), Addresses: s.addresses(name), Passed: i.Passed}
		if i.NUMA >= 0 {
			p.NUMA = new(i.NUMA)
		}
		if i.LineRate > 0 {
			p.LineBps = report.Number(float64(i.LineRate))
		}
		r.Ports = append(r.Ports, p)
	}
	for _, st := range s.streams {
		r.Streams = append(r.Streams, s.streamRecord(st))
	}
	models := s.labelled(r)
	err := s.write(r)
	s.sending = err == nil
	for _, m := range models {
		err = errors.Join(err, s.write(m))
	}
	return err
}

// streamRecord is a stream as the run's first record tells it.
func (s *session) streamRecord(st stream) report.Stream {
	frame, tagged := s.mean(st)
	r := report.Stream{Name: st.name, Source: st.source, TX: st.tx, RX: st.rx, Packets: st.figures.packets,
		MeanBytes: report.Number(frame + units.FCS), TaggedRatio: report.Number(tagged), Share: st.weight(),
		Rewritten: st.touched.Counts(), Skipped: map[string]int64{}}
	for why, n := range map[string]int64{"oversize": st.skipped.Oversize, "snapped": st.skipped.Snapped, "multicast": st.skipped.Multicast, "swap": st.touched.Groups} {
		if n > 0 {
			r.Skipped[why] = n
		}
	}
	for _, n := range st.varied {
		r.Rewritten["varied"] = max(r.Rewritten["varied"], n)
	}
	if c := st.capture; c != nil {
		r.CapturePackets, r.CaptureBytes = new(c.survey.Packets), new(c.survey.Bytes)
		for _, p := range c.survey.Times.Peaks { // the shortest is nearly one packet's
			if p.Window == int64(10*time.Millisecond) {
				r.PeakBps = report.Number(p.Bps)
			}
		}
	}
	return r
}

// end writes the run's last records and gives back the error that the exit code comes from.
func (s *session) end(err error) error {
	s.line.Clear()
	if errors.Is(err, errChecked) {
		err = nil
		if !s.quiet {
			fmt.Fprintln(s.command.ErrOrStderr(), "checked: ready to measure; no load was sent")
		}
	}
	err = s.whole(err)
	e := &report.End{Time: time.Now(), AtNs: s.clock.Now() - s.zero, ExitCode: exitCode(err)}
	var stop interrupted
	e.Interrupted = errors.As(err, &stop)
	if err != nil && !told(err) {
		e.Reason = err.Error()
	}
	if s.saved != "" && !s.quiet { // before the table, whose last line is the answer
		id := strings.TrimSuffix(filepath.Base(s.saved), ".jsonl")
		again := "the same again: loadtest runs repeat " + id
		if slices.ContainsFunc(s.streams, func(st stream) bool { return st.source == stdin }) {
			again = "to see it again: loadtest runs show " + id
		}
		fmt.Fprintf(s.command.ErrOrStderr(), "saved as %s · %s\n", id, again)
	}
	_ = s.write(e) // whole tells it
	if cerr := s.Close(); cerr != nil {
		s.fault(cerr)
	}
	return s.whole(err)
}

// about is what every trial's record says about itself.
func (s *session) about(purpose string, r *trial.Result) report.About {
	a := report.About{Number: s.steps, Purpose: purpose, Size: s.label, Start: s.begun, Zero: s.zero, SentOnly: s.sentOnly(), Tester: s.delays()}
	if s.clock.Virtual() { // its hours are no hours of the wall's: the trial ended just now, and began no earlier than the run
		at := time.Now().Add(-time.Duration(s.clock.Now() - r.Start))
		if at.Before(s.begun) {
			at = s.begun
		}
		a.Start = at.Add(-time.Duration(r.Start - s.zero))
	}
	return a
}
