package main

import (
	"cmp"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"loadtest/report"
	"loadtest/units"
)

func newSelftest() *cobra.Command {
	f := &findLimit{alone: true}
	c := &cobra.Command{
		Use:   "selftest {A B | PORT}",
		Short: "Find the tester's own limit: two ports wired to each other, or one with a loop",
		Long: "selftest is find-limit --latency without a device: two ports wired to each other, or one whose plug loops back. Results of\n" +
			"devices that come near to its rate name it; beside latencies stands what the tester itself makes of them.",
		Example: "  loadtest selftest eth2 eth3\n  loadtest selftest --both --sizes 64,imix eth2 eth3",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 && len(args) != 2 {
				return usagef("selftest: %d arguments; want two ports that are wired to each other, A B, or one whose plug loops back", len(args))
			}
			f.sizes = cmp.Or(f.sizes, "64")
			f.latency = f.latency || !c.Flags().Changed("latency")
			streams, err := f.arranged(c, slices.Concat([]string{"gen"}, args[:1], args[len(args)-1:]), false)
			if err != nil {
				return err
			}
			return f.run(c, streams)
		},
	}
	f.shared(c.Flags())
	c.Flags().BoolVar(&f.both, "both", false, "also from B to A")
	c.Flags().StringVar(&f.sizes, "sizes", "", "`list` the whole test once for each, as 64,512,imix (default 64)")
	f.flags(c.Flags(), "line rate of the slower port", "0.5% of the answer, see --width; of other searches than ladder 0.1% of --rate")
	return c
}

// near is how close to the tester's own limit a device's result needs a word of it.
const near = 0.8

// tester is what the tester does without a device, per stream, by the last selftest on this machine with as many streams through ports
// of the same kind; nil where there was none.
func (s *session) tester() *float64 {
	var answers []*report.Verdict
	for _, r := range s.selftest() {
		if v, ok := r.(*report.Verdict); ok {
			answers = append(answers, v)
		}
	}
	if len(answers) == 0 {
		return nil
	}
	if k := slices.IndexFunc(answers, func(v *report.Verdict) bool { return v.Size == s.label }); s.label != "" && k >= 0 {
		return answers[k].RateWireBps
	}
	st := s.streams[0]
	load := 0.0
	for _, v := range answers { // a frame costs the tester about the same, whatever its size
		if v.RatePps != nil {
			load = max(load, *v.RatePps*s.bits(st, units.Packets))
		}
	}
	if line := float64(s.devices[st.tx].Info.LineRate); line > 0 {
		load = min(load, line)
	}
	if load == 0 {
		return nil
	}
	return report.Number(load)
}

// delays are what the tester itself makes of latencies, by the same selftest as for tester.
func (s *session) delays() []report.TesterDelay {
	if s.alone != nil {
		return *s.alone
	}
	s.alone = &[]report.TesterDelay{}
	for _, r := range s.selftest() {
		t, ok := r.(*report.Trial)
		if !ok || t.Purpose != report.Latency || t.Verdict == report.Invalid {
			continue
		}
		for i := range t.Streams {
			if st := &t.Streams[i]; st.SentPps != nil && st.Delay.P50Ns != nil {
				*s.alone = append(*s.alone, report.TesterDelay{Pps: *st.SentPps, P50Ns: *st.Delay.P50Ns})
			}
		}
	}
	return *s.alone
}

// selftest is the records of the last selftest on this machine with as many streams through ports of the same kind; none where there
// was none.
func (s *session) selftest() []report.Record {
	if s.clock.Virtual() || s.verb == "selftest" {
		return nil
	}
	_, runs, err := savedRuns()
	if err != nil {
		return nil
	}
	i := slices.IndexFunc(runs, func(r *savedRun) bool {
		return r.run != nil && r.run.Verb == "selftest" && r.end != nil && r.end.ExitCode == exitPass && s.alike(r.run)
	})
	if i < 0 {
		return nil
	}
	f, err := os.Open(runs[i].file)
	if err != nil {
		return nil
	}
	defer f.Close()
	log, err := report.Read(f)
	if err != nil {
		return nil
	}
	return log.Records
}

// alike says whether a selftest was made on this machine with as many streams through ports of the same kind.
func (s *session) alike(r *report.Run) bool {
	host, _ := os.Hostname()
	return r.Host.Name == host && len(r.Streams) == len(s.streams) && !slices.ContainsFunc(ports(s.streams), func(name string) bool {
		i := s.devices[name].Info
		return !slices.ContainsFunc(r.Ports, func(p report.Port) bool { return p.Backend == i.Backend && p.Driver == i.Driver })
	})
}
