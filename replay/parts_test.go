package replay

import (
	"math"
	"testing"
	"time"

	"loadtest/internal/clock"
	"loadtest/nic"
	"loadtest/nic/mem"
	"loadtest/packet"
	"loadtest/trial"
	"loadtest/units"
)

// A part has whole flows, in order and at their times; all parts together are the stream, as even as its flows allow.
func TestParts(t *testing.T) {
	elephant := udp(1, 1514, true)
	mixed := &packet.Store{}
	for i := range 60 { // two flows of 20 short ones each, one of 20 long ones, in turn
		f := udp(3, 60, true).Frame(i % 3)
		if i%3 == 2 {
			f = elephant.Frame(0)
			f.Data = append([]byte(nil), f.Data...)
			f.Data[33] = 9
		}
		mixed.Append(f.Data, int64(i)*1000, len(f.Data))
	}
	for _, tt := range []struct {
		name   string
		store  *packet.Store
		queues int
		bits   []float64
	}{
		{"one queue", udp(100, 60, true), 1, []float64{1}},
		{"two queues", udp(100, 60, true), 2, []float64{0.5, 0.5}},
		{"three queues", udp(100, 60, true), 3, []float64{0.34, 0.33, 0.33}},
		{"one flow", udp(1, 60, true), 4, []float64{1}},
		{"more queues than flows", udp(3, 60, true), 8, []float64{1. / 3, 1. / 3, 1. / 3}},
		{"a large flow has its own", mixed, 2, []float64{12304. / (12304 + 2*672), 2 * 672. / (12304 + 2*672)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := parts(Stream{Name: "s", Packets: tt.store}, tt.queues)
			if len(all) != len(tt.bits) {
				t.Fatalf("%d parts, want %d", len(all), len(tt.bits))
			}
			where, n, packets := map[uint64]int{}, 0, 0.0
			for q, p := range all {
				last := int64(-1)
				for i := range p.Packets.Len() {
					f := p.Packets.Frame(i)
					if was, ok := where[packet.Flow(f.Data)]; ok && was != q {
						t.Errorf("a flow is in queues %d and %d", was, q)
					}
					where[packet.Flow(f.Data)] = q
					if f.Nanos < last {
						t.Errorf("part %d, packet %d goes back in time", q, i)
					}
					last = f.Nanos
				}
				n += p.Packets.Len()
				packets += p.packets
				if math.Abs(p.bits-tt.bits[q]) > 1e-9 {
					t.Errorf("part %d has %g of the bits, want %g", q, p.bits, tt.bits[q])
				}
			}
			if n != tt.store.Len() || math.Abs(packets-1) > 1e-9 {
				t.Errorf("%d packets of %d, %g of them", n, tt.store.Len(), packets)
			}
		})
	}
}

// queued is a device of several queues, and one with as many at the other end of their wires.
func queued(n int) (a, b nic.Device) {
	for range n {
		x, y := mem.New(mem.Options{Slots: 1 << 13, AB: mem.Every(1000, mem.Drop)})
		a.Info, b.Info = x.Info, y.Info
		a.Queues, b.Queues = append(a.Queues, x.Queues[0]), append(b.Queues, y.Queues[0])
	}
	return a, b
}

// Through several queues a stream is sent at its rate, and each packet counts once, by tag and by flow.
func TestQueues(t *testing.T) {
	for _, tt := range []struct {
		name   string
		room   bool
		queues int
		spec   trial.Spec
		want   int64
	}{
		{"packets", true, 3, trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 90e3}}, Duration: 200 * time.Millisecond}, 18000},
		{"bits", true, 2, trial.Spec{Load: []trial.Point{{Load: 672 * 60e3}}, Duration: 200 * time.Millisecond}, 12000},
		{"by flow", false, 2, trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 60e3}}, Duration: 200 * time.Millisecond}, 12000},
		{"loops", true, 4, trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 100e3}}, Loops: 99}, 9900},
		{"captured pace", true, 3, trial.Spec{Unit: trial.Factor, Load: []trial.Point{{Load: 50}}, Loops: 99}, 9900},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := queued(tt.queues)
			r, err := New(Options{Clock: clock.NewReal(), Ports: map[string]nic.Device{"a": a, "b": b}, Credit: time.Second,
				Streams: []Stream{{Name: "s", Packets: udp(100, 60, tt.room), TX: "a", RX: "b"}}})
			if err != nil {
				t.Fatal(err)
			}
			res, err := r.Run(t.Context(), tt.spec, nil)
			if err != nil || len(res.Streams) != 1 || len(res.Ports) != 2 {
				t.Fatalf("%d streams, %d ports, error %v", len(res.Streams), len(res.Ports), err)
			}
			s, off := &res.Streams[0], int64(tt.queues)
			if s.Intended < tt.want-off || s.Intended > tt.want+off || s.Unsent() != 0 {
				t.Errorf("intended %d, %d unsent; want %d", s.Intended, s.Unsent(), tt.want)
			}
			if lost := tt.want / 1000; s.Lost() < lost-off || s.Lost() > lost+off || s.Duplicated+s.Surplus+s.Reordered+s.Corrupt != 0 {
				t.Errorf("lost %d, want about %d; duplicated %d, surplus %d, reordered %d, corrupt %d", s.Lost(), lost, s.Duplicated, s.Surplus,
					s.Reordered, s.Corrupt)
			}
			if s.SentWireBits != s.Sent*units.WireBits(60) || s.Lateness.Count != s.Sent {
				t.Errorf("%d bits and %d times of %d packets", s.SentWireBits, s.Lateness.Count, s.Sent)
			}
			if len(r.senders) != tt.queues || len(r.lanes) != tt.queues {
				t.Errorf("%d senders, %d lanes, want %d", len(r.senders), len(r.lanes), tt.queues)
			}
			rate := tt.spec.Load[0].Load
			if tt.spec.Unit == trial.Factor {
				rate *= 1e3 // packets/s of the capture
			}
			want := time.Duration(float64(tt.want) / rate * 1e9)
			if off := res.Elapsed - want; tt.spec.Loops > 0 && (off < -10*time.Millisecond || off > 10*time.Millisecond) {
				t.Errorf("elapsed %v, want %v", res.Elapsed, want)
			}
		})
	}
}

// More streams than a tag tells lanes of are refused; many streams have fewer queues each.
func TestLanesAreFew(t *testing.T) {
	a, b := queued(4)
	o := Options{Clock: clock.NewReal(), Ports: map[string]nic.Device{"a": a, "b": b}}
	for i := range 100 {
		o.Streams = append(o.Streams, Stream{Name: string(rune('A' + i)), Packets: udp(10, 60, true), TX: "a", RX: "b"})
	}
	r, err := New(o)
	if err != nil || len(r.lanes) != 200 {
		t.Fatalf("error %v, %d lanes, want 200", err, len(r.lanes))
	}
}
