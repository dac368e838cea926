package trial_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadtest/trial"
)

// random is any result: a few streams and ports in any order, or none.
func random(rnd *rand.Rand) trial.Result {
	n := func() int64 { return rnd.Int64N(1e9) }
	if rnd.IntN(8) == 0 {
		return trial.Result{}
	}
	r := trial.Result{Start: n(), Elapsed: time.Duration(n()), Stopped: rnd.IntN(4) == 0, Cut: rnd.IntN(4) == 0,
		Stolen: time.Duration(n()), Suspended: time.Duration(n())}
	for _, i := range rnd.Perm(4)[:rnd.IntN(4)] {
		s := trial.Stream{Name: string(rune('a' + i)), Intended: n(), Sent: n(), Received: n(), Untagged: n(), SentBytes: n(),
			ReceivedBytes: n(), SentWireBits: n(), RecvWireBits: n(), Duplicated: n(), Reordered: n(), Late: n(), Corrupt: n(),
			Surplus: n(), Skipped: n(), Half: trial.Arrivals{Packets: n(), Bytes: n(), WireBits: n(), During: time.Duration(n())}}
		for range rnd.IntN(3) {
			s.Latency.Record(n()/1000, 1+n()%50)
			s.Lateness.Record(n()/1000, 1)
			s.Variation.Compared, s.Variation.Jitter = n(), n()
			s.Variation.Between.Record(n() - n())
		}
		s.Stamps = trial.Stamps{Sent: trial.Stamp(rnd.IntN(5)), Arrived: trial.Stamp(rnd.IntN(5))}
		r.Streams = append(r.Streams, s)
	}
	for _, i := range rnd.Perm(3)[:rnd.IntN(3)] {
		p := trial.Port{Name: string(rune('x' + i)), Missed: n(), TxError: n(), Down: rnd.IntN(3) == 0}
		for _, k := range rnd.Perm(3)[:rnd.IntN(4)] {
			p.Foreign = append(p.Foreign, trial.Foreign{Kind: []string{"ARP", "LLDP", "IPv6 ND"}[k], Packets: n()})
		}
		r.Ports = append(r.Ports, p)
	}
	return r
}

var same = cmp.Options{
	cmp.Comparer(func(a, b trial.Histogram) bool {
		if a.Count != b.Count || a.Min != b.Min || a.Max != b.Max || a.Sum != b.Sum {
			return false
		}
		for p := 5.0; p < 100; p += 15 {
			x, _ := a.Percentile(p)
			y, _ := b.Percentile(p)
			if x != y {
				return false
			}
		}
		return true
	}),
	cmp.Transformer("differences", func(d trial.Differences) [4]int64 {
		least, most, _ := d.Range()
		middle, _ := d.Median()
		return [4]int64{d.Count(), least, middle, most}
	}),
	cmp.Transformer("set", func(l []trial.Foreign) map[string]int64 {
		m := map[string]int64{}
		for _, f := range l {
			m[f.Kind] += f.Packets
		}
		return m
	}),
}

func must(t *testing.T, a, b trial.Result) trial.Result {
	t.Helper()
	r, err := trial.Merge(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Several machines share a trial: it must not matter who adds up first.
func TestMergeLaws(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 11))
	for i := range 300 {
		a, b, c := random(rnd), random(rnd), random(rnd)
		if d := cmp.Diff(must(t, a, b), must(t, b, a), same); d != "" {
			t.Fatalf("pair %d: a+b is not b+a:\n%s", i, d)
		}
		if d := cmp.Diff(must(t, must(t, a, b), c), must(t, a, must(t, b, c)), same); d != "" {
			t.Fatalf("triple %d: (a+b)+c is not a+(b+c):\n%s", i, d)
		}
		whole := must(t, must(t, a, b), c)
		for name, of := range map[string]func(*trial.Stream) int64{
			"intended": func(s *trial.Stream) int64 { return s.Intended },
			"lost":     (*trial.Stream).Lost,
			"late":     func(s *trial.Stream) int64 { return s.Late },
			"half":     func(s *trial.Stream) int64 { return s.Half.Packets },
			"times":    func(s *trial.Stream) int64 { return s.Latency.Count },
		} {
			if got, want := whole.Sum(of), a.Sum(of)+b.Sum(of)+c.Sum(of); got != want {
				t.Fatalf("triple %d: %s %d, want %d", i, name, got, want)
			}
		}
		if whole.Foreign() != a.Foreign()+b.Foreign()+c.Foreign() || whole.Missed() != a.Missed()+b.Missed()+c.Missed() {
			t.Fatalf("triple %d: foreign or missed packets got lost", i)
		}
	}
}

func TestMerge(t *testing.T) {
	stream := func(name string, sent, received int64) trial.Stream {
		return trial.Stream{Name: name, Intended: sent + 1, Sent: sent, Received: received}
	}
	a := trial.Result{Start: 100, Elapsed: 50, Stolen: 7, Suspended: 2, Streams: []trial.Stream{stream("x", 10, 9)},
		Ports: []trial.Port{{Name: "p", Missed: 1, Foreign: []trial.Foreign{{Kind: "LLDP", Packets: 2}, {Kind: "ARP", Packets: 1}}}}}
	b := trial.Result{Start: 90, Elapsed: 40, Cut: true, Stolen: 3, Suspended: 5, Streams: []trial.Stream{stream("y", 5, 5), stream("x", 1, 0)},
		Ports: []trial.Port{{Name: "p", Down: true, Foreign: []trial.Foreign{{Kind: "ARP", Packets: 4}}}}}
	want := trial.Result{Start: 90, Elapsed: 60, Cut: true, Stolen: 7, Suspended: 5,
		Streams: []trial.Stream{{Name: "x", Intended: 13, Sent: 11, Received: 9}, stream("y", 5, 5)},
		Ports:   []trial.Port{{Name: "p", Missed: 1, Down: true, Foreign: []trial.Foreign{{Kind: "ARP", Packets: 5}, {Kind: "LLDP", Packets: 2}}}}}
	exact := cmp.Options{cmp.Comparer(func(a, b trial.Histogram) bool { return a.Count == b.Count }), cmp.AllowUnexported(trial.Differences{})}
	if d := cmp.Diff(want, must(t, a, b), exact); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if len(a.Ports[0].Foreign) != 2 || a.Ports[0].Foreign[0] != (trial.Foreign{Kind: "LLDP", Packets: 2}) {
		t.Errorf("Merge changed its argument: %+v", a.Ports)
	}
}

// The sum owns its memory, also when there was nothing to add.
func TestMergeSharesNothing(t *testing.T) {
	for _, order := range []bool{false, true} {
		a := trial.Result{Streams: []trial.Stream{{Name: "y"}, {Name: "x", Sent: 1}},
			Ports: []trial.Port{{Name: "q"}, {Name: "p", Foreign: []trial.Foreign{{Kind: "ARP", Packets: 1}}}}}
		a.Streams[1].Latency.Record(7, 1)
		x, y := a, trial.Result{}
		if order {
			x, y = y, x
		}
		r := must(t, x, y)
		if r.Streams[0].Name != "x" || r.Ports[0].Name != "p" {
			t.Fatalf("order of names: %s, %s first; want x, p", r.Streams[0].Name, r.Ports[0].Name)
		}
		r.Streams[0].Latency.Record(9, 1)
		r.Streams[0].Sent = 5
		r.Ports[0].Foreign[0].Packets = 5
		if p, _ := a.Streams[1].Latency.Percentile(100); p != 7 || a.Streams[1].Sent != 1 || a.Ports[1].Foreign[0].Packets != 1 {
			t.Errorf("the sum shares memory with its part: %+v", a)
		}
	}
}

func TestMergeRefuses(t *testing.T) {
	twice := trial.Result{Streams: []trial.Stream{{Name: "a"}, {Name: "a"}}}
	ports := trial.Result{Ports: []trial.Port{{Name: "p"}, {Name: "p"}}}
	for _, tt := range []struct {
		a, b trial.Result
		want string
	}{
		{twice, trial.Result{}, `stream "a" stands twice in one of them`},
		{trial.Result{Streams: []trial.Stream{{Name: "b"}}}, twice, `stream "a" stands twice in one of them`},
		{ports, trial.Result{}, `port "p" stands twice in one of them`},
	} {
		if _, err := trial.Merge(tt.a, tt.b); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want ...%s", err, tt.want)
		}
	}
}

func TestRatios(t *testing.T) {
	var none trial.Stream
	if _, ok := none.LossRatio(); ok {
		t.Error("a loss ratio of nothing sent")
	}
	if _, ok := none.UnsentRatio(); ok {
		t.Error("an unsent ratio of nothing intended")
	}
	s := trial.Stream{Intended: 200, Sent: 100, Received: 75}
	loss, _ := s.LossRatio()
	unsent, _ := s.UnsentRatio()
	if loss != 0.25 || unsent != 0.5 || s.Lost() != 25 || s.Unsent() != 100 {
		t.Errorf("lost %d (%v), unsent %d (%v); want 25 (0.25), 100 (0.5)", s.Lost(), loss, s.Unsent(), unsent)
	}
}
