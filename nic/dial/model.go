package dial

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loadtest/dut"
	"loadtest/report"
	"loadtest/units"
)

// runEnding is that of files with the records of a run: a network of that name is a model fitted to it.
const runEnding = ".jsonl"

// A Model is a simulated device whose numbers are fitted to a saved run: it behaves as the device did in that run, and nothing more is
// known of it. Its ports have the names of the run's, of simulated ones the last part.
type Model struct {
	Of       string // the run, in short
	Run      *report.Run
	Fit      dut.Fit
	Residual dut.Residual
	Ways     [][2]string // ports, from and to, of the Fit's paths

	ports []dut.FitPort
	frame int // mean size without FCS
}

// Fitted fits a model to the run in a file.
func Fitted(file string) (*Model, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return fitted(file, f)
}

func fitted(file string, r io.Reader) (*Model, error) {
	log, err := report.Read(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	run, ok := log.Records[0].(*report.Run)
	if !ok {
		return nil, fmt.Errorf("%s: its first line is of no run; want a file of ~/.local/state/loadtest/runs, or one that --json wrote", file)
	}
	m := &Model{Of: strings.TrimSuffix(filepath.Base(file), runEnding), Run: run}
	if err := m.fit(log); err != nil {
		return nil, fmt.Errorf("no model of %s: %w", file, err)
	}
	return m, nil
}

// Label is what a model calls itself wherever its results stand.
func (m *Model) Label() string { return "model of " + m.Of + ", fitted" }

// Port is the model's name of one of the run's ports.
func (m *Model) Port(name string) string {
	if strings.HasPrefix(name, "sim:") {
		return name[strings.LastIndexByte(name, '/')+1:]
	}
	return name
}

// fit takes ports, ways and trials from the records.
func (m *Model) fit(log *report.Log) error {
	for _, p := range m.Run.Ports {
		port := dut.FitPort{Name: m.Port(p.Name)}
		if p.LineBps != nil && *p.LineBps >= 1 && *p.LineBps <= mostRate {
			port.Line = units.BitRate(*p.LineBps)
		}
		if p.MTU >= leastMTU && p.MTU <= mostMTU {
			port.MTU = p.MTU
		}
		if slices.ContainsFunc(m.ports, func(o dut.FitPort) bool { return o.Name == port.Name }) {
			return fmt.Errorf("it has two ports named %s", port.Name)
		}
		m.ports = append(m.ports, port)
	}
	way := make(map[string]int) // by the name of a stream
	for _, s := range m.Run.Streams {
		if s.RX == "" {
			continue
		}
		w := [2]string{m.Port(s.TX), m.Port(s.RX)}
		for _, name := range w {
			if !slices.ContainsFunc(m.ports, func(p dut.FitPort) bool { return p.Name == name }) {
				return fmt.Errorf("its stream %s has a port %q, which is none of the run's", s.Name, name)
			}
		}
		if !slices.Contains(m.Ways, w) {
			m.Ways = append(m.Ways, w)
		}
		way[s.Name] = slices.Index(m.Ways, w)
	}
	if len(way) == 0 {
		return errors.New("it has no stream that came back")
	}
	var trials []dut.FitTrial
	for _, rec := range log.Records {
		t, ok := rec.(*report.Trial)
		if !ok || t.Purpose == report.Warmup || t.Verdict == report.Invalid || t.Cut {
			continue
		}
		if f, ok := fitTrial(t, way, len(m.Ways)); ok {
			trials = append(trials, f)
		}
	}
	var err error
	if m.Fit, m.Residual, err = dut.FitTrials(trials); err != nil {
		return err
	}
	m.lines(trials)
	return nil
}

// What a file may say of a trial, a port or a packet, far beyond what is measured: what is outside is left out.
const (
	longest  = 100 * 24 * time.Hour
	slowest  = time.Hour // latency
	mostSent = 1 << 50   // packets of a trial
	mostRate = 10e12     // bit/s
	leastMTU = 68        // RFC 791
	mostMTU  = 65535
)

// fitTrial is a trial of the records with the counts of all streams of a way together; false: there is nothing to learn from it.
func fitTrial(t *report.Trial, way map[string]int, ways int) (f dut.FitTrial, ok bool) {
	f = dut.FitTrial{Number: t.Number, Duration: time.Duration(t.DurationNs), Preroll: time.Duration(t.PrerollNs), Paths: make([]dut.FitCounts, ways)}
	for i := range f.Paths {
		f.Paths[i].Least, f.Paths[i].High = -1, -1
	}
	if f.Duration < time.Microsecond || f.Duration > longest || f.Preroll < 0 || f.Preroll > longest {
		return f, false
	}
	for _, s := range t.Streams {
		i, known := way[s.Name]
		if !known || s.Lost == nil {
			continue
		}
		if *s.Lost < 0 || *s.Lost > s.Sent || s.Sent > mostSent || s.SentWire < s.Sent*(units.MinFrame+units.Overhead) || s.SentWire > s.Sent*(2*mostMTU) {
			return f, false
		}
		p := &f.Paths[i]
		p.Sent, p.Lost, p.WireBits = p.Sent+s.Sent, p.Lost+*s.Lost, p.WireBits+8*s.SentWire
		ok = ok || s.Sent > 0
		if s.Delay.MinNs == nil || s.Delay.P99Ns == nil {
			continue
		}
		least, high := time.Duration(*s.Delay.MinNs), time.Duration(*s.Delay.P99Ns)
		if least < 0 || least > high || high > slowest {
			continue
		}
		if p.Least < 0 || least < p.Least {
			p.Least = least
		}
		p.High = max(p.High, high)
	}
	return f, ok
}

// lines are the rates of ports that the run did not know, the highest that was sent: a search has to begin somewhere.
func (m *Model) lines(trials []dut.FitTrial) {
	sent, bits := 0.0, 0.0
	most := make(map[string]float64)
	for _, t := range trials {
		for i, p := range t.Paths {
			sent, bits = sent+float64(p.Sent), bits+float64(p.WireBits)
			most[m.Ways[i][0]] = max(most[m.Ways[i][0]], float64(p.WireBits)/t.Duration.Seconds())
		}
	}
	m.frame = int(math.Round(bits/sent/8)) - units.Overhead
	for i := range m.ports {
		p := &m.ports[i]
		p.Line = cmp.Or(p.Line, units.BitRate(math.Ceil(most[p.Name])))
	}
}

// Frame is the mean size of the run's packets, without FCS.
func (m *Model) Frame() int { return m.frame }

// network is the model to send through.
func (m *Model) network() (*dut.Network, error) {
	n, err := m.Fit.Network(m.Of, m.Label(), m.ports, m.Ways, m.frame)
	if err != nil {
		return nil, fmt.Errorf("no model of %s: %w", m.Of, err)
	}
	return n, nil
}

// FittedTo is the file of the run that a port's model is fitted to; "" is of other ports.
func FittedTo(port string) string {
	a, err := parse(port, "/sys")
	if err != nil || a.backend != "sim" || !strings.HasSuffix(a.network, runEnding) {
		return ""
	}
	return a.network
}

// load is a network by its name.
func load(network string) (*dut.Network, error) {
	if !strings.HasSuffix(network, runEnding) {
		return dut.LoadNetwork(network)
	}
	m, err := Fitted(network)
	if err != nil {
		return nil, err
	}
	return m.network()
}
