package report_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"loadtest/report"
)

const end = `{"type":"end","v":1,"exit_code":0}`

func TestRead(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		records  int
		cut      bool
		unknown  int
		err      string
	}{
		{"one", end + "\n", 1, false, 0, ""},
		{"no last newline", end, 1, false, 0, ""},
		{"empty lines", "\n" + end + "\n\n", 1, false, 0, ""},
		{"cut", end + "\n" + end[:20], 1, true, 0, ""},
		{"cut to null bytes", end + "\n\x00\x00\x00", 1, true, 0, ""},
		{"new key", `{"type":"end","v":1,"moon":"full"}`, 1, false, 0, ""},
		{"new type", end + "\n" + `{"type":"moon","v":1}` + "\n", 1, false, 1, ""},
		{"nothing", "", 0, false, 0, "no records; want lines of JSON as written by --json"},
		{"cut at once", end[:20], 0, false, 0, "no records; want lines of JSON as written by --json"},
		{"broken inside", end[:20] + "\n" + end, 0, false, 0, "line 1: no record: unexpected end of JSON input"},
		{"text", end + "\n0.609\n", 0, false, 0, "line 2: no record: json: cannot unmarshal number into Go value"},
		{"other JSON", "{}\n", 0, false, 0, `line 1: no record: want {"type":…,"v":…}`},
		{"newer", `{"type":"end","v":2}` + "\n", 0, false, 0, "line 1: schema version 2; this program reads 1 to 1"},
		{"newer, unended", `{"type":"end","v":2}`, 0, false, 0, "line 1: schema version 2; this program reads 1 to 1"},
		{"no version", `{"type":"end"}` + "\n", 0, false, 0, "line 1: schema version 0; this program reads 1 to 1"},
		{"wrong kind", `{"type":"end","v":1,"exit_code":"no"}` + "\n", 0, false, 0, "line 1: end record: json: cannot unmarshal string"},
		{"long", strings.Repeat("x", 17<<20), 0, false, 0, "line 1: longer than 16777216 bytes; want one record a line"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			log, err := report.Read(strings.NewReader(tt.in))
			if tt.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tt.err) || log != nil {
					t.Fatalf("Read = %v, %v; want no log and the error %s", log, err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(log.Records) != tt.records || log.Cut != tt.cut || log.Unknown != tt.unknown {
				t.Errorf("%d records, cut %v, unknown %d; want %d, %v, %d", len(log.Records), log.Cut, log.Unknown, tt.records, tt.cut, tt.unknown)
			}
		})
	}
}

func TestReadError(t *testing.T) {
	in := io.MultiReader(strings.NewReader(end+"\n"), iotest.ErrReader(errors.New("cable pulled")))
	if log, err := report.Read(in); err == nil || err.Error() != "line 2: cable pulled" || log != nil {
		t.Errorf("Read = %v, %v; want the error line 2: cable pulled", log, err)
	}
}

// What is read is written and read again to the same bytes, and every text of it can be made; else there is an error.
func FuzzRead(f *testing.F) {
	for _, r := range append(search(), nothing()...) {
		line, err := report.Line(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Add([]byte(end + "\n" + end[:20]))
	f.Fuzz(func(t *testing.T, b []byte) {
		log, err := report.Read(bytes.NewReader(b))
		if (log == nil) == (err == nil) || log != nil && len(log.Records) == 0 {
			t.Fatal("want records or an error, never both or neither")
		}
		if err != nil {
			return
		}
		once := lines(t, log.Records)
		again, err := report.Read(strings.NewReader(once))
		if err != nil {
			t.Fatal(err)
		}
		if twice := lines(t, again.Records); twice != once {
			t.Fatalf("written once:\n%s\ntwice:\n%s", once, twice)
		}
		for _, s := range []report.Sink{report.NewText(report.TextOptions{}), report.NewText(report.TextOptions{Verbose: true, Color: true}), report.NewCSV(io.Discard), report.NewHydra(io.Discard)} {
			for _, r := range log.Records {
				if err := s.Write(r); err != nil {
					t.Fatal(err)
				}
			}
			if text, ok := s.(*report.Text); ok {
				if err := text.CutOff(); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
