package afxdp

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"loadtest/internal/lab"
	"loadtest/nic"
	"loadtest/nic/afpacket"
	"loadtest/packet"
)

func TestErrors(t *testing.T) {
	lab.Need(t, "netns", "afxdp", "tun")
	wire := lab.Veth(t)
	wire.IP("a", "tuntap", "add", "tun0", "mode", "tun")
	wire.IP("a", "link", "add", "uneven", "numtxqueues", "1", "numrxqueues", "4", "type", "veth", "peer", "name", "even")
	opened(t, wire.A, Options{})
	at := "@" + wire.Prefix + "-a"
	for _, tt := range []struct{ name, want string }{
		{"a0", "lt_redirect, is attached to it already; end the program that it belongs to, or: ip link set IF xdp off. Or afpacket: device or resource busy"},
		{"a1", `port "a1` + at + `": no such interface in namespace ` + at[1:] + ". Near: a0"},
		{"tun0", `port "tun0` + at + `": not an Ethernet interface (ARP hardware type 65534)`},
		{"uneven", `port "uneven` + at + `": it has 4 receive queues and 1 to send; AF_XDP needs as many: ethtool -L IF rx 1`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := Open(tt.name+at, Options{})
			if err == nil {
				d.Port().Close()
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("\n got %v\nwant %s", err, tt.want)
			}
		})
	}
	if i, err := Look(wire.A); err != nil || i.Backend != "afxdp" || i.MaxFrame != 1514 {
		t.Errorf("Look = %+v, %v", i, err)
	}
}

// Frames longer than a chunk are not sent, and missed when they come.
func TestJumbo(t *testing.T) {
	lab.Need(t, "netns", "afxdp", "afpacket")
	wire := lab.Up(t, "veth.sh", "mtu=9000")
	d := opened(t, wire.A, Options{})
	if want := largeChunk - headroom - vlanTag; d.Info.MaxFrame != want || !strings.HasPrefix(d.Info.Mode, "generic copy") {
		t.Errorf("longest %d, mode %q; want %d, generic", d.Info.MaxFrame, d.Info.Mode, want)
	}
	from, err := afpacket.Open(wire.B, afpacket.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer from.Port().Close()
	p := d.Port()
	long := []packet.Frame{{Data: made(1, 9014).Frame(0).Data}}
	for range 5 {
		if n, err := from.Port().Send(long); n != 1 || err != nil {
			t.Fatalf("Send of %d bytes = %d, %v", len(long[0].Data), n, err)
		}
	}
	if n, err := p.Send(long); n != 0 || !errors.Is(err, nic.ErrTooLong) {
		t.Errorf("Send of %d bytes = %d, %v; want %v", len(long[0].Data), n, err, nic.ErrTooLong)
	}
	if n, err := p.Recv(make([]packet.Frame, 8)); n != 0 || err != nil {
		t.Errorf("Recv = %d, %v", n, err)
	}
	if s := nic.Of(p).Reporter.Status(); s.Missed != 5 {
		t.Errorf("status %+v, want 5 missed", s)
	}
}

// An interface that is down can be opened, and says so.
func TestOpenDown(t *testing.T) {
	lab.Need(t, "netns", "afxdp")
	wire := lab.Veth(t)
	wire.IP("a", "link", "set", "a0", "down")
	d := opened(t, wire.A, Options{})
	if n, err := d.Port().Send(blank(3)); !d.Info.Down || n != 0 || !errors.Is(err, nic.ErrDown) {
		t.Errorf("down %v, Send = %d, %v; want %v", d.Info.Down, n, err, nic.ErrDown)
	}
	wire.IP("a", "link", "set", "a0", "up")
	if n, err := d.Port().Send(blank(3)); n != 3 || err != nil {
		t.Errorf("up: Send = %d, %v", n, err)
	}
}

// What Send would refuse is not played, and the answer says why.
func TestNotPlayed(t *testing.T) {
	lab.Need(t, "netns", "afxdp")
	p := opened(t, lab.Veth(t).A, Options{}).Port()
	for _, tt := range []struct {
		name string
		size int
		n    int
		want error
	}{
		{"longest", 1514, 2, nil},
		{"too long", 1515, 2, nic.ErrTooLong},
		{"too short", 13, 2, errTooShort},
		{"as many as are kept", 60, keepFrames, nil},
		{"more", 60, keepFrames + 1, nic.ErrNotPlayed},
	} {
		s := &packet.Store{}
		for range tt.n {
			s.Append(make([]byte, tt.size), 0, tt.size)
		}
		l := nic.Lane{Store: s, Tags: slices.Repeat([]int32{-1}, tt.n), Gaps: make([]int64, tt.n)}
		err := nic.Of(p).Player.Load([]nic.Lane{l})
		if !errors.Is(err, tt.want) || err != nil && !errors.Is(err, nic.ErrNotPlayed) {
			t.Errorf("%s: Load = %v, want %v", tt.name, err, tt.want)
		}
	}
}
