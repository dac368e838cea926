//go:build dpdk && cgo && linux

package dpdk

import (
	"testing"
	"time"

	"loadtest/internal/clock"
	"loadtest/internal/lab"
	"loadtest/nic"
	"loadtest/replay"
	"loadtest/trial"
)

// TestEngine: the engine's result is the same whether C plays and classifies or Go does, packet by packet.
func TestEngine(t *testing.T) {
	lab.Need(t, "dpdk")
	for _, tt := range []struct {
		name  string
		plain bool
	}{{"in C", false}, {"in Go", true}} {
		t.Run(tt.name, func(t *testing.T) {
			c := clock.NewReal()
			x, y := ringWire(t, 4096, Options{Epoch: c.Epoch()})
			played := nic.Of(x.Queues[0]).Player
			if tt.plain {
				x.Queues[0], y.Queues[0] = struct{ nic.Port }{x.Queues[0]}, struct{ nic.Port }{y.Queues[0]}
			}
			r, err := replay.New(replay.Options{Clock: c, Ports: map[string]nic.Device{"x": x, "y": y}, Credit: 5 * time.Second, Drain: time.Second, Streams: []replay.Stream{
				{Name: "there", Source: "made", Packets: lane(t, 0, 0, 60, 70, 1514).Store, TX: "x", RX: "y"},
				{Name: "back", Source: "made", Packets: lane(t, 0, 0, 300).Store, TX: "y", RX: "x"},
				{Name: "more", Source: "made", Packets: lane(t, 0, 0, 61, 62).Store, TX: "x", RX: "y"}}})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				res, err := r.Run(t.Context(), trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 50e3}}, Preroll: 20 * time.Millisecond, Duration: 100 * time.Millisecond}, nil)
				if err != nil || len(res.Streams) != 3 {
					t.Fatalf("%d streams, %v", len(res.Streams), err)
				}
				for _, s := range res.Streams {
					// A busy machine may leave some unsent.
					if s.Intended != 5000 || s.Sent == 0 || s.Received != s.Sent || s.Lost() != 0 || s.Duplicated != 0 || s.Reordered != 0 ||
						s.Latency.Count != s.Sent || s.Lateness.Count != s.Sent {
						t.Errorf("%s: intended %d, sent %d, received %d, duplicated %d, reordered %d; timed %d, late %d", s.Name, s.Intended, s.Sent, s.Received,
							s.Duplicated, s.Reordered, s.Latency.Count, s.Lateness.Count)
					}
				}
				for _, p := range res.Ports {
					if p.Missed != 0 || p.TxError != 0 || p.Down || len(p.Foreign) > 0 {
						t.Errorf("%+v", p)
					}
				}
			}
			if o := played.(*port); !tt.plain != (o.player.c != nil && o.Played(0).Intended == 5000) {
				t.Errorf("in C %v, want %v", tt.plain, !tt.plain)
			}
		})
	}
}
