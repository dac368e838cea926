package main

import (
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
		return nil, fmt.Errorf("%s: %w", file, err)
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
		for column, to := range map[string]*float64{"seed": &r.seed, "trials": &r.trials, "ndr": &r.found, "traffic_s": &r.traffic, "total_s": &r.total} {
			x, err := strconv.ParseFloat(row(column), 64)
			if err != nil {
				return fmt.Errorf("%s: %w", column, err)
			}
			*to = x
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

// seeds are as many as the others had; without them twenty where there is chance.
func (s *set) seeds(d *dut.ModelParams) int {
	most := 0
	for _, of := range s.peers {
		most = max(most, len(of[d.ID]))
	}
	switch {
	case most > 0:
		return most
	case d.SigmaPPM > 0 || d.TrialSigmaPPM > 0 || d.StallMeanMS > 0 || d.FloorPPT > 0:
		return 20
	}
	return 1
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
