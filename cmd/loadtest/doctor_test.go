package main

import (
	"bytes"
	"strings"
	"testing"

	"loadtest/internal/doctor"
	"loadtest/internal/lab"
)

func findings() []doctor.Finding {
	return []doctor.Finding{
		{Severity: doctor.Warning, Port: "eth2@lab", What: "has flow control on (obeys PAUSE frames)", Why: "a device that is too slow makes the tester wait, and loses nothing",
			Mend: "ip netns exec lab ethtool -A eth2 rx off tx off"},
		{Severity: doctor.Note, What: "one <CPU>", Why: "why"},
		{Severity: doctor.OK, Port: "eth2@lab", What: "opens", Why: "yes"},
	}
}

func TestFindingsText(t *testing.T) {
	var b strings.Builder
	if err := findingsText(&b, findings()); err != nil {
		t.Fatal(err)
	}
	want := `warning  eth2@lab has flow control on (obeys PAUSE frames): a device that is too slow makes the tester wait, and loses
         nothing
             ip netns exec lab ethtool -A eth2 rx off tx off
note     one <CPU>: why
ok       eth2@lab opens: yes
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestFindingsJSON(t *testing.T) {
	var b strings.Builder
	if err := findingsJSON(&b, findings()[1:]); err != nil {
		t.Fatal(err)
	}
	want := `{"severity":"note","port":null,"what":"one <CPU>","why":"why","command":null}
{"severity":"ok","port":"eth2@lab","what":"opens","why":"yes","command":null}
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestConclude(t *testing.T) {
	for _, tt := range []struct {
		name     string
		found    []doctor.Finding
		out, err string
		code     int
	}{
		{"nothing", nil, "no fault, 0 warnings, 0 notes\n", "", exitPass},
		{"no fault", findings(), "no fault, 1 warning, 1 note\n", "", exitPass},
		{"fault", append(findings(), doctor.Finding{}, doctor.Finding{}), "", "2 faults, 1 warning, 1 note: nothing can be measured as it is", exitNotMeasured},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			err := conclude(&out, tt.found)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if out.String() != tt.out || text != tt.err || exitCode(err) != tt.code {
				t.Errorf("%q, %q, code %d; want %q, %q, %d", out.String(), text, exitCode(err), tt.out, tt.err, tt.code)
			}
		})
	}
}

func TestDoctorErrors(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"--cpu 4095", "loadtest: --cpu 4095: this machine has CPUs "},
		{"--cpu x", `loadtest: --cpu "x": want CPU numbers as 2,3 or 2-5`},
		{"lox", `loadtest: port "lox": no such interface`},
		{"sim:wire/a", `loadtest: port "sim:wire/a": it is not this machine's, so there is nothing to look at. All that are: loadtest ports`},
		{"sim:wire/c", `loadtest: port "sim:wire/c": network wire: no port "c"`},
		{"ff:1f.7", "loadtest: ff:1f.7: no such PCI device"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			var out, talk bytes.Buffer
			code := run(t.Context(), append([]string{"doctor"}, strings.Fields(tt.args)...), nil, &out, &talk)
			if code != exitUsage || !strings.HasPrefix(talk.String(), tt.want) || out.Len() > 0 {
				t.Errorf("code %d, out %q\n got %s\nwant %s…", code, &out, &talk, tt.want)
			}
		})
	}
}

// TestDoctorLooks at both ends of a veth, first as they are, then with one of them down.
func TestDoctorLooks(t *testing.T) {
	lab.Need(t, "netns")
	wire := lab.Veth(t)
	look := func(args ...string) (code int, out, talk string) {
		var o, e bytes.Buffer
		code = run(t.Context(), args, nil, &o, &e)
		return code, o.String(), e.String()
	}
	code, out, talk := look("doctor", wire.A, "afpacket:"+wire.B)
	if code != exitPass || talk != "" || strings.Contains(out, "fault ") || !strings.Contains(out, "\nok       "+wire.B+" opens with ") ||
		!strings.Contains(out, "\nno fault, ") || strings.Contains(out, "left out") {
		t.Errorf("code %d, %s\n%s", code, talk, out)
	}
	wire.IP("b", "link", "set", "b0", "down")
	code, out, talk = look("doctor", wire.A, wire.B)
	want := "fault    " + wire.A + " has no carrier: its far end is down, so nothing can be sent\n" +
		"fault    " + wire.B + " is set down: nothing can be sent\n             ip netns exec " + wire.Prefix + "-b ip link set b0 up\n"
	if code != exitNotMeasured || !strings.HasPrefix(out, want) || !strings.HasPrefix(talk, "loadtest: 2 faults, ") ||
		!strings.HasSuffix(talk, ": nothing can be measured as it is\n") {
		t.Errorf("code %d, %s\n%s\nwant %s…", code, talk, out, want)
	}
	code, out, _ = look("doctor")
	words := strings.Join(strings.Fields(out), " ") // lines are wrapped anywhere
	if code != exitPass || !strings.Contains(words, "left out: ") || !strings.Contains(words, wire.A+" has no carrier, ") || !strings.Contains(words, wire.B+" is set down") {
		t.Errorf("code %d\n%s", code, out)
	}
	code, out, _ = look("ports")
	if code != exitPass || !strings.Contains(out, "\n"+wire.A+" ") || !strings.Contains(out, " no carrier ") || !strings.Contains(out, "afpacket 0.4 Mpps") {
		t.Errorf("code %d\n%s", code, out)
	}
}
