package timeline_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadtest/internal/timeline"
	"loadtest/packet"
)

// files are captures with these times; the bytes of a packet are its file and number.
func files(times ...[]int64) (all []packet.Source) {
	for f, times := range times {
		s := &packet.Store{Link: packet.LinkEthernet}
		for i, t := range times {
			b := fmt.Appendf(nil, "%d.%d", f, i+1)
			s.Append(b, t, len(b)+f)
		}
		all = append(all, s)
	}
	return all
}

// read are all records of a pass as file.number@time.
func read(t testing.TB, s packet.Source) (all []string) {
	t.Helper()
	for r := range records(t, s) {
		if want := fmt.Sprintf("%d.%d", r.File, r.Number); string(r.Data) != want || r.Wire != len(want)+int(r.File) {
			t.Fatalf("record %q of wire length %d is said to be %s", r.Data, r.Wire, want)
		}
		all = append(all, fmt.Sprintf("%s@%d", r.Data, r.Nanos))
	}
	return all
}

// records goes through a pass.
func records(t testing.TB, s packet.Source) func(func(packet.Record) bool) {
	return func(yield func(packet.Record) bool) {
		t.Helper()
		rd, err := s.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer rd.Close()
		for {
			var r packet.Record
			if err := rd.Next(&r); err == io.EOF {
				return
			} else if err != nil {
				t.Fatal(err)
			}
			if !yield(r) {
				return
			}
		}
	}
}

type (
	place  = timeline.Place
	told   = timeline.Told
	back   = timeline.Back
	capped = timeline.Capped
	gap    = timeline.Gap
)

func TestLine(t *testing.T) {
	const s = int64(time.Second)
	for _, tt := range []struct {
		name  string
		o     timeline.Options
		files [][]int64
		want  []string
		told  told
	}{
		{"nothing", timeline.Options{}, nil, nil, told{}},
		{"empty files", timeline.Options{}, [][]int64{{}, {}}, nil, told{}},
		{"one packet", timeline.Options{}, [][]int64{{7}}, []string{"0.1@7"}, told{Packets: 1, Start: 7}},
		{"its own times", timeline.Options{}, [][]int64{{100, 110, 110, 140}},
			[]string{"0.1@100", "0.2@110", "0.3@110", "0.4@140"},
			told{Packets: 4, Start: 100, Span: 40, Mean: 13, Longest: gap{place{0, 4}, 30}}},
		{"before 1970", timeline.Options{}, [][]int64{{-20, -10, 5}},
			[]string{"0.1@-20", "0.2@-10", "0.3@5"},
			told{Packets: 3, Start: -20, Span: 25, Mean: 12, Longest: gap{place{0, 3}, 15}}},
		{"no times", timeline.Options{}, [][]int64{{0, 0, 0}},
			[]string{"0.1@0", "0.2@0", "0.3@0"}, told{Packets: 3, Untimed: 3}},
		{"some without a time", timeline.Options{}, [][]int64{{100, 0, 130, 0}},
			[]string{"0.1@100", "0.2@100", "0.3@130", "0.4@130"},
			told{Packets: 4, Untimed: 2, Start: 100, Span: 30, Mean: 10, Longest: gap{place{0, 3}, 30}}},
		{"the first without a time", timeline.Options{}, [][]int64{{0, 1e18, 1e18 + 30}},
			[]string{"0.1@0", "0.2@0", "0.3@30"},
			told{Packets: 3, Untimed: 1, Span: 30, Mean: 15, Longest: gap{place{0, 3}, 30}}},
		{"a year from 0 is none", timeline.Options{}, [][]int64{{0, 365 * 24 * 3600 * s}}, []string{"0.1@0", "0.2@0"}, told{Packets: 2, Untimed: 1}},
		{"less than a year from 0", timeline.Options{}, [][]int64{{0, 365*24*3600*s - 1}}, []string{"0.1@0", "0.2@31535999999999999"},
			told{Packets: 2, Span: 31535999999999999, Mean: 31535999999999999, Longest: gap{place{0, 2}, 31535999999999999}}},
		{"from 0", timeline.Options{}, [][]int64{{0, 0, 100, 0, 130}},
			[]string{"0.1@0", "0.2@0", "0.3@100", "0.4@100", "0.5@130"},
			told{Packets: 5, Untimed: 1, Span: 130, Mean: 32, Longest: gap{place{0, 3}, 100}}},
		{"from 0 in sequence", timeline.Options{}, [][]int64{{0, 100}, {0, 40, 40}, {0, 0}, {0, 10}},
			[]string{"0.1@0", "0.2@100", "1.1@200", "1.2@240", "1.3@240", "2.1@260", "2.2@260", "3.1@260", "3.2@270"},
			told{Packets: 9, Untimed: 2, Span: 270, Mean: 33, Longest: gap{place{0, 2}, 100}}},
		{"from 0 merged with later", timeline.Options{Merge: true}, [][]int64{{0, 100}, {30, 110}},
			[]string{"0.1@0", "1.1@30", "0.2@100", "1.2@110"}, told{Packets: 4, Span: 110, Mean: 36, Longest: gap{place{0, 2}, 70}}},
		{"from 0 merged", timeline.Options{Merge: true, MaxGap: 50}, [][]int64{{0, 100, 150}, {0, 30, 30}},
			[]string{"0.1@0", "1.1@0", "1.2@30", "1.3@30", "0.2@80", "0.3@130"},
			told{Packets: 6, Span: 130, Mean: 26, Capped: capped{1, place{0, 2}, 70, 20}, Longest: gap{place{0, 2}, 70}}},
		{"out of order", timeline.Options{}, [][]int64{{100, 50, 70, 120, 119, 120}},
			[]string{"0.1@100", "0.2@100", "0.3@100", "0.4@120", "0.5@120", "0.6@120"},
			told{Packets: 6, Start: 100, Span: 20, Mean: 4, Back: back{3, place{0, 2}, 50}, Longest: gap{place{0, 4}, 20}}},
		{"a second back is out of order", timeline.Options{}, [][]int64{{5 * s, 4 * s, 4*s + 10, 5*s + 1}},
			[]string{"0.1@5000000000", "0.2@5000000000", "0.3@5000000000", "0.4@5000000001"},
			told{Packets: 4, Start: 5 * s, Span: 1, Back: back{2, place{0, 2}, s}, Longest: gap{place{0, 4}, 1}}},
		{"the clock is set back", timeline.Options{}, [][]int64{{9 * s, 2 * s, 2*s + 10, 2*s + 40, 2*s + 30, 2*s + 45}},
			[]string{"0.1@9000000000", "0.2@9000000000", "0.3@9000000010", "0.4@9000000040", "0.5@9000000040", "0.6@9000000045"},
			told{Packets: 6, Start: 9 * s, Span: 45, Mean: 9, Back: back{2, place{0, 2}, 7 * s}, Longest: gap{place{0, 4}, 30}}},
		{"one wrong time", timeline.Options{}, [][]int64{{9 * s, 2 * s, 9*s + 10}},
			[]string{"0.1@9000000000", "0.2@9000000000", "0.3@9000000010"},
			told{Packets: 3, Start: 9 * s, Span: 10, Mean: 5, Back: back{1, place{0, 2}, 7 * s}, Longest: gap{place{0, 3}, 10}}},
		{"gaps are cut", timeline.Options{MaxGap: 20}, [][]int64{{100, 120, 141, 241, 242}},
			[]string{"0.1@100", "0.2@120", "0.3@140", "0.4@160", "0.5@161"},
			told{Packets: 5, Start: 100, Span: 61, Mean: 15, Capped: capped{2, place{0, 3}, 100, 81}, Longest: gap{place{0, 4}, 100}}},
		{"in sequence", timeline.Options{}, [][]int64{{100, 110, 130}, {}, {7000, 7001}, {50}, {60, 61}},
			[]string{"0.1@100", "0.2@110", "0.3@130", "2.1@145", "2.2@146", "3.1@147", "4.1@147", "4.2@148"},
			told{Packets: 8, Start: 100, Span: 48, Mean: 6, Longest: gap{place{0, 3}, 20}}},
		{"in sequence, the mean of cut gaps", timeline.Options{MaxGap: 10}, [][]int64{{100, 500}, {0, 3, 2}},
			[]string{"0.1@100", "0.2@110", "1.1@120", "1.2@123", "1.3@123"},
			told{Packets: 5, Start: 100, Span: 23, Mean: 5, Back: back{1, place{1, 3}, 1}, Capped: capped{1, place{0, 2}, 400, 390},
				Longest: gap{place{0, 2}, 400}}},
		{"merged", timeline.Options{Merge: true}, [][]int64{{100, 130, 130}, {}, {90, 130, 150}, {130}},
			[]string{"2.1@90", "0.1@100", "0.2@130", "0.3@130", "2.2@130", "3.1@130", "2.3@150"},
			told{Packets: 7, Start: 90, Span: 60, Mean: 10, Longest: gap{place{0, 2}, 30}}},
		{"merged, out of order and without times", timeline.Options{Merge: true, MaxGap: 50}, [][]int64{{100, 99, 0, 300}, {0, -9, 101, 0, 250}},
			[]string{"1.1@0", "1.2@0", "0.1@50", "0.2@50", "0.3@50", "1.3@51", "1.4@51", "1.5@101", "0.4@151"},
			told{Packets: 9, Untimed: 3, Span: 151, Mean: 18, Back: back{1, place{0, 2}, 1}, Capped: capped{2, place{0, 1}, 149, 158},
				Longest: gap{place{1, 5}, 149}}},
		{"all of time", timeline.Options{}, [][]int64{{math.MinInt64, math.MaxInt64, math.MaxInt64}},
			[]string{"0.1@-9223372036854775808", "0.2@-1", "0.3@-1"},
			told{Packets: 3, Start: math.MinInt64, Span: math.MaxInt64, Mean: math.MaxInt64 / 2,
				Capped: capped{1, place{0, 2}, math.MaxInt64, math.MaxInt64}, Longest: gap{place{0, 2}, math.MaxInt64}}},
		{"after the end of time", timeline.Options{}, [][]int64{{math.MaxInt64 - 5, math.MaxInt64}, {1, 2}},
			[]string{"0.1@9223372036854775802", "0.2@9223372036854775807", "1.1@9223372036854775807", "1.2@9223372036854775807"},
			told{Packets: 4, Start: math.MaxInt64 - 5, Span: 5, Mean: 1, Capped: capped{2, place{1, 1}, 5, 6}, Longest: gap{place{0, 2}, 5}}},
		{"at the end of time, with a limit", timeline.Options{MaxGap: 10}, [][]int64{{math.MaxInt64 - 5, math.MaxInt64}, {1}},
			[]string{"0.1@9223372036854775802", "0.2@9223372036854775807", "1.1@9223372036854775807"},
			told{Packets: 3, Start: math.MaxInt64 - 5, Span: 5, Mean: 2, Capped: capped{1, place{1, 1}, 5, 5}, Longest: gap{place{0, 2}, 5}}},
		{"twice 1677 to 2262", timeline.Options{MaxGap: 10}, [][]int64{{math.MinInt64, math.MaxInt64}, {math.MinInt64, math.MaxInt64}},
			[]string{"0.1@-9223372036854775808", "0.2@-9223372036854775798", "1.1@-9223372036854775788", "1.2@-9223372036854775778"},
			told{Packets: 4, Start: math.MinInt64, Span: 30, Mean: 10, Capped: capped{2, place{0, 2}, math.MaxInt64, math.MaxInt64},
				Longest: gap{place{0, 2}, math.MaxInt64}}},
		{"1677 to 2262 and back", timeline.Options{MaxGap: 10}, [][]int64{{math.MinInt64, math.MaxInt64, math.MinInt64, math.MaxInt64}},
			[]string{"0.1@-9223372036854775808", "0.2@-9223372036854775798", "0.3@-9223372036854775798", "0.4@-9223372036854775798"},
			told{Packets: 4, Start: math.MinInt64, Span: 10, Mean: 3, Back: back{1, place{0, 3}, math.MaxInt64},
				Capped: capped{1, place{0, 2}, math.MaxInt64, math.MaxInt64}, Longest: gap{place{0, 2}, math.MaxInt64}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := timeline.New(files(tt.files...), tt.o)
			for range 2 { // passes are alike
				if diff := cmp.Diff(tt.want, read(t, l)); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
				if diff := cmp.Diff(tt.told, l.Told()); diff != "" {
					t.Errorf("told: -want +got\n%s", diff)
				}
			}
		})
	}
}

// Readers of one line do not disturb each other.
func TestReaders(t *testing.T) {
	for _, merge := range []bool{false, true} {
		l := timeline.New(files([]int64{1, 4, 9}, []int64{2, 3}), timeline.Options{Merge: merge})
		want := read(t, l)
		var inner []string
		var outer int
		for range records(t, l) {
			inner = read(t, l)
			outer++
		}
		if diff := cmp.Diff(want, inner); diff != "" || outer != 5 {
			t.Errorf("%d records outside, inside -want +got\n%s", outer, diff)
		}
	}
}

// A flaw is a source that cannot be opened, or breaks off before record at, or cannot be closed.
type flaw struct {
	packet.Source
	at             int
	open, end      error
	opened, closed *int
}

func (f flaw) Open() (packet.Reader, error) {
	if f.open != nil {
		return nil, f.open
	}
	*f.opened++
	r, err := f.Source.Open()
	return &flawed{Reader: r, flaw: f}, err
}

type flawed struct {
	packet.Reader
	flaw
	n int
}

func (f *flawed) Next(r *packet.Record) error {
	if f.n++; f.n == f.at {
		return f.end
	}
	return f.Reader.Next(r)
}

func (f *flawed) Close() error {
	*f.closed++
	return nil
}

func TestErrors(t *testing.T) {
	broken := errors.New("b.pcap: record 2: cut")
	for _, tt := range []struct {
		name string
		flaw flaw
		want string
		read int // records before that
	}{
		{"cannot be opened", flaw{open: errors.New("b.pcap: no such file")}, "b.pcap: no such file", 3},
		{"breaks off", flaw{at: 2, end: broken}, "b.pcap: record 2: cut", 4},
		{"has nothing", flaw{at: 1, end: broken}, "b.pcap: record 2: cut", 3},
	} {
		for _, merge := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, merge %t", tt.name, merge), func(t *testing.T) {
				var opened, closed int
				tt.flaw.opened, tt.flaw.closed = &opened, &closed
				all := files([]int64{1, 2, 3}, []int64{4, 5, 6}, []int64{7, 8})
				tt.flaw.Source = all[1]
				all[0] = flaw{Source: all[0], opened: &opened, closed: &closed}
				all[1] = tt.flaw
				l := timeline.New(all, timeline.Options{Merge: merge})
				n := 0
				r, err := l.Open()
				if err == nil {
					for {
						if err = r.Next(new(packet.Record)); err != nil {
							break
						}
						n++
					}
					if err := r.Close(); err != nil {
						t.Error(err)
					}
				}
				if merge && (tt.flaw.open != nil || tt.flaw.at == 1) {
					tt.read = 0 // it is seen at once
				}
				if err == nil || err.Error() != tt.want || n != tt.read {
					t.Errorf("%v after %d records, want %s after %d", err, n, tt.want, tt.read)
				}
				if opened != closed || l.Told() != (told{}) {
					t.Errorf("%d opened, %d closed; told of half a pass: %+v", opened, closed, l.Told())
				}
			})
		}
	}
}

func TestTooMany(t *testing.T) {
	_, err := timeline.New(make([]packet.Source, 65537), timeline.Options{}).Open()
	if want := "65537 captures: want at most 65536"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
