package device

import "testing"

func TestNames(t *testing.T) {
	for _, tt := range []struct {
		d             Device
		port, command string
	}{
		{Device{Name: "eth2", PCI: "0000:22:00.0"}, "eth2", "ethtool -K eth2 gro off"},
		{Device{Name: "eth2", Namespace: "lab"}, "eth2@lab", "ip netns exec lab ethtool -K eth2 gro off"},
		{Device{Name: "eth2", Namespace: "/run/netns/lab"}, "eth2@/run/netns/lab", "nsenter --net=/run/netns/lab ethtool -K eth2 gro off"},
		{Device{PCI: "0000:22:00.0"}, "0000:22:00.0", "ethtool -K  gro off"},
	} {
		if got := tt.d.Port(); got != tt.port {
			t.Errorf("Port() = %q, want %q", got, tt.port)
		}
		if got := tt.d.In("ethtool -K %s gro off", tt.d.Name); got != tt.command {
			t.Errorf("In = %q, want %q", got, tt.command)
		}
	}
}

func TestLine(t *testing.T) {
	for mbps, want := range map[uint32]string{0: "", 10: "10M", 100: "100M", 1000: "1G", 2500: "2.5G", 100000: "100G"} {
		if got := (&Device{Speed: mbps}).Line(); got != want {
			t.Errorf("%d Mbit/s are %q, want %q", mbps, got, want)
		}
	}
}
