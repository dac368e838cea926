package dial

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"loadtest/packet"
	"loadtest/report"
)

// ofRouter are the records of a run through a device of 1 Mpps with a queue of 100 packets, and trials that say nothing.
func ofRouter(t testing.TB) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	j := report.NewJSON(&b)
	write := func(r report.Record) {
		if err := j.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	number := report.Number
	write(&report.Run{Verb: "find-limit", Ports: []report.Port{{Name: "22:00.0", LineBps: number(10e9), MTU: 1500}, {Name: "sim:x/eth2"}},
		Streams: []report.Stream{{Name: "one", TX: "22:00.0", RX: "sim:x/eth2"}, {Name: "two", TX: "22:00.0", RX: "sim:x/eth2"}, {Name: "out", TX: "sim:x/eth2"}}})
	for i, sent := range []int64{100e3, 490e3, 505e3, 800e3, 490e3, 490e3} {
		lost := max(0, sent-500e3-50)
		s := report.TrialStream{Name: "one", Sent: sent, Lost: &lost, SentWire: 84 * sent}
		s.Delay.MinNs, s.Delay.P99Ns = new(int64(11_000)), new(11_000+min(lost, 1)*100_000)
		trial := report.Trial{Number: i + 1, Purpose: report.Search, DurationNs: 1e9, Streams: []report.TrialStream{s, s, {Name: "out", Sent: sent}}}
		trial.Streams[1].Name = "two"
		switch i {
		case 4: // the tester's fault
			trial.Verdict, lost = report.Invalid, sent
		case 5:
			trial.Purpose, lost = report.Warmup, sent
		}
		write(&trial)
	}
	return &b
}

// The trials of a run that say something of the device make the model; streams of one way count together.
func TestFitted(t *testing.T) {
	m, err := fitted("dir/7f3a.jsonl", ofRouter(t))
	if err != nil {
		t.Fatal(err)
	}
	p := m.Fit.Paths[0]
	if len(m.Ways) != 1 || m.Ways[0] != [2]string{"22:00.0", "eth2"} || math.Abs(p.Capacity-1e6) > 1e3 || p.Queue < 95 || p.Queue > 105 || p.Delay != 11_000 || p.Loss != 0 {
		t.Errorf("ways %v, %+v", m.Ways, p)
	}
	if m.Label() != "model of 7f3a, fitted" || m.frame != 60 || len(m.Residual.Trials) != 4 || m.Residual.Worst > 1e-3 {
		t.Errorf("%q, frames of %d, residual %+v", m.Label(), m.frame, m.Residual)
	}
	if m.ports[0].Line != 10e9 || m.ports[1].Line != 0 {
		t.Errorf("ports %+v", m.ports)
	}
}

func TestFittedErrors(t *testing.T) {
	text := ofRouter(t).String()
	for _, tt := range []struct{ name, old, new, want string }{
		{"no stream comes back", `"rx":"sim:x/eth2"`, `"rx":""`, "no model of a.jsonl: it has no stream that came back"},
		{"a port twice", `"name":"sim:x/eth2"`, `"name":"22:00.0"`, "no model of a.jsonl: it has two ports named 22:00.0"},
		{"no such port", `"tx":"22:00.0"`, `"tx":"eth9"`, `no model of a.jsonl: its stream one has a port "eth9", which is none of the run's`},
		{"no trial", `"duration_ns":1000000000`, `"duration_ns":-1`, "no model of a.jsonl: no trial that counts: want a run with trials below and above"},
		{"more lost than sent", `"sent":`, `"sent":-`, "no model of a.jsonl: no trial that counts: want a run with trials below and above"},
		{"no records", `{"type":`, `{"t":`, "a.jsonl: line 1: no record"},
	} {
		changed := strings.NewReader(strings.ReplaceAll(text, tt.old, tt.new))
		if _, err := fitted("a.jsonl", changed); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}

// A model's port may have any name that a port of the run has.
func TestParseModels(t *testing.T) {
	for name, want := range map[string][2]string{
		"sim:7f3a.jsonl/eth2":            {"7f3a.jsonl", "eth2"},
		"sim:/runs/7f3a.jsonl/22:00.0":   {"/runs/7f3a.jsonl", "22:00.0"},
		"sim:a.jsonl/net_pcap0,iface=/x": {"a.jsonl", "net_pcap0,iface=/x"},
		"sim:a.jsonl.d/net.yaml/a":       {"a.jsonl.d/net.yaml", "a"},
	} {
		a, err := parse(name, "/sys")
		if err != nil || a.network != want[0] || a.device != want[1] {
			t.Errorf("%s: %q %q, %v; want %q", name, a.network, a.device, err, want)
		}
		if file := FittedTo(name); (file != "") != strings.HasSuffix(want[0], ".jsonl") {
			t.Errorf("%s is fitted to %q", name, file)
		}
	}
	for _, name := range []string{"sim:a.jsonl", "sim:a.jsonl/"} {
		if _, err := parse(name, "/sys"); err == nil || !strings.Contains(err.Error(), "or RUN.jsonl: a model of that run") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whatever a file says, a model's numbers are some that a device can have, and packets can be sent through it.
func FuzzFitted(f *testing.F) {
	text := ofRouter(f).Bytes()
	f.Add(text)
	f.Add(bytes.ReplaceAll(text, []byte(`"sent":490000`), []byte(`"sent":1125899906842624`)))
	f.Add(bytes.ReplaceAll(text, []byte(`"duration_ns":1000000000`), []byte(`"duration_ns":1000`)))
	f.Add(bytes.ReplaceAll(text, []byte(`"latency_p99_ns":111000`), []byte(`"latency_p99_ns":3600000000000`)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 16<<10 {
			return
		}
		m, err := fitted("f.jsonl", bytes.NewReader(b))
		if err != nil {
			return
		}
		for _, p := range m.Fit.Paths {
			if !(p.Capacity >= 0 && p.Capacity < 1e18) || p.Queue < 0 || p.Delay < 0 || !(p.Loss >= 0 && p.Loss < 1) {
				t.Fatalf("path %+v", p)
			}
		}
		if r := m.Residual; !(r.RMS >= 0 && r.RMS <= r.Worst+1e-12 && r.Worst <= 1) {
			t.Fatalf("residual %v, %v", r.RMS, r.Worst)
		}
		n, err := m.network()
		if err != nil {
			return
		}
		d, err := n.Port(m.Ways[0][0])
		if err != nil {
			t.Fatal(err)
		}
		if k, err := d.Queues[0].Send([]packet.Frame{{Data: make([]byte, 60), Nanos: 1}}); k != 1 || err != nil {
			t.Fatalf("Send = %d, %v", k, err)
		}
		n.Step(10)
	})
}
