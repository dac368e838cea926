package preflight_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"loadtest/internal/preflight"
	"loadtest/internal/timeline"
	"loadtest/packet"
	"loadtest/pcap"
)

// tally is what a port would do with all of a source.
func tally(t *testing.T, s packet.Source, p preflight.Port) preflight.Tally {
	t.Helper()
	rd, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer rd.Close()
	k := preflight.NewCheck(func(uint16) string { return "a.pcap" }, p, preflight.Skips{})
	var rec packet.Record
	for {
		if err := rd.Next(&rec); err == io.EOF {
			return k.Tally()
		} else if err != nil {
			t.Fatal(err)
		}
		k.Add(&rec)
	}
}

// What is said of captures of other tools has no contradiction.
func TestGoldenCaptures(t *testing.T) {
	folder := os.Getenv("LOADTEST_GOLDEN")
	if folder == "" {
		t.Skip("LOADTEST_GOLDEN is not set")
	}
	all, err := filepath.Glob(filepath.Join(folder, "pcaps", "*.pcap*"))
	if err != nil || len(all) < 25 {
		t.Fatalf("%d captures in %s (%v), want at least 25", len(all), folder, err)
	}
	jumbo := eth2()
	jumbo.Name, jumbo.MTU, jumbo.MaxFrame = "eth3", 9216, 9230
	for _, path := range all {
		t.Run(filepath.Base(path), func(t *testing.T) {
			s := pcap.File(path, pcap.ReadOptions{TakeWhole: true})
			c := preflight.Of(read(t, timeline.Options{}, s))
			ports, tallies := []preflight.Port{eth2(), jumbo}, []preflight.Tally{}
			for _, p := range ports {
				tallies = append(tallies, tally(t, s, p))
			}
			i := preflight.Inspect(c, ports, tallies, options())
			agree(t, c)
			for _, p := range i.Ports {
				n := p.Tally
				if sum := n.Sent + n.NoEthernet.Packets + n.Short.Packets + n.Snapped.Packets + n.Oversize.Packets; sum != c.Packets || n.Bytes != c.Bytes {
					t.Errorf("%s: %d packets, %d bytes; want %d, %d", p.Port.Name, sum, n.Bytes, c.Packets, c.Bytes)
				}
				if n.Snapped.Packets > c.Snapped.Packets || n.Short.Packets > c.Short.Packets {
					t.Errorf("%s: %+v, more than in the capture", p.Port.Name, n)
				}
				refused := false
				for _, f := range append(i.Findings, p.Findings...) {
					refused = refused || f.Level == preflight.Refuse
				}
				if n.Sent < c.Packets && !refused {
					t.Errorf("%s sends %d of %d, and nothing is refused", p.Port.Name, n.Sent, c.Packets)
				}
			}
			shown(t, c, i)
		})
	}
}

// agree compares figures of a capture with each other.
func agree(t *testing.T, c preflight.Capture) {
	t.Helper()
	sums := map[string]int64{}
	for _, k := range c.Kinds {
		sums["kinds"] += k.Packets
	}
	for _, l := range c.Links {
		sums["links"] += l.Packets
	}
	for _, b := range c.Sizes.Buckets {
		sums["sizes"] += b.Packets
	}
	if c.Sides != nil {
		sums["sides"] = c.Sides.Client + c.Sides.Server
	}
	for name, n := range sums {
		if n != c.Packets {
			t.Errorf("%s add up to %d, want %d", name, n, c.Packets)
		}
	}
	if m := c.Sizes.Mean; m != nil && (*m < float64(c.Sizes.Min) || *m > float64(c.Sizes.Max)) {
		t.Errorf("mean size %v, not within %d and %d", *m, c.Sizes.Min, c.Sizes.Max)
	}
	if c.Tagged.Auto > c.Tagged.Always || c.Tagged.Always > c.Packets || c.Flows.Opened > c.Flows.TCP || c.Flows.TwoSided > c.Flows.TCP {
		t.Errorf("parts are more than the whole: %+v, %+v", c.Tagged, c.Flows)
	}
	if x := c.Times.Longest; x != nil && *x > c.Times.Span {
		t.Errorf("the longest gap is %d ns, all of it %d", *x, c.Times.Span)
	}
	if p := c.Times.Peaks; len(p) > 0 {
		if bps, _ := c.Mean(); p[0].Bps < float64(bps)*0.999 {
			t.Errorf("peak %v below the mean, %v", p[0].Bps, bps)
		}
	}
}

// shown looks at the texts.
func shown(t *testing.T, c preflight.Capture, i preflight.Inspection) {
	t.Helper()
	var text, line bytes.Buffer
	if err := preflight.Text(&text, i); err != nil {
		t.Fatal(err)
	}
	if err := preflight.JSON(&line, i); err != nil {
		t.Fatal(err)
	}
	for _, odd := range []string{"NaN", "Inf", "%!", "(null)"} {
		if strings.Contains(text.String(), odd) {
			t.Errorf("%q in\n%s", odd, &text)
		}
	}
	for l := range strings.Lines(text.String()) {
		if n := utf8.RuneCountInString(l); n > 101 {
			t.Errorf("%d columns, want at most 100: %s", n-1, l)
		}
	}
	var read struct {
		Type    string
		V       int
		Packets int64
		Ports   []struct{ Records struct{ Packets int64 } }
	}
	if err := json.Unmarshal(line.Bytes(), &read); err != nil || read.Type != "inspect" || read.V != preflight.Version || read.Packets != c.Packets ||
		len(read.Ports) != 2 || read.Ports[1].Records.Packets != c.Packets {
		t.Errorf("%v: %+v of %s", err, read, &line)
	}
}
