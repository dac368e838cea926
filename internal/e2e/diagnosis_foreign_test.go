package e2e

import (
	"maps"
	"strings"
	"testing"

	"loadtest/internal/lab"
)

// What is not the tester's is counted by kind, with one of each in words, at the port where it comes in.
func TestForeignFrames(t *testing.T) {
	device(t, "nft")
	t.Parallel()
	s := scene{Device: lab.Up(t, "linux-router.sh")}
	frame := func(to string, from byte, rest string) []byte {
		b := append([]byte(to), 2, 0, 0, 0, 1, from)
		return append(append(b, rest...), make([]byte, max(0, 60-len(to)-6-len(rest)))...)
	}
	const nearest = "\x01\x80\xc2\x00\x00"
	for _, b := range [][]byte{
		frame(nearest+"\x0e", 9, "\x88\xcc\x02\x07\x04\x02\x09\x09\x09\x09\x09\x04\x06\x05Gi0/3\x06\x02\x00\x78\x0a\x08core-sw1"),
		frame("\xff\xff\xff\xff\xff\xff", 1, "\x08\x06\x00\x01\x08\x00\x06\x04\x00\x01\x02\x00\x00\x00\x01\x01\x0a\x0a\x01\x01\x00\x00\x00\x00\x00\x00\x0a\x0a\x01\x4d"),
		frame(nearest+"\x03", 1, "\x88\x8e\x01\x00\x00\x05\x01\x01\x00\x05\x01"),
		frame(nearest+"\x00", 1, "\x00\x26\x42\x42\x03\x00\x00\x00\x00\x00\x80\x00\x02\x00\x00\x00\x01\x01\x00\x00\x00\x00\x80\x00\x02\x00\x00\x00\x01\x01\x80\x01"),
		frame("\x02\x00\x00\x00\x01\x02", 1, "\x88\xb5"),
	} {
		defer s.say(t, b)()
	}
	want := map[string]string{
		"LLDP":   "LLDP core-sw1 Gi0/3",
		"ARP":    "ARP who-has 10.10.1.77 from 02:00:00:00:01:01 (10.10.1.1)",
		"802.1X": "802.1X EAP identity request from 02:00:00:00:01:01",
		"STP":    "STP root 8000.02:00:00:00:01:01, bridge 8000.02:00:00:00:01:01, port 8001",
		"other":  "EtherType 0x88b5, 64 B from 02:00:00:00:01:01",
	}
	r := s.run(t, cause{}, "replay -v -b 1kpps -D 1 --max-unsent 90% --drain 500ms", strings.ReplaceAll(routed, "N", "0"), "")
	text := s.short(r.out)
	_, block, _ := strings.Cut(text, "foreign ")
	block, _, _ = strings.Cut(block, "\n")
	trials := r.trials() // one, or more on a busy machine
	if r.code != 0 || len(trials) == 0 {
		t.Fatalf("exit %d, %d trials, want 0 and one\n%s%s", r.code, len(trials), r.talk, text)
	}
	for _, p := range trials[len(trials)-1].Ports {
		got := map[string]string{}
		for _, f := range p.Foreign {
			if got[f.Kind] = f.Example; f.Packets < 3 {
				t.Errorf("%d %s at %s, want some", f.Packets, f.Kind, p.Name)
			}
		}
		switch {
		case p.Name == s.B && len(got) != 0:
			t.Errorf("foreign at b0: %v, want none", got)
		case p.Name == s.A && !maps.Equal(got, want):
			t.Errorf("foreign at a0: %v, want %v", got, want)
		}
	}
	for kind, example := range want {
		if !numbered("# " + kind + " (" + example + ")").MatchString(block) {
			t.Errorf("no %s, as %q, in %q", kind, example, block)
		}
	}
	if !strings.HasSuffix(strings.TrimSpace(block), "at a0") {
		t.Errorf("%q does not say where", block)
	}
}
