package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// TextOptions say how a Text looks.
type TextOptions struct {
	Out     io.Writer // the result; nil discards
	Err     io.Writer // the talk: ports, events, warnings; nil discards
	Verbose bool      // Snabb's block for each trial instead of a line, warm-ups too
	Quiet   bool      // the last line only
	Live    bool      // the run is under way: its program prints the error that ends it
	Color   bool      // verdicts in green, red and yellow
}

// Text writes records for people. It is a Sink.
type Text struct {
	o      TextOptions
	run    Run
	trials map[int]*Trial // by number
	order  []*Trial
	answer []*Verdict
	bench  []*Benchmark
}

// NewText makes a Text.
func NewText(o TextOptions) *Text {
	if o.Out == nil {
		o.Out = io.Discard
	}
	if o.Err == nil || o.Quiet {
		o.Err = io.Discard
	}
	return &Text{o: o, trials: make(map[int]*Trial)}
}

// Write writes what a record has to say; tables come with the End.
func (t *Text) Write(r Record) error {
	var out, talk string
	switch r := r.(type) {
	case *Run:
		t.run = *r
		talk = ports(r) + changes(r)
	case *Event:
		talk = event(r)
	case *Model:
		talk = model(r)
	case *Trial:
		if r.Purpose != Warmup {
			t.trials[r.Number] = r
		}
		t.order = append(t.order, r)
		if !t.o.Quiet {
			out = t.trial(r)
		}
	case *Verdict:
		t.answer = append(t.answer, r)
	case *Benchmark:
		t.bench = append(t.bench, r)
	case *End:
		out = t.end(r)
		if said := r.Reason != "" && t.o.Live || r.Reason == "" && t.searching(); !said {
			talk = ended(r)
		}
	}
	if talk != "" {
		if _, err := io.WriteString(t.o.Err, talk); err != nil {
			return err
		}
	}
	if out == "" {
		return nil
	}
	return flushed(t.o.Out, []byte(out))
}

// trial is what one trial prints.
func (t *Text) trial(r *Trial) string {
	switch {
	case t.o.Verbose:
		return t.block(r)
	case r.Purpose == Warmup:
		return ""
	}
	return t.line(r)
}

// line is one trial in one line: number, size, load really sent, time of sending, verdict, what is wrong.
func (t *Text) line(r *Trial) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%3d  ", r.Number)
	if len(t.run.Settings.Sizes) > 1 {
		width := 0
		for _, s := range t.run.Settings.Sizes {
			width = max(width, utf8.RuneCountInString(s))
		}
		b.WriteString(pad(r.Size, width) + "  ")
	}
	b.WriteString(t.load(r) + "  ")
	long := 0
	if d := t.run.Settings.DurationNs; d != nil {
		long = len(seconds(*d))
	}
	b.WriteString(pad(seconds(r.DurationNs), -long))
	if r.Verdict != None {
		b.WriteString("  " + t.color(r.Verdict))
	}
	if r.Purpose == Ramp {
		b.WriteString(t.came(r))
	}
	if f := faults(r); len(f) > 0 {
		b.WriteString("  " + strings.Join(f, "; "))
	}
	return b.String() + "\n"
}

// load is the load that was really sent, as wide as the highest.
func (t *Text) load(r *Trial) string {
	sc, top, load := t.scale(r.RateWireBps), t.run.Settings.RateWireBps, r.RateWireBps
	of := ""
	if r.LoadFactor != nil && r.Purpose != Replay {
		if len(r.Streams) == 1 { // else each has a pace of its own
			of = " = " + sc.rate(load)
		}
		sc, top, load = t.factors(), t.run.Settings.RateFactor, r.LoadFactor
	}
	return pad(sc.rate(load), -min(utf8.RuneCountInString(sc.rate(top)), 20)) + of
}

// came is what came back at a step of load: the rate of the stream that for its share got least, and the worst latency.
func (t *Text) came(r *Trial) string {
	var rate *float64
	for i := range r.Streams {
		share := t.share(r.Streams[i].Name)
		if back := r.back(&r.Streams[i], share); back != nil {
			rate = least(rate, Number(*back/share))
		}
	}
	out := ""
	if rate != nil {
		out = "  received " + t.scale(rate).rate(rate)
	}
	if p50, p99, _ := worst(r.Streams); p50 != nil && p99 != nil {
		out += "  p50 " + delay(p50) + " p99 " + delay(p99)
	}
	var alone *int64
	for i := range r.Streams {
		alone = most(alone, r.Streams[i].TesterP50Ns)
	}
	if alone != nil {
		out += " (tester's own p50 " + delay(alone) + ")"
	}
	return out
}

// scale is that of the highest load asked for, else that of the rate itself, fine enough for the steps between loads.
func (t *Text) scale(bps *float64) scale {
	if top := t.run.Settings.RateWireBps; top != nil {
		bps = top
	}
	if bps == nil {
		return scaleFor(0)
	}
	return t.wide(scaleFor(*bps).finer(least(t.run.Settings.PrecisionWireBps, t.run.Settings.StepWireBps)))
}

// wide has digits enough for loads that are a share apart, not a step.
func (t *Text) wide(sc scale) scale {
	s := &t.run.Settings
	if len(s.Goals) > 0 && s.PrecisionWireBps == nil && s.PrecisionFactor == nil && s.PrecisionPps == nil {
		sc.digits = 4
	}
	return sc
}

// factors is the scale of multiples of the captured pace, fine enough for the steps between them.
func (t *Text) factors() scale {
	return t.wide(factors().finer(least(t.run.Settings.PrecisionFactor, t.run.Settings.StepFactor)))
}

// color dresses a verdict.
func (t *Text) color(verdict string) string {
	code, ok := map[string]string{Pass: "32", Fail: "31", Invalid: "33"}[verdict]
	if !t.o.Color || !ok {
		return verdict
	}
	return "\x1b[" + code + "m" + verdict + "\x1b[0m"
}
