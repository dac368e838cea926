package preflight_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"loadtest/internal/preflight"
	"loadtest/packet"
	"loadtest/units"
)

// looked is busy, inspected for two ports.
func looked() preflight.Inspection {
	other := preflight.Port{Name: "sim:wire/a", Backend: "sim", Mode: "virtual", MTU: 9000, MaxFrame: 9014}
	down := eth2()
	down.Up, down.Merges, down.MostPPS, down.LineRate = false, true, 12000, 10*units.Mbps
	k, _ := check(down, preflight.Skips{}, packet.Record{Data: tcp(4410, 4396)}, packet.Record{Data: frame(60, 8, 0)}, packet.Record{Data: frame(60), Link: 113})
	l, _ := check(other, preflight.Skips{}, packet.Record{Data: tcp(4410, 4396)})
	return preflight.Inspect(busy(), []preflight.Port{down, other}, []preflight.Tally{k.Tally(), l.Tally()}, options())
}

func TestText(t *testing.T) {
	one := clean()
	one.Times, one.Packets, one.Bytes, one.WireBytes, one.WireBits, one.Tagged = preflight.Times{Untimed: 1}, 1, 1000, 1000, 8192, preflight.Tagged{}
	one.Links[0].Packets, one.Kinds[0].Packets, one.Flows.Kinds[0].Packets = 1, 1, 1
	for _, tt := range []struct {
		name string
		i    preflight.Inspection
	}{
		{"busy.txt", looked()},
		{"clean.txt", preflight.Inspect(clean(), []preflight.Port{eth2()}, []preflight.Tally{{Packets: 1000, Bytes: 1e6, Sent: 1000, Kept: 1e6}}, preflight.Options{Loops: 1})},
		{"one.txt", preflight.Inspect(one, nil, nil, preflight.Options{})},
		{"empty.txt", preflight.Inspect(preflight.Capture{Name: "empty.pcap", Format: []string{"pcap 2.4 little-endian"}}, nil, nil, preflight.Options{Memory: 8e9})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := preflight.Text(&b, tt.i); err != nil {
				t.Fatal(err)
			}
			golden(t, tt.name, b.String())
			for line := range strings.Lines(b.String()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 100 {
					t.Errorf("%d columns, want at most 100: %s", n, line)
				}
			}
		})
	}
}

func TestJSON(t *testing.T) {
	for _, tt := range []struct {
		name string
		i    preflight.Inspection
	}{
		{"busy.jsonl", looked()},
		{"empty.jsonl", preflight.Inspect(preflight.Capture{Name: "empty.pcap"}, nil, nil, preflight.Options{})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := preflight.JSON(&b, tt.i); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(b.String(), `{"type":"inspect","v":1,"file":"`) || strings.Count(b.String(), "\n") != 1 {
				t.Errorf("want one line that says what it is, not %.80s…", b.String())
			}
			var pretty bytes.Buffer
			if err := json.Indent(&pretty, b.Bytes(), "", " "); err != nil {
				t.Fatal(err)
			}
			golden(t, tt.name, pretty.String())
		})
	}
}

// What a port says of itself is not said of the capture again, and nothing is said twice.
func TestInspect(t *testing.T) {
	i := looked()
	if !i.Refused() {
		t.Error("refused: false; want true")
	}
	said := map[string]bool{}
	for _, f := range i.Findings {
		if f.Port != "" || said[f.Text] {
			t.Errorf("of the capture, port %q: %s", f.Port, f.Text)
		}
		said[f.Text] = true
	}
	for _, p := range i.Ports {
		for _, f := range p.Findings {
			if f.Port != p.Port.Name || said[f.Text] {
				t.Errorf("of %s, port %q: %s", p.Port.Name, f.Port, f.Text)
			}
			said[f.Text] = true
		}
	}
	if fine := preflight.Inspect(clean(), []preflight.Port{eth2()}, []preflight.Tally{{}}, preflight.Options{Loops: 1}); fine.Refused() {
		t.Errorf("refused: true, for %+v", fine)
	}
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrors(t *testing.T) {
	if err := preflight.Text(full{}, looked()); !errors.Is(err, errFull) {
		t.Errorf("Text: %v, want %v", err, errFull)
	}
	if err := preflight.JSON(full{}, looked()); !errors.Is(err, errFull) {
		t.Errorf("JSON: %v, want %v", err, errFull)
	}
}
