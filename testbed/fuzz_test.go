package testbed_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"loadtest/genconf"
	"loadtest/genpcap"
	"loadtest/testbed"
)

// FuzzParse: a description or an error with its place, never both or neither. Whatever is read makes a configuration of every
// kind, and packets for each of its routes, the same twice, of a size that is known before; the interfaces survive being written
// and read again. None of it takes more than 100 MB.
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
	f.Add([]byte("nroutes 99999999999999999999;"))
	f.Add([]byte("nroutes 255; packet-size 10240; route-prefix 255.255;"))
	f.Add([]byte("route-prefix fd01:0:0:0:0; private-interface6{pci 00:00.0; ip ::; nexthop-ip ::1;} public-interface6{pci 00:00.0; ip ::; nexthop-ip ::2;}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		defer func() {
			if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 200e6 { // all of it is done twice
				t.Fatalf("%d bytes of text take %d bytes of memory, twice", len(text), (after.TotalAlloc-before.TotalAlloc)/2)
			}
		}()
		b, err := testbed.Parse("fuzz", text)
		if (b == nil) == (err == nil) {
			t.Fatal("want a description or an error, never both or neither")
		}
		if err != nil {
			e, ok := err.(*testbed.Error)
			lines := strings.Split(string(text), "\n")
			if strings.ContainsAny(err.Error(), "\r\n") {
				t.Fatalf("%q: want one line", err)
			}
			if !ok || e.Line < 1 || e.Line > len(lines) || e.Column < 1 || e.Column > len(lines[e.Line-1])+1 {
				t.Fatalf("%v: want a place in the text", err)
			}
			return
		}
		twin, err := testbed.Parse("fuzz", text)
		if d := diff(b, twin); d != "" || err != nil {
			t.Fatalf("-once +twice\n%s, error %v", d, err)
		}
		counted(t, b)
		for _, kind := range genconf.Kinds() {
			var out, second bytes.Buffer
			if err := genconf.Write(&second, kind, twin); err != nil {
				t.Fatal(err)
			}
			if err := genconf.Write(&out, kind, b); err != nil || out.Len() == 0 {
				t.Fatalf("%s: %d bytes, error %v", kind, out.Len(), err)
			}
			if !bytes.Equal(out.Bytes(), second.Bytes()) {
				t.Fatalf("%s: %s\nand again %s", kind, &out, &second)
			}
			if kind == "vita" {
				again(t, b, out.String())
			}
		}
		everyRoute(t, b, twin)
	})
}

// counted refuses what would make more than anybody wants, before it is made: a configuration has some lines for each queue in each
// route, a capture a round of each size to each route, or about a thousand packets.
func counted(t *testing.T, b *testbed.Testbed) {
	t.Helper()
	conf, packets := len(b.Public)*b.Routes*100, max(1000, len(b.Sizes)*b.Routes)
	if capture := packets * max(60, slices.Max(b.Sizes)); b.Routes < 1 || conf > 20e6 || capture > 50e6 {
		t.Fatalf("%d interfaces, %d routes, sizes %v would make %d bytes of configuration, %d of packets", len(b.Public), b.Routes, b.Sizes, conf, capture)
	}
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

func everyRoute(t *testing.T, b, twin *testbed.Testbed) {
	t.Helper()
	s, err := genpcap.Packets(b, 1)
	if err != nil {
		t.Fatal(err)
	}
	same, err := genpcap.Packets(twin, 1)
	if err != nil || same.Len() != s.Len() {
		t.Fatalf("%d packets, again %d, error %v", s.Len(), same.Len(), err)
	}
	from, to := 30, 33 // of a frame: the destination address without the host
	if b.Family() == 6 {
		from, to = 38, 52
	}
	routes := make(map[string]bool)
	for i := range s.Len() {
		routes[string(s.Frame(i).Data[from:to])] = true
		if !bytes.Equal(s.Frame(i).Data, same.Frame(i).Data) {
			t.Fatalf("packet %d is %x, again %x", i, s.Frame(i).Data, same.Frame(i).Data)
		}
	}
	if len(routes) != b.Routes {
		t.Fatalf("packets for %d routes: want %d", len(routes), b.Routes)
	}
}
