package xdp_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"loadtest/internal/clock"
	"loadtest/internal/lab"
	"loadtest/nic"
	"loadtest/trial"
)

// No rate drifts: in the last second, too, packets leave when they are due. What the machine takes away for a while is made up for, so
// the least late one tells.
func TestPace(t *testing.T) {
	if os.Getenv("LOADTEST_VERIFY") == "" {
		t.Skip("needs a quiet machine; set LOADTEST_VERIFY=1, as make verify does")
	}
	lab.Need(t, "netns", "afpacket", "xdp")
	const seconds = 3
	for _, rate := range []uint64{1e3, 10e3, 100e3, 333333, 1e6} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			wire := lab.Veth(t)
			c := clock.NewReal()
			p := nic.Of(open(t, wire.A, c, 1).Queues[0]).Player
			class := nic.Of(open(t, wire.B, c, 1).Queues[0]).Classifier
			if err := p.Load([]nic.Lane{lane(100, 60)}); err != nil {
				t.Fatal(err)
			}
			if err := class.Classify(nic.Await{Magic: 0xbeef, Trial: 1, Lanes: []uint8{3}}); err != nil {
				t.Fatal(err)
			}
			start := c.Now() + 10e6
			const end = seconds * int64(time.Second)
			plan := nic.Plan{Trial: 1, Start: start, Count: start, End: start + end, Credit: 100e6, Lanes: []nic.Load{{Unit: trial.Packets, Num: 1e9, Den: rate}}}
			least := int64(nic.Never)
			carry(t, p, c, plan, func() {
				due := p.Played(0).Due
				if due-start > end-int64(time.Second) && due < plan.End {
					least = min(least, max(0, c.Now()-due))
				}
			})
			o := p.Played(0)
			a := arrived(class, 3, o.Sent)
			var late, took trial.Histogram
			p.Lateness(0, &late)
			class.Latency(3, &took)
			half, _ := late.Percentile(50)
			most, _ := late.Percentile(99)
			across, _ := took.Percentile(50)
			drift := float64(least) / float64(end) * 1e6
			t.Logf("%d unsent; drift %.3f ppm; late %v, 1 %% of them %v, at most %v; from tag to receiver %v", o.Intended-o.Sent, drift, time.Duration(half),
				time.Duration(most), time.Duration(late.Max), time.Duration(across))
			if o.Intended != int64(rate*seconds) || o.Sent != a.Received {
				t.Errorf("intended %d, want %d; sent %d, received %d", o.Intended, rate*seconds, o.Sent, a.Received)
			}
			if drift > 5 {
				t.Errorf("the rate is off by %.1f ppm, want 5 at most", drift)
			}
		})
	}
}
