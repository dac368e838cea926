package units

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

func TestParseRate(t *testing.T) {
	const bytes = `: bytes are no rate here. 10 Gbit/s on the wire: 10G; packets: 1.2Mpps; share of the line: 40%`
	for _, tt := range []struct {
		in   string
		want Rate
		text string // String of want
		err  string // the whole text
	}{
		{in: "1e9", want: Rate{Wire, 1e9}, text: "1Gbps"},
		{in: "1000000000", want: Rate{Wire, 1e9}, text: "1Gbps"},
		{in: "1E+9", want: Rate{Wire, 1e9}, text: "1Gbps"},
		{in: "10G", want: Rate{Wire, 10e9}, text: "10Gbps"},
		{in: "10g", want: Rate{Wire, 10e9}, text: "10Gbps"},
		{in: "9.4Gbps", want: Rate{Wire, 9.4e9}, text: "9.4Gbps"},
		{in: "9.4GBPS", want: Rate{Wire, 9.4e9}, text: "9.4Gbps"},
		{in: "9.4 Gbps", want: Rate{Wire, 9.4e9}, text: "9.4Gbps"},
		{in: " 609 Mbit/s ", want: Rate{Wire, 609e6}, text: "609Mbps"},
		{in: "0.609G", want: Rate{Wire, 609e6}, text: "609Mbps"},
		{in: "64k", want: Rate{Wire, 64e3}, text: "64kbps"},
		{in: "1m", want: Rate{Wire, 1e6}, text: "1Mbps"},
		{in: "0.1T", want: Rate{Wire, 1e11}, text: "100Gbps"},
		{in: ".5", want: Rate{Wire, .5}, text: "0.5bps"},
		{in: "0.29G", want: Rate{Wire, 290000000}, text: "290Mbps"}, // 0.29 * 1e9 is 289999999.99999994
		{in: "1e3G", want: Rate{Wire, 1e12}, text: "1Tbps"},
		{in: "1.2Mpps", want: Rate{Packets, 1.2e6}, text: "1.2Mpps"},
		{in: "1000PPS", want: Rate{Packets, 1000}, text: "1kpps"},
		{in: "40%", want: Rate{Percent, 40}, text: "40%"},
		{in: "0.1 %", want: Rate{Percent, .1}, text: "0.1%"},
		{in: "100%", want: Rate{Percent, 100}, text: "100%"},
		{in: "x10", want: Rate{Factor, 10}, text: "x10"},
		{in: "X0.5", want: Rate{Factor, .5}, text: "x0.5"},
		{in: "max", want: Rate{Max, 0}, text: "max"},
		{in: "MAX", want: Rate{Max, 0}, text: "max"},
		{in: "9.4Gbps-l2", want: Rate{Layer2, 9.4e9}, text: "9.4Gbps-l2"},
		{in: "9.4g-L2", want: Rate{Layer2, 9.4e9}, text: "9.4Gbps-l2"},

		{in: "10GB", err: `"10GB"` + bytes},
		{in: "10GB/s", err: `"10GB/s"` + bytes},
		{in: "10GBps", err: `"10GBps"` + bytes},
		{in: "10GiB", err: `"10GiB"` + bytes},
		{in: "10MBytes", err: `"10MBytes"` + bytes},
		{in: "10Gb", err: `"10Gb": b may be bits or bytes. ` + rateForms},
		{in: "10gb/s", err: `"10gb/s": b may be bits or bytes. ` + rateForms},
		{in: "", err: `"": want a rate. ` + moreForms},
		{in: "-1G", err: `"-1G": want a positive rate. ` + moreForms},
		{in: "0", err: `"0": want a positive rate. ` + moreForms},
		{in: "x0", err: `"x0": want a positive rate. ` + moreForms},
		{in: "x-2", err: `"x-2": want a positive rate. ` + moreForms},
		{in: "1e-400", err: `"1e-400": want a positive rate. ` + moreForms},
		{in: "1e400", err: `"1e400": too large for a rate. ` + moreForms},
		{in: "1e99999999999999999999", err: `"1e99999999999999999999": want an exponent of a few digits, then a unit. ` + moreForms},
		{in: "NaN", err: `"NaN": want a decimal number, then a unit. ` + moreForms},
		{in: "Inf", err: `"Inf": want a decimal number, then a unit. ` + moreForms},
		{in: "1.2.3G", err: `"1.2.3G": want a decimal number, then a unit. ` + moreForms},
		{in: ".", err: `".": want a decimal number, then a unit. ` + moreForms},
		{in: "x", err: `"x": want a decimal number, then a unit. ` + moreForms},
		{in: "x2G", err: `"x2G": want a number alone after x. ` + moreForms},
		{in: "10x", err: `"10x": unknown unit "x". ` + moreForms},
		{in: "10/s", err: `"10/s": unknown unit "/s". ` + moreForms},
		{in: "1Mpps-l2", err: `"1Mpps-l2": unknown unit "Mpps-l2". ` + moreForms},
		{in: "1_000", err: `"1_000": unknown unit "_000". ` + moreForms},
		{in: "0x10", err: `"0x10": unknown unit "x10". ` + moreForms},
		{in: "101%", err: `"101%": a line takes at most 100%. ` + moreForms},
	} {
		t.Run(tt.in, func(t *testing.T) {
			got, err := ParseRate(tt.in)
			if message(err) != tt.err || got != tt.want {
				t.Fatalf("ParseRate(%q) = %v, error\n%s\nwant %v, error\n%s", tt.in, got, message(err), tt.want, tt.err)
			}
			if err == nil && got.String() != tt.text {
				t.Errorf("String() = %q, want %q", got, tt.text)
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestRateLoad(t *testing.T) {
	for _, tt := range []struct {
		in   string
		line BitRate
		mean float64
		want Rate
		err  string
	}{
		{in: "609M", want: Rate{Wire, 609e6}},
		{in: "1.2Mpps", want: Rate{Packets, 1.2e6}},
		{in: "x10", want: Rate{Factor, 10}},
		{in: "max", line: 10 * Gbps, want: Rate{Wire, math.Inf(1)}},
		{in: "40%", line: 10 * Gbps, want: Rate{Wire, 4e9}},
		{in: "40%", err: "40%: the port's line rate is not known. 10 Gbit/s on the wire: 10G"},
		// 64 bytes with FCS take 84 on the wire, 1518 take 1538
		{in: "64Mbps-l2", mean: 60, want: Rate{Wire, 84e6}},
		{in: "1518Mbps-l2", mean: 1514, want: Rate{Wire, 1538e6}},
		{in: "64Mbps-l2", err: "64Mbps-l2: the stream's frame size is not known. 10 Gbit/s on the wire: 10G"},
	} {
		t.Run(tt.in, func(t *testing.T) {
			r, err := ParseRate(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.Load(tt.line, tt.mean)
			if got != tt.want || (err == nil) != (tt.err == "") || !strings.HasPrefix(message(err), tt.err) {
				t.Errorf("%v.Load(%v, %v) = %v, %v; want %v, %s", r, tt.line, tt.mean, got, err, tt.want, tt.err)
			}
		})
	}
}

// Law: a rate or an error, never both, never neither; a rate is positive, finite, and its String reads back as itself. Errors are
// one line that shows a right rate.
func FuzzParseRate(f *testing.F) {
	for _, s := range []string{"1e9", "10G", "9.4Gbps", "1.2Mpps", "40%", "x10", "max", "9.4Gbps-l2", "10GB", "-1", "", "1e400", "1\nG", "x1e308", "2.2250738585072011e-308T"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRate(s)
		if (r == Rate{}) == (err == nil) {
			t.Fatalf("ParseRate(%q) = %v, %v: want a rate or an error", s, r, err)
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), strconv.Quote(s)+": ") || !strings.Contains(err.Error(), "10G") || strings.ContainsAny(err.Error(), "\r\n") {
				t.Fatalf("ParseRate(%q): %q: want one line that shows a right one", s, err)
			}
			return
		}
		if r.Kind != Max && !(r.Value > 0 && r.Value <= math.MaxFloat64) {
			t.Fatalf("ParseRate(%q) = %v: want a positive, finite rate", s, r.Value)
		}
		if again, err := ParseRate(r.String()); again != r {
			t.Fatalf("ParseRate(%q) is %q, which reads back as %v, %v", s, r, again, err)
		}
	})
}
