package guard

import (
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func stat(name string, parent int) *fstest.MapFile {
	text := fmt.Sprintf("7 (%s) S %d 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 5000 600 18446744073709551615", name, parent)
	return &fstest.MapFile{Data: []byte(text)}
}

func TestParseStat(t *testing.T) {
	for _, tt := range []struct {
		text string
		want state
		ok   bool
	}{
		{string(stat("bash", 6).Data), state{6, 4711}, true},
		{string(stat("a) S 1 (b", 6).Data), state{6, 4711}, true},
		{strings.Replace(string(stat("dead", 6).Data), ") S", ") Z", 1), state{}, false},
		{strings.Replace(string(stat("odd", 6).Data), "4711", "-1", 1), state{}, false},
		{"7 (short) S 1", state{}, false},
		{"", state{}, false},
	} {
		if got, ok := parseStat(tt.text); got != tt.want || ok != tt.ok {
			t.Errorf("parseStat(%q) = %+v, %v; want %+v, %v", tt.text, got, ok, tt.want, tt.ok)
		}
	}
}

const packets = `sk               RefCnt Type Proto  Iface R Rmem   User   Inode
00000000e1a3e5a5 3      3    0003   2     1 0      0      18446744073709551615
00000000e1a3e5a6 3      2    88cc   2     1 0      102    300
(____ptrval____) 3      3    0003   0     0 0      0      301
`

func TestParsePackets(t *testing.T) {
	want := []socket{{3, 2, true, 1<<64 - 1}, {0x88cc, 2, true, 300}, {3, 0, false, 301}}
	if got := parsePackets(packets + "cut 3 3 0003\nx 3 3 zz 2 1 0 0 1\n"); !slices.Equal(got, want) {
		t.Errorf("parsePackets = %+v, want %+v", got, want)
	}
}

// FuzzParsePackets: what is read is what the lines say, and no line is two sockets.
func FuzzParsePackets(f *testing.F) {
	f.Add(packets)
	f.Fuzz(func(t *testing.T, text string) {
		got := parsePackets(text)
		if lines := strings.Count(text, "\n") + 1; len(got) > lines {
			t.Fatalf("%d sockets in %d lines", len(got), lines)
		}
		var again strings.Builder
		for _, s := range got {
			r := map[bool]int{true: 1}[s.running]
			fmt.Fprintf(&again, "sk 3 3 %04x %d %d 0 0 %d\n", s.protocol, s.index, r, s.inode)
			if s.index < 0 {
				t.Fatalf("interface %d", s.index)
			}
		}
		if twice := parsePackets(again.String()); !slices.Equal(got, twice) {
			t.Fatalf("read %+v, written and read again %+v", got, twice)
		}
	})
}

// FuzzParseStat: the process's name, whatever it is, does not change what is read.
func FuzzParseStat(f *testing.F) {
	f.Add("bash", " S 6 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 5000")
	f.Fuzz(func(t *testing.T, name, rest string) {
		if strings.Contains(rest, ")") {
			return
		}
		got, ok := parseStat("7 (" + name + ")" + rest)
		want, wantOK := parseStat("7 (x)" + rest)
		if got != want || ok != wantOK || !ok && got != (state{}) || got.parent < 0 {
			t.Fatalf("%+v, %v; with the name x %+v, %v", got, ok, want, wantOK)
		}
	})
}

func TestOwners(t *testing.T) {
	link := func(to string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink} }
	text := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	proc := fstest.MapFS{
		"7/comm": text("tcpdump\n"), "7/fd/0": link("/dev/null"), "7/fd/3": link("socket:[300]"), "7/fd/4": link("socket:[301]"),
		"8/comm": text("sshd\n"), "8/fd/3": link("socket:[30]"),
		"9/comm": text("child\n"), "9/fd/3": link("socket:[301]"),
		"self/fd/3": link("socket:[300]"), "uptime": text("1 2\n"),
	}
	for _, tt := range []struct {
		inodes []uint64
		want   []process
	}{
		{[]uint64{300}, []process{{7, "tcpdump"}}},
		{[]uint64{300, 301}, []process{{7, "tcpdump"}, {9, "child"}}},
		{[]uint64{300, 302}, []process{{7, "tcpdump"}, {}}},
		{[]uint64{302}, []process{{}}},
		{nil, nil},
	} {
		if got := owners(proc, tt.inodes); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("owners(%d) = %v, want %v", tt.inodes, got, tt.want)
		}
	}
}
