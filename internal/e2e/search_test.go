package e2e

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"loadtest/internal/lab"
	"loadtest/report"
)

// answer is the run's verdict record.
func (r run) answer(t *testing.T) *report.Verdict {
	t.Helper()
	for _, rec := range r.records {
		if v, ok := rec.(*report.Verdict); ok {
			return v
		}
	}
	t.Fatalf("no verdict\n%s%s", r.out, r.talk)
	return nil
}

// One packet of 1000, where repeats are asked for of 10 000, is lost at every load: no rate is without loss, and the search says so, soon, with the ratio and the goal that finds
// what the device forwards apart from that. With that goal it is the same each time.
func TestSearchOfLossyRouter(t *testing.T) {
	device(t, "nft")
	every, lost, allowed := "every=1000", 1e-3, "1%"
	if times(2) > 1 {
		every, lost, allowed = "every=10000", 1e-4, "0.1%"
	}
	d := lab.Up(t, "linux-router.sh", every, "pps=20000", "burst=400")
	packets := udp(t, 60, false)
	for range times(10) {
		r := limit(t, "-b", "30Mbps", packets, d.A, d.B)
		v := r.answer(t)
		if b := v.Background; r.code != 1 || v.RateWireBps != nil || b == nil || b.Low > lost || b.High < lost || !strings.Contains(r.out, "no rate without loss") {
			t.Errorf("exit %d, verdict %+v, background %+v; want 1, no rate, and %v within its bounds\n%s%s", r.code, v, b, lost, r.out, r.talk)
		}
		if took := time.Duration(v.TrafficNs); took > 3*time.Minute {
			t.Errorf("took %v of traffic; want it to end soon", took)
		}
		near(t, limit(t, "-b", "30Mbps", "-l", allowed, packets, d.A, d.B), 20400*672/1e9)
		if r := limit(t, "-b", "10Mbps", "-l", allowed, packets, d.A, d.B); r.last() != "0.01" {
			t.Errorf("with a loss of %s: %s Gbps, want the highest asked, 0.01\n%s%s", allowed, r.last(), r.out, r.talk)
		}
	}
}

// Ten searches of one device differ by less than 1 %, where the device itself is as exact.
func TestSearchSpread(t *testing.T) {
	device(t)
	if os.Getenv("LOADTEST_VERIFY") == "" {
		t.Skip("repeats; set LOADTEST_VERIFY=1, as make verify does")
	}
	for _, tt := range []struct {
		script string
		args   []string
		top    string
		exact  bool
	}{
		{"linux-router.sh", []string{"pps=20000", "burst=400"}, "30Mbps", true},
		{"linux-bridge.sh", []string{"pps=25000"}, "40Mbps", true},
		{"strongswan-pair.sh", nil, "1G", false},
		{"wireguard-pair.sh", nil, "1G", false},
	} {
		t.Run(tt.script, func(t *testing.T) {
			d := lab.Up(t, tt.script, tt.args...)
			least, most := 0.0, 0.0
			for range 10 {
				r := limit(t, "-b", tt.top, udp(t, 60, false), d.A, d.B)
				got, _ := strconv.ParseFloat(r.last(), 64)
				v := r.answer(t)
				t.Logf("%s Gbps in %v of traffic, %d trials, %v", r.last(), time.Duration(v.TrafficNs).Round(100*time.Millisecond), v.Trials, v.Flags)
				if most = max(most, got); least == 0 || got < least {
					least = got
				}
			}
			if spread := (most - least) / most; tt.exact && !(spread <= 0.01) {
				t.Errorf("from %v to %v Gbps: spread %.2f %%, want 1 %%", least, most, 100*spread)
			} else {
				t.Logf("spread %.2f %%", 100*spread)
			}
		})
	}
}
