package main

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"loadtest/internal/clock"
	"loadtest/internal/gen"
	"loadtest/internal/survey"
	"loadtest/nic"
	"loadtest/trial"
	"loadtest/units"
)

// measuring is a session with streams of 1000 packets of 60 bytes, 672 bits on the wire, that last a second: 672 kbit/s. All leave by
// a port of 10 Mbit/s.
func measuring(streams ...stream) (s *session, talk *bytes.Buffer) {
	talk = &bytes.Buffer{}
	c := &cobra.Command{}
	c.SetErr(talk)
	s = &session{common: &common{}, command: c, clock: clock.NewReal(), devices: map[string]nic.Device{"a": {Info: nic.Info{LineRate: 10 * units.Mbps}}, "b": {}}}
	for _, st := range streams {
		st.figures = figures{packets: 1000, padded: 60000}
		if st.tx == "" {
			st.tx = "a"
		}
		if st.capture != nil && st.span == 0 {
			st.span = 1e9
		}
		s.streams = append(s.streams, st)
	}
	return s, talk
}

func captured() stream {
	return stream{source: "m.pcap", capture: &capture{survey: &survey.Survey{Packets: 1000}}}
}

// A multiple of the captured pace is cut down to what the line takes of its mean, in few digits, and the grid to what is left.
func TestLoadOfFactors(t *testing.T) {
	heavy, other := captured(), captured()
	heavy.share, other.tx = 3, "b"
	for _, tt := range []struct {
		name    string
		streams []stream
		rate    units.Rate
		load    float64
		atLine  bool
		note    string
	}{
		{"fits", []stream{captured()}, units.Rate{Kind: units.Factor, Value: 14.8}, 14.8, false, ""},
		{"too fast", []stream{captured()}, units.Rate{Kind: units.Factor, Value: 20}, 14.88, true, "note: --rate x20: a is a 10M line; x14.88 is the load\n"},
		{"two on one line", []stream{captured(), heavy}, units.Rate{Kind: units.Factor, Value: 20}, 3.72, true, "note: --rate x20: a is a 10M line; x3.72 is the load\n"},
		{"line not known", []stream{other}, units.Rate{Kind: units.Factor, Value: 2e6}, 2e6, false, ""},
		{"one known", []stream{other, captured()}, units.Rate{Kind: units.Factor, Value: 15}, 14.88, true, "note: --rate x15: a is a 10M line; x14.88 is the load\n"},
		{"packets", []stream{captured()}, units.Rate{Kind: units.Packets, Value: 20e3}, 10e6 / 672, true, "note: --rate 20kpps: a is a 10M line; 14.880952380952382kpps is the load\n"},
		{"bits on one line", []stream{captured(), heavy}, units.Rate{Value: 10e6}, 2.5e6, true, "note: --rate 10M: a is a 10M line; 2.5M is the load\n"},
		{"bits", []stream{captured()}, units.Rate{Value: 10e6}, 10e6, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, talk := measuring(tt.streams...)
			r, err := s.load("rate", tt.rate)
			if err != nil || r.Kind != tt.rate.Kind || math.Abs(r.Value-tt.load) > 1e-9*tt.load || s.atLine != tt.atLine || talk.String() != tt.note {
				t.Errorf("%v is %v, %v, at the line %v, %q; want %v, %v, %q", tt.rate, r, err, s.atLine, talk, tt.load, tt.atLine, tt.note)
			}
		})
	}
}

// What has no pace is refused, and says what to do.
func TestPaced(t *testing.T) {
	made, timeless, alone := stream{source: "gen:64", made: &gen.Spec{}}, captured(), captured()
	timeless.span, alone.span = -1, -1
	alone.capture = &capture{survey: &survey.Survey{Packets: 1}}
	const none = "m.pcap: its packets carry no times to replay; give a rate, as -b 1G"
	for _, tt := range []struct {
		name   string
		stream stream
		once   bool
		want   string
	}{
		{"captured", captured(), false, ""},
		{"made", made, true, "gen:64 has no pace of its own; give a rate, as -b 1G"},
		{"without times", timeless, true, none},
		{"one packet, once", alone, true, ""},
		{"one packet, again and again", alone, false, none},
	} {
		s, _ := measuring(captured(), tt.stream)
		got := ""
		if err := s.paced(tt.once); err != nil {
			got = err.Error()
			if exitCode(err) != exitUsage {
				t.Errorf("%s: exit code %d, want %d", tt.name, exitCode(err), exitUsage)
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// The distance between two loads is of their unit.
func TestDistance(t *testing.T) {
	const want = ": want both in bits, both in packets, or both as multiples of the captured pace"
	for _, tt := range []struct{ rate, distance, is, err string }{
		{"x20", "x0.1", "x0.1", ""},
		{"x20", "", "x0.02", ""},
		{"x2.1", "", "x0.0021", ""}, // 2.1 / 1000 is 0.0021000000000000003 of floats
		{"1G", "", "1Mbps", ""},
		{"1G", "10%", "1Mbps", ""},
		{"1Mpps", "1kpps", "1kpps", ""},
		{"x20", "1%", "", "--precision 1% and --rate x20" + want},
		{"x20", "1M", "", "--precision 1Mbps and --rate x20" + want},
		{"1G", "x0.1", "", "--precision x0.1 and --rate 1Gbps" + want},
		{"1G", "1kpps", "", "--precision 1kpps and --rate 1Gbps" + want},
		{"1Mpps", "x1", "", "--precision x1 and --rate 1Mpps" + want},
	} {
		s, _ := measuring(captured())
		top, err := units.ParseRate(tt.rate)
		if err != nil {
			t.Fatal(err)
		}
		var distance units.Rate
		if tt.distance != "" {
			if distance, err = units.ParseRate(tt.distance); err != nil {
				t.Fatal(err)
			}
		}
		step, err := s.distance("precision", distance, top, 1000)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tt.err || err == nil && step.String() != tt.is {
			t.Errorf("-b %s -p %q: %v, error %q; want %s, %q", tt.rate, tt.distance, step, got, tt.is, tt.err)
		}
	}
	for _, text := range []string{"max"} {
		r, _ := units.ParseRate(text)
		if err := highest(r, "a search needs"); err == nil || err.Error() != "--rate max: a search needs a highest load, as 10G, 1.2Mpps or x10" {
			t.Errorf("highest: %v", err)
		}
		if err := finite("step", r); err == nil || err.Error() != "--step max: want a distance between two loads, as 1M, 1kpps, 1% or x0.1" {
			t.Errorf("finite: %v", err)
		}
	}
}

// How long a trial takes, by passes at a load or by a duration, whichever ends first; no time is too long.
func TestLength(t *testing.T) {
	slow := captured()
	slow.share = 0.5
	one, two := []stream{captured()}, []stream{captured(), slow}
	for _, tt := range []struct {
		name     string
		streams  []stream
		unit     trial.Unit
		load     float64
		loops    int64
		duration time.Duration
		want     time.Duration
	}{
		{"a pass", one, trial.Factor, 4, 1, 0, 250 * time.Millisecond},
		{"three", one, trial.Factor, 4, 3, 0, 750 * time.Millisecond},
		{"the slowest", two, trial.Factor, 4, 3, 0, 1500 * time.Millisecond},
		{"a time before", one, trial.Factor, 4, 3, 500 * time.Millisecond, 500 * time.Millisecond},
		{"a time behind", one, trial.Factor, 4, 3, time.Hour, 750 * time.Millisecond},
		{"a time", one, trial.Factor, 4, 0, time.Minute, time.Minute},
		{"packets", two, trial.Packets, 100, 2, 0, 40 * time.Second},
		{"bits", one, trial.WireBits, 672e3, 1, 0, time.Second},
		{"as fast as possible", one, trial.WireBits, math.Inf(1), 1, 0, 0},
		{"for ever", one, trial.Factor, 1, 0, 0, 0},
		{"far too slow", one, trial.Factor, 1e-300, 1, 0, 9e18},
	} {
		s, _ := measuring(tt.streams...)
		if got := s.length(trial.Spec{Unit: tt.unit, Load: []trial.Point{{Load: tt.load}}, Loops: tt.loops, Duration: tt.duration}); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestPer(t *testing.T) {
	s, _ := measuring(captured())
	for text, want := range map[string]string{
		"x10": "x10 (6.720 Mbps mean) per stream", "10M": "10Mbps (14.881 kpps of 64 B) per stream", "1kpps": "1kpps per stream",
	} {
		r, err := units.ParseRate(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.per(r); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
