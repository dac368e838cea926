package e2e

import (
	"flag"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"loadtest/internal/lab"
	"loadtest/nic/dial"
	"loadtest/packet"
)

var update = flag.Bool("update", false, "rewrite golden files")

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\ngot\n%s\nwant\n%s", path, got, want)
	}
}

// A desk is where a user sits: a namespace with the ports eth2 and eth3, a device between them, and a folder.
type desk struct {
	*lab.Device
	dir string
}

// newDesk makes one of a device of lab/: its two ends come together.
func newDesk(t *testing.T, script string, options ...string) *desk {
	t.Helper()
	d := &desk{Device: lab.Up(t, script, options...), dir: open(t)}
	for _, p := range [][3]string{{"a", "a0", "eth2"}, {"b", "b0", "eth3"}} {
		d.IP(p[0], "link", "set", p[1], "down")
		d.IP(p[0], "link", "set", p[1], "name", p[2])
	}
	d.IP("b", "link", "set", "eth3", "netns", d.Prefix+"-a")
	for _, p := range []string{"eth2", "eth3"} {
		d.IP("a", "link", "set", p, "up")
	}
	d.A, d.B = "eth2", "eth3"
	return d
}

// open makes a folder that everybody can enter and write to.
func open(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "loadtest-desk")
	if err == nil {
		err = os.Chmod(dir, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// at has a command run at the desk, by means of other commands: sudo's like.
func (d *desk) at(through ...string) func(*exec.Cmd) {
	return func(cmd *exec.Cmd) {
		words := append([]string{"ip", "netns", "exec", d.Prefix + "-a"}, through...)
		cmd.Path, _ = exec.LookPath("ip")
		cmd.Args = append(words, cmd.Args...)
		cmd.Dir = d.dir
		cmd.Env = append(os.Environ(), "LOADTEST_RUNS="+filepath.Join(d.dir, "runs"), "XDG_RUNTIME_DIR="+d.dir)
	}
}

// put writes a capture to the desk's folder.
func (d *desk) put(t *testing.T, name string, s *packet.Store) { put(t, filepath.Join(d.dir, name), s) }

// state is all that the kernel says of the desk's ports, counters too.
func (d *desk) state(t *testing.T) string {
	t.Helper()
	var all string
	for _, p := range []string{d.A, d.B} {
		out, err := exec.Command("ip", "-n", d.Prefix+"-a", "-d", "-s", "link", "show", p).Output()
		if err != nil {
			t.Fatalf("ip: %v", err)
		}
		all += string(out)
	}
	return all
}

// nobody runs a command without any privilege.
func nobody() []string {
	return []string{"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"}
}

// put writes a capture.
func put(t *testing.T, path string, s *packet.Store) {
	t.Helper()
	move(t, capture(t, s), path)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
}

// A said is one packet of a conversation; the zero proto is UDP.
type said struct {
	proto    byte
	src, dst string // address:port, IPv4
	flags    byte   // of TCP
	size     int    // without FCS; least 60
	swapMAC  bool   // sent by the other station
}

// frame is the packet in Ethernet.
func (p said) frame() []byte {
	proto := p.proto
	if proto == 0 {
		proto = packet.ProtoUDP
	}
	b := make([]byte, max(p.size, 60))
	copy(b, []byte{2, 0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 2, 8, 0, 0x45, 0, 0, 0, 0, 0, 0, 0, 64, proto})
	if p.swapMAC {
		b[5], b[11] = b[11], b[5]
	}
	put16(b[16:], int(uint16(len(b)-14)))
	src, dst := netip.MustParseAddrPort(p.src), netip.MustParseAddrPort(p.dst)
	copy(b[26:], src.Addr().AsSlice())
	copy(b[30:], dst.Addr().AsSlice())
	put16(b[34:], int(src.Port()))
	put16(b[36:], int(dst.Port()))
	if proto == packet.ProtoTCP {
		b[46], b[47] = 5<<4, p.flags
	} else {
		put16(b[38:], int(uint16(len(b)-34)))
	}
	var sum uint32
	for i := 14; i < 34; i += 2 {
		sum += uint32(b[i])<<8 | uint32(b[i+1])
	}
	sum = sum>>16 + sum&0xffff
	put16(b[24:], int(^uint16(sum>>16+sum&0xffff)))
	return b
}

func put16(b []byte, v int) { b[0], b[1] = byte(v>>8), byte(v) }

// store is a capture of packets that are so far apart.
func store(gap time.Duration, packets ...said) *packet.Store {
	s := &packet.Store{}
	for i, p := range packets {
		b := p.frame()
		s.Append(b, 1e18+int64(i)*int64(gap), len(b))
	}
	return s
}

// cooked is a store as captured on interface "any" of Linux.
func cooked(s *packet.Store) *packet.Store {
	c := &packet.Store{Link: packet.LinkSLL}
	for i := range s.Len() {
		f := s.Frame(i)
		head := []byte{0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 1, 2, 0, 0, 8, 0}
		if f.Data[5] == 2 { // from the machine itself
			head[1] = 4
		}
		b := append(head, f.Data[14:]...)
		c.Append(b, f.Nanos, len(b))
	}
	return c
}

// Each of the twelve most likely mistakes has its message, is found before anything is touched, and leaves standard output alone.
func TestTwelveMistakes(t *testing.T) {
	device(t, "nft")
	const pci = `mount -t tmpfs none /sys/bus/pci && mkdir -p /sys/bus/pci/devices/0000:22:00.0/net /sys/bus/pci/drivers/vfio-pci &&
		ln -s ../../drivers/vfio-pci /sys/bus/pci/devices/0000:22:00.0/driver && exec "$0" "$@"`
	d := newDesk(t, "linux-bridge.sh")
	one := said{src: "10.10.1.2:4096", dst: "10.10.2.2:9"}
	d.put(t, "a.pcap", store(time.Millisecond, one))
	d.put(t, "b.pcap", store(time.Millisecond, one))
	long := &packet.Store{}
	for i := range 90210 {
		p := one
		if n := i + 1 - 8812; n >= 0 && n%200 == 0 && n/200 < 312 {
			p.size = 4410
		}
		b := p.frame()
		long.Append(b, int64(i)*1e6, len(b))
	}
	d.put(t, "long.pcapng", long)
	d.put(t, "cooked.pcapng", cooked(store(time.Millisecond, one)))
	var talk []said
	for i := range 1240 {
		client := netip.AddrPortFrom(netip.MustParseAddr("10.10.1.2"), uint16(20000+i)).String()
		talk = append(talk, said{proto: packet.ProtoTCP, src: client, dst: "10.10.2.2:80", flags: 2},
			said{proto: packet.ProtoTCP, src: "10.10.2.2:80", dst: client, flags: 0x12, swapMAC: true})
	}
	d.put(t, "talk.pcapng", store(time.Millisecond, talk...))
	d.IP("a", "link", "add", "ens1f0", "type", "veth", "peer", "name", "ens1f1")
	d.IP("b", "link", "add", "ens1f01", "type", "veth", "peer", "name", "peer")
	d.IP("a", "link", "add", "eth0", "type", "veth", "peer", "name", "uplink")
	d.IP("a", "addr", "add", "10.1.2.1/24", "dev", "eth0")
	for _, up := range []string{"uplink", "eth0"} {
		d.IP("a", "link", "set", up, "up")
	}
	d.IP("a", "route", "add", "default", "via", "10.1.2.254")
	for _, tt := range []struct {
		number  string
		line    string
		through []string
		names   string // the port, file or flag in question
	}{
		{"01", "find-limit a.pcap node1 node2 22:00.0 b.pcap", nil, "b.pcap"},
		{"02", "find-limit a.pcap eth2 eth3", nobody(), "eth2"},
		{"03", "find-limit a.pcap ens1f01 eth3", nil, "ens1f01"},
		{"04", "find-limit a.pcap eth0 eth3", []string{"env", "SSH_CONNECTION=10.1.2.3 50000 10.1.2.1 22"}, "eth0"},
		{"05", "find-limit a.pcap 22:00.0 eth3", []string{"sh", "-c", pci}, "22:00.0"},
		{"06", "find-limit -b 10GB a.pcap eth2 eth3", nil, "--rate"},
		{"07", "find-limit a.pcap node1 nod2 eth2 b.pcap node2 node1 eth3", nil, "nod2"},
		{"08", "find-limit long.pcapng eth2 eth3", nil, "long.pcapng"},
		{"09", "find-limit cooked.pcapng eth2 eth3", nil, "cooked.pcapng"},
		{"10", "find-limit talk.pcapng eth2 eth3", nil, "talk.pcapng"},
	} {
		t.Run(tt.number, func(t *testing.T) {
			before := d.state(t)
			args := append(strings.Fields(tt.line), "--json", "run.jsonl", "-o", "run.csv")
			code, out, talk := on(t, d.at(tt.through...), args...)
			if code != 2 || out != "" {
				t.Errorf("exit %d, %q on stdout; want 2 and nothing", code, out)
			}
			if !strings.Contains(talk, tt.names) || !strings.HasPrefix(talk, "loadtest: ") || strings.Count(talk, "\n") != 1 {
				t.Errorf("want one line with %s: %s", tt.names, talk)
			}
			golden(t, "mistakes/"+tt.number+".txt", strings.ReplaceAll(talk, d.Prefix+"-b", "lab"))
			if after := d.state(t); after != before {
				t.Errorf("the ports were touched:\n%s\n%s", before, after)
			}
			for _, name := range []string{"run.jsonl", "run.csv", "runs"} {
				if _, err := os.Stat(filepath.Join(d.dir, name)); err == nil {
					t.Errorf("%s was made", name)
				}
			}
		})
	}
}

// A device that looks for its next hop in vain: what is heard, and the flag that mends it.
func TestMistakeOfNoAddress(t *testing.T) {
	device(t, "nft")
	d := newDesk(t, "linux-router.sh", "neigh=no")
	d.IP("r", "route", "del", "198.19.0.0/16")
	d.IP("r", "addr", "add", "198.19.0.1/16", "dev", "rb")
	d.IP("r", "link", "set", "rb", "address", "00:1b:21:aa:00:02")
	var packets []said
	for i := range 100 {
		packets = append(packets, said{src: netip.AddrPortFrom(netip.MustParseAddr("10.10.1.2"), uint16(4096+i)).String(), dst: "198.19.0.2:9"})
	}
	d.put(t, "a.pcap", store(time.Millisecond, packets...))
	stop := announce(t, "ra@"+d.Prefix+"-r")
	defer stop()
	code, out, talk := on(t, d.at(), "find-limit", "--wait", "3", "a.pcap", "eth2", "eth3")
	if code != 3 || out != "" {
		t.Errorf("exit %d, %q on stdout; want 3 and nothing", code, out)
	}
	_, talk, _ = strings.Cut(talk, "loadtest: ")
	for _, x := range [][2]string{
		{`\d+ LLDP`, "2 LLDP"}, {`\d+ ARP`, "31 ARP"}, {`sent \d+`, "sent 100"}, {`in [0-9.]+ s`, "in 10 s"}, // as many as there is time for
	} {
		talk = regexp.MustCompile(x[0]).ReplaceAllString(talk, x[1])
	}
	golden(t, "mistakes/11.txt", "loadtest: "+talk)
}

// announce sends LLDP frames of a switch until it is stopped.
func announce(t *testing.T, port string) (stop func()) {
	t.Helper()
	port = socket(port)
	ports, _, err := dial.Open(t.Context(), port)
	if err != nil {
		t.Fatal(err)
	}
	b := append([]byte{1, 0x80, 0xc2, 0, 0, 0x0e, 2, 9, 9, 9, 9, 9, 0x88, 0xcc},
		append([]byte("\x02\x07\x04\x02\x09\x09\x09\x09\x09"+"\x04\x08\x05Gi0/3  "+"\x06\x02\x00\x78"+"\x0a\x08core-sw1"), make([]byte, 24)...)...)
	done, ended := make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(500 * time.Millisecond):
				_, _ = ports[port].Queues[0].Send([]packet.Frame{{Data: b}})
			}
		}
	}()
	return func() {
		close(done)
		<-ended
		_ = dial.Close(ports)
	}
}

// A tester that is slower than what it was asked for says nothing about the device, and how far it came.
func TestMistakeOfTooHighALoad(t *testing.T) {
	device(t)
	d := newDesk(t, "veth.sh")
	d.put(t, "a.pcap", store(time.Millisecond, said{src: "10.10.1.2:4096", dst: "10.10.2.2:9"}))
	for _, line := range []string{"replay -b 10G -D 1 a.pcap afpacket:eth2 afpacket:eth3", "find-limit -b 10G -p 10G a.pcap afpacket:eth2 afpacket:eth3"} {
		t.Run(line, func(t *testing.T) {
			code, _, talk := on(t, d.at(), strings.Fields(line)...)
			for range 5 { // a machine that stood still says nothing of the tester
				if !strings.Contains(talk, "the tester was stopped") {
					break
				}
				code, _, talk = on(t, d.at(), strings.Fields(line)...)
			}
			if code != 3 {
				t.Errorf("exit %d, want 3", code)
			}
			_, talk, _ = strings.Cut(talk, "loadtest: ")
			golden(t, "mistakes/12.txt", "loadtest: "+regexp.MustCompile(`[0-9.]+ of [0-9.]+ Mpps (.*)-b [0-9.]+[Mk]pps`).ReplaceAllString(talk, "3.1 of 9.2 Mpps $1-b 3Mpps"))
		})
	}
}
