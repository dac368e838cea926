package guard

import (
	"net/netip"
	"testing"
	"testing/fstest"
)

func TestFind(t *testing.T) {
	proc := fstest.MapFS{}
	process := func(pid, environ string, parent int) {
		proc[pid+"/stat"] = stat("x", parent)
		if environ != "" {
			proc[pid+"/environ"] = &fstest.MapFile{Data: []byte(environ)}
		}
	}
	process("40", "A=1\x00PATH=/bin\x00", 30) // what sudo started
	process("30", "XSSH_CLIENT=9.9.9.9 1 2\x00SSH_CLIENT=10.1.2.3 5555 22\x00SSH_CONNECTION=10.1.2.3 5555 10.0.0.1 22\x00", 20)
	process("20", "SSH_CONNECTION=10.9.9.9 5555 10.0.0.1 22\x00", 1)
	process("50", "", 20) // of another user: not readable
	process("60", "A=1\x00", 1)
	process("1", "", 0)
	process("70", "SSH_CONNECTION=UNKNOWN 65535 UNKNOWN 65535\x00", 60)
	process("80", "", 80)
	for _, tt := range []struct {
		name               string
		connection, client string
		pid                int
		want               string
	}{
		{"environment", "10.1.1.1 5555 10.0.0.2 22", "", 40, "10.1.1.1 → 10.0.0.2"},
		{"mapped", "::ffff:10.1.1.1 5555 ::ffff:10.0.0.2 22", "", 40, "10.1.1.1 → 10.0.0.2"},
		{"link local", "fe80::1%eth0 5555 fe80::2%eth0 22", "", 60, "fe80::1%eth0 → fe80::2%eth0"},
		{"old variable", "", "10.1.1.1 5555 22", 40, "10.1.1.1 → invalid IP"},
		{"grandparent", "", "", 40, "10.1.2.3 → 10.0.0.1"},
		{"behind an environment that cannot be read", "", "", 50, "10.9.9.9 → 10.0.0.1"},
		{"none", "", "", 60, "invalid IP → invalid IP"},
		{"no network", "", "", 70, "invalid IP → invalid IP"},
		{"nonsense", "10.1.1.1", "x y z", 60, "invalid IP → invalid IP"},
		{"server alone", "x 5555 10.0.0.2 22", "", 60, "invalid IP → invalid IP"},
		{"process is gone", "", "", 99, "invalid IP → invalid IP"},
		{"its own parent", "", "", 80, "invalid IP → invalid IP"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := find(func(name string) string {
				return map[string]string{"SSH_CONNECTION": tt.connection, "SSH_CLIENT": tt.client}[name]
			}, proc, tt.pid)
			if got := s.client.String() + " → " + s.server.String(); got != tt.want {
				t.Errorf("find = %s, want %s", got, tt.want)
			}
		})
	}
}

// FuzzParse: there is a server only where there is a client, and what is read can be written and read again.
func FuzzParse(f *testing.F) {
	f.Add("10.1.1.1 5555 10.0.0.2 22", "10.1.1.1 5555 22")
	f.Add("fe80::1%eth0 5555 ::ffff:10.0.0.2 22", "")
	f.Fuzz(func(t *testing.T, connection, client string) {
		s := parse(connection, client)
		if s.server.IsValid() && !s.client.IsValid() {
			t.Fatalf("%+v", s)
		}
		for _, a := range []netip.Addr{s.client, s.server} {
			if a.IsValid() && address(a.String()) != a {
				t.Fatalf("%v is read again as %v", a, address(a.String()))
			}
		}
	})
}
