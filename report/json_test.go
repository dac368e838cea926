package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadtest/report"
	"loadtest/trial"
)

var inf = math.Inf(1)

func lines(t *testing.T, records []report.Record) string {
	t.Helper()
	var b bytes.Buffer
	j := report.NewJSON(&b)
	for _, r := range records {
		if err := j.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestJSON(t *testing.T) {
	golden(t, "find-limit.jsonl", lines(t, search()))
	golden(t, "nothing.jsonl", lines(t, nothing()))
	golden(t, "find-limit-factor.jsonl", lines(t, factors(report.ByDevice)))
}

func TestRoundTrip(t *testing.T) {
	for _, records := range [][]report.Record{search(), unlike(), sizes(), none(), replayed(), transient(), nothing(), factors(report.ByDevice), ramp()} {
		log, err := report.Read(strings.NewReader(lines(t, records)))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(records, log.Records, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("read what was written (-want +got):\n%s", d)
		}
		if log.Cut || log.Unknown != 0 {
			t.Errorf("Cut %v, Unknown %d; want a whole log", log.Cut, log.Unknown)
		}
	}
}

// counts are the keys of whole numbers that count; every other number says its unit.
var counts = regexp.MustCompile(`^(seed|retries|retries_left|cpu_list|cpus|numa_node|packets|queue_packets|loops|capture_packets|rewritten|skipped_by|trial|trials|clean_trials|second_half_received|invalid_repeats|searches|lossy_trials|above_trial|intended|sent|received|lost|unsent|untagged|` +
	`duplicated|reordered|late|corrupt|surplus|skipped|latency_samples|ipdv_samples|missed|tx_errors|pause_frames|broken_frames|exit_code)$`)

func TestKeys(t *testing.T) {
	snake := regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	unit := regexp.MustCompile(`_(bps|pps|ns|bytes|ratio|factor|frames)$`)
	var walk func(ty reflect.Type, key string)
	walk = func(ty reflect.Type, key string) {
		switch ty.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(ty.Elem(), key)
		case reflect.Struct:
			if ty == reflect.TypeFor[time.Time]() {
				if key != "time" {
					t.Errorf("%s: want the key time for wall time", key)
				}
				return
			}
			seen := map[string]bool{}
			for _, f := range reflect.VisibleFields(ty) {
				name := f.Tag.Get("json")
				if f.Anonymous {
					continue
				}
				if !snake.MatchString(name) {
					t.Errorf("%v.%s: key %q; want snake_case and no options", ty, f.Name, name)
				}
				if seen[name] && len(f.Index) == 1 {
					t.Errorf("%v: key %q twice", ty, name)
				}
				seen[name] = true
				walk(f.Type, name)
			}
		case reflect.Float64:
			if !unit.MatchString(key) {
				t.Errorf("%s: a real number without unit", key)
			}
		case reflect.Int, reflect.Int64:
			if !unit.MatchString(key) && !counts.MatchString(key) {
				t.Errorf("%s: a number that neither says its unit nor is known to be a count", key)
			}
		}
	}
	for _, r := range []report.Record{&report.Run{}, &report.Model{}, &report.Trial{}, &report.Sample{}, &report.Event{}, &report.Verdict{}, &report.Benchmark{}, &report.End{}} {
		walk(reflect.TypeOf(r), "")
	}
}

// A ratio of nothing and a rate over no time are null; nothing else is.
func TestNothing(t *testing.T) {
	for _, tt := range []struct {
		name    string
		stream  trial.Stream
		elapsed time.Duration
		null    string // keys
	}{
		{"empty stream", trial.Stream{}, time.Second, "loss_ratio unsent_ratio"},
		{"zero duration", books("", 672, time.Second, 0), 0, "sent_wire_bps sent_pps received_wire_bps received_pps"},
		{"one packet", books("", 672, time.Second, 0), time.Second, ""},
		{"all unsent", trial.Stream{Intended: 5}, time.Second, "loss_ratio"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := report.TrialOf(trial.Flat(inf, 0), &trial.Result{Elapsed: tt.elapsed, Streams: []trial.Stream{tt.stream}}, report.About{})
			line, err := report.Line(r)
			if err != nil {
				t.Fatal(err)
			}
			var got struct{ Streams []map[string]any }
			if err := json.Unmarshal(line, &got); err != nil {
				t.Fatal(err)
			}
			for _, key := range strings.Fields("loss_ratio unsent_ratio sent_wire_bps sent_pps received_wire_bps received_pps") {
				v, ok := got.Streams[0][key]
				if want := strings.Contains(" "+tt.null+" ", " "+key+" "); !ok || (v == nil) != want {
					t.Errorf("%s is %v (present %v); want null: %v", key, v, ok, want)
				}
			}
		})
	}
}

func TestTrialOf(t *testing.T) {
	r := search()[4].(*report.Trial)
	s := r.Streams[0]
	if r.StartNs != 4e9 || !r.Time.Equal(start.Add(4*time.Second)) || *r.AskedNs != 1e9 || r.DurationNs != 1e9 {
		t.Errorf("times %d %v %d %d; want 4 s after the start, 1 s, 1 s", r.StartNs, r.Time, *r.AskedNs, r.DurationNs)
	}
	const n = 10_000_000_000 / 672
	if s.Intended != n || s.Sent != n || *s.Lost != 5618190 || *s.Received != n-5618190 || s.SentWire != n*84 || *s.ReceivedWire != *s.Received*84 {
		t.Errorf("books %+v do not balance", s)
	}
	if *s.SentBps != n*672 || *s.SentPps != n || *s.LossRatio != 5618190.0/n || *r.RateWireBps != n*672 || *r.RatePps != n || *r.IntendedWireBps != 10e9 {
		t.Errorf("rates %v %v %v %v", *s.SentBps, *s.SentPps, *s.LossRatio, *r.RateWireBps)
	}
	if *s.Delay.MinNs != 20_000 || *s.Delay.MaxNs != 29_801 || *s.Lateness.MaxNs != 990 || *s.HalfPps != n/2*2 {
		t.Errorf("latency %d to %d, lateness to %d, half %f", *s.Delay.MinNs, *s.Delay.MaxNs, *s.Lateness.MaxNs, *s.HalfPps)
	}
	// The stream that for its share sent least says what the load was.
	if r := unlike()[1].(*report.Trial); math.Abs(*r.RateWireBps-4e9) > 2000 {
		t.Errorf("load of unlike streams %f; want 4e9", *r.RateWireBps)
	}
	if r := replayed()[1].(*report.Trial); r.Streams[1].Lost != nil || r.IntendedText != "x10" || r.IntendedWireBps != nil || r.AskedNs != nil {
		t.Errorf("sent only: lost %v, intended %q", r.Streams[1].Lost, r.IntendedText)
	}
}

// flusher notes what was flushed, and fails after some writes.
type flusher struct {
	bytes.Buffer
	writes, flushes, fail int
}

func (f *flusher) Write(b []byte) (int, error) {
	if f.writes++; f.writes == f.fail {
		f.Buffer.Write(b[:3])
		return 3, errors.New("disk is full")
	}
	return f.Buffer.Write(b)
}
func (f *flusher) Flush() error { f.flushes++; return nil }

func TestFlush(t *testing.T) {
	f := &flusher{fail: 3}
	j := report.NewJSON(f)
	for i := 1; i <= 2; i++ {
		if err := j.Write(&report.End{Time: start}); err != nil || f.writes != i || f.flushes != i {
			t.Fatalf("record %d: error %v, %d writes, %d flushes; want one of each a record", i, err, f.writes, f.flushes)
		}
	}
	for range 2 { // nothing follows a broken line
		if err := j.Write(&report.End{Time: start}); err == nil || err.Error() != "disk is full" || f.writes != 3 {
			t.Errorf("error %v after %d writes; want disk is full after 3", err, f.writes)
		}
	}
	err := j.Write(&report.Verdict{RateWireBps: &inf})
	if want := "verdict record: json: unsupported value: +Inf"; err == nil || err.Error() != want {
		t.Errorf("error %v; want %s", err, want)
	}
	if n := report.Number(math.NaN()); n != nil {
		t.Errorf("Number(NaN) = %v; want nil", *n)
	}
}
