package replay

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"loadtest/internal/clock"
	"loadtest/packet"
	"loadtest/packet/rewrite"
	"loadtest/trial"
)

func vary(t *testing.T, rules ...string) (all []rewrite.Vary) {
	t.Helper()
	for _, text := range rules {
		v, err := rewrite.ParseVary(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

// Each pass has the next values, from memory and from disk, tagged or by flow, also in a second trial; all of it comes back, and the
// packets are what they were when the Runner is closed.
func TestVary(t *testing.T) {
	for _, tags := range []packet.TagMode{packet.TagAuto, packet.TagNever} {
		for _, from := range []string{"memory", "copy", "disk"} {
			t.Run(fmt.Sprint(from, " ", tags), func(t *testing.T) {
				n := 100
				if from == "copy" {
					n = 7
				}
				store := udp(n, 90, true)
				before := slices.Clone(store.Frame(0).Data)
				s := Stream{Name: "a", Source: "x", Packets: store, TX: "a", RX: "b"}
				if from == "disk" {
					s = disk(store, store, tags)
				}
				s.Vary = vary(t, "src-ip:3", "dst-port:4")
				var passes [][2]string
				there := &wire{fate: func(i int, f packet.Frame) int {
					if i%n == 0 {
						src, _ := netip.AddrFromSlice(f.Data[26:30])
						passes = append(passes, [2]string{src.String(), fmt.Sprint(binary.BigEndian.Uint16(f.Data[36:]))})
					}
					return 1
				}}
				r, err := New(Options{Clock: clock.NewVirtual(), Ports: pair(there, &wire{}), Streams: []Stream{s}, Tag: tags})
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					res, err := r.Run(t.Context(), trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 1e5}}, Loops: 7}, nil)
					if err != nil {
						t.Fatal(err)
					}
					st := res.Streams[0]
					if st.Sent != int64(7*n) || st.Lost() != 0 || st.Surplus != 0 || (st.Untagged > 0) != (tags == packet.TagNever) {
						t.Errorf("sent %d, lost %d, surplus %d, untagged %d", st.Sent, st.Lost(), st.Surplus, st.Untagged)
					}
				}
				var want [][2]string
				for i := range 14 {
					want = append(want, [2]string{fmt.Sprintf("198.18.0.%d", 1+i%3), fmt.Sprint(9 + i%4)})
				}
				if !slices.Equal(passes, want) {
					t.Errorf("passes %v, want %v", passes, want)
				}
				if r.Close() != nil || from == "memory" && !slices.Equal(store.Frame(0).Data[:70], before[:70]) { // the tag stays
					t.Errorf("closed, packet 1 is %x, was %x", store.Frame(0).Data, before)
				}
			})
		}
	}
}

// A loss is a loss of its pass's flow: a surplus of another pass hides none.
func TestVaryKeepsFlowsApart(t *testing.T) {
	s := Stream{Name: "a", Source: "x", Packets: udp(80, 90, false), TX: "a", RX: "b", Vary: vary(t, "src-ip:5")}
	rng := rand.New(rand.NewPCG(1, 2))
	lost, twice := 0, 0
	there := &wire{fate: func(i int, f packet.Frame) int {
		switch rng.IntN(10) {
		case 0:
			lost++
			return -1
		case 1:
			twice++
			return 2
		}
		return 1
	}}
	res := run(t, Options{Clock: clock.NewVirtual(), Ports: pair(there, &wire{}), Streams: []Stream{s}},
		trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 1e5}}, Loops: 5})
	if st := res.Streams[0]; st.Sent != 400 || st.Lost() != int64(lost) || st.Surplus != int64(twice) {
		t.Errorf("sent %d, lost %d, surplus %d; want 400, %d, %d", st.Sent, st.Lost(), st.Surplus, lost, twice)
	}
}

func TestTooMuchVariety(t *testing.T) {
	s := Stream{Name: "a", Source: "x", Packets: udp(500, 90, false), TX: "a", RX: "b", Vary: vary(t, "src-ip:10000")}
	_, err := New(Options{Clock: clock.NewVirtual(), Ports: pair(&wire{}, &wire{}), Streams: []Stream{s}})
	if err == nil || !strings.Contains(err.Error(), "500 flows without room for a tag, each in 10000 variations") {
		t.Errorf("%v", err)
	}
	s.Packets = udp(500, 90, true)
	if _, err := New(Options{Clock: clock.NewVirtual(), Ports: pair(&wire{}, &wire{}), Streams: []Stream{s}}); err != nil {
		t.Errorf("with tags: %v", err)
	}
}

// A virtual minute at 185 000 packets/s: each second has its packets, none late, none left.
func TestMinute(t *testing.T) {
	const rate = 185_000
	var seconds [61]int64
	start := int64(0)
	there := &wire{fate: func(i int, f packet.Frame) int {
		if i == 0 {
			start = f.Nanos
		}
		seconds[(f.Nanos-start)/1e9]++
		return -1
	}}
	res := run(t, Options{Clock: clock.NewVirtual(), Ports: pair(there, &wire{}), Streams: []Stream{{Name: "a", Packets: udp(100, 60, true), TX: "a"}}},
		trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: rate}}, Duration: time.Minute})
	if s := res.Streams[0]; s.Intended != 60*rate || s.Unsent() != 0 || s.Lateness.Max != 0 {
		t.Errorf("intended %d, unsent %d, late %d ns", s.Intended, s.Unsent(), s.Lateness.Max)
	}
	for i, n := range seconds[:60] {
		if n < rate-1 || n > rate+1 {
			t.Errorf("second %d: %d packets, want %d", i, n, rate)
		}
	}
}
