package afxdp

import (
	"strings"
	"testing"

	"loadtest/internal/link"
)

func TestHidden(t *testing.T) {
	parse := func(on bool) map[string]link.Feature { return map[string]link.Feature{"rx-vlan-hw-parse": {On: on}} }
	for _, tt := range []struct {
		driver   string
		features map[string]link.Feature
		want     string
	}{
		{"ixgbe", parse(true), "ethtool -K IF rxvlan off"}, {"ixgbe", parse(false), ""}, {"ena", nil, ""}, {"veth", parse(false), "a veth keeps VLAN tags"},
	} {
		if err := hidden(tt.driver, tt.features); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %v: %v, want %q", tt.driver, tt.features, err, tt.want)
		}
	}
}
