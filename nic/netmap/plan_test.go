package netmap

import (
	"fmt"
	"testing"
)

func TestPlan(t *testing.T) {
	all := request{name: "eth0", ring: every}
	ring := func(i int) request { return request{name: "eth0", ring: i} }
	host := request{name: "eth0", ring: every, host: true}
	for _, tt := range []struct {
		name string
		r    request
		has  facts
		want string // mode:ring, x where rx is left out
		err  string
	}{
		{"one pair", all, facts{txRings: 1, rxRings: 1}, "[1:0]", ""},
		{"four pairs", all, facts{txRings: 4, rxRings: 4}, "[4:0 4:1 4:2 4:3]", ""},
		{"fewer to receive", all, facts{txRings: 3, rxRings: 1}, "[4:0 4:1x 4:2x]", ""},
		{"more to receive", all, facts{txRings: 2, rxRings: 4}, "", "it has 4 rings to receive and 2 to send, want as many: ethtool -L eth0 rx 2"},
		{"ring 0 of one", ring(0), facts{txRings: 1, rxRings: 1}, "[4:0]", ""},
		{"ring 3 of four", ring(3), facts{txRings: 4, rxRings: 2}, "[4:3x]", ""},
		{"ring 4 of four", ring(4), facts{txRings: 4, rxRings: 2}, "", "no ring 4: want eth0-0 to eth0-3"},
		{"no rings", all, facts{rxRings: 1}, "", "the kernel says that it has 0 rings to send"},
		{"too many", all, facts{txRings: 4097}, "", "the kernel says that it has 4097 rings to send"},
		{"host", host, facts{txRings: 4, rxRings: 4, hostTx: 1, hostRx: 1}, "[2:0]", ""},
		{"host of an old module", host, facts{txRings: 4, rxRings: 4}, "[2:0]", ""},
		{"several host rings", host, facts{txRings: 4, rxRings: 4, hostTx: 2, hostRx: 2}, "[8:0 8:1]", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan, err := plan(tt.r, tt.has)
			if tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Errorf("\n got %v\nwant %s", err, tt.err)
				}
				return
			}
			var got []string
			for _, g := range plan {
				s := fmt.Sprintf("%d:%d", g.mode, g.ring)
				if g.flags&flagTxOnly != 0 {
					s += "x"
				}
				if g.flags&^flagTxOnly != flagNoTxPoll {
					t.Errorf("%s has flags %#x", s, g.flags)
				}
				got = append(got, s)
			}
			if fmt.Sprint(got) != tt.want || err != nil {
				t.Errorf("%v, %v, want %s", got, err, tt.want)
			}
		})
	}
}
