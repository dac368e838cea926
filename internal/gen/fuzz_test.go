package gen

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadtest/packet"
	"loadtest/units"
)

// What is read can be written and read again as the same; what is not says in one line first what it was. A source makes as many
// packets and bytes as it says before, each of them sound, and as many flows as it was asked for.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"gen", "gen:64,flows=1000", "gen:imix,proto=tcp,ip6", "gen,src=10.0.0.0/8,dst=11.0.0.1,vlan=7", "gen:99,dst=fd00::/64", "gen:64,flow=3",
		"gen,flows=1\n", "gen:65554,ip6,flows=2147483647", "gen,src=::/0,dst=::/0", "gen,src=10.0.0.0/31,dst=11.0.0.0/30,proto=icmp,flows=2"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), strconv.Quote(text)+": ") || strings.ContainsAny(err.Error(), "\r\n") {
				t.Fatalf("%q: %q: want one line that begins with it", text, err)
			}
			return
		}
		again, err := Parse(s.String())
		if err != nil {
			t.Fatalf("%q is %q: %v", text, s, err)
		}
		if d := cmp.Diff(s, again, samePrefix()); d != "" {
			t.Fatalf("%q is %q: %s", text, s, d)
		}
		if len(s.Sizes)*s.Flows < 1<<13 && s.Bytes() < 1<<23 { // what is more is refused by who knows how much memory there is
			packets(t, s)
		}
	})
}

func packets(t *testing.T, s Spec) {
	t.Helper()
	store, err := s.Packets(Options{})
	if err != nil {
		t.Fatal(err)
	}
	bytes, flows := int64(0), make(map[uint64]bool)
	for i := range store.Len() {
		b := store.Frame(i).Data
		h, ok := packet.Parse(b)
		if !ok || h.End != len(b) || !slices.Contains(s.Sizes, units.Size(len(b)+units.FCS)) {
			t.Fatalf("%s: packet %d of %d bytes ends at %d, %v", s, i, len(b), h.End, ok)
		}
		bytes += int64(len(b))
		flows[packet.FlowOf(b, h, ok)] = true
	}
	if store.Len() != len(s.Sizes)*s.Flows || bytes != s.Bytes() || len(flows) != s.Flows {
		t.Fatalf("%s: %d packets, %d bytes, %d flows; want %d, %d, %d", s, store.Len(), bytes, len(flows), len(s.Sizes)*s.Flows, s.Bytes(), s.Flows)
	}
}
