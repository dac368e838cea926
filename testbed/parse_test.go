package testbed_test

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadtest/testbed"
)

const node1 = `private-interface4 {
  pci 23:00.0;
  ip 172.16.0.10;
  nexthop-ip 172.16.0.1;
  nexthop-mac 02:00:00:00:00:00;
}
public-interface4 {
  pci 22:00.1;
  ip 172.16.0.10;
  nexthop-ip 172.17.0.10;
}
`

const node6 = `private-interface6 {
  pci 23:00.0;
  ip fd00:16::10;
  nexthop-ip fd00:16::1;
}
public-interface6 {
  pci 22:00.1;
  ip fd00:16::10;
  nexthop-ip fd00:17::10;
}
`

// diff compares descriptions.
func diff(want, got *testbed.Testbed) string {
	return cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b }))
}

// ours is the description of node1.
func ours() *testbed.Testbed {
	return &testbed.Testbed{
		Private: testbed.Interface{
			PCI: "23:00.0", MAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}, NexthopMAC: net.HardwareAddr{2, 0, 0, 0, 0, 0},
			IP: netip.MustParseAddr("172.16.0.10"), Nexthop: netip.MustParseAddr("172.16.0.1"),
		},
		Public: []testbed.Interface{{
			PCI: "22:00.1", IP: netip.MustParseAddr("172.16.0.10"), Nexthop: netip.MustParseAddr("172.17.0.10"), Queue: 1,
		}},
		RoutePrefix: "172.16", Routes: 1, Sizes: testbed.IMIX(), NegotiationTTL: time.Second,
	}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       func(b *testbed.Testbed)
	}{
		{"defaults", "", func(*testbed.Testbed) {}},
		{"settings", "route-prefix 10.9; nroutes 40; packet-size 128; negotiation-ttl 3; sa-ttl 90;", func(b *testbed.Testbed) {
			b.RoutePrefix, b.Routes, b.Sizes, b.NegotiationTTL, b.SATTL = "10.9", 40, []int{128}, 3*time.Second, 90*time.Second
		}},
		{"imix", "packet-size IMIX;", func(*testbed.Testbed) {}},
		{"quotes", "route-prefix \"10.\" + '9'/* */+ // two\n \"\" ; packet-size \"\" + '64';", func(b *testbed.Testbed) {
			b.RoutePrefix, b.Sizes = "10.9", []int{64}
		}},
		{"escapes", `packet-size "\t60\n";`, func(b *testbed.Testbed) { b.Sizes = []int{60} }},
		{"comments", "/**/nroutes/* * / */2;// ; } {\n//\n/* \n\n */packet-size//\n64;//", func(b *testbed.Testbed) { b.Routes, b.Sizes = 2, []int{64} }},
		{"CRLF", "nroutes 2;\r\npacket-size 64;\r\n", func(b *testbed.Testbed) { b.Routes, b.Sizes = 2, []int{64} }},
		{"YANG numbers", "nroutes 0x10; negotiation-ttl 010; sa-ttl +7;", func(b *testbed.Testbed) {
			b.Routes, b.NegotiationTTL, b.SATTL = 16, 8*time.Second, 7*time.Second
		}},
		{"longest times", "sa-ttl 4294967295;", func(b *testbed.Testbed) { b.SATTL = 4294967295 * time.Second }},
		{"Lua hex", "packet-size 0x40;", func(b *testbed.Testbed) { b.Sizes = []int{64} }},
		{"Lua exponent", "packet-size 6e1;", func(b *testbed.Testbed) { b.Sizes = []int{60} }},
		{"Lua fraction", "packet-size 60.0;", func(b *testbed.Testbed) { b.Sizes = []int{60} }},
		{"Lua zeros", "packet-size 0100;", func(b *testbed.Testbed) { b.Sizes = []int{100} }},
		{"shortest", "packet-size 34;", func(b *testbed.Testbed) { b.Sizes = []int{34} }},
		{"longest", "packet-size 10240;", func(b *testbed.Testbed) { b.Sizes = []int{10240} }},
		{"most routes", "nroutes 255;", func(b *testbed.Testbed) { b.Routes = 255 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := ours()
			tt.want(want)
			got, err := testbed.Parse("gentest.conf", []byte(node1+tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if d := diff(want, got); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

func TestParseInterfaces(t *testing.T) {
	v6 := `public-interface6 { queue 65535; ifname pub0; mac 02:00:00:aa:BB:cc; ip FD00::1; nexthop-ip fd00::2; nexthop-mac 02:00:00:00:00:02; }
		route-prefix "fd01:5";
		private-interface6{ifname p.1;ip fd00::3;nexthop-ip fd00::4;mac 02:00:00:00:00:03;}`
	got, err := testbed.Parse("", []byte(v6))
	if err != nil {
		t.Fatal(err)
	}
	want := &testbed.Testbed{
		Private: testbed.Interface{Ifname: "p.1", MAC: net.HardwareAddr{2, 0, 0, 0, 0, 3}, IP: netip.MustParseAddr("fd00::3"), Nexthop: netip.MustParseAddr("fd00::4")},
		Public: []testbed.Interface{{
			Ifname: "pub0", MAC: net.HardwareAddr{2, 0, 0, 0xaa, 0xbb, 0xcc}, NexthopMAC: net.HardwareAddr{2, 0, 0, 0, 0, 2},
			IP: netip.MustParseAddr("fd00::1"), Nexthop: netip.MustParseAddr("fd00::2"), Queue: 65535,
		}},
		RoutePrefix: "fd01:5", Routes: 1, Sizes: testbed.IMIX(), NegotiationTTL: time.Second,
	}
	if d := diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if n := got.Net(16); n != "fd01:5:1000::0/24" {
		t.Errorf("Net(16) = %s, want fd01:5:1000::0/24", n)
	}
	if h, err := got.Host(255, 0xfffe); h != netip.MustParseAddr("fd01:5:ff00::fffe") || err != nil {
		t.Errorf("Host(255, 65534) = %v, %v, want fd01:5:ff00::fffe", h, err)
	}

	got, err = testbed.Parse("", nil)
	if err != nil {
		t.Fatal(err)
	}
	ip := netip.MustParseAddr("172.16.0.10")
	want = ours()
	want.Private.PCI, want.Private.NexthopMAC, want.Private.Nexthop = "00:00.0", nil, netip.MustParseAddr("172.16.1.1")
	want.Public = []testbed.Interface{{PCI: "00:00.0", IP: ip, Nexthop: ip, Queue: 1}}
	if d := diff(want, got); d != "" {
		t.Errorf("nothing given: -want +got\n%s", d)
	}
	if n := got.Net(255); n != "172.16.255.0/24" {
		t.Errorf("Net(255) = %s, want 172.16.255.0/24", n)
	}
}

// TestErrors has every error text once or more.
func TestErrors(t *testing.T) {
	in := func(field string) string { return "private-interface4 {\n  " + field + "\n}" }
	second := func(fields string) string { return node1 + "public-interface4 {\n" + fields + "\n}" }
	long := strings.Repeat("x", 50)
	for _, tt := range []struct{ text, want string }{
		// Syntax.
		{"nroutes 1", `1:10: the end of the text after nroutes 1: want ";"`},
		{"nroutes", `1:8: the end of the text after nroutes: want a value`},
		{"nroutes;", `1:8: ";" after nroutes: want a value`},
		{"nroutes 1 2;", `1:11: 2 after nroutes 1: want ";"`},
		{"nroutes 1 {", `1:11: "{" after nroutes 1: want ";"`},
		{"nroutes {", `1:9: "{" after nroutes: want a value`},
		{`nroutes"1";`, `1:8: 1 right after nroutes: want a blank between them`},
		{"nroutes ''\nnroutes 1;", `2:1: nroutes after nroutes "": want ";"`},
		{"\n\t}", `2:2: "}" here: want a field such as nroutes`},
		{"nroutes 1;;", `1:11: ";" here: want a field such as nroutes`},
		{"/* /*", `1:1: the comment has no end: want */`},
		{"nroutes 1; // x\n  /*/", `2:3: the comment has no end: want */`},
		{"nroutes /x", `1:9: a bare /: want // or /* of a comment, or quotes around the text`},
		{"nroutes 1/2;", `1:10: a bare /: want // or /* of a comment, or quotes around the text`},
		{"route-prefix \"172.17;\nnroutes 1;", `1:14: the quoted text has no end on its line: want "`},
		{"route-prefix '172.17;", `1:14: the quoted text has no end on its line: want '`},
		{`route-prefix "172\.17";`, `1:18: a bare \ in quotes: want \n, \t, \" or \\`},
		{`route-prefix "\`, `1:15: a bare \ in quotes: want \n, \t, \" or \\`},
		{`route-prefix "172." + 17;`, `1:23: no quoted text after +: want + "…" or + '…'`},
		{`route-prefix "172." + "17`, `1:23: the quoted text has no end on its line: want "`},
		{`route-prefix "172." /* `, `1:21: the comment has no end: want */`},
		{`route-prefix "172." + /* `, `1:23: the comment has no end: want */`},
		{"private-interface4 x {", `1:20: x after private-interface4: want "{"`},
		{"private-interface4", `1:19: the end of the text after private-interface4: want "{"`},
		{in("pci 23:00.0\n  ip 172.16.0.10;"), `3:3: ip after pci 23:00.0: want ";"`},
		{in("{"), `2:3: "{" in the private-interface4 of line 1: want a field such as ip, or "}"`},
		{"private-interface4 {\n", `2:1: the end of the text in the private-interface4 of line 1: want a field such as ip, or "}"`},
		{in("route-prefix 172.17;"), `2:3: route-prefix in the private-interface4 of line 1: want "}" before it`},
		{in("public-interface4 {"), `2:3: public-interface4 in the private-interface4 of line 1: want "}" before it`},
		// Names.
		{"mtu 1500;", `1:1: mtu is no field of a gentest description: want one of route-prefix, nroutes, packet-size, negotiation-ttl, sa-ttl, private-interface4, public-interface4, private-interface6, public-interface6`},
		{"nroute 1;", `1:1: nroute is no field of a gentest description: did you mean nroutes?`},
		{"Packet_Size 1;", `1:1: Packet_Size is no field of a gentest description: did you mean packet-size?`},
		{"public-interface {", `1:1: public-interface is no field of a gentest description: did you mean public-interface4?`},
		{in("queue 1;"), `2:3: queue is no field of private-interface4: want one of pci, ifname, mac, ip, nexthop-ip, nexthop-mac`},
		{"public-interface6 { nexthopip fd00::1;", `1:21: nexthopip is no field of public-interface6: did you mean nexthop-ip?`},
		{in("pci 23:00.0; pci 23:00.0;"), `2:16: pci again: line 2 has it`},
		{"nroutes 1;\n nroutes 1;", `2:2: nroutes again: line 1 has it`},
		{strings.Repeat("public-interface4{pci 00:00.0;ip 1.1.1.1;nexthop-ip 1.1.1.2;}\n", 600), `514:1: more than 513 interfaces: want a private one, and a public one for each queue`},
		{node1 + "private-interface4 {", `12:1: private-interface4 again: line 1 has it`},
		// Values at the top.
		{node1 + "\nnroutes 0;", `13:9: nroutes 0: want 1..255`},
		{"nroutes 256;", `1:9: nroutes 256: want 1..255`},
		{"nroutes -1;", `1:9: nroutes -1: want 1..255`},
		{"nroutes many;", `1:9: nroutes many: want 1..255`},
		{"nroutes 1_0;", `1:9: nroutes 1_0: want 1..255`},
		{"nroutes 08;", `1:9: nroutes 08: want 1..255`},
		{"nroutes 1.0;", `1:9: nroutes 1.0: want 1..255`},
		{"nroutes 4294967297;", `1:9: nroutes 4294967297: want 1..255`},
		{"nroutes 'ü ü';", `1:9: nroutes "ü ü": want 1..255`},
		{"/*üü*/nroutes " + long + ";", `1:15: nroutes ` + long[:40] + `…: want 1..255`},
		{"nroutes \xff;", `1:9: nroutes "\xff": want 1..255`},
		{"sa-ttl 0;", `1:8: sa-ttl 0: want 1..4294967295 seconds`},
		{"negotiation-ttl 4294967296;", `1:17: negotiation-ttl 4294967296: want 1..4294967295 seconds`},
		{"packet-size 33;", `1:13: packet-size 33: want IMIX or 34..10240`},
		{"packet-size 10241;", `1:13: packet-size 10241: want IMIX or 34..10240`},
		{"packet-size -60;", `1:13: packet-size -60: want IMIX or 34..10240`},
		{"packet-size imix;", `1:13: packet-size imix: want IMIX or 34..10240`},
		{"packet-size 60.5;", `1:13: packet-size 60.5: want IMIX or 34..10240`},
		{"packet-size inf;", `1:13: packet-size inf: want IMIX or 34..10240`},
		{"packet-size 1e99;", `1:13: packet-size 1e99: want IMIX or 34..10240`},
		{"packet-size 6_0;", `1:13: packet-size 6_0: want IMIX or 34..10240`},
		{"packet-size '';", `1:13: packet-size "": want IMIX or 34..10240`},
		{"packet-size 53; route-prefix fd01;" + node6, `1:13: packet-size 53: want IMIX or 54..10240`},
		{"route-prefix hello;", `1:14: route-prefix hello: want two octets such as 172.17`},
		{"route-prefix 172.17.5;", `1:14: route-prefix 172.17.5: want two octets such as 172.17`},
		{"route-prefix 300.17;", `1:14: route-prefix 300.17: want two octets such as 172.17`},
		{"route-prefix fd01;", `1:14: route-prefix fd01: want two octets such as 172.17`},
		{"route-prefix 172.17;" + node6, `1:14: route-prefix 172.17: want one group such as fd01, or a few such as fd01:5`},
		{"route-prefix fd01::;" + node6, `1:14: route-prefix fd01::: want one group such as fd01, or a few such as fd01:5`},
		{"route-prefix 1:2:3:4:5:6;" + node6, `1:14: route-prefix 1:2:3:4:5:6: want one group such as fd01, or a few such as fd01:5`},
		{"route-prefix '::%a';" + node6, `1:14: route-prefix ::%a: want one group such as fd01, or a few such as fd01:5`},
		{node6, `11:1: route-prefix is missing: want one for IPv6, such as fd01`},
		// Values of interfaces.
		{in("ip 300.16.0.10;"), `2:6: ip 300.16.0.10: want an IPv4 address such as 172.16.0.10`},
		{in("ip fd00::1;"), `2:6: ip fd00::1: want an IPv4 address such as 172.16.0.10`},
		{in("nexthop-ip 172.16.0;"), `2:14: nexthop-ip 172.16.0: want an IPv4 address such as 172.16.0.10`},
		{"public-interface6 { ip 172.16.0.10; }", `1:24: ip 172.16.0.10: want an IPv6 address such as fd00:16::10`},
		{"public-interface6 { nexthop-ip fe80::1%eth0; }", `1:32: nexthop-ip fe80::1%eth0: want an IPv6 address such as fd00:16::10`},
		{in("mac 02:00:00:00:00;"), `2:7: mac 02:00:00:00:00: want six octets such as 02:00:00:00:00:01`},
		{in("mac 02-00-00-00-00-01;"), `2:7: mac 02-00-00-00-00-01: want six octets such as 02:00:00:00:00:01`},
		{in("nexthop-mac 0200.0000.0001;"), `2:15: nexthop-mac 0200.0000.0001: want six octets such as 02:00:00:00:00:01`},
		{in("pci 23:00:0;"), `2:7: pci 23:00:0: want a PCI address such as 23:00.0 or 0000:23:00.0`},
		{in("pci 23:20.0;"), `2:7: pci 23:20.0: want a PCI address such as 23:00.0 or 0000:23:00.0`},
		{in("pci 23:00.8;"), `2:7: pci 23:00.8: want a PCI address such as 23:00.0 or 0000:23:00.0`},
		{in("ifname ..;"), `2:10: ifname ..: want 1..15 characters without blanks, / and :`},
		{in("ifname 'a b';"), `2:10: ifname "a b": want 1..15 characters without blanks, / and :`},
		{in("ifname enp0s31f6np0v1x2;"), `2:10: ifname enp0s31f6np0v1x2: want 1..15 characters without blanks, / and :`},
		{in("pci 23:00.0; ifname eth0;"), `2:16: ifname beside the other name of the device: want pci or ifname`},
		{in("ifname eth0; pci 23:00.0;"), `2:16: pci beside the other name of the device: want pci or ifname`},
		{in("nexthop-ip 172.16.0.1;"), `1:1: private-interface4 without an ip: want its address`},
		{in("ip 172.16.0.1;"), `1:1: private-interface4 without a nexthop-ip: want the address of the next hop`},
		{in("ip 172.16.0.1; nexthop-ip 172.16.0.2;"), `1:1: private-interface4 without a device: want pci or ifname`},
		{"public-interface4 { queue 0; }", `1:27: queue 0: want 1..65535`},
		{"public-interface4 { queue 65536; }", `1:27: queue 65536: want 1..65535`},
		// Interfaces that do not go together.
		{second("pci 22:00.1; ip 172.16.0.10; nexthop-ip 172.17.0.11; queue 2;"), `13:17: ip 172.16.0.10 is taken by the public-interface4 of line 7: want one for each`},
		{second("pci 22:00.1; ip 172.16.0.11; nexthop-ip 172.17.0.10; queue 2;"), `13:41: nexthop-ip 172.17.0.10 is taken by the public-interface4 of line 7: want one for each`},
		{second("pci 22:00.1; ip 172.16.0.11; nexthop-ip 172.17.0.11; queue 1;"), `13:60: queue 1 is taken by the public-interface4 of line 7: want one for each`},
		{second("pci 22:00.1; ip 172.16.0.11; nexthop-ip 172.17.0.11;"), `12:1: queue 1 is taken by the public-interface4 of line 7: want one for each`},
		{node1 + node6, `12:1: private-interface6 beside the private-interface4 of line 1: want all of them for IPv4 or all for IPv6`},
		{strings.SplitAfter(node1, "}\n")[1], `1:1: public-interface4 without a private one: want a private-interface4`},
		{"\n" + strings.SplitAfter(node6, "}\n")[1], `2:1: public-interface6 without a private one: want a private-interface6`},
		{strings.SplitAfter(node6, "}\n")[0], `1:1: private-interface6 without a public one: want a public-interface6`},
	} {
		t.Run(tt.text, func(t *testing.T) {
			b, err := testbed.Parse("gentest.conf", []byte(tt.text))
			if b != nil {
				t.Error("a description beside the error")
			}
			if err == nil || err.Error() != "gentest.conf:"+tt.want {
				t.Errorf("got  %v\nwant gentest.conf:%s", err, tt.want)
			}
			if e := (*testbed.Error)(nil); !errors.As(err, &e) || e.File != "gentest.conf" {
				t.Errorf("%T: want a *testbed.Error about gentest.conf", err)
			}
		})
	}
}

// TestGolden reads what Vita's own generators read. Where they fail, or should have, there must be an error at the place.
func TestGolden(t *testing.T) {
	folder := os.Getenv("LOADTEST_GOLDEN")
	if folder == "" {
		t.Skip("LOADTEST_GOLDEN is not set")
	}
	want := map[string]string{
		"bad-duplicate-interface": `14:6: ip 172.16.0.10 is taken`,
		"bad-duplicate-leaf":      `15:1: nroutes again`,
		"bad-duplicate-queue":     `12:1: queue 1 is taken`,
		"bad-missing-ip":          `1:1: private-interface4 without an ip`,
		"bad-missing-nexthop-ip":  `1:1: private-interface4 without a nexthop-ip`,
		"bad-mixed-v4-v6":         `7:1: public-interface6 beside the private-interface4`,
		"bad-nroutes-negative":    `13:9: nroutes -1: want 1..255`,
		"bad-nroutes-word":        `13:9: nroutes many: want 1..255`,
		"bad-nroutes0":            `13:9: nroutes 0: want 1..255`,
		"bad-nroutes256":          `13:9: nroutes 256: want 1..255`,
		"bad-nroutes300":          `13:9: nroutes 300: want 1..255`,
		"bad-pci-and-ifname":      `3:3: ifname beside`,
		"bad-prefix-garbage":      `12:14: route-prefix hello`,
		"bad-prefix-long":         `12:14: route-prefix 172.17.5`,
		"bad-prefix-range":        `12:14: route-prefix 300.17`,
		"bad-size-huge":           `14:13: packet-size 20000`,
		"bad-size-imix-lowercase": `14:13: packet-size imix`,
		"bad-size-word":           `14:13: packet-size big`,
		"bad-size10":              `14:13: packet-size 10`,
		"bad-size33":              `14:13: packet-size 33`,
		"bad-syntax-brace":        `11:1: route-prefix in the public-interface4 of line 7: want "}"`,
		"bad-syntax-semicolon":    `3:3: ip after pci 23:00.0: want ";"`,
		"bad-unknown-field":       `15:1: mtu is no field`,
		"bad-unknown-nested":      `5:3: queue is no field of private-interface4`,
		"bad-v6-no-private":       `1:1: public-interface6 without a private one`,
		"bad-v6-no-public":        `1:1: private-interface6 without a public one`,
		"bad-v6-prefix-v4":        `12:14: route-prefix 172.17`,
		"bad-v6-size50":           `14:13: packet-size 50: want IMIX or 54..10240`,
		"lax-ip":                  `3:6: ip 300.16.0.10`,
		"lax-mac":                 `5:15: nexthop-mac 02:00:00:00:00:`,
		"lax-missing-device":      `1:1: private-interface4 without a device`,
		"lax-missing-private":     `1:1: public-interface4 without a private one`,
		"lax-pci":                 `2:7: pci 23:00:0`,
		"lax-ttl0":                `15:8: sa-ttl 0`,
		"lax-v6-same-nexthop":     `15:14: nexthop-ip fd00:17::10 is taken`,
	}
	inputs, err := filepath.Glob(filepath.Join(folder, "vita", "*", "gentest.conf"))
	if err != nil {
		t.Fatal(err)
	}
	good, bad := 0, 0
	for _, in := range inputs {
		name := filepath.Base(filepath.Dir(in))
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(in)
			if err != nil {
				t.Fatal(err)
			}
			b, err := testbed.Parse("in", text)
			if !strings.HasPrefix(name, "bad-") && !strings.HasPrefix(name, "lax-") {
				good++
				if err != nil || b == nil {
					t.Errorf("error %v: want none", err)
				}
				return
			}
			bad++
			if err == nil || want[name] == "" || !strings.HasPrefix(err.Error(), "in:"+want[name]) {
				t.Errorf("error %v: want in:%s", err, want[name])
			}
		})
	}
	if good < 33 || bad < len(want) {
		t.Errorf("%d good and %d bad cases: want 33 and %d or more", good, bad, len(want))
	}
}
