package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"loadtest/internal/gen"
	"loadtest/nic/dial"
	"loadtest/report"
	"loadtest/units"
)

// modelled is the run whose model an argument that stands alone means: sim:RUN.jsonl.
func modelled(args []string) (ref string, ok bool) {
	if len(args) != 1 {
		return "", false
	}
	ref, ok = strings.CutPrefix(args[0], "sim:")
	return ref, ok && strings.HasSuffix(ref, runEnding)
}

// modelStreams are the streams of a run, sent through the model that is fitted to it.
func modelStreams(c *cobra.Command, ref string) (streams []stream, err error) {
	file, err := findRun(ref)
	if err != nil {
		return nil, err
	}
	m, err := dial.Fitted(file)
	if err != nil {
		return nil, usageError{err}
	}
	port := func(name string) string { return "sim:" + file + "/" + m.Port(name) }
	for _, s := range m.Run.Streams {
		if s.RX == "" {
			continue
		}
		source, instead := modelSource(m.Run, &s)
		if instead != "" {
			fmt.Fprintf(c.ErrOrStderr(), "loadtest: stream %s of run %s: %s; sends %s instead\n", s.Name, m.Of, instead, source)
		}
		name := s.Name
		if name == s.TX+"→"+s.RX || name == s.TX { // made of its ports
			name = m.Port(s.TX) + "→" + m.Port(s.RX)
		}
		streams = append(streams, stream{name: name, source: source, tx: port(s.TX), rx: port(s.RX), share: s.Share})
	}
	return streams, nil
}

// modelSource is what a stream of a run sent, or packets of the same mean size, and then why.
func modelSource(run *report.Run, s *report.Stream) (source, instead string) {
	if gen.Is(s.Source) && len(run.Settings.Sizes) == 0 {
		return s.Source, ""
	}
	mean := float64(units.MinFrame + units.FCS)
	if s.MeanBytes != nil {
		mean = math.Round(*s.MeanBytes)
	}
	made := fmt.Sprintf("gen:%.0f", mean)
	if s.CapturePackets == nil {
		return made, ""
	}
	if *s.CapturePackets != s.Packets || len(s.Rewritten) > 0 {
		return made, s.Source + " did not leave as it is"
	}
	var paths []string
	for _, file := range sourceFiles(s.Source) {
		if !filepath.IsAbs(file) {
			file = filepath.Join(run.Folder, file)
		}
		if _, err := os.Stat(file); err != nil {
			return made, fmt.Sprintf("%s is not there: %v", s.Source, cause(err))
		}
		paths = append(paths, file)
	}
	return strings.Join(paths, "+"), ""
}

// cause is an error of a file without its name.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// poorFit is from where on a model's loss ratios are so far from the run's that the device is of another kind.
const poorFit = 0.02

// labelled are the models that ports of this run lead to. The run is called by them.
func (s *session) labelled(r *report.Run) (models []*report.Model) {
	for _, name := range ports(s.streams) {
		file := dial.FittedTo(name)
		if file == "" || slices.ContainsFunc(models, func(m *report.Model) bool { return m.File == file }) {
			continue
		}
		m, err := dial.Fitted(file)
		if err != nil { // the port is open, so it could be fitted before
			continue
		}
		models = append(models, modelRecord(file, m))
		if r.Name != "" {
			r.Name += ", "
		}
		r.Name += m.Label()
	}
	return models
}

// modelRecord is a model as the records of a run tell it.
func modelRecord(file string, m *dial.Model) *report.Model {
	poor := ""
	if m.Residual.RMS > poorFit {
		poor = ", poorly"
	}
	r := &report.Model{Of: m.Of, File: file, Common: m.Fit.Common, WireRates: m.Fit.Bits, RMS: m.Residual.RMS, Worst: m.Residual.Worst,
		Text: fmt.Sprintf("of run %s, fitted%s: %v; its loss ratios are off by %.2g %% of the packets (rms), at worst %.2g %%",
			m.Of, poor, m.Fit, 100*m.Residual.RMS, 100*m.Residual.Worst)}
	for i, p := range m.Fit.Paths {
		path := report.ModelPath{From: m.Ways[i][0], To: m.Ways[i][1], Queue: p.Queue, Burst: p.Burst, DelayNs: int64(p.Delay), Loss: p.Loss}
		switch {
		case p.Capacity > 0 && m.Fit.Bits:
			path.Bps = report.Number(p.Capacity)
		case p.Capacity > 0:
			path.Pps = report.Number(p.Capacity)
		}
		r.Paths = append(r.Paths, path)
	}
	for _, t := range m.Residual.Trials {
		row := report.ModelTrial{Trial: t.Trial, Loss: t.Measured, Model: t.Model}
		if t.Path >= 0 {
			row.From, row.To = m.Ways[t.Path][0], m.Ways[t.Path][1]
		}
		r.Trials = append(r.Trials, row)
	}
	return r
}
