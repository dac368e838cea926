package units

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want time.Duration
		err  string
	}{
		{in: "1", want: time.Second},
		{in: "0", want: 0},
		{in: "0s", want: 0},
		{in: "0.5", want: 500 * time.Millisecond},
		{in: "1e-3", want: time.Millisecond},
		{in: "1.1", want: 1100 * time.Millisecond},
		{in: "500ms", want: 500 * time.Millisecond},
		{in: "1m30s", want: 90 * time.Second},
		{in: " 12h", want: 12 * time.Hour},
		{in: "-1", err: `"-1": want 0 or more. ` + durationForms},
		{in: "-1s", err: `"-1s": want 0 or more. ` + durationForms},
		{in: "", err: `"": want a duration. ` + durationForms},
		{in: "soon", err: `"soon": want a duration. ` + durationForms},
		{in: "NaN", err: `"NaN": want a duration. ` + durationForms},
		{in: "1 day", err: `"1 day": want a duration. ` + durationForms},
		{in: "1e10", err: `"1e10": too large for a duration. ` + durationForms},
		{in: "1e999", err: `"1e999": too large for a duration. ` + durationForms},
		{in: "1e-12", err: `"1e-12": shorter than 1ns. ` + durationForms}, // 0 means without end
		{in: "0.4ns", err: `"0.4ns": shorter than 1ns. ` + durationForms},
	} {
		t.Run(tt.in, func(t *testing.T) {
			got, err := ParseDuration(tt.in)
			if got != tt.want || message(err) != tt.err {
				t.Errorf("ParseDuration(%q) = %v, %v; want %v, %s", tt.in, got, err, tt.want, tt.err)
			}
		})
	}
}

func TestParseSize(t *testing.T) {
	const forms = ". the shortest frame: 64; the longest without jumbo: 1518"
	for _, tt := range []struct {
		in, text, err string
		frame         int
	}{
		{in: "64", frame: 60, text: "64 B (60+FCS)"},
		{in: "1518", frame: 1514, text: "1518 B (1514+FCS)"},
		{in: "65554", frame: 65550, text: "65554 B (65550+FCS)"},
		{in: "60", err: `"60": a size counts the FCS, 4 bytes` + forms},
		{in: "63", err: `"63": want at least 64 bytes with FCS` + forms},
		{in: "0", err: `"0": want at least 64 bytes with FCS` + forms},
		{in: "65555", err: `"65555": want at most 65554 bytes with FCS` + forms},
		{in: "99999999999999999999", err: `"99999999999999999999": want at most 65554 bytes with FCS` + forms},
		{in: "-64", err: `"-64": want a frame's size in bytes with FCS` + forms},
		{in: "64.5", err: `"64.5": want a frame's size in bytes with FCS` + forms},
		{in: "", err: `"": want a frame's size in bytes with FCS` + forms},
	} {
		t.Run(tt.in, func(t *testing.T) {
			got, err := ParseSize(tt.in)
			if message(err) != tt.err {
				t.Fatalf("ParseSize(%q) = %v, %v; want error %s", tt.in, got, err, tt.err)
			}
			if err == nil && (got.Frame() != tt.frame || got.String() != tt.text) {
				t.Errorf("ParseSize(%q) = %v, %d without FCS; want %s, %d", tt.in, got, got.Frame(), tt.text, tt.frame)
			}
		})
	}
}

func TestParseLoss(t *testing.T) {
	const forms = ". none: 0; in percent: 0.5%; in millionths: 10ppm; as a share: 1e-5"
	for _, tt := range []struct {
		in, text, err string
		want          Loss
	}{
		{in: "0", want: 0, text: "0"},
		{in: "0%", want: 0, text: "0"},
		{in: "0.5%", want: .005, text: "0.5 %"},
		{in: "0.5 %", want: .005, text: "0.5 %"},
		{in: "7%", want: .07, text: "7 %"}, // .07 * 100 is 7.000000000000001
		{in: "1e-5", want: 1e-5, text: "0.001 %"},
		{in: "10ppm", want: 1e-5, text: "0.001 %"},
		{in: "10 PPM", want: 1e-5, text: "0.001 %"},
		{in: "1", err: `"1": want less than all packets` + forms},
		{in: "100%", err: `"100%": want less than all packets` + forms},
		{in: "1e999", err: `"1e999": want less than all packets` + forms},
		{in: "-0.1", err: `"-0.1": want 0 or more` + forms},
		{in: "", err: `"": want a share of the packets` + forms},
		{in: "none", err: `"none": want a share of the packets` + forms},
		{in: "5 packets", err: `"5 packets": unknown unit "packets"` + forms},
	} {
		t.Run(tt.in, func(t *testing.T) {
			got, err := ParseLoss(tt.in)
			if got != tt.want || message(err) != tt.err {
				t.Fatalf("ParseLoss(%q) = %g, %v; want %g, %s", tt.in, float64(got), err, float64(tt.want), tt.err)
			}
			if err == nil && got.String() != tt.text {
				t.Errorf("String() = %q, want %q", got, tt.text)
			}
		})
	}
}

// Law: what is read is within its bounds, and where String shows it as the user would write it, reads back as itself; of memory
// String shows three digits. What is not read is 0, and the error is one line that says how to write it.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"512MB", "1.5 GiB", "1048576B", "1e17TB", "1152921504606846975B", "NaNGB", "0", "1\nGB", "1", "64", "0.5%", "10ppm", "1m30s", "-1", "1e-12", "9223372036.854775807", "1e-320"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDuration(s)
		if d < 0 || err != nil && d != 0 {
			t.Errorf("ParseDuration(%q) = %v, %v", s, d, err)
		}
		if again, _ := ParseDuration(d.String()); again != d {
			t.Errorf("ParseDuration(%q) is %v, which reads back as %v", s, d, again)
		}
		z, err := ParseSize(s)
		if (err == nil) != (z >= MinSize && z <= MaxSize) {
			t.Errorf("ParseSize(%q) = %v, %v", s, z, err)
		}
		l, err := ParseLoss(s)
		if !(l >= 0 && l < 1) || math.IsNaN(float64(l)) || err != nil && l != 0 {
			t.Errorf("ParseLoss(%q) = %v, %v", s, float64(l), err)
		}
		if again, _ := ParseLoss(l.String()); again != l {
			t.Errorf("ParseLoss(%q) is %v, which reads back as %v", s, l, again)
		}
		m, err := ParseMemory(s)
		if (err == nil) != (m >= 1<<20 && m < 1<<60) || err != nil && m != 0 {
			t.Errorf("ParseMemory(%q) = %v, %v", s, m, err)
		}
		if again, _ := ParseMemory(strconv.FormatInt(m, 10) + "B"); again != m {
			t.Errorf("ParseMemory(%q) is %d, which reads back as %d", s, m, again)
		}
		if again, _ := ParseMemory(Bytes(m).String()); err == nil && m < 1e15 && m > 2<<20 && math.Abs(float64(again-m)) > .005*float64(m) {
			t.Errorf("ParseMemory(%q) is %v, which reads back as %d, not about %d", s, Bytes(m), again, m)
		}
		for _, read := range []func(string) error{
			func(s string) error { _, err := ParseDuration(s); return err },
			func(s string) error { _, err := ParseSize(s); return err },
			func(s string) error { _, err := ParseLoss(s); return err },
			func(s string) error { _, err := ParseMemory(s); return err },
		} {
			if err := read(s); err != nil && (!strings.HasPrefix(err.Error(), strconv.Quote(s)+": ") || strings.ContainsAny(err.Error(), "\r\n")) {
				t.Errorf("%q: error %q: want one line that begins with it", s, err)
			}
		}
	})
}
