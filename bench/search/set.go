package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"loadtest/dut"
)

// A set is devices, their true limits, and what others needed for them.
type set struct {
	devices []dut.ModelParams
	truth   map[string]map[string]float64   // column, device
	peers   map[string]map[string][]peerRun // algorithm, device
}

// peerRun is one recorded search.
type peerRun struct {
	seed, trials, found float64
	traffic, total      float64 // s; total has the algorithm's own waits
}

// read reads a folder.
func read(folder string) (*set, error) {
	s := &set{truth: map[string]map[string]float64{}, peers: map[string]map[string][]peerRun{}}
	file := filepath.Join(folder, "instances.json")
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w; want a set of devices, as SEARCH_SET=DIR", err)
	}
	if err := json.Unmarshal(text, &s.devices); err != nil {
		var at int64
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = syntax.Offset
		} else if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			at = kind.Offset
		}
		return nil, fmt.Errorf("%s:%d: %w; want a list of devices, as models.md has it", file, 1+bytes.Count(text[:min(at, int64(len(text)))], []byte("\n")), err)
	}
	if len(s.devices) == 0 {
		return nil, fmt.Errorf("%s: no devices", file)
	}
	err = table(filepath.Join(folder, "truth.csv"), func(row func(string) string) error {
		id := row("id")
		for _, column := range []string{"ndr_1s", "ndr_60s", "pdr_1s"} {
			v := row(column)
			if v == "" {
				continue
			}
			x, err := strconv.ParseFloat(v, 64)
			if err != nil {
				return fmt.Errorf("%s of %s: %w", column, id, err)
			}
			if s.truth[column] == nil {
				s.truth[column] = map[string]float64{}
			}
			s.truth[column][id] = max(x, lowest)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = table(filepath.Join(folder, "runs.csv"), func(row func(string) string) error {
		var r peerRun
		for _, column := range []struct {
			name string
			to   *float64
		}{{"seed", &r.seed}, {"trials", &r.trials}, {"ndr", &r.found}, {"traffic_s", &r.traffic}, {"total_s", &r.total}} {
			text := row(column.name)
			if text == "" && column.name == "total_s" { // no waits
				r.total = r.traffic
			}
			if text == "" {
				continue
			}
			x, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return fmt.Errorf("%s: %w", column.name, err)
			}
			*column.to = x
		}
		alg, id := row("alg"), row("id")
		if s.peers[alg] == nil {
			s.peers[alg] = map[string][]peerRun{}
		}
		s.peers[alg][id] = append(s.peers[alg][id], r)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	return s, err
}

// table hands on the rows of a CSV file by the names of its columns; a column that is not there is empty.
func table(file string, do func(row func(string) string) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if len(rows) == 0 {
		return fmt.Errorf("%s: empty; want a line with the names of the columns", file)
	}
	for i, r := range rows[1:] {
		err := do(func(name string) string {
			if k := slices.Index(rows[0], name); k >= 0 {
				return r[k]
			}
			return ""
		})
		if err != nil {
			return fmt.Errorf("%s:%d: %w", file, i+2, err)
		}
	}
	return nil
}

// seeds are those that the others had; without them twenty where there is chance.
func (s *set) seeds(d *dut.ModelParams) (seeds []uint64) {
	var most []peerRun
	for _, of := range s.peers {
		if runs := of[d.ID]; len(runs) > len(most) || len(runs) == len(most) && len(runs) > 0 && runs[0].seed < most[0].seed {
			most = runs
		}
	}
	for i, r := range most {
		seed := uint64(r.seed)
		if seed == 0 {
			seed = uint64(i + 1)
		}
		seeds = append(seeds, seed)
	}
	if len(seeds) > 0 {
		return seeds
	}
	n := uint64(1)
	if d.SigmaPPM > 0 || d.TrialSigmaPPM > 0 || d.StallMeanMS > 0 || d.FloorPPT > 0 {
		n = 20
	}
	for i := range n {
		seeds = append(seeds, i+1)
	}
	return seeds
}

// peer is the first of some recorded algorithms that is there.
func (s *set) peer(names []string) string {
	for _, name := range names {
		if len(s.peers[name]) > 0 {
			return name
		}
	}
	return names[0]
}

// classes are those of the set, in order.
func (s *set) classes() (all []string) {
	for i := range s.devices {
		if c := s.devices[i].Class; !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	slices.Sort(all)
	return all
}
