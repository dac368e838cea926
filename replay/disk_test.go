package replay

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadtest/internal/clock"
	"loadtest/nic"
	"loadtest/nic/mem"
	"loadtest/packet"
	"loadtest/trial"
)

// A slow source is a store whose packets take their time, or end with an error.
type slow struct {
	*packet.Store
	each time.Duration // for each 1000 packets
	from int           // only behind this one
	err  error         // instead of it
}

type slowReader struct {
	packet.Reader
	*slow
	n int
}

func (s *slow) Open() (packet.Reader, error) {
	r, err := s.Store.Open()
	return &slowReader{Reader: r, slow: s}, err
}

func (r *slowReader) Next(rec *packet.Record) error {
	if r.n++; r.n > r.from {
		if r.err != nil {
			return r.err
		}
		if r.n%1000 == 0 {
			time.Sleep(r.each)
		}
	}
	return r.Reader.Next(rec)
}
func (r *slowReader) Close() error { return r.Reader.Close() }

// large is a store of several chunks: every third packet without room for a tag, in 50 flows, gaps of 1 to 5 µs.
func large(n, size int) *packet.Store {
	s := &packet.Store{}
	s.Grow(n, n*size)
	one, at := udp(50, size, true), int64(1e18)
	for i := range n {
		b := one.Frame(i % 50).Data
		b[size-1] = 0
		if i%3 == 0 {
			b[size-1] = 7
		}
		s.Append(b, at, size)
		at += 1000 * int64(1+i%5)
	}
	return s
}

// disk is a stream of it that is read while it is sent.
func disk(source packet.Source, s *packet.Store, tags packet.TagMode) Stream {
	d := Stream{Name: "a", Source: "big.pcap", Disk: source, Count: int64(s.Len()), TX: "a", RX: "b", Untagged: &Untagged{}, Packets: &packet.Store{}}
	for i := range s.Len() {
		b := s.Frame(i).Data
		if d.Untagged.Add(&packet.Record{Data: b}, tags); i < 100 {
			d.Packets.Append(b, s.Frame(i).Nanos, len(b))
		}
	}
	span := s.Frame(s.Len()-1).Nanos - s.Frame(0).Nanos
	d.Epoch, d.Span = s.Frame(0).Nanos, span+span/int64(s.Len()-1)
	return d
}

// From disk a trial is what it is from memory, to the packet and to the nanosecond.
func TestDiskEqualsMemory(t *testing.T) {
	for _, tt := range []struct {
		name string
		tags packet.TagMode
		spec trial.Spec
	}{
		{"three passes at twice the pace", packet.TagAuto, trial.Spec{Unit: trial.Factor, Load: []trial.Point{{Load: 2}}, Loops: 3}},
		{"half a pass", packet.TagAuto, trial.Spec{Unit: trial.Factor, Load: []trial.Point{{Load: 1}}, Duration: 75 * time.Millisecond}},
		{"packets", packet.TagNever, trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 123457}}, Duration: time.Second}},
		{"bits", packet.TagAlways, trial.Spec{Load: []trial.Point{{Load: 3e8}}, Duration: 500 * time.Millisecond}},
		{"early end", packet.TagAuto, trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 1e5}}, Duration: time.Second, StopAt: 700}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const n, size = 50_000, 200 // 10 MB
			trace := func(s Stream) (all []string) {
				there := &wire{delay: 1000, fate: func(i int, f packet.Frame) int {
					if i%997 == 0 {
						all = append(all, fmt.Sprintf("%d: %d ns, %x", i, f.Nanos, f.Data[:40]))
						return -1
					}
					return 1
				}}
				r, err := New(Options{Clock: clock.NewVirtual(), Ports: pair(there, &wire{}), Streams: []Stream{s}, Tag: tt.tags})
				if err != nil {
					t.Fatal(err)
				}
				for range 2 { // a feed begins anew
					res, err := r.Run(t.Context(), tt.spec, nil)
					if err != nil {
						t.Fatal(err)
					}
					st := res.Streams[0]
					all = append(all, fmt.Sprint(res.Elapsed, res.Starved, st.Intended, st.Sent, st.Received, st.Untagged, st.SentBytes, st.RecvWireBits,
						st.Lateness.Max, st.Latency.Count, st.Surplus))
				}
				return all
			}
			memory := trace(Stream{Name: "a", Source: "big.pcap", Packets: large(n, size), TX: "a", RX: "b"})
			from := large(n, size)
			if d := cmp.Diff(memory, trace(disk(from, from, tt.tags))); d != "" {
				t.Errorf("-memory +disk: %s", d)
			}
		})
	}
}

// A disk that is too slow makes the trial the tester's: told, and never taken for loss. One that is fast enough is not told.
func TestSlowDisk(t *testing.T) {
	for _, tt := range []struct {
		name string
		each time.Duration
		load float64
		slow bool
	}{
		{"fast enough", 0, 20_000, false},
		{"too slow", 100 * time.Millisecond, 20_000, true},
		{"too slow for as fast as possible", 100 * time.Millisecond, math.Inf(1), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, y := mem.Pair(4096)
			const ahead = chunks * chunkBytes / 1500
			from := large(2*ahead, 1500)
			s := disk(&slow{Store: from, each: tt.each, from: ahead - 1000}, from, packet.TagAuto)
			c := clock.NewReal()
			load := tt.load
			if tt.slow && !math.IsInf(load, 1) {
				load = 4 * ahead // what is ahead lasts for 250 ms
			}
			r, err := New(Options{Clock: c, Ports: map[string]nic.Device{"a": x, "b": y}, Streams: []Stream{s}})
			if err != nil {
				t.Fatal(err)
			}
			res, err := r.Run(t.Context(), trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: load}}, Duration: 600 * time.Millisecond}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if (res.Starved > 0) != tt.slow || res.Streams[0].Lost() > 0 && !tt.slow {
				t.Errorf("waited %v for the disk, want it: %v; %+v", res.Starved, tt.slow, res.Streams[0])
			}
		})
	}
}

// What goes wrong with the file while it is sent ends the trial and says so.
func TestDiskFails(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		add  int64
		want string
	}{
		{"unreadable", errors.New("input/output error"), 0, "stream a: input/output error"},
		{"shorter than it was", nil, 1, "stream a: big.pcap ended after 50000 packets; it had 50001 when it was looked at"},
		{"longer than it was", nil, -1, "stream a: big.pcap has grown beyond the 49999 packets that it had when it was looked at"},
	} {
		for name, from := range map[string]int{"at once": 0, "while it is sent": 49_990} {
			if tt.err == nil && from == 0 { // the same case
				continue
			}
			t.Run(tt.name+" "+name, func(t *testing.T) {
				store := large(50_000, 200)
				s := disk(&slow{Store: store, from: from, err: tt.err}, store, packet.TagAuto)
				s.Count += tt.add
				r, err := New(Options{Clock: clock.NewVirtual(), Ports: pair(&wire{}, &wire{}), Streams: []Stream{s}})
				if err != nil {
					t.Fatal(err)
				}
				_, err = r.Run(t.Context(), trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 1e6}}, Duration: time.Second}, nil)
				if err == nil || !strings.HasSuffix(err.Error(), tt.want) {
					t.Errorf("%v, want %s", err, tt.want)
				}
			})
		}
	}
}
