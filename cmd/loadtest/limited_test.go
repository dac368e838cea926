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
	for _, tt := range []struct {
		name    string
		streams []trial.Stream
		ports   []trial.Port
		share   float64
		elapsed time.Duration
		want    string
	}{
		{"it kept up", []trial.Stream{fast}, nil, 0, time.Second, ""},
		{"too slow", []trial.Stream{slow}, nil, 0, time.Second, no + "sent 3.1 of 9.2 Mpps (afpacket). Lower: -b 3Mpps"},
		{"stopped early", []trial.Stream{slow}, nil, 0, 2 * time.Second, no + "sent 1.55 of 4.6 Mpps (afpacket). Lower: -b 1.5Mpps"},
		{"of two", []trial.Stream{fast, {Name: "b→a", Intended: 9_200, Sent: 1_234}}, nil, 0, time.Second,
			no + "sent 1.23 of 9.2 kpps of b→a (afpacket). Lower: -b 1.1kpps"},
		{"a share", []trial.Stream{slow}, nil, 0.5, time.Second, no + "sent 3.1 of 9.2 Mpps (afpacket). Lower: -b 6Mpps"},
		{"next to nothing", []trial.Stream{{Name: "a→b", Intended: 20, Sent: 1}}, nil, 0, time.Second, no + "sent 1 of 20 packets/s (afpacket). Lower: -b"},
		{"dropped what came in", []trial.Stream{slow}, []trial.Port{{Name: "a"}, {Name: "b", Missed: 7}}, 0, time.Second,
			no + "dropped 7 packets that came in at b (afpacket). Lower: -b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			port := nic.Device{Info: nic.Info{Backend: "afpacket"}}
			s := &session{common: &common{unsent: 0.002}, devices: map[string]nic.Device{"a": port, "b": port},
				streams: []stream{{name: "a→b", tx: "a", rx: "b", share: tt.share}, {name: "b→a", tx: "b", rx: "a"}}}
			got := ""
			if err := s.limited(&trial.Result{Streams: tt.streams, Ports: tt.ports, Elapsed: tt.elapsed}); err != nil {
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
	for pps := 2.5; pps < 2e8; pps *= 1.037 {
		r, err := units.ParseRate(below(pps))
		if err != nil || r.Kind != units.Packets || r.Value > 0.97*pps || r.Value < 0.75*pps && pps > 20 {
			t.Errorf("%v packets/s: %q is %v, %v; want a rate from 75 to 97 %%", pps, below(pps), r.Value/pps, err)
		}
	}
	for _, pps := range []float64{0, 0.5, 1} {
		if got := below(pps); got != "" {
			t.Errorf("%v packets/s: %q", pps, got)
		}
	}
}
