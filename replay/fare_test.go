package replay

import (
	"testing"
	"time"

	"loadtest/internal/link"
	"loadtest/nic"
	"loadtest/trial"
)

// A wired port tells of its line one thing after the other.
type wired struct {
	nic.Port
	tells []link.Wire
}

func (w *wired) Wire() (t link.Wire) {
	t, w.tells = w.tells[0], w.tells[1:]
	return t
}

// What happened on a line before the trial is not the trial's.
func TestFare(t *testing.T) {
	none := link.Unknown()
	before, after := none, none
	before.CRC, before.PauseRx, after.CRC, after.PauseRx, after.Symbol, after.FECCorrected = 5, 100, 7, 531, 3, 1e6
	for _, tt := range []struct {
		name  string
		port  string // that tells
		tells []link.Wire
		want  trial.Line
	}{
		{"receiver", "b", []link.Wire{before, after}, trial.Line{Told: true, Pauses: 431, Broken: 5}},
		{"sender", "a", []link.Wire{before, after}, trial.Line{Told: true, Pauses: 431, Broken: 5}},
		{"nothing told", "b", []link.Wire{none, none}, trial.Line{}},
		{"no change", "b", []link.Wire{before, before}, trial.Line{Told: true}},
		{"counters that began anew", "b", []link.Wire{after, before}, trial.Line{Told: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ports := pair(&wire{}, &wire{})
			d := ports[tt.port]
			d.Queues = []nic.Port{&wired{d.Queues[0], tt.tells}}
			ports[tt.port] = d
			res := run(t, Options{Ports: ports, Streams: []Stream{{Name: "s", Packets: udp(3, 60, true), TX: "a", RX: "b"}}}, trial.Flat(672e3, 10*time.Millisecond))
			for _, p := range res.Ports {
				if want := tt.want; p.Name == tt.port && p.Line != want {
					t.Errorf("%+v, want %+v", p.Line, want)
				} else if p.Name != tt.port && p.Line != (trial.Line{}) {
					t.Errorf("%s tells of its line: %+v", p.Name, p.Line)
				}
			}
		})
	}
}
