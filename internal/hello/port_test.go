package hello_test

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"loadtest/internal/hello"
	"loadtest/internal/neigh"
	"loadtest/nic"
	"loadtest/packet"
	"loadtest/units"
)

// A driver tells what it sent.
type driver struct {
	nic.Port
	status nic.Status
	sends  int64 // of each ten
	n      int64
}

func (d *driver) Send(f []packet.Frame) (int, error) {
	if d.n++; d.n%10 < d.sends {
		d.status.TxFrames++
	} else {
		d.status.TxErrors++
	}
	return d.Port.Send(f)
}

func (d *driver) Status() nic.Status { return d.status }

// TestPorts: what ports tell is of the last round.
func TestPorts(t *testing.T) {
	o, dev := lab(func(string, []byte, int64) []out { return nil })
	d := &driver{Port: o.Ports["a"].Queues[0], sends: 7, status: nic.Status{TxFrames: 1000, TxErrors: 50}}
	a := o.Ports["a"]
	a.Queues, a.Info.LineRate = []nic.Port{d}, 10*units.Gbps
	o.Ports["a"], o.Ports["c"] = a, a // c is in no stream
	o.Streams = []hello.Stream{there(t, 10, ports(pkt{}))}
	if err := dev.ends["b"].Close(); err != nil {
		t.Fatal(err)
	}
	r := run(t, o)
	p := r.Seen.Ports
	if len(p) != 3 || p[0].Name != "a" || p[1].Name != "b" || p[2].Name != "c" {
		t.Fatalf("%d ports: %+v", len(p), p)
	}
	if p[0].Offered != 10 || p[0].Driver != 7 || p[0].TxErrors != 3 || p[0].Line != 10*units.Gbps || p[0].Down {
		t.Errorf("a: %+v; want 10 offered, 7 sent by the driver, 3 errors, 10G, up", p[0])
	}
	if p[1].Offered != 0 || p[1].Driver != -1 || !p[1].Down {
		t.Errorf("b: %+v; want nothing offered, -1 sent by the driver, down", p[1])
	}
}

// full is a port that takes nothing.
type full struct{ nic.Port }

func (full) Send([]packet.Frame) (int, error) { return 0, nil }

// TestFull: what was to be sent is told, though nothing was.
func TestFull(t *testing.T) {
	o, _ := lab(func(string, []byte, int64) []out { return nil })
	a := o.Ports["a"]
	a.Queues = []nic.Port{full{a.Queues[0]}}
	o.Ports["a"], o.Wait = a, 3*time.Second
	o.Streams = []hello.Stream{there(t, 10, ports(pkt{}))}
	if s := run(t, o).Seen.Streams[0]; s.Due != 10 || s.Sent != 0 {
		t.Errorf("%d due, %d sent; want 10 and 0", s.Due, s.Sent)
	}
}

// TestForeign: what is not ours is heard, however much it is; what nobody can read, too.
func TestForeign(t *testing.T) {
	other := pkt{src: "203.0.113.1", dst: "203.0.113.2", fill: 9}.build(t)
	quoting := icmp(3, 1, 0, 28)
	o, _ := lab(func(in string, b []byte, now int64) (all []out) {
		for range 100 {
			all = append(all, out{port: "b", b: other})
		}
		alien := quoting("b", slices.Clone(other), now)
		return append(append(all, alien...), out{port: "b", b: []byte{1, 2, 3}}, out{port: "b", b: b})
	})
	o.Streams = []hello.Stream{there(t, 2, ports(pkt{}))}
	r := run(t, o)
	if got := r.Lines()[0]; got != "a→b 2 of 2 back; bridged: nothing changed" {
		t.Error(got)
	}
	const want = "2 ICMP (203.0.113.9 says 203.0.113.2 unreachable (host)), 200 IPv4 UDP (203.0.113.1:7 → 203.0.113.2:9, 64 B), " +
		"2 other (3 B, too short for Ethernet)"
	if got := r.Seen.Ports[1].Heard.String(); got != want || r.Seen.Streams[0].Told != nil {
		t.Errorf("heard %s, told %v; want %s, nothing", got, r.Seen.Streams[0].Told, want)
	}
}

// TestOneArm: a stream that is expected where it was sent does not take ICMP about it for itself, though its tag stands at the end.
func TestOneArm(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(string, []byte, int64) []out
		back int
	}{
		{"time exceeded", icmp(11, 0, 0, 100), 0},
		{"reflected", func(in string, b []byte, _ int64) []out { return []out{{port: in, b: b}} }, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, _ := lab(tt.do)
			o.Streams = []hello.Stream{there(t, 4, ports(pkt{}))}
			o.Streams[0].RX = "a"
			r := run(t, o)
			if b, s := r.Streams[0], r.Seen.Streams[0]; b.Back != tt.back || len(s.Told) != 1-tt.back/4 || s.Wrong != nil {
				t.Errorf("%d back, told %v, wrong %v; want %d", b.Back, s.Told, s.Wrong, tt.back)
			}
		})
	}
}

// TestTwins: of two streams that send the same, ICMP is about the one that leaves where it comes in.
func TestTwins(t *testing.T) {
	o, _ := lab(icmp(3, 1, 0, 28))
	o.Streams = []hello.Stream{there(t, 4, ports(pkt{})), there(t, 4, ports(pkt{}))}
	o.Streams[1].Name, o.Streams[1].TX, o.Streams[1].RX = "b→a", "b", "a"
	for i, s := range run(t, o).Seen.Streams {
		if len(s.Told) != 1 || s.Told[0].Port != s.TX || s.Told[0].Packets != 4 {
			t.Errorf("stream %d was told %+v; want 4 at %s", i, s.Told, s.TX)
		}
	}
}

// TestCapturedErrors: ICMP errors may be what a stream sends; then they say nothing about another packet of it.
func TestCapturedErrors(t *testing.T) {
	f := pkt{fill: 1}.build(t)
	e := icmp(3, 1, 0, 28)("b", slices.Clone(f), 0)[0].b
	s := &packet.Store{}
	s.Append(f, 0, len(f))
	s.Append(e, 0, len(e))
	o, _ := lab(wire)
	o.Streams = []hello.Stream{{Name: "a→b", Packets: s, TX: "a", RX: "b", Captured: true}}
	r := run(t, o)
	if b := r.Streams[0]; b.Back != 2 || r.Seen.Streams[0].Told != nil {
		t.Errorf("%d of %d back, told %v; want 2, nothing", b.Back, b.Sent, r.Seen.Streams[0].Told)
	}
}

// TestOwn: what the tester's own ports say as neighbours and a bridge brings back is nothing foreign.
func TestOwn(t *testing.T) {
	o, _ := lab(wire)
	o.Hosts = map[string]*neigh.Host{}
	for name, ip := range map[string]string{"a": "198.18.0.2/16", "b": "198.18.0.3/16"} {
		o.Hosts[name] = neigh.NewHost(neigh.Options{MAC: o.Ports[name].Info.MAC, Addresses: []neigh.Address{{Prefix: netip.MustParsePrefix(ip)}},
			Own: func(mac [6]byte) bool { return mac == o.Ports["a"].Info.MAC || mac == o.Ports["b"].Info.MAC }})
		o.Hosts[name].Announce()
	}
	o.Streams = []hello.Stream{there(t, 4, ports(pkt{}))}
	r := run(t, o)
	for i, p := range r.Seen.Ports {
		heard, offered := p.Heard.String(), []int64{5, 1}[i]
		if heard != "nothing" || p.Neighbors != nil || p.Questions != nil || p.Offered != offered {
			t.Errorf("%s: heard %s, %v, %v, %d offered; want nothing, and %d offered", p.Name, heard, p.Neighbors, p.Questions, p.Offered, offered)
		}
	}
}
