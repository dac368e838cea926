package e2e

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"time"

	"loadtest/internal/lab"
	"loadtest/internal/netns"
	"loadtest/report"
)

// A pinger asks hosts for an echo, as ping(8) does, from a namespace.
type pinger struct {
	conns map[bool]net.PacketConn // by whether of IPv4
	seq   byte
}

func newPinger(t *testing.T, d *lab.Device, namespace string) *pinger {
	t.Helper()
	p := &pinger{conns: map[bool]net.PacketConn{}}
	err := netns.Within(d.Prefix+"-"+namespace, func() (err error) {
		if p.conns[true], err = net.ListenPacket("ip4:icmp", "0.0.0.0"); err == nil {
			p.conns[false], err = net.ListenPacket("ip6:ipv6-icmp", "::")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.conns[true].Close(); _ = p.conns[false].Close() })
	return p
}

// ping waits a second for an answer.
func (p *pinger) ping(to netip.Addr) error {
	p.seq++
	conn, kinds, mark := p.conns[to.Is4()], [2]byte{8, 0}, []byte{'l', 't', 0, p.seq}
	if to.Is6() {
		kinds = [2]byte{128, 129}
	}
	request := append([]byte{kinds[0], 0, 0, 0}, mark...) // the kernel sums up what is IPv6
	if to.Is4() {
		sum := ^(0x0800 + uint16('l')<<8 + 't' + uint16(p.seq))
		request[2], request[3] = byte(sum>>8), byte(sum)
	}
	if err := conn.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	if _, err := conn.WriteTo(request, &net.IPAddr{IP: to.AsSlice()}); err != nil {
		return err
	}
	for answer := make([]byte, 1500); ; {
		n, from, err := conn.ReadFrom(answer)
		if err != nil {
			return err
		}
		if n >= 8 && answer[0] == kinds[1] && string(answer[4:8]) == string(mark) && from.(*net.IPAddr).IP.Equal(to.AsSlice()) {
			return nil
		}
	}
}

// A router in the test networks asks for each of the 256 hosts that gen plays on either side, and for no other.
func TestTesterPlaysEveryHost(t *testing.T) {
	device(t, "nft")
	d := lab.Up(t, "linux-router.sh", "neigh=no")
	for n, port := range []string{"ra", "rb"} {
		net := fmt.Sprintf("198.%d.0", 18+n)
		d.IP("r", "route", "del", net+".0/16")
		d.IP("r", "addr", "add", net+".1/16", "dev", port)
	}
	p := start(t, "replay", "-b", "1kpps", "-D", "4", "--both", "--drain", "1s", "--max-unsent", "50%", "gen", d.A, d.B,
		"--addr", d.A+"=198.18.0.2/16,gw=198.18.0.1", "--addr", d.B+"=198.19.0.2/16,gw=198.19.0.1")
	p.await(t, `"event":"hello"`)
	asker := newPinger(t, d, "r")
	for address, want := range map[string]bool{"198.18.0.2": true, "198.18.0.77": true, "198.19.0.77": true, "198.19.77.77": false} {
		if err := asker.ping(netip.MustParseAddr(address)); (err == nil) != want {
			t.Errorf("ping %s: %v, want an answer: %v", address, err, want)
		}
	}
	r := p.wait(t)
	want := fmt.Sprintf("%s→%s 256 of 256 back, %[2]s→%[1]s 256 of 256 back; one hop (TTL 64→63), addresses unchanged", d.A, d.B)
	if got := r.said(); !slices.Equal(got, []string{want}) {
		t.Errorf("%q, want %q", got, want)
	}
	balanced(t, r)
	if x := r.trials(); r.code != 0 || len(x) == 0 || *x[len(x)-1].Streams[0].Lost+*x[len(x)-1].Streams[1].Lost != 0 {
		t.Errorf("exit %d, want no loss\n%s%s", r.code, r.out, r.talk)
	}
}

// Whoever asks for the tester's addresses gets an answer at any time: while a trial runs, and between two.
func TestNeighborsAreAnsweredAtAnyTime(t *testing.T) {
	device(t, "nft")
	d := lab.Up(t, "linux-router.sh", "neigh=no")
	args := []string{"find-limit", "-b", "1Mbps", "-p", "1kbps", "-r", "9", "-D", "1", "--warmup", "0", "--max-unsent", "50%", "-e", "sleep 1; exit 1", "gen", d.A, d.B}
	p := start(t, append(args, addresses(d, four, six)...)...)
	p.await(t, `"event":"hello"`)
	asker := newPinger(t, d, "r")
	answered := map[string][]time.Time{}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		for _, host := range neighbours() {
			host.forget(d)
			at := time.Now()
			if err := asker.ping(netip.MustParseAddr(host.address)); err != nil {
				t.Errorf("ping %s at %v: %v", host.address, at, err)
				continue
			}
			answered[host.address] = append(answered[host.address], at)
		}
		time.Sleep(20 * time.Millisecond)
	}
	_ = p.cmd.Process.Signal(syscall.SIGINT)
	r := p.wait(t)
	if r.code != 130 || len(r.trials()) < 3 {
		t.Fatalf("exit %d after %d trials: %s", r.code, len(r.trials()), r.talk)
	}
	during := func(at time.Time) bool {
		return slices.ContainsFunc(r.trials(), func(x *report.Trial) bool {
			return at.After(x.Time) && at.Before(x.Time.Add(time.Duration(x.DurationNs)))
		})
	}
	for host, all := range answered {
		n := 0
		for _, at := range all {
			if during(at) {
				n++
			}
		}
		if n < 3 || len(all)-n < 3 {
			t.Errorf("%s answered %d times during trials and %d times between, want both", host, n, len(all)-n)
		}
	}
}
