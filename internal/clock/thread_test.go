package clock

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// A watch is a time that only moves when somebody looks at it, sleeps, or says so.
type watch struct {
	t     int64
	over  time.Duration // each sleep takes so much longer
	looks int
}

func (w *watch) now() int64 {
	w.looks++
	w.t += 20
	return w.t
}

func (w *watch) sleep(d time.Duration) { w.t += int64(d + w.over) }

// A worker takes its time for each step and wants the next one so long after the begin of it.
type worker struct {
	watch *watch
	lasts []time.Duration
	every int64
	begun []int64
}

func (w *worker) Step(now int64) int64 {
	w.watch.t += int64(w.lasts[0])
	w.begun = append(w.begun, now)
	if w.lasts = w.lasts[1:]; len(w.lasts) > 0 {
		return now + w.every
	}
	return Never
}

func TestStolen(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name  string
		late  time.Duration // of the thread's start
		over  time.Duration // of each sleep
		spin  bool
		every time.Duration
		lasts [][]time.Duration // of the steps of each worker
		want  time.Duration
	}{
		{"quiet", 0, 0, false, 10 * ms, [][]time.Duration{{0, ms, ms, 0}}, ms},
		{"quiet, spinning", 0, 0, true, ms, [][]time.Duration{{0, 0, 0}}, 0},
		{"at once", 0, 0, true, 0, [][]time.Duration{{0, 0, 0}}, 0},
		{"long waits are asked for", 0, 0, false, 300 * ms, [][]time.Duration{{0, 0, 0}}, 0},
		{"a long step", 0, 0, false, 10 * ms, [][]time.Duration{{0, 150 * ms, 0}}, 150 * ms},
		{"a long step, spinning", 0, 0, true, 0, [][]time.Duration{{0, 150 * ms, 0}}, 150 * ms},
		{"a long first step", 0, 0, false, 10 * ms, [][]time.Duration{{150 * ms, 0}}, 150 * ms},
		{"a long last step", 0, 0, false, 10 * ms, [][]time.Duration{{0, 150 * ms}}, 150 * ms},
		{"a long step that asks for a later one", 0, 0, false, 400 * ms, [][]time.Duration{{150 * ms, 0}}, 150 * ms},
		{"woken late", 0, 200 * ms, false, 3 * ms, [][]time.Duration{{0, 0, 0}}, 200 * ms},
		{"woken late, long before it is due", 0, 200 * ms, false, 300 * ms, [][]time.Duration{{0, 0, 0}}, 110 * ms},
		{"begun late", 120 * ms, 0, false, ms, [][]time.Duration{{0, 0}}, 120 * ms},
		{"the longest, not the sum", 0, 0, false, 0, [][]time.Duration{{60 * ms, 70 * ms, 60 * ms}}, 70 * ms},
		{"of steppers that share a thread, each by itself", 0, 0, false, 0, [][]time.Duration{{60 * ms, 0}, {70 * ms, 0}, {60 * ms, 0}}, 70 * ms},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &watch{over: tt.over}
			d := thread{spin: tt.spin, cut: new(atomic.Bool), now: w.now, sleep: w.sleep}
			for _, lasts := range tt.lasts {
				d.steppers = append(d.steppers, &worker{watch: w, lasts: lasts, every: int64(tt.every)})
			}
			got := time.Duration(d.drive(-int64(tt.late)))
			if (got - tt.want).Abs() > 100*time.Microsecond { // it is woken early to spin, and a look at the clock takes time
				t.Errorf("stolen %v, want %v", got, tt.want)
			}
		})
	}
}

// The thread tells its steppers a time that is as fresh as it can be, never before they are due, and looks no more often than it must.
func TestDriveTime(t *testing.T) {
	w := &watch{}
	a, b := &worker{watch: w, lasts: []time.Duration{7, 5, 3}}, &worker{watch: w, lasts: []time.Duration{1000, 0}, every: 2000}
	d := thread{steppers: []Stepper{a, b}, spin: true, cut: new(atomic.Bool), now: w.now, sleep: w.sleep}
	d.drive(0)
	if want := []int64{20, 1067, 1092}; !slices.Equal(a.begun, want) {
		t.Errorf("a was stepped at %v, want %v", a.begun, want)
	}
	if len(b.begun) != 2 || b.begun[0] != 47 || b.begun[1] < 2047 || b.begun[1] > 2047+20 {
		t.Errorf("b was stepped at %v, want 47 and just after 2047", b.begun)
	}
	w.looks = 0
	d.steppers = []Stepper{&worker{watch: w, lasts: make([]time.Duration, 100)}}
	if d.drive(0); w.looks != 101 {
		t.Errorf("%d looks at the clock for 100 steps at once; want one a step, and one before", w.looks)
	}
}
