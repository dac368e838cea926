package dut_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"loadtest/dut"
	"loadtest/internal/clock"
	"loadtest/nic"
	"loadtest/packet"
	"loadtest/units"
)

// maze is a random tree of bridges and routers with two to four ports, and anything that a node or link can have.
func maze(r *rand.Rand) (text string, ports int) {
	ports, nodes := 2+r.IntN(3), 1+r.IntN(4)
	type edge struct{ from, to int } // nodes; ports are numbered from 100
	var edges []edge
	for i := 1; i < nodes; i++ {
		edges = append(edges, edge{r.IntN(i), i})
	}
	for p := range ports {
		edges = append(edges, edge{r.IntN(nodes), 100 + p})
	}
	var toward func(from, to, without int) int // the edge that leads from a node to a port
	toward = func(from, to, without int) int {
		for i, e := range edges {
			next := e.to
			if e.to == from {
				next = e.from
			} else if e.from != from {
				continue
			}
			if i != without && (next == to || next < 100 && toward(next, to, i) >= 0) {
				return i
			}
		}
		return -1
	}
	maybe := func(format string, args ...any) string {
		if r.IntN(4) > 0 {
			return ""
		}
		return fmt.Sprintf(format, args...)
	}
	var s strings.Builder
	fmt.Fprintf(&s, "seed: %d\nports:\n", r.IntN(1000))
	for p := range ports {
		fmt.Fprintf(&s, "  - {name: p%d, ring: 100000}\n", p)
	}
	kinds := make([]string, nodes)
	for i := range kinds {
		kinds[i] = []string{"bridge", "router"}[r.IntN(2)]
	}
	end := func(v, link int) string {
		switch {
		case v >= 100:
			return fmt.Sprintf("p%d", v-100)
		case kinds[v] == "bridge":
			return fmt.Sprintf("n%d", v)
		}
		return fmt.Sprintf("n%d.l%d", v, link)
	}
	s.WriteString("links:\n")
	for i, e := range edges {
		mtu := 1500
		if e.to < 100 {
			mtu = 600 + r.IntN(1500)
		}
		fmt.Fprintf(&s, "  - {name: l%d, between: [%s, %s], rate: %dM, delay: %dns, mtu: %d, too-long: %s%s}\n", i, end(e.from, i), end(e.to, i),
			100+r.IntN(10000), r.IntN(20000), mtu, []string{"drop", "fragment", "too-big"}[r.IntN(3)], maybe(", queue: %d", r.IntN(50)))
	}
	s.WriteString("nodes:\n")
	for v := range nodes {
		fmt.Fprintf(&s, "  - name: n%d\n    kind: %s\n", v, kinds[v])
		s.WriteString(maybe("    loss: %d%%\n", r.IntN(20)) + maybe("    duplicate: %d%%\n", r.IntN(20)) + maybe("    every: %d\n", 1+r.IntN(50)))
		s.WriteString(maybe("    start: %dus\n", r.IntN(500)) + maybe("    stall: {mean: %dus, length: %dus}\n", 1+r.IntN(500), 1+r.IntN(50)))
		s.WriteString(maybe("    capacity: {rate: %dkpps, per: %s, queue: %d}\n", 50+r.IntN(3000), []string{"node", "direction"}[r.IntN(2)], r.IntN(100)))
		if kinds[v] == "bridge" {
			continue
		}
		s.WriteString(maybe("    icmp: true\n"))
		s.WriteString("    interfaces:\n")
		for i, e := range edges {
			if e.from == v || e.to == v {
				fmt.Fprintf(&s, "      - {name: l%d, mac: 02:00:00:00:00:01, next-hop-mac: 02:00:00:00:00:01, addresses: [192.168.%d.%d]%s}\n", i, v, i+1,
					maybe(", chatter: [{kind: %s, every: %dus}]", []string{"arp", "nd", "lldp", "stp"}[r.IntN(4)], 10+r.IntN(500)))
			}
		}
		s.WriteString("    routes:\n")
		for p := range ports {
			fmt.Fprintf(&s, "      - {to: 10.%d.0.0/16, interface: l%d}\n", p, toward(v, 100+p, -1))
		}
	}
	return s.String(), ports
}

// wander sends random packets between all ports of a network for 2 ms, and looks at its books on the way.
func wander(t *testing.T, text string, ports int, seed uint64, burst int64) (hash []uint64, totals dut.Totals) {
	t.Helper()
	n := parse(t, text)
	var all []clock.Stepper
	var rx []*receiver
	for p := range ports {
		r := rand.New(rand.NewPCG(seed, uint64(p)))
		port := open(t, n, fmt.Sprintf("p%d", p))
		var frames [][]byte
		var times []int64
		for now := int64(r.IntN(5000)); now < 2_000_000; now += int64(r.IntN(20000)) {
			f := ipv4(34+r.IntN(1481), fmt.Sprintf("10.%d.0.1", p), fmt.Sprintf("10.%d.0.1", r.IntN(ports+1)))
			frames, times = append(frames, edit(f, 22, byte(1+r.IntN(8)))), append(times, now)
		}
		all = append(all, &sender{port: port, frames: frames, due: timed(times...), count: int64(len(times)), burst: burst})
		rx = append(rx, &receiver{port: port, times: []int64{}})
	}
	for _, r := range rx {
		all = append(all, r)
	}
	books := func() (got dut.Totals) {
		if got = n.Totals(); got.Sent+got.Copied+got.Chatter+got.ICMP+got.Fragments != got.Delivered+got.Dropped+got.InFlight || got.InFlight < 0 {
			t.Fatalf("books do not balance: %+v, drops %s\n%s", got, drops(n), text)
		}
		return got
	}
	for end := int64(0); end < 3_000_000; end += 100_000 {
		runFrom(n, max(end-100_000, 0), end, all...)
		books()
	}
	for _, r := range rx {
		hash = append(hash, r.hash)
	}
	return hash, books()
}

// Whatever a network is made of: no packet appears or vanishes, and bursts do not matter.
func TestNetworkBooks(t *testing.T) {
	var sum dut.Totals
	for seed := range uint64(300) {
		text, ports := maze(rand.New(rand.NewPCG(seed, 0)))
		first, totals := wander(t, text, ports, seed, 1)
		sum.Delivered += totals.Delivered
		sum.Copied += totals.Copied
		sum.Chatter += totals.Chatter
		sum.ICMP += totals.ICMP
		sum.Fragments += totals.Fragments
		sum.Dropped += totals.Dropped
		for _, burst := range []int64{7, 64} {
			if got, _ := wander(t, text, ports, seed, burst); fmt.Sprint(got) != fmt.Sprint(first) {
				t.Fatalf("seed %d: bursts of %d arrive otherwise than single packets\n%s", seed, burst, text)
			}
		}
	}
	for what, n := range map[string]int64{"delivered": sum.Delivered, "copied": sum.Copied, "chatter": sum.Chatter, "ICMP": sum.ICMP, "fragments": sum.Fragments, "dropped": sum.Dropped} {
		if n < 1000 {
			t.Errorf("the networks had %d %s in all: too few to try anything", n, what)
		}
	}
}

func TestEmbedded(t *testing.T) {
	if got := strings.Join(dut.Networks(), " "); got != "lossy router-1mpps vita-1gbe wire" {
		t.Errorf("networks are %s", got)
	}
	for _, name := range dut.Networks() {
		if n := load(t, name); n.Name() != name || len(n.Ports()) != 2 {
			t.Errorf("%s has ports %v, want two", n.Name(), n.Ports())
		}
	}
	file, err := dut.LoadNetwork("../testdata/vita-1gbe.yaml")
	if err != nil || strings.Join(file.Ports(), " ") != "node1 node2" {
		t.Errorf("testdata/vita-1gbe.yaml: %v", err)
	}
	if _, err := dut.LoadNetwork("vita"); err == nil || !strings.Contains(err.Error(), "embedded are lossy, router-1mpps, vita-1gbe, wire") {
		t.Errorf("LoadNetwork(vita): %v, want one that lists the embedded", err)
	}
	if _, err := load(t, "wire").Port("c"); err == nil || err.Error() != `network wire: no port "c"; it has a, b` {
		t.Errorf("Port(c): %v", err)
	}
}

func TestPort(t *testing.T) {
	n := load(t, "wire")
	d, err := n.Port("a")
	if err != nil {
		t.Fatal(err)
	}
	want := nic.Info{Name: "sim:wire/a", Backend: "sim", Mode: "virtual", MAC: [6]byte{2, 0, 0, 1, 0, 0}, LineRate: 10 * units.Gbps, MTU: 1500, MaxFrame: 1514, NUMA: -1}
	if d.Info != want {
		t.Errorf("info %+v, want %+v", d.Info, want)
	}
	p := d.Queues[0]
	ok := packet.Frame{Data: make([]byte, 60), Nanos: 1}
	for _, tt := range []struct {
		size int
		err  string
	}{{1515, "frame is too long for the port"}, {13, "frame is shorter than an Ethernet header: want 14 bytes or more"}} {
		n, err := p.Send([]packet.Frame{ok, {Data: make([]byte, tt.size), Nanos: 1}, ok})
		if n != 1 || err == nil || err.Error() != tt.err {
			t.Errorf("Send of %d bytes: %d, %v, want 1, %s", tt.size, n, err, tt.err)
		}
	}
	if next := n.Step(1); next != 1+1068+20_000 { // 67.2 ns and 1 µs, and 20 µs in which arrivals are gathered
		t.Errorf("Step(1) = %d, want 21069", next)
	}
	if next := n.Step(5000); next != clock.Never || n.Totals().Dropped != 2 {
		t.Errorf("Step(5000) = %d, drops %s: want Never and two at a port that is not open", next, drops(n))
	}
	b := open(t, n, "b")
	p.Send([]packet.Frame{{Data: make([]byte, 60)}}) // unstamped: it leaves at the last Step
	if next := n.Step(7000); next != 7000 {
		t.Errorf("Step(7000) = %d, want 7000: a frame has come", next)
	}
	var got [2]packet.Frame
	if k, err := b.Recv(got[:]); k != 1 || err != nil || got[0].Nanos != 5000+1068 || cap(got[0].Data) != 60 {
		t.Errorf("Recv: %d, %v, %+v, want one frame of 60 bytes at 6068", k, err, got[0])
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if _, err := b.Recv(got[:]); !errors.Is(err, nic.ErrClosed) {
		t.Errorf("Recv after Close: %v, want ErrClosed", err)
	}
	if _, err := b.Send(got[:1]); !errors.Is(err, nic.ErrClosed) {
		t.Errorf("Send after Close: %v, want ErrClosed", err)
	}
}

// A port that nobody receives from drops, and says so.
func TestPortMissed(t *testing.T) {
	n := load(t, "wire")
	a, b := open(t, n, "a"), open(t, n, "b")
	const count = 70_000
	for i := int64(1); i <= count; i++ {
		if k, err := a.Send([]packet.Frame{{Data: make([]byte, 60), Nanos: i * 100}}); k != 1 || err != nil {
			t.Fatal(k, err)
		}
	}
	n.Step(second)
	if got := nic.Of(b).Reporter.Status().Missed; got != count-65536 {
		t.Errorf("missed %d, want %d", got, count-65536)
	}
}
