package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// group is some classes, with a name.
type group struct {
	name    string
	belongs func(class string) bool
}

// groups are all classes, the sharp ones, and each.
func groups(s *set) []group {
	all := []group{
		{"all", func(string) bool { return true }},
		{"sharp", func(c string) bool { return strings.Contains(sharp, c) }},
	}
	for _, c := range s.classes() {
		all = append(all, group{c, func(class string) bool { return class == c }})
	}
	return all
}

// write makes results.csv and runs.csv.
func write(folder string, s *set, all []result) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	rows := [][]string{strings.Split("algorithm,class,seconds_median,seconds_mean,ratio_median,ratio_sum,error_median,error_worst", ",")}
	for i := range all {
		for _, g := range groups(s) {
			m := summarize(s, &all[i], g.belongs)
			if m.devices == 0 {
				continue
			}
			rows = append(rows, []string{all[i].name, g.name, number(median(m.seconds), 3), number(mean(m.seconds), 3),
				number(median(m.ratios), 4), number(m.own/m.peer, 4), number(median(m.errors), 6), number(m.worst, 6)})
		}
	}
	if err := save(filepath.Join(folder, "results.csv"), rows); err != nil {
		return err
	}
	rows = [][]string{strings.Split("alg,id,cls,seed,ndr,pdr,trials,traffic_s,total_s", ",")}
	for _, r := range all {
		for _, f := range r.runs {
			rows = append(rows, []string{r.name, f.device.ID, f.device.Class, strconv.FormatUint(f.seed, 10), number(f.load, 1), number(f.partial, 1),
				strconv.Itoa(f.trials), number(f.traffic, 3), number(f.traffic, 3)})
		}
	}
	return save(filepath.Join(folder, "runs.csv"), rows)
}

func save(file string, rows [][]string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return cmp.Or(csv.NewWriter(f).WriteAll(rows), f.Close())
}

// number is empty where there is none.
func number(x float64, decimals int) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'f', decimals, 64)
}

// print writes the tables.
func print(out io.Writer, s *set, all []result) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(cells ...string) { fmt.Fprintln(t, strings.Join(cells, "\t")+"\t") }
	every := groups(s)
	fmt.Fprintf(out, "%d devices, %d searches by each algorithm. Seconds are traffic, a mean over the seeds of each device; errors are in percent of the true limit.\n"+
		"Where no rate is without loss, the load at which half of the ladder's trials are clean stands for its limit.\n\n", len(s.devices), len(all[0].runs))
	line("algorithm", "median", "mean", "max", "with waits", "trials", "error median", "p95", "worst", "worst, sharp")
	for i := range all {
		m := summarize(s, &all[i], every[0].belongs)
		longest := 0.0
		for _, f := range all[i].runs {
			longest = max(longest, f.traffic)
		}
		line(all[i].name, number(median(m.seconds), 2), number(mean(m.seconds), 2), number(longest, 1), number(median(m.walls), 2),
			number(m.trials/float64(m.devices), 1), number(100*median(m.errors), 3), number(100*percentile(m.errors, 0.95), 2), number(100*m.worst, 2),
			number(100*summarize(s, &all[i], every[1].belongs).worst, 2))
	}
	t.Flush()
	fmt.Fprintf(out, "\nMedian seconds / worst error\n\n")
	head := []string{"algorithm"}
	for _, g := range every[2:] {
		head = append(head, g.name)
	}
	line(head...)
	for i := range all {
		cells := []string{all[i].name}
		for _, g := range every[2:] {
			m := summarize(s, &all[i], g.belongs)
			cells = append(cells, number(median(m.seconds), 2)+" / "+number(100*m.worst, 2))
		}
		line(cells...)
	}
	t.Flush()
	fmt.Fprintf(out, "\nTime beside the recorded peer, device by device, with %g ms a trial for both: below 1 is faster\n\n", 1000*charge)
	line(append([]string{"algorithm / peer", "median", "best", "worst", "sum"}, head[1:]...)...)
	for i := range all {
		m := summarize(s, &all[i], every[0].belongs)
		if m.recordings == 0 {
			continue
		}
		cells := []string{all[i].name + " / " + all[i].peer, number(median(m.ratios), 2), number(slices.Min(m.ratios), 2), number(slices.Max(m.ratios), 2), number(m.own/m.peer, 2)}
		for _, g := range every[2:] {
			cells = append(cells, number(median(summarize(s, &all[i], g.belongs).ratios), 2))
		}
		line(cells...)
	}
	t.Flush()
}
