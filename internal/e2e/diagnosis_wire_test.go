package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loadtest/internal/lab"
	"loadtest/nic/dial"
	"loadtest/packet"
)

// Links that are down, and drivers that do not send.
func TestDiagnosisNotLeaving(t *testing.T) {
	device(t, "nft")
	t.Parallel()
	d := lab.Up(t, "linux-bridge.sh")
	s := scene{Device: d}
	const look = "; if it is up, look at the cable and at what it leads to"
	s.all(t, []cause{
		{name: "link down", made: "b: ip link set b0 down", args: "gen,flows=16 a0 b0 --link-wait 1s", mend: "b: ip link set b0 up",
			likely: "b0's link is down. ip -n b link set b0 up" + look, also: "b0  link down; heard nothing"},
		{name: "cable out", made: "r: ip link set ra down", args: "gen,flows=16 a0 b0 --link-wait 1s", mend: "r: ip link set ra up",
			likely: "a0's link is down. ip -n a link set a0 up" + look},
		{name: "not taken", made: "r: ip link set ra mtu 1000", args: "gen:1400,flows=16 a0 b0", mend: "r: ip link set ra mtu 1500",
			likely: "frames do not leave a0: it took 0 of 16. ip -n a -s -s link show a0 and ethtool -S say why"},
	})
	t.Run("link goes down", func(t *testing.T) {
		s.sh(t, "r: nft add rule netdev dut ra drop")
		p := start(t, s.args("find-limit -b 1Mbps --wait 4s --link-wait 2s gen,flows=16 a0 b0")...)
		time.Sleep(2 * time.Second)
		s.sh(t, "b: ip link set b0 down")
		r := p.wait(t)
		if want := "b0's link is down. ip -n b link set b0 up" + look; r.code != 3 || likely(s.short(r.talk)) != want {
			t.Errorf("exit %d, want 3 and %s; got\n%s", r.code, want, s.short(r.talk))
		}
	})
}

// Packets that come back at another port than was said.
func TestDiagnosisWrongPort(t *testing.T) {
	device(t, "nft")
	t.Parallel()
	t.Run("router", func(t *testing.T) {
		const (
			addrs = " --addr a0=10.10.1.2/24,gw=10.10.1.1 --addr b0=10.10.2.2/24,gw=10.10.2.1"
			back  = "gen,flows=16,src=198.19.0.0/16,dst=198.18.0.0/16"
		)
		s := scene{Device: lab.Up(t, "linux-router.sh", "neigh=no")}
		s.all(t, []cause{
			{name: "swapped", args: "gen,flows=16 left right b0 " + back + " right left a0" + addrs, again: "gen,flows=16 left right a0 " + back + " right left b0" + addrs,
				likely: "left: 16 of 16 came back at b0, out of which they were sent. ports swapped? gen,flows=16 a0 b0; to expect them there: gen,flows=16 b0 b0",
				also:   "or: right: 16 of 16 came back at a0, out of which they were sent. ports swapped? " + back + " b0 a0; to expect them there: " + back + " a0 a0"},
			{name: "sent back", made: "r: ip route replace 198.19.0.0/16 via 10.10.1.2", args: "gen,flows=16 a0 b0" + addrs,
				likely: "16 of 16 came back at a0, out of which they were sent. ports swapped? gen,flows=16 b0 a0; to expect them there: gen,flows=16 a0 a0",
				again:  "gen,flows=16 a0 a0 --addr a0=10.10.1.2/24,gw=10.10.1.1"},
		})
	})
	d, e := lab.Veth(t), lab.Veth(t)
	s := scene{Device: d, ports: map[string]string{"a0": d.A, "b0": d.B, "c0": e.A}}
	s.all(t, []cause{
		{name: "same port", args: "gen,flows=16 left left a0 gen,flows=16 right right b0", again: "gen,flows=16 a0 b0",
			likely: "left: 16 of 16 came back at b0. expect them there: gen,flows=16 a0 b0"},
		{name: "third port", args: "gen,flows=16 left middle a0 gen,flows=16 middle right c0 gen,flows=16 right left b0", again: "gen,flows=16 a0 b0",
			likely: "left: 16 of 16 came back at b0. expect them there: gen,flows=16 a0 b0", also: "middle (c0→b0): nothing came back in 0.7 s: 16 sent, 0 of ours at b0"},
	})
}

// within puts an IP packet into another one, of a protocol, behind a header.
func within(b []byte, proto byte, header ...byte) []byte {
	n := 20 + len(header) + len(b) - 14
	outer := []byte{0x45, 0, byte(n >> 8), byte(n), 0, 0, 0, 0, 64, proto, 0, 0, 203, 0, 113, 1, 203, 0, 113, 2}
	return slices.Concat(b[:14], outer, header, b[14:])
}

// Packets that come back, but not as they were sent.
func TestDiagnosisUnrecognised(t *testing.T) {
	device(t)
	t.Parallel()
	d, e := lab.Veth(t), lab.Veth(t)
	s := scene{Device: d, ports: map[string]string{"a0": d.A, "b0": e.B}}
	var change atomic.Pointer[func([]byte) []byte]
	forward(t, d.B, e.A, &change)
	const args = "gen:200,flows=16 a0 b0"
	for _, tt := range []struct {
		name   string
		change func([]byte) []byte
		args   string
		likely string
		mend   func([]byte) []byte // what the device does then, if it must
	}{
		{"cut", func(b []byte) []byte { return b[:100] }, args,
			"16 of 16 came back cut (196 → 100 B). have what cuts them, a mirror port or a capture, pass all of a packet; or smaller packets", same},
		{"changed", func(b []byte) []byte { b[len(b)-3] ^= 1; return b }, args,
			"16 of 16 came back changed (payload). --tag never knows them by addresses and ports alone", nil},
		{"VLAN", func(b []byte) []byte { return slices.Insert(b, 12, 0x91, 0, 0, 7) }, args,
			"16 of 16 came back with other VLAN tags (VLAN none → 7 with TPID 0x9100). have them untagged at b0, or tagged with TPID 0x8100: the switch's port, or --vlan",
			func(b []byte) []byte { return slices.Insert(b, 12, 0x81, 0, 0, 7) }},
		{"GRE", func(b []byte) []byte { return within(b, 47, 0, 0, 8, 0) }, args + " --tag never",
			"16 of 16 came back inside GRE. put what takes GRE off between the device and b0", same},
		{"a tunnel nobody knows", func(b []byte) []byte { return within(append(b, 9, 9), 99) }, args,
			"16 of 16 came back inside IP protocol 99. put what takes IP protocol 99 off between the device and b0", same},
	} {
		t.Run(tt.name, func(t *testing.T) {
			change.Store(&tt.change)
			flags := given(s.told(t, cause{args: tt.args, likely: tt.likely}, "find-limit -b 1Mbps --wait 700ms"))
			if tt.mend != nil {
				change.Store(&tt.mend)
			}
			if r := s.run(t, cause{}, passing, tt.args, strings.Join(flags, " ")); r.code != 0 {
				t.Errorf("when it was mended: exit %d\n%s", r.code, s.short(r.talk))
			}
		})
	}
}

func same(b []byte) []byte { return b }

// forward is a device that lets what comes in at one port out at another, IP as change leaves it.
func forward(t *testing.T, from, to string, change *atomic.Pointer[func([]byte) []byte]) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	from, to = socket(from), socket(to)
	ports, _, err := dial.Open(ctx, from, to)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		wg.Wait()
		_ = dial.Close(ports)
	})
	wg.Go(func() {
		in := make([]packet.Frame, 64)
		for ctx.Err() == nil {
			n, _ := ports[from].Queues[0].Recv(in)
			for _, f := range in[:n] {
				b := slices.Clone(f.Data)
				if string(b[12:14]) == "\x08\x00" {
					b = (*change.Load())(b)
				}
				_, _ = ports[to].Queues[0].Send([]packet.Frame{{Data: b}})
			}
			if n == 0 {
				time.Sleep(200 * time.Microsecond)
			}
		}
	})
}

// The far end of a tunnel is missing.
func TestDiagnosisTunnel(t *testing.T) {
	device(t, "nft")
	t.Parallel()
	t.Run("VXLAN", func(t *testing.T) {
		d := lab.Up(t, "linux-router.sh")
		s := scene{Device: d, ports: map[string]string{"a0": d.A, "b0": d.B, "v0": "v0@" + d.Prefix + "-b"}}
		const end = "ip link add v0 type vxlan id 7 dstport 4789 local 10.10.2.%d remote 10.10.2.%d dev %s; ip link set v0 up"
		s.all(t, []cause{{name: "VXLAN", made: "r: " + fmt.Sprintf(end, 1, 2, "rb") +
			"; ip link add br0 type bridge; ip link set ra master br0; ip link set v0 master br0; ip link set br0 up",
			args:   "gen,flows=16 a0 b0 --tag never",
			likely: "16 of 16 came back inside VXLAN. put what takes VXLAN off between the device and b0",
			mend:   "b: ip addr add 10.10.2.2/24 dev b0; " + fmt.Sprintf(end, 2, 1, "b0"), again: "gen,flows=16 a0 v0 --tag never"}})
	})
	t.Run("ESP", func(t *testing.T) {
		device(t, "strongswan")
		d := lab.Up(t, "strongswan-pair.sh")
		s := scene{Device: d, ports: map[string]string{"a0": d.A, "b0": d.B, "p0": "pub@" + d.Prefix + "-g2"}}
		s.all(t, []cause{{name: "ESP", args: "gen,flows=16,src=10.10.1.2/32,dst=10.10.2.2/32 a0 p0 --mac-dst a0=02:00:00:00:01:01",
			likely: "p0 hears # ESP in UDP: the device encrypts, nobody decrypts. put the gateway that decrypts between the device and p0",
			again:  "gen,flows=16,src=10.10.1.2/32,dst=10.10.2.2/32 a0 b0 --mac-dst a0=02:00:00:00:01:01"}})
	})
}

// A switch whose ports are not open.
func TestDiagnosisBlocked(t *testing.T) {
	device(t, "nft")
	t.Parallel()
	s := scene{Device: lab.Up(t, "linux-bridge.sh")}
	eapol := append([]byte{1, 0x80, 0xc2, 0, 0, 3, 2, 0, 0, 0, 1, 1, 0x88, 0x8e, 1, 0, 0, 5, 1, 1, 0, 5, 1}, make([]byte, 37)...)
	s.all(t, []cause{
		{name: "802.1X", made: "r: bridge link set dev ra locked on", says: eapol, args: "gen,flows=16 a0 b0", mend: "r: bridge link set dev ra locked off",
			likely: "a0 hears 802.1X: the switch's port wants a login. turn 802.1X off at that port of the switch",
			also:   "heard # 802.1X (EAP identity request from 02:00:00:00:01:01)"},
		{name: "spanning tree", made: "r: ip link set br0 type bridge forward_delay 400 hello_time 100; ip link set br0 type bridge stp_state 1; ip link set br0 down; ip link set br0 up",
			args: "gen,flows=16 a0 b0 --wait 2s", likely: "b0 hears spanning tree: the switch's port may still be learning. --wait 60s, or make it an edge port (portfast)",
			also: "or: a0 hears spanning tree"},
	})
}

// Every verb that sends a load says hello first.
func TestDiagnosisOfEachVerb(t *testing.T) {
	device(t, "nft")
	t.Parallel()
	s := scene{Device: lab.Up(t, "linux-router.sh")}
	s.sh(t, "r: ip route del 198.19.0.0/16")
	for i, verb := range []string{"find-limit -b 1Mbps", "replay -b 1kpps", "transient -b 1Mbps", "find-limit -b 1Mbps --check"} {
		t.Run(verb, func(t *testing.T) {
			s.told(t, cause{args: strings.ReplaceAll(routed, "N", fmt.Sprint(i)), likely: "# ICMP from 10.10.1.1: 198.19.0.2 unreachable (net). " +
				"give the device a route to 198.19.0.0/16 via an address at b0 (--addr b0=IP/LEN)"}, verb+" --wait 700ms")
		})
	}
}
