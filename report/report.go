// Package report is what a run leaves behind: records, one JSON object a line, and the texts made from them.
//
//	trial.Result ─TrialOf→ Record ─→ JSON ─→ file ─Read→ Record ─→ Text, CSV, Hydra
//
// The lines are the truth: every text is made from records alone, so an old file shows what the run showed.
//
// A key carries its unit: _bps bits per second (wire_bps: on the wire), _pps packets per second, _ns, _bytes, _ratio (1 is all),
// bare is a count. null is "not measured", never 0 and never NaN. Times are ns since the run's start, wall time is in "time".
package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"sync"
)

// Version is the version of the records. A new key does not change it; a changed or removed one does.
const Version = 1

// A Record is a line of a run: *Run, *Model, *Trial, *Sample, *Event, *Verdict, *Benchmark or *End.
type Record interface {
	kind() string // the line's "type"
}

// A Sink takes the records of a run in order: JSON, Text, CSV.
type Sink interface{ Write(Record) error }

// Number is x as a record wants it: nil, so null, unless it is finite.
func Number(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// Line is a record as one line of JSON, newline included.
func Line(r Record) ([]byte, error) {
	if run, ok := r.(*Run); ok {
		r = run.whole()
	}
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("%s record: %w", r.kind(), err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"type":%q,"v":%d,`, r.kind(), Version)
	b.Write(body[1:])
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// JSON writes records as lines, each with one Write and flushed, so that a killed run keeps what was finished. Any goroutine
// may call its Write. After an error of w, which may leave a part of a line behind, it stays with that error.
type JSON struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

// NewJSON writes to w.
func NewJSON(w io.Writer) *JSON { return &JSON{w: w} }

// Write writes one record.
func (j *JSON) Write(r Record) error {
	line, err := Line(r)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.err = flushed(j.w, line)
	}
	return j.err
}

// flushed writes b at once, through w's own buffer if it has one.
func flushed(w io.Writer, b []byte) error {
	if _, err := w.Write(b); err != nil {
		return err
	}
	if f, ok := w.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}
