package split_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadtest/pcap"
)

func TestGolden(t *testing.T) {
	folder := os.Getenv("LOADTEST_GOLDEN")
	if folder == "" {
		t.Skip("needs LOADTEST_GOLDEN")
	}
	for _, tt := range []struct {
		file, rule                          string
		client, server, undecided, twoSided int64
		first                               string // sides
	}{
		{"http-get.pcap", "auto", 17, 30, 0, 1, "csc"},
		{"http-get.pcap", "mac", 17, 30, 0, 1, "csc"},
		{"http-get.pcap", "22.0.0.0/8", 30, 17, 0, 1, "scs"},
		{"dns.pcap", "auto", 1, 1, 0, 0, "cs"},
		{"tcp-handshake-nano-sll.pcap", "auto", 2, 1, 0, 1, "csc"},
		{"vlan.pcap", "auto", 14, 12, 6, 0, "cscscscscscscscscscsccccss"},
		{"raw-ip.pcap", "auto", 1, 0, 0, 0, "c"},
		{"ip6-fragments.pcap", "auto", 36, 0, 0, 0, ""},
		{"esp.pcap", "auto", 8, 0, 0, 0, ""},
		{"tcp-sample.pcap", "auto", 3, 2, 0, 1, "cscsc"},
	} {
		t.Run(tt.file+" "+tt.rule, func(t *testing.T) {
			s, err := pcap.ReadFile(filepath.Join(folder, "pcaps", tt.file))
			if err != nil {
				t.Fatal(err)
			}
			d := decided(t, s, tt.rule)
			if d.Client != tt.client || d.Server != tt.server || d.Undecided != tt.undecided || d.TwoSided != tt.twoSided || !strings.HasPrefix(letters(d), tt.first) {
				t.Errorf("%d c, %d s, %d undecided, %d two-sided, %s; want %d, %d, %d, %d, %s", d.Client, d.Server, d.Undecided, d.TwoSided,
					letters(d), tt.client, tt.server, tt.undecided, tt.twoSided, tt.first)
			}
		})
	}
}
