package tally

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadtest/internal/match"
	"loadtest/trial"
)

func TestStream(t *testing.T) {
	sent := Sent{Intended: 12, Sent: 10, Bytes: 1000, WireBits: 9920, Tagged: 4, ByFlow: []int64{0, 2, 3, 1, 0}, Skipped: 1}
	back := func() *Back {
		b := &Back{Bytes: 300, WireBits: 2976, Late: 2, Corrupt: 1, Half: trial.Arrivals{Packets: 3}}
		b.Received, b.Duplicated, b.Reordered, b.TooOld = 3, 5, 1, 1
		b.Untagged, b.UntaggedBits = 99, 99 // what a running trial shows is not what counts
		return b
	}
	for _, tt := range []struct {
		name string
		back *Back
		f    *Flows
		want trial.Stream
	}{
		{"only sent", nil, nil, trial.Stream{Untagged: 6}},
		{"flows: none, all, too many, and another stream's", back(),
			&Flows{Packets: []int64{7, 0, 3, 4, 9}, Bytes: []int64{700, 0, 300, 401, 900}, WireBits: []int64{1, 0, 2976, 4000, 1}},
			trial.Stream{Received: 3 + 0 + 3 + 1, Untagged: 6, ReceivedBytes: 300 + 300 + 100, RecvWireBits: 2976 + 2976 + 1000,
				Duplicated: 5, Reordered: 1, Late: 2, Corrupt: 1, Surplus: 1 + 3, Half: trial.Arrivals{Packets: 3}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Name, tt.want.Intended, tt.want.Sent, tt.want.Skipped, tt.want.SentBytes, tt.want.SentWireBits = "s", 12, 10, 1, 1000, 9920
			got := Stream("s", &sent, tt.back, tt.f)
			if d := cmp.Diff(tt.want, got, cmp.AllowUnexported(trial.Histogram{}, trial.Differences{})); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// Days of untagged packets, some of them doubled: nothing overflows.
func TestLongTrial(t *testing.T) {
	const n = 1 << 38
	sent := Sent{Intended: n, Sent: n, ByFlow: []int64{n}}
	got := Stream("s", &sent, &Back{}, &Flows{Packets: []int64{n + n/4}, Bytes: []int64{60 * (n + n/4)}, WireBits: []int64{672 * (n + n/4)}})
	if got.Received != n || got.Surplus != n/4 || got.ReceivedBytes != 60*n || got.RecvWireBits != 672*n {
		t.Errorf("received %d, surplus %d, %d bytes, %d bits; want %d, %d, %d, %d", got.Received, got.Surplus, got.ReceivedBytes, got.RecvWireBits,
			int64(n), int64(n/4), int64(60*n), int64(672*n))
	}
}

func TestResetKeepsMemoryAndNothingElse(t *testing.T) {
	s := Sent{Intended: 1, Sent: 1, Bytes: 1, WireBits: 1, Tagged: 1, ByFlow: []int64{4, 5}, Skipped: 1}
	s.Lateness.Record(5, 1)
	b := Back{Bytes: 1, WireBits: 1, Late: 1, Corrupt: 1, Untagged: 1, UntaggedBits: 1, Half: trial.Arrivals{Packets: 1, During: time.Second}}
	b.Reset()
	b.Limit = 10
	b.See(3)
	b.Took(3, 5)
	b.Took(4, 9)
	s.Reset()
	b.Reset()
	if s.Intended != 0 || s.Sent != 0 || s.Bytes != 0 || s.WireBits != 0 || s.Tagged != 0 || s.Skipped != 0 || s.ByFlow[0] != 0 || s.ByFlow[1] != 0 || s.Lateness.Count != 0 {
		t.Errorf("a book of sent packets remembers: %+v", s)
	}
	if got := Stream("", &s, &b, &Flows{Packets: make([]int64, 2)}); !cmp.Equal(got, trial.Stream{}, cmp.Comparer(func(a, b trial.Histogram) bool { return a.Count == b.Count }),
		cmp.Comparer(func(a, b trial.Differences) bool { return a.Count() == b.Count() })) {
		t.Errorf("a book of received packets remembers: %+v", got)
	}
	b.Limit = 10
	if b.See(3) != match.New {
		t.Error("the window remembers")
	}
	if n := testing.AllocsPerRun(10, func() { s.Reset(); b.Reset() }); n != 0 {
		t.Errorf("Reset makes %v allocations", n)
	}
}
