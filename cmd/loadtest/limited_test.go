package main

import (
	"testing"
	"time"

	"loadtest/nic"
	"loadtest/trial"
	"loadtest/units"
)

// A tester that could not keep up says how far it came, and a load that it can do.
func TestLimitedText(t *testing.T) {
	const no = "no verdict about the device: the tester "
	fast, slow := trial.Stream{Name: "a→b", Intended: 9_200_000, Sent: 9_199_000}, trial.Stream{Name: "a→b", Intended: 9_200_000, Sent: 3_100_000}
	bits, factor := trial.Flat(1e9, time.Second), trial.Spec{Unit: trial.Factor, Load: []trial.Point{{Load: 7}}, Loops: 1}
	for _, tt := range []struct {
		name    string
		streams []trial.Stream
		ports   []trial.Port
		share   float64
		elapsed time.Duration
		spec    trial.Spec
		starved time.Duration
		want    string
	}{
		{"it kept up", []trial.Stream{fast}, nil, 0, time.Second, bits, 0, ""},
		{"too slow", []trial.Stream{slow}, nil, 0, time.Second, bits, 0, no + "sent 3.1 of 9.2 Mpps (afpacket). Lower: -b 3Mpps"},
		{"stopped early", []trial.Stream{slow}, nil, 0, 2 * time.Second, bits, 0, no + "sent 1.55 of 4.6 Mpps (afpacket). Lower: -b 1.5Mpps"},
		{"of two", []trial.Stream{fast, {Name: "b→a", Intended: 9_200, Sent: 1_234}}, nil, 0, time.Second, bits, 0,
			no + "sent 1.23 of 9.2 kpps of b→a (afpacket). Lower: -b 1.1kpps"},
		{"a share", []trial.Stream{slow}, nil, 0.5, time.Second, bits, 0, no + "sent 3.1 of 9.2 Mpps (afpacket). Lower: -b 6Mpps"},
		{"next to nothing", []trial.Stream{{Name: "a→b", Intended: 20, Sent: 1}}, nil, 0, time.Second, bits, 0, no + "sent 1 of 20 packets/s (afpacket). Lower: -b"},
		{"dropped what came in", []trial.Stream{slow}, []trial.Port{{Name: "a"}, {Name: "b", Missed: 7}}, 0, time.Second, bits, 0,
			no + "dropped 7 packets that came in at b (afpacket). Lower: -b"},
		{"a multiple of the captured pace", []trial.Stream{slow}, nil, 0.5, time.Second, factor, 0, no + "sent 3.1 of 9.2 Mpps (afpacket). Lower: -b x2"},
		{"from disk", []trial.Stream{slow}, nil, 0, time.Second, factor, 35 * time.Millisecond,
			no + "is limited by disk: packets waited 35 ms for it. Lower: -b x2; or a faster disk, or --memory"},
		{"from disk, packets", []trial.Stream{slow}, nil, 0, time.Second, bits, 35 * time.Millisecond,
			no + "is limited by disk: packets waited 35 ms for it. Lower: -b 3Mpps; or a faster disk, or --memory"},
		{"from disk, a moment only", []trial.Stream{fast}, nil, 0, time.Second, factor, 1000,
			no + "is limited by disk: packets waited 1 ms for it. Lower: -b x6.5; or a faster disk, or --memory"},
		{"from disk, nothing", []trial.Stream{{Name: "a→b"}}, nil, 0, time.Second, bits, time.Second,
			no + "is limited by disk: packets waited 1000 ms for it. Lower: -b; or a faster disk, or --memory"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			port := nic.Device{Info: nic.Info{Backend: "afpacket"}}
			s := &session{common: &common{unsent: 0.002}, devices: map[string]nic.Device{"a": port, "b": port},
				streams: []stream{{name: "a→b", tx: "a", rx: "b", share: tt.share}, {name: "b→a", tx: "b", rx: "a"}}}
			got := ""
			if err := s.limited(tt.spec, &trial.Result{Streams: tt.streams, Ports: tt.ports, Elapsed: tt.elapsed, Starved: tt.starved}); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// What is advised is a rate as -b takes it, below what the tester did, and not far below.
func TestBelow(t *testing.T) {
	for _, kind := range []units.RateKind{units.Packets, units.Factor} {
		for rate := 2.5; rate < 2e8; rate *= 1.037 {
			text := below(units.Rate{Kind: kind, Value: rate})
			r, err := units.ParseRate(text)
			if err != nil || r.Kind != kind || r.Value > 0.97*rate || r.Value < 0.75*rate && (rate > 20 || kind == units.Factor) || len(text) > 11 {
				t.Errorf("%v: %q is %v, %v; want a rate from 75 to 97 %%, in few digits", rate, text, r.Value/rate, err)
			}
		}
		if got := below(units.Rate{Kind: kind}); got != "" {
			t.Errorf("below nothing: %q", got)
		}
	}
	for _, pps := range []float64{0.5, 1} {
		if got := below(units.Rate{Kind: units.Packets, Value: pps}); got != "" {
			t.Errorf("%v packets/s: %q", pps, got)
		}
	}
	if got := below(units.Rate{Kind: units.Factor, Value: 0.0123}); got != " x0.011" {
		t.Errorf("below x0.0123: %q, want x0.011", got)
	}
}
