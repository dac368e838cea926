package neigh_test

import (
	"net/netip"
	"strings"
	"testing"

	"loadtest/internal/neigh"
)

func TestParseAddress(t *testing.T) {
	for _, tt := range []struct {
		in, port string
		want     neigh.Address
		text     string // of want, where it is not what was read
	}{
		{"eth2=198.18.0.2/16", "eth2", neigh.Address{Prefix: netip.MustParsePrefix("198.18.0.2/16")}, ""},
		{"eth2=198.18.0.2/16,gw=198.18.0.1", "eth2",
			neigh.Address{Prefix: netip.MustParsePrefix("198.18.0.2/16"), Gateway: netip.MustParseAddr("198.18.0.1")}, ""},
		{"eth2=198.18.0.2/16,vlan=4094,mac=02-00-00-00-00-0A,gw=198.18.0.1", "eth2", neigh.Address{
			Prefix: netip.MustParsePrefix("198.18.0.2/16"), Gateway: netip.MustParseAddr("198.18.0.1"), MAC: [6]byte{2, 0, 0, 0, 0, 10}, VLAN: 4094,
		}, "198.18.0.2/16,gw=198.18.0.1,mac=02:00:00:00:00:0a,vlan=4094"},
		{"eth2=2001:DB8::2/64,gw=2001:db8::1", "eth2",
			neigh.Address{Prefix: netip.MustParsePrefix("2001:db8::2/64"), Gateway: netip.MustParseAddr("2001:db8::1")}, "2001:db8::2/64,gw=2001:db8::1"},
		{"eth2=2001:db8::2/64,gw=fe80::1", "eth2",
			neigh.Address{Prefix: netip.MustParsePrefix("2001:db8::2/64"), Gateway: netip.MustParseAddr("fe80::1")}, ""},
		{"eth2=fe80::2/64", "eth2", neigh.Address{Prefix: netip.MustParsePrefix("fe80::2/64")}, ""},
		{"eth2=10.0.0.0/31,gw=10.0.0.1", "eth2",
			neigh.Address{Prefix: netip.MustParsePrefix("10.0.0.0/31"), Gateway: netip.MustParseAddr("10.0.0.1")}, ""},
		{"eth2=10.0.0.255/16", "eth2", neigh.Address{Prefix: netip.MustParsePrefix("10.0.0.255/16")}, ""},
		{"eth2=10.0.0.7/32", "eth2", neigh.Address{Prefix: netip.MustParsePrefix("10.0.0.7/32")}, ""},
		{"eth2=10.0.0.7/0", "eth2", neigh.Address{Prefix: netip.MustParsePrefix("10.0.0.7/0")}, ""},
		{"afpacket:eth2@lab=10.0.0.2/8", "afpacket:eth2@lab", neigh.Address{Prefix: netip.MustParsePrefix("10.0.0.2/8")}, ""},
		{"0000:22:00.0=10.0.0.2/8", "0000:22:00.0", neigh.Address{Prefix: netip.MustParsePrefix("10.0.0.2/8")}, ""},
		{"sim:lossy/a=10.0.0.2/8", "sim:lossy/a", neigh.Address{Prefix: netip.MustParsePrefix("10.0.0.2/8")}, ""},
		{"dpdk:net_tap0,iface=x=10.0.0.2/8,vlan=7", "dpdk:net_tap0,iface=x", neigh.Address{Prefix: netip.MustParsePrefix("10.0.0.2/8"), VLAN: 7}, ""},
		{"dpdk:net_x,ip=10.9.9.9/8=10.0.0.2/8", "dpdk:net_x,ip=10.9.9.9/8", neigh.Address{Prefix: netip.MustParsePrefix("10.0.0.2/8")}, ""},
		{"gw=10.0.0.2/8,gw=10.0.0.1", "gw", neigh.Address{Prefix: netip.MustParsePrefix("10.0.0.2/8"), Gateway: netip.MustParseAddr("10.0.0.1")}, ""},
	} {
		t.Run(tt.in, func(t *testing.T) {
			port, a, err := neigh.ParseAddress(tt.in)
			if port != tt.port || a != tt.want || err != nil {
				t.Errorf("ParseAddress = %q, %v, %v; want %q, %v", port, a, err, tt.port, tt.want)
			}
			if tt.text == "" {
				tt.text = strings.TrimPrefix(tt.in, tt.port+"=")
			}
			if got := a.String(); got != tt.text {
				t.Errorf("String = %q, want %q", got, tt.text)
			}
		})
	}
}

func TestParseAddressRefuses(t *testing.T) {
	const form = "want PORT=IP/LEN[,gw=IP][,mac=M][,vlan=N], as eth2=198.18.0.2/16,gw=198.18.0.1"
	for _, tt := range []struct{ in, err string }{
		{"", form},
		{"eth2", form},
		{"eth2=", form},
		{"=198.18.0.2/16", form},
		{"198.18.0.2/16", form},
		{"eth2=198.18.0.300/16", form},
		{"eth2,gw=198.18.0.1", form},
		{"eth2=198.18.0.2", "198.18.0.2 has no length: want that of its network, as 198.18.0.2/24"},
		{"eth2=198.18.0.2,gw=198.18.0.1", "198.18.0.2 has no length: want that of its network, as 198.18.0.2/24"},
		{"eth2=198.18.0.2,gw=198.18.0.1/16", "198.18.0.2 has no length: want that of its network, as 198.18.0.2/24"},
		{"eth2=2001:db8::2", "2001:db8::2 has no length: want that of its network, as 2001:db8::2/64"},
		{"eth2=198.18.0.2/33", `length "33" of 198.18.0.2: want 0 to 32`},
		{"eth2=198.18.0.2/255.255.0.0", `length "255.255.0.0" of 198.18.0.2: want 0 to 32`},
		{"eth2=2001:db8::2/129", `length "129" of 2001:db8::2: want 0 to 128`},
		{"eth2=fe80::2%eth2/64", `"fe80::2%eth2" has a zone: want fe80::2, the port says where it is`},
		{"eth2=::ffff:198.18.0.2/112", "::ffff:198.18.0.2 is IPv4 in IPv6's clothes: want 198.18.0.2"},
		{"eth2=224.0.0.5/24", "224.0.0.5 is a multicast group: want the address of one host"},
		{"eth2=ff02::1/64", "ff02::1 is a multicast group: want the address of one host"},
		{"eth2=0.0.0.0/0", "0.0.0.0 is no address: want the address of one host"},
		{"eth2=::/0", ":: is no address: want the address of one host"},
		{"eth2=127.0.0.1/8", "127.0.0.1 is loopback: want the address of one host"},
		{"eth2=198.18.0.0/16", "198.18.0.0 is the network's own address: want the address of one host"},
		{"eth2=198.18.255.255/16", "198.18.255.255 is the network's broadcast address: want the address of one host"},
		{"eth2=255.255.255.255/16", "255.255.255.255 is the network's broadcast address: want the address of one host"},
		{"eth2=198.18.0.2/16,gw=198.19.0.1", "gateway 198.19.0.1 is outside of 198.18.0.0/16: want a neighbour of 198.18.0.2"},
		{"eth2=2001:db8::2/64,gw=2001:db8:1::1", "gateway 2001:db8:1::1 is outside of 2001:db8::/64: want a neighbour of 2001:db8::2"},
		{"eth2=198.18.0.2/16,gw=198.18.0.2", "gateway 198.18.0.2 is the tester's own address: want the device's"},
		{"eth2=198.18.0.2/16,gw=198.18.255.255", "198.18.255.255 is the network's broadcast address: want the address of one host"},
		{"eth2=198.18.0.2/16,gw=fe80::1", "gateway fe80::1 of 198.18.0.2: want both IPv4 or both IPv6"},
		{"eth2=2001:db8::2/64,gw=198.18.0.1", "gateway 198.18.0.1 of 2001:db8::2: want both IPv4 or both IPv6"},
		{"eth2=2001:db8::2/64,gw=fe80::1%eth2", `gw="fe80::1%eth2": want an IP address alone, as gw=2001:db8::1`},
		{"eth2=198.18.0.2/16,gw=198.18.0.1/16", `gw="198.18.0.1/16": want an IP address alone, as gw=198.18.0.1`},
		{"eth2=198.18.0.2/16,gw", `gw="": want an IP address alone, as gw=198.18.0.1`},
		{"eth2=198.18.0.2/16,mac=02:00:00:00:00", `mac="02:00:00:00:00": want six bytes, as mac=02:00:00:00:00:01`},
		{"eth2=198.18.0.2/16,mac=02:00:00:00:00:00:00:01", `mac="02:00:00:00:00:00:00:01": want six bytes, as mac=02:00:00:00:00:01`},
		{"eth2=198.18.0.2/16,mac=00:00:00:00:00:00", `mac="00:00:00:00:00:00": want six bytes, as mac=02:00:00:00:00:01`},
		{"eth2=198.18.0.2/16,mac=33:33:00:00:00:01", `mac="33:33:00:00:00:01" stands for a group: want one station's, with an even first byte`},
		{"eth2=198.18.0.2/16,vlan=0", `vlan="0": want 1 to 4094`},
		{"eth2=198.18.0.2/16,vlan=4095", `vlan="4095": want 1 to 4094`},
		{"eth2=198.18.0.2/16,vlan=seven", `vlan="seven": want 1 to 4094`},
		{"eth2=198.18.0.2/16,gateway=198.18.0.1", `option "gateway": want gw=IP, mac=M or vlan=N`},
		{"eth2=198.18.0.2/16,", `option "": want gw=IP, mac=M or vlan=N`},
		{"eth2=198.18.0.2/16,vlan=7,vlan=8", "vlan is given twice: want it once"},
	} {
		t.Run(tt.in, func(t *testing.T) {
			port, a, err := neigh.ParseAddress(tt.in)
			if want := `"` + tt.in + `": ` + tt.err; err == nil || err.Error() != want {
				t.Errorf("error %v\n want %s", err, want)
			}
			if port != "" || a != (neigh.Address{}) {
				t.Errorf("ParseAddress = %q, %v beside the error", port, a)
			}
		})
	}
}

// What was read is written so that it is read the same.
func FuzzParseAddress(f *testing.F) {
	f.Add("eth2=198.18.0.2/16,gw=198.18.0.1,mac=02:00:00:00:00:01,vlan=7")
	f.Add("dpdk:net_tap0,iface=x=2001:db8::2/64,gw=fe80::1")
	f.Fuzz(func(t *testing.T, s string) {
		port, a, err := neigh.ParseAddress(s)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has several lines: %q", err)
			}
			return
		}
		again, b, err := neigh.ParseAddress(port + "=" + a.String())
		if again != port || a != b || err != nil {
			t.Errorf("%q is %q and %v; again: %q, %v, %v", s, port, a, again, b, err)
		}
		if ip := a.Prefix.Addr(); ip.IsMulticast() || ip.IsUnspecified() || a.Gateway == ip || a.VLAN > 4094 || a.MAC[0]&1 == 1 {
			t.Errorf("%q is taken as %v", s, a)
		}
	})
}
