package report_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"loadtest/report"
	"loadtest/trial"
	"loadtest/units"
)

// What was not measured is null: without tags, and where nobody looks.
func TestNull(t *testing.T) {
	const back = "received received_bytes received_wire_bytes surplus lost loss_ratio received_wire_bps received_pps second_half_received_wire_bps second_half_received_pps"
	const tags = "duplicated reordered late corrupt latency_samples latency_min_ns latency_p50_ns latency_p90_ns latency_p99_ns latency_p999_ns latency_max_ns latency_mean_ns latency_pdv_ns jitter_ns ipdv_samples ipdv_min_ns ipdv_median_ns ipdv_max_ns"
	tagged := books(ab, units.Mbps, time.Second, 1)
	partly := tagged
	partly.Untagged = partly.Sent - 1
	plain := partly
	plain.Untagged, plain.Latency, plain.Variation = plain.Sent, trial.Histogram{}, trial.Variation{}
	twice := plain
	twice.Duplicated = 2
	for _, tt := range []struct {
		name     string
		stream   trial.Stream
		sentOnly []string
		null     string
	}{
		{"tagged", tagged, nil, ""},
		{"partly tagged", partly, nil, ""},
		{"untagged", plain, []string{ba}, tags},
		{"untagged, counted all the same", twice, nil, strings.TrimPrefix(tags, "duplicated ")},
		{"sent only", tagged, []string{ab}, back + " " + tags},
		{"sent only, untagged", plain, []string{ba, ab}, back + " " + tags},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := report.TrialOf(trial.Flat(1e6, time.Second), &trial.Result{Elapsed: time.Second, Streams: []trial.Stream{tt.stream}}, report.About{SentOnly: tt.sentOnly})
			nulls(t, rec, back+" "+tags+" sent lateness_max_ns unsent untagged skipped sent_wire_bps", tt.null)
			sample := trial.Sample{Streams: []trial.Progress{{Name: ab, Intended: 2, Sent: 2, SentWireBits: 1344}}}
			null := ""
			if strings.HasPrefix(tt.null, back) {
				null = "received received_wire_bytes"
			}
			nulls(t, report.SampleOf(1, 0, sample, tt.sentOnly...), "received received_wire_bytes sent sent_wire_bytes", null)
		})
	}
}

// nulls checks which of the keys of a record's first stream are null; all have to be there.
func nulls(t *testing.T, r report.Record, keys, null string) {
	t.Helper()
	line, err := report.Line(r)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Streams []map[string]any }
	if err := json.Unmarshal(line, &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Fields(keys) {
		v, ok := got.Streams[0][key]
		if want := strings.Contains(" "+null+" ", " "+key+" "); !ok || (v == nil) != want {
			t.Errorf("%s is %v (present %v); want null: %v", key, v, ok, want)
		}
	}
}

// Lists and maps that a caller leaves out are empty, never null, and the caller's record stays as it is.
func TestEmptyLists(t *testing.T) {
	r := &report.Run{}
	line, err := report.Line(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"labels":{}`, `"command":[]`, `"ports":[]`, `"streams":[]`, `"goal_loss_ratio":[]`, `"size_labels":[]`, `"cpu_list":[]`} {
		if !strings.Contains(string(line), want) {
			t.Errorf("run line has no %s:\n%s", want, line)
		}
	}
	if r.Labels != nil || r.Settings.CPUs != nil {
		t.Error("writing a record changed it")
	}
}

// Lines of before have numbers where there may be null now.
func TestReadOld(t *testing.T) {
	old := `{"type":"run","v":1,"labels":null,"settings":{"cpu_list":null}}` + "\n" +
		`{"type":"trial","v":1,"streams":[{"name":"a","received":3,"duplicated":0,"received_wire_bytes":252,"latency_samples":0}]}` + "\n"
	log, err := report.Read(strings.NewReader(old))
	if err != nil {
		t.Fatal(err)
	}
	s := log.Records[1].(*report.Trial).Streams[0]
	if *s.Received != 3 || *s.Duplicated != 0 || *s.ReceivedWire != 252 || *s.LatencyCount != 0 || s.Late != nil {
		t.Errorf("read %+v", s)
	}
}

// Of streams without tags a text does not say that there were no copies.
func TestTotals(t *testing.T) {
	s := books(ab, units.Mbps, time.Second, 0)
	s.Untagged, s.Latency, s.Variation = s.Sent, trial.Histogram{}, trial.Variation{}
	rec := func(streams ...trial.Stream) *report.Trial {
		return tried(1, 1, report.Replay, units.Mbps, time.Second, report.About{}, streams)
	}
	only := s
	only.Name = ba
	out, _ := tell(t, report.TextOptions{}, run("replay"), tried(1, 1, report.Replay, units.Mbps, time.Second, report.About{SentOnly: []string{ba}}, []trial.Stream{only}), &report.End{})
	if strings.Contains(out, "note:") {
		t.Errorf("prints\n%swant no note on matching where nothing is matched", out)
	}
	for want, r := range map[string]*report.Trial{
		"Foreign 0, duplicated –, late –\n": rec(s),
		"Foreign 0, duplicated 0, late 0\n": rec(s, books(ba, units.Mbps, time.Second, 0)),
	} {
		if out, _ := tell(t, report.TextOptions{}, run("replay"), r, &report.End{}); !strings.Contains(out, want) {
			t.Errorf("prints\n%swant %q", out, want)
		}
	}
}
