package testfile_test

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadtest/internal/testfile"
)

// noLines leaves out where things stood.
func noLines() cmp.Option {
	return cmp.Options{cmpopts.IgnoreFields(testfile.Stream{}, "Line"), cmpopts.IgnoreFields(testfile.Flag{}, "Line")}
}

func write(t *testing.T, x testfile.Test) string {
	t.Helper()
	var b bytes.Buffer
	if err := x.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const whole = `# a comment
verb: find-limit
streams:
  - {name: eth2→eth3, source: gen:64, tx: eth2, rx: eth3, rate: 40%}
  - source: "my captures/a,b.pcap"
    tx: 22:00.0
    share: 0.5   # sent only

addr:
  - eth2=198.18.0.2/16,gw=198.18.0.1
  - "eth3=198.19.0.2/16"
rate: 1e9
duration: 1
mac_dst: 02:00:00:00:00:01
both: true
tag: on
loss: 0,0.5%
seed: 0x1F
cpu: [2, 3]
exec: |
  a
  b
name: ''
`

func TestRead(t *testing.T) {
	got, err := testfile.Read("t.yaml", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	want := testfile.Test{
		Verb: "find-limit",
		Streams: []testfile.Stream{
			{Name: "eth2→eth3", Source: "gen:64", TX: "eth2", RX: "eth3", Rate: "40%", Line: 4},
			{Source: "my captures/a,b.pcap", TX: "22:00.0", Share: 0.5, Line: 5},
		},
		Flags: []testfile.Flag{
			{Name: "addr", Values: []string{"eth2=198.18.0.2/16,gw=198.18.0.1", "eth3=198.19.0.2/16"}, Line: 9},
			{Name: "rate", Values: []string{"1e9"}, Line: 12},
			{Name: "duration", Values: []string{"1"}, Line: 13},
			{Name: "mac-dst", Values: []string{"02:00:00:00:00:01"}, Line: 14},
			{Name: "both", Values: []string{"true"}, Line: 15},
			{Name: "tag", Values: []string{"on"}, Line: 16},
			{Name: "loss", Values: []string{"0,0.5%"}, Line: 17},
			{Name: "seed", Values: []string{"0x1F"}, Line: 18},
			{Name: "cpu", Values: []string{"2", "3"}, Line: 19},
			{Name: "exec", Values: []string{"a\nb\n"}, Line: 20},
			{Name: "name", Values: []string{""}, Line: 23},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	again, err := testfile.Read("again", []byte(write(t, got)))
	if d := cmp.Diff(got, again, noLines()); d != "" || err != nil {
		t.Errorf("written and read again, error %v (-want +got):\n%s", err, d)
	}
}

// A value is text, whatever YAML would make of it.
func TestReadKeepsText(t *testing.T) {
	for _, value := range []string{
		"1e9", "1E9", "010", "0o17", "0b11", "1_000", "1.10", "1.", ".5", "+1", "-1", "1e999", "99999999999999999999", ".inf", "-.inf", ".nan", ".NaN",
		"true", "True", "FALSE", "on", "off", "yes", "No", "y", "n", "12:30:45", "2026-01-01", "2001-12-14t21:59:43.10-05:00", "0000:22:00.0", "a:b", "a#b",
		"x y", "p99 < 50us", "it's", `say "x"`, "9.4Gbps-l2", "=", "null1", "~user",
	} {
		got, err := testfile.Read("t.yaml", []byte("rate: "+value+" # why\n"))
		if err != nil || got.Flags[0].Values[0] != value {
			t.Errorf("rate: %s reads as %+v, error %v", value, got.Flags, err)
		}
	}
}

func TestReadForms(t *testing.T) {
	want := testfile.Test{Verb: "replay", Flags: []testfile.Flag{{Name: "rate", Values: []string{"1G"}}, {Name: "addr", Values: []string{"a=1", "b=2"}}}}
	for name, text := range map[string]string{
		"block":         "verb: replay\nrate: 1G\naddr:\n- a=1\n- b=2\n",
		"flow":          `{verb: replay, rate: 1G, addr: [a=1, b=2]}`,
		"JSON":          `{"verb": "replay", "rate": "1G", "addr": ["a=1", "b=2"]}`,
		"Windows":       "verb: replay\r\nrate: 1G\r\naddr:\r\n  - a=1\r\n  - b=2\r\n",
		"byte order":    "\ufeffverb: replay\nrate: 1G\naddr: [a=1, b=2]",
		"folded":        "verb: replay\r\nrate: 1G\r\naddr: [\"a\\\r\n  =1\",\r\n  b=2]",
		"marks":         "---\nverb: replay\nrate: 1G\naddr: [a=1, b=2]\n...\n",
		"quoted keys":   "\"verb\": replay\n'rate': 1G\naddr: ['a=1', \"b=2\"]",
		"block of text": "verb: replay\nrate: |-\n  1G\naddr: [a=1, b=2]",
	} {
		got, err := testfile.Read("t.yaml", []byte(text))
		if d := cmp.Diff(want, got, noLines()); d != "" || err != nil {
			t.Errorf("%s: error %v (-want +got):\n%s", name, err, d)
		}
	}
}

func TestReadErrors(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", "1:1: nothing in it: want verb: find-limit, streams, and flags under their long names, as rate: 10G"},
		{"comments", "# rate: 1G\n", "1:1: nothing in it: want "},
		{"a word", "find-limit", "1:1: no test: want "},
		{"a list", "\n- rate: 1G\n", "2:1: no test: want "},
		{"no keys", "{}", "1:1: no test: want "},
		{"long", strings.Repeat("#\n", 75_000) + "#", "1:1: longer than 150000 bytes: want "},
		{"deep brackets", strings.Repeat("[", 150_000), "1:101: nested more than 100 deep: want "},
		{"deep braces", strings.Repeat("{a: ", 25_000), "1:401: nested more than 100 deep: want "},
		{"keys", strings.Repeat("ab: 1\n", 16_000), "1001:1: more than 1000 keys in one mapping: want "},
		{"questions", strings.Repeat("? a\n", 25_000), "1001:1: more than 1000 keys in one mapping: want "},
		{"deep lists", strings.Repeat("- ", 50_000), "1:101: nested more than 100 deep: want "},
		{"empty lines", "exec: |\n  a" + strings.Repeat("\n", 90_000), "103:1: more than 100 empty lines in a row: want fewer"},
		{"capture", "rate: 1G\n→: \xd4\xc3\xb2\xa1", "2:4: byte 0xd4 is no text in UTF-8: want "},
		{"syntax", "rate: 1G\naddr: @gw\n", `2:7: no YAML: '@' is a reserved character; a text that begins with one of - % @ & * ! [ { or holds ": " wants quotes`},
		{"colon", "exec: echo a: b\n", "1:7: no YAML: mapping value is not allowed in this context; a text "},
		{"tab", "addr:\n\t- a\n", "2:1: no YAML: found character '\t' that cannot start any token; a text "},
		{"tab in a text", "exec: a\tb\n", "1:7: exec: a tab inside a text without quotes: want a space, or quotes"},
		{"control", "exec: a\x00b\n", "1:8: byte 0x00 is no text in UTF-8: want "},
		{"unended", "rate: \"1G\n", "1:7: no YAML: could not find end character of double-quoted text; a text "},
		{"documents", "rate: 1G\n---\nrate: 2G\n", "2:1: a second document: want one test in a file"},
		{"directive", "%YAML 1.2\n---\nrate: 1G\n", "1:1: a directive of YAML is not understood here: leave the line out"},
		{"merge", "<<: {rate: 1G}\n", "1:1: << of YAML is not understood here: want a key and its value, as rate: 10G"},
		{"question", "? rate\n: 1G\n", "1:1: ? of YAML is not understood here: want a key and its value, as rate: 10G"},
		{"anchor", "rate: &r 1G\n", "1:7: rate: & of YAML is not understood here: want the value itself; a text that begins so wants quotes"},
		{"alias", "base: 1\nrate: *base\n", "2:7: rate: * of YAML is not understood here: want the value itself"},
		{"tag", "rate: !!str 1G\n", "1:7: rate: !!str of YAML is not understood here: want the value itself"},
		{"twice", "verb: replay\naddr: a=1\n\naddr: b=2\n", "4:1: addr stands in line 2 already: want it once; several values are a list, as addr: [A, B]"},
		{"twice, both spellings", "mac-dst: gw\nmac_dst: gw\n", "2:1: mac-dst stands in line 1 already: want it once"},
		{"verb twice", "verb: replay\nverb: replay\n", "2:1: verb stands in line 1 already: want it once"},
		{"verbs", "verb: [replay, find-limit]\n", "1:7: verb: want a text, "},
		{"empty verb", "verb: ''\n", "1:7: verb is empty: want a value, or no such key"},
		{"wrong verb", "verb: Find Limit\n", `1:7: verb "Find Limit": want the name of a verb, as find-limit`},
		{"dashes", "verb: replay\n--rate: 1G\n", `2:1: "--rate": want the long name of a flag, in small letters and without dashes before it, as rate`},
		{"short name", "b: 1G\n", `1:1: "b": want the long name of a flag`},
		{"capital", "Rate: 1G\n", `1:1: "Rate": want the long name of a flag`},
		{"stream", "stream: src=a,tx=b\n", `1:1: unknown key "stream": did you mean streams?`},
		{"verbs of a kind", "verbs: replay\n", `1:1: unknown key "verbs": did you mean verb?`},
		{"no value", "verb: replay\nboth:\n", `2:7: both has no value: want a text, a number, true or false; the empty text is ""`},
		{"null", "both: null\n", `1:7: both has no value: `},
		{"empty list", "addr: []\n", "1:7: addr is an empty list: want values, or no such line"},
		{"list of lists", "addr: [[a]]\n", "1:8: addr: want a text, a number, true or false, or a list of them"},
		{"mapping in a list", "addr:\n  - eth2: 198.18.0.2/16\n", `2:5: addr: want a text, a number, true or false, or a list of them; a text with ": " wants quotes`},
		{"mapping", "label: {rack: b4}\n", "1:8: label: want a text, "},
		{"no streams", "streams: []\n", "1:10: streams: want a list, in each line one as - {source: gen:64, tx: eth2, rx: eth3}"},
		{"streams as text", "streams: gen eth2 eth3\n", "1:10: streams: want a list, "},
		{"streams as one", "streams:\n  source: gen\n", "2:3: streams: want a list, "},
		{"stream as text", "streams:\n  - gen eth2 eth3\n", "2:5: streams: want each as {source: gen:64, tx: eth2, rx: eth3}"},
		{"no source", "streams:\n  - {tx: a}\n", "2:5: a stream without source: want a capture or a generator, as {source: gen:64, "},
		{"no tx", "streams:\n  - source: gen\n    rx: a\n", "2:5: a stream without tx: want the port that it goes out of, as {source: gen:64, "},
		{"receives only", "streams:\n  - {source: none, tx: a, rx: b}\n",
			"2:14: source none: a port that only receives needs no stream; it is the rx of the stream that it gets"},
		{"no rx", "streams:\n  - {source: gen, tx: a, rx: ''}\n", "2:30: rx is empty: want a value, or no such key"},
		{"near", "streams:\n  - {sorce: gen, tx: a}\n", `2:6: unknown key "sorce" of a stream: did you mean source?`},
		{"unknown", "streams:\n  - {from: gen, tx: a}\n", `2:6: unknown key "from" of a stream: want one of name, source, tx, rx, rate, share`},
		{"tx twice", "streams:\n  - {source: gen, tx: a, tx: b}\n", "2:26: tx stands in line 2 already: want it once"},
		{"list of ports", "streams:\n  - {source: gen, tx: [a, b]}\n", "2:23: tx: want a text, "},
		{"rate", "streams:\n  - {source: gen, tx: a, rate: 10GB}\n", `2:32: rate "10GB": bytes are no rate here. `},
		{"share", "streams:\n  - {source: gen, tx: a, share: 0}\n", `2:33: share "0": want a number above 0, as 2 or 0.5: the stream's factor on --rate`},
		{"endless share", "streams:\n  - {source: gen, tx: a, share: .inf}\n", `2:33: share ".inf": want a number above 0`},
		{"share that is none", "streams:\n  - {source: gen, tx: a, share: nan}\n", `2:33: share "nan": want a number above 0`},
		{"rate and share", "streams:\n  - {source: gen, tx: a, rate: 1G, share: 2}\n", "2:5: rate and share of one stream: want one of them; a share is of --rate"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := testfile.Read("t.yaml", []byte(tt.text))
			if err == nil || !strings.HasPrefix(err.Error(), "t.yaml:"+tt.want) || !cmp.Equal(got, testfile.Test{}) {
				t.Errorf("got  %+v, %v\nwant t.yaml:%s", got, err, tt.want)
			}
		})
	}
}

func TestWrite(t *testing.T) {
	got := write(t, testfile.Test{
		Verb: "find-limit",
		Streams: []testfile.Stream{
			{Name: "eth2→eth3", Source: "gen:64", TX: "eth2", RX: "eth3", Rate: "1.2Mpps"},
			{Source: "caps/a,b.pcap", TX: "eth2", Share: 2},
		},
		Flags: []testfile.Flag{
			{Name: "addr", Values: []string{"eth2=198.18.0.2/16,gw=198.18.0.1", "eth3=198.19.0.2/16"}},
			{Name: "rate", Values: []string{"10G"}},
			{Name: "loss", Values: []string{"0.5%"}},
			{Name: "both", Values: []string{"true"}},
			{Name: "label"},
			{Name: "name", Values: []string{"null"}},
			{Name: "assert", Values: []string{"ndr >= 97% of base"}},
			{Name: "exec", Values: []string{`test "$x" = it's`}},
			{Name: "on-event", Values: []string{"a\n\"b\"\t\x00\\"}},
		},
	})
	const want = `# A test of loadtest. It runs with:  loadtest find-limit -f FILE
#
# Flags on the command line override those of this file. Every flag of the verb can stand here, under its long name, as
#     rate: 10G        a text or a number, written as on the command line
#     both: true       what is on or off
#     label: [A, B]    what is given several times
# Paths begin at the folder that loadtest is started in, as on the command line.

verb: find-limit

# Each goes out of port tx and is expected at rx; without rx it is only sent. Of its own it may have a rate (rate: 1G), or a
# share of the test's rate (share: 2).
streams:
  - {name: eth2→eth3, source: "gen:64", tx: eth2, rx: eth3, rate: 1.2Mpps}
  - {source: "caps/a,b.pcap", tx: eth2, share: 2}

# Flags.
addr:
  - "eth2=198.18.0.2/16,gw=198.18.0.1"
  - eth3=198.19.0.2/16
rate: 10G
loss: 0.5%
both: true
name: "null"
assert: "ndr >= 97% of base"
exec: 'test "$x" = it''s'
on-event: "a\n\"b\"\t\U00000000\\"
`
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if _, err := testfile.Read("t.yaml", []byte(got)); err != nil {
		t.Error(err)
	}
}

func TestWriteErrors(t *testing.T) {
	bad := testfile.Test{Streams: []testfile.Stream{{Source: "caf\xe9.pcap\n", TX: "a"}}}
	var b bytes.Buffer
	const want = `a test file holds text in UTF-8 only, not "caf\xe9.pcap\n"`
	if err := bad.Write(&b); err == nil || err.Error() != want || b.Len() > 0 {
		t.Errorf("error %v and %d bytes, want %s and none", err, b.Len(), want)
	}
	full := errors.New("disk full")
	if err := (testfile.Test{}).Write(iotest.TruncateWriter(broken{full}, 9)); err != full {
		t.Errorf("error %v, want %v", err, full)
	}
}

type broken struct{ error }

func (b broken) Write([]byte) (int, error) { return 0, b.error }

// What Write writes of very many streams with long names can be read again.
func TestReadLargest(t *testing.T) {
	path, port := "captures/"+strings.Repeat("x", 200)+".pcap", "0000:22:00.0@namespace-of-the-left"
	x := testfile.Test{Verb: "replay"}
	for range 256 {
		x.Streams = append(x.Streams, testfile.Stream{Name: port + "→" + port, Source: path, TX: port, RX: port, Rate: "9.4Gbps-l2"})
	}
	got, err := testfile.Read("t.yaml", []byte(write(t, x)))
	if d := cmp.Diff(x, got, noLines()); d != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, d)
	}
}

// What is read is written, read again to the same test, and written to the same bytes. Else there is an error of one line, with a
// place. Neither takes more than 100 MB.
func FuzzRead(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(`{verb: replay, streams: [{source: "-", tx: "\U0001f600 \\", rx: 'it''s'}], rate: "1G"}`))
	f.Add([]byte("exec: >\n  a\n  b\nassert:\n- \"x\\\n  y\"\n- |+\n  z\n\n"))
	f.Add([]byte("a_b: 1\n? c\n: &x d\n---\n<<: *x\n%YAML\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		once, err := testfile.Read("fuzz", text)
		if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 100e6 {
			t.Fatalf("%d bytes of text take %d bytes of memory", len(text), after.TotalAlloc-before.TotalAlloc)
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz:") || strings.ContainsAny(err.Error(), "\r\n") || !cmp.Equal(once, testfile.Test{}) {
				t.Fatalf("%+v, error %q: want no test, and a place in one line", once, err)
			}
			return
		}
		written := write(t, once)
		twice, err := testfile.Read("written", []byte(written))
		if err != nil {
			t.Fatalf("%v in\n%s", err, written)
		}
		if d := cmp.Diff(once, twice, noLines()); d != "" {
			t.Fatalf("read, written, read (-want +got):\n%s\nof\n%s", d, written)
		}
		if again := write(t, twice); again != written {
			t.Fatalf("written again:\n%s\nbefore:\n%s", again, written)
		}
	})
}
