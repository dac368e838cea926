package dut_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"loadtest/dut"
	"loadtest/internal/clock"
	"loadtest/nic"
	"loadtest/packet"
)

// Little text stands for much: it is refused in little memory.
func TestYAMLBounds(t *testing.T) {
	repeat := func(s string, n int) string { return strings.Repeat(s, n) }
	for _, tt := range []struct{ name, text, want string }{
		{"long", repeat("#", 100_001), "1:1: longer than 100000 bytes: want ports, links and nodes"},
		{"brackets", repeat("[", 100_000), "1:101: nested more than 100 deep: want ports, links and nodes"},
		{"braces", repeat("{a: ", 25_000), "1:401: nested more than 100 deep: want ports, links and nodes"},
		{"lists", repeat("- ", 50_000), "1:101: nested more than 100 deep: want ports, links and nodes"},
		{"keys", repeat("a: 1\n", 20_000), "1001:1: more than 1000 keys in one mapping: want ports, links and nodes"},
		{"keys in a list", "ports:\n" + repeat("- name: a\n  mac: b\n", 2000) + repeat("  mac: b\n", 2000), "5000:3: more than 1000 keys in one mapping: want ports, links and nodes"},
		{"empty lines", "ports: |\n  a" + repeat("\n", 90_000), "103:1: more than 100 empty lines in a row: want fewer"},
		{"blank lines", "ports: |\n  a\r\n" + repeat("  \r", 30_000), "3:1: more than 100 empty lines in a row: want fewer"},
		{"aliases of aliases", "ports: [{name: a}]\nnodes: [&n {name: x, interfaces: [&x {addresses: &a [" + repeat("1.1.1.1, ", 999) + "1.1.1.1]}" +
			repeat(", *x", 999) + "]}" + repeat(", *n", 999) + "]", "1:1: more than 65536 values, aliases counted as what they repeat: want a smaller network"},
		{"values", "ports: [{name: a" + repeat("},{name: a", 99_000/11) + "}]", `1:26: name "a" stands twice`},
		{"addresses", "ports: [{name: a}]\nnodes: [{name: x, kind: router, interfaces: [{name: y, addresses: [" + repeat("1.1.1.1,", 12_000) + "1.1.1.1]}]}]",
			"1:1: port a has no link: want one with between: [a, …]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, used, err := costing([]byte(tt.text))
			if err == nil || !strings.HasPrefix(err.Error(), "fuzz:"+tt.want) || used > 100e6 {
				t.Errorf("%d bytes of memory, %v; want fuzz:%s", used, err, tt.want)
			}
		})
	}
}

// costing reads a network and says how much was allocated for it.
func costing(text []byte) (*dut.Network, uint64, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n, err := dut.ParseNetwork("fuzz", text)
	runtime.ReadMemStats(&after)
	return n, after.TotalAlloc - before.TotalAlloc, err
}

// A text is a network or an error of one line with a place, never both or neither, in at most 100 MB. A network carries a millisecond
// of packets from each of its ports, time never goes back, its books add up, and the same again gives the same.
func FuzzParseNetwork(f *testing.F) {
	f.Add([]byte(pair))
	files, _ := filepath.Glob("networks/*.yaml")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		n, used, err := costing(text)
		if used > 100e6 {
			t.Fatalf("%d bytes of text take %d bytes of memory", len(text), used)
		}
		if (n == nil) == (err == nil) {
			t.Fatalf("network %v, error %v: want one of them", n, err)
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz:") || strings.ContainsAny(err.Error(), "\r\n") {
				t.Fatalf("error %q: want a place, in one line", err)
			}
			return
		}
		totals, hash := aMillisecond(t, n)
		if totals.Sent+totals.Copied+totals.Chatter+totals.ICMP+totals.Fragments != totals.Delivered+totals.Dropped+totals.InFlight {
			t.Errorf("the books do not add up: %+v", totals)
		}
		n, _, err = costing(text)
		if err != nil {
			t.Fatalf("read again: %v", err)
		}
		if again, other := aMillisecond(t, n); again != totals || other != hash {
			t.Errorf("once %+v, %x; again %+v, %x", totals, hash, again, other)
		}
	})
}

// aMillisecond sends some packets into each port of a network, and answers its books and a hash of all that arrived.
func aMillisecond(t *testing.T, n *dut.Network) (dut.Totals, uint64) {
	t.Helper()
	frames := [][]byte{ipv4(100, "10.1.0.2", "10.2.0.1"), ipv4(1514, "10.1.0.2", "172.17.1.9"), ipv4(60, "10.2.0.1", "10.1.0.2")}
	copy(frames[2], "\xff\xff\xff\xff\xff\xff")
	var all []*receiver
	steppers := []clock.Stepper{forward{n, new(int64), t}}
	for _, name := range n.Ports() {
		port := open(t, n, name)
		for _, b := range frames {
			if _, err := port.Send([]packet.Frame{{Data: b}}); err != nil && !errors.Is(err, nic.ErrTooLong) {
				t.Fatal(err)
			}
		}
		r := &receiver{port: port, times: []int64{}}
		all, steppers = append(all, r), append(steppers, r)
	}
	run(n, 1e6, steppers...)
	var hash uint64
	for _, r := range all {
		hash = hash*31 + r.hash
	}
	return n.Totals(), hash
}

// forward is a network whose time must not go back.
type forward struct {
	*dut.Network
	last *int64
	t    *testing.T
}

func (f forward) Step(now int64) int64 {
	next := f.Network.Step(now)
	if now < *f.last || next < now {
		f.t.Fatalf("Step(%d) = %d, after %d: time runs backwards", now, next, *f.last)
	}
	*f.last = now
	return next
}
