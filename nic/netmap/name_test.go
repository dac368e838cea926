package netmap

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	const forms = "want an interface, as eth2, eth2-0 (one ring) or eth2^ (host rings), a switch's port, as vale1:a, or a pipe, as vale1:p{1"
	for _, tt := range []struct {
		name string
		want request
		is   string
		err  string // behind the port's name
	}{
		{"eth0", request{"eth0", false, every, false}, "all rings", ""},
		{"eth0-2", request{"eth0", false, 2, false}, "ring 2", ""},
		{"eth0-4095", request{"eth0", false, 4095, false}, "ring 4095", ""},
		{"eth0^", request{"eth0", true, every, false}, "host rings", ""},
		{"enp129s0f1np1x", request{"enp129s0f1np1x", false, every, false}, "all rings", ""},
		{"vale1:a", request{"vale1:a", false, every, true}, "VALE port", ""},
		{"vale1:a-b", request{"vale1:a-b", false, every, true}, "VALE port", ""},
		{"vale1:p{1", request{"vale1:p{1", false, every, true}, "pipe", ""},
		{"vale1:p}65535", request{"vale1:p}65535", false, every, true}, "pipe", ""},
		{"eth0{7", request{"eth0{7", false, every, true}, "pipe", ""},
		{"", request{}, "", forms},
		{"^", request{}, "", forms},
		{"eth0@lab", request{}, "", forms},
		{"eth0*", request{}, "", forms},
		{"netmap:eth0", request{}, "", forms},
		{"eth0^1", request{}, "", "want nothing behind ^, which is all host rings, as eth0^"},
		{"eth0-", request{}, "", "want a ring's number from 0 to 4095 behind -, as eth0-0"},
		{"eth0-x", request{}, "", "want a ring's number from 0 to 4095 behind -, as eth0-0"},
		{"eth0-4096", request{}, "", "want a ring's number from 0 to 4095 behind -, as eth0-0"},
		{"eth0-99999999999999999999", request{}, "", "want a ring's number from 0 to 4095 behind -, as eth0-0"},
		{"vale1", request{}, "", "want a switch and a port of it, as vale1:a"},
		{"vale1:", request{}, "", "want a switch and a port of it, as vale1:a"},
		{"vale1:a:b", request{}, "", "want only a switch and a port of it, as vale1:a: it has no host rings and is in no namespace"},
		{"vale1:a^", request{}, "", "want only a switch and a port of it, as vale1:a: it has no host rings and is in no namespace"},
		{"vale1:p{", request{}, "", "want a pipe's number behind {, as vale1:p{1"},
		{"vale1:p}x", request{}, "", "want a pipe's number behind }, as vale1:p}1"},
		{"eth0{65536", request{}, "", "want a pipe's number behind {, as eth0{1"},
		{"{1", request{}, "", forms},
		{"}", request{}, "", "want a pipe's number behind }, as vale1:p}1"},
		{strings.Repeat("e", 16), request{}, "", "want at most 15 letters before -, ^, { or }, not 16"},
		{strings.Repeat("e", 16) + "-1", request{}, "", "want at most 15 letters before -, ^, { or }, not 16"},
		{"vale1:" + strings.Repeat("a", 16), request{}, "", "want at most 15 letters behind :, not 16"},
		{"vale" + strings.Repeat("1", 60) + ":a{1", request{}, "", "want a shorter name, as vale1:a"},
	} {
		got, err := parse(tt.name)
		if tt.err != "" {
			if want := `port "` + tt.name + `": ` + tt.err; err == nil || err.Error() != want {
				t.Errorf("%q:\n got %v\nwant %s", tt.name, err, want)
			}
			continue
		}
		if err != nil || got != tt.want || got.String() != tt.is {
			t.Errorf("%q: %+v (%v), %v; want %+v (%s)", tt.name, got, got, err, tt.want, tt.is)
		}
	}
}

// FuzzParse: a name is refused with the port's name and what is right, or is one that the kernel's struct takes.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"eth0", "eth0-2", "eth0^", "vale1:a", "vale1:p{1", "vale1:p}1", "", "{", "-"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		r, err := parse(name)
		switch {
		case err != nil && !strings.Contains(err.Error(), ": want "):
			t.Errorf("%q: %v does not say what is right", name, err)
		case err == nil && (r.name == "" || len(r.name) >= nameBytes || !strings.HasPrefix(name, r.name) || r.ring >= mostRings || r.host && r.ring != every):
			t.Errorf("%q: %+v", name, r)
		}
	})
}
