package testbed_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadtest/genconf"
	"loadtest/genpcap"
	"loadtest/testbed"
)

// FuzzParse: a description or an error with its place, never both or neither. Whatever is read makes a configuration of every
// kind, and packets for each of its routes; the interfaces survive being written and read again.
func FuzzParse(f *testing.F) {
	inputs, err := filepath.Glob("../testdata/*/*.conf")
	if err != nil || len(inputs) == 0 {
		f.Fatal("no testdata/*/*.conf", err)
	}
	for _, in := range inputs {
		text, err := os.ReadFile(in)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("/* */ nroutes 84; packet-size '' + \"\\t0x4\" /**/ + '0';"))
	f.Add([]byte("private-interface4{ifname + ; ip 1.2.3.4; nexthop-ip 1.2.3.5;}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := testbed.Parse("fuzz", text)
		if (b == nil) == (err == nil) {
			t.Fatal("want a description or an error, never both or neither")
		}
		if err != nil {
			e, ok := err.(*testbed.Error)
			lines := strings.Split(string(text), "\n")
			if !ok || e.Line < 1 || e.Line > len(lines) || e.Column < 1 || e.Column > len(lines[e.Line-1])+1 {
				t.Fatalf("%v: want a place in the text", err)
			}
			return
		}
		for _, kind := range genconf.Kinds() {
			var out bytes.Buffer
			if err := genconf.Write(&out, kind, b); err != nil || out.Len() == 0 {
				t.Fatalf("%s: %d bytes, error %v", kind, out.Len(), err)
			}
			if kind == "vita" {
				again(t, b, out.String())
			}
		}
		everyRoute(t, b)
	})
}

// again reads the interfaces of a configuration that was written.
func again(t *testing.T, b *testbed.Testbed, conf string) {
	t.Helper()
	_, conf, _ = strings.Cut(conf, "private-") // after negotiation-ttl
	conf, _, _ = strings.Cut(conf, "\nroute")
	c, err := testbed.Parse("again", []byte("private-"+conf+"\nroute-prefix '"+b.RoutePrefix+"';"))
	if err != nil {
		t.Fatal(err)
	}
	c.Routes, c.Sizes, c.NegotiationTTL, c.SATTL = b.Routes, b.Sizes, b.NegotiationTTL, b.SATTL
	if d := diff(b, c); d != "" {
		t.Fatalf("-written +read\n%s", d)
	}
}

func everyRoute(t *testing.T, b *testbed.Testbed) {
	t.Helper()
	s, err := genpcap.Packets(b, 1)
	if err != nil {
		t.Fatal(err)
	}
	from, to := 30, 33 // of a frame: the destination address without the host
	if b.Family() == 6 {
		from, to = 38, 52
	}
	routes := make(map[string]bool)
	for i := range s.Len() {
		routes[string(s.Frame(i).Data[from:to])] = true
	}
	if len(routes) != b.Routes {
		t.Fatalf("packets for %d routes: want %d", len(routes), b.Routes)
	}
}
