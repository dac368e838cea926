package rewrite_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/gopacket/layers"

	"loadtest/packet"
	"loadtest/packet/rewrite"
	"loadtest/pcap"
)

// tshark reads these fields of each packet, checksums looked at.
func tshark(t *testing.T, s *packet.Store, fields string) (rows [][]string) {
	t.Helper()
	if _, err := exec.LookPath("tshark"); err != nil {
		if slices.Contains(strings.Split(os.Getenv("LOADTEST_REQUIRE"), ","), "tshark") {
			t.Fatal("LOADTEST_REQUIRE lists tshark, which is not installed")
		}
		t.Skip("needs tshark")
	}
	path := filepath.Join(t.TempDir(), "x.pcap")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := pcap.Write(f, s); err != nil {
		t.Fatal(err)
	}
	args := []string{"-n", "-r", path, "-T", "fields", "-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE",
		"-o", "ip.defragment:FALSE", "-o", "ipv6.defragment:FALSE", "-o", "tcp.desegment_tcp_streams:FALSE"}
	for field := range strings.FieldsSeq(fields) {
		args = append(args, "-e", field)
	}
	out, err := exec.Command("tshark", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows
}

const statuses = "ip.checksum.status tcp.checksum.status udp.checksum.status icmp.checksum.status icmpv6.checksum.status"

// store of the records that rules make of one.
func through(t *testing.T, r rewrite.Rules, s *packet.Store) *packet.Store {
	t.Helper()
	all, _ := rewritten(t, r, s)
	out := &packet.Store{Link: packet.LinkEthernet}
	for _, rec := range all {
		out.Append(rec.Data, rec.Nanos, rec.Wire)
	}
	return out
}

func goldens() []string {
	return strings.Fields("dns.pcap http-get.pcap udp-10-pkts.pcap tcp-sample.pcap lwaftr-ipv4-0550.pcap lwaftr-ipv6-0550.pcap short-34B.pcap nsec-big-endian.pcap " +
		"nsec-16B-time-back.pcap vlan.pcap qinq-802.1ad.pcapng ip6-fragments.pcap ah-ip4-fragments.pcap esp.pcap udp-9k.pcap tso-ip-len-0.pcap " +
		"ng-basic-le.pcapng ng-tsresol-2if.pcapng")
}

// allGolden are the packets of all golden captures, since tshark is slow to start, and what to call each.
func allGolden(t *testing.T) (all *packet.Store, names []string) {
	all = &packet.Store{Link: packet.LinkEthernet}
	for _, name := range goldens() {
		s := golden(t, name)
		for i := range s.Len() {
			f := s.Frame(i)
			all.Append(f.Data, f.Nanos, s.Wire(i))
			names = append(names, fmt.Sprintf("%s packet %d", name, i+1))
		}
	}
	return all, names
}

// For tshark no checksum of any capture is better or worse than before, and what Checksums makes is right.
func TestTsharkChecksums(t *testing.T) {
	every := rewrite.Rules{MACs: both(), VLAN: parsed(t, rewrite.ParseVLAN, "7"), TTL: parsed(t, rewrite.ParseTTL, "dec:3"),
		Map: mappings(t, "0.0.0.0/1=129.0.0.0/8", "128.0.0.0/1=1.2.0.0/16", "::/0=2001::/16", ":80=:81", ":443=:444", ":53=:5353")}
	s, names := allGolden(t)
	was, now := tshark(t, s, statuses), tshark(t, through(t, every, s), statuses)
	every.Checksums = true
	fixed := tshark(t, through(t, every, s), statuses)
	right := 0
	for i, name := range names {
		before, after, best := strings.Join(was[i], " "), strings.Join(now[i], " "), strings.Join(fixed[i], " ")
		if before != after {
			t.Errorf("%s: checksums %q, were %q", name, after, before)
		}
		h, _ := packet.Parse(s.Frame(i).Data)
		inner := strings.Contains(best, ",") || h.Type == packet.TypeIPv6 && fixed[i][0] != "" // what is quoted or in a tunnel stays as it is
		if strings.Contains(best, "0") && !inner {
			t.Errorf("%s: checksums %q when made right", name, best)
		}
		if strings.Contains(before, "1") {
			right++
		}
	}
	if right < 60 {
		t.Errorf("%d packets have a right checksum to begin with: nothing was tested", right)
	}
}

// tshark sees the addresses that were asked for, in IP, ARP and what ICMP quotes.
func TestTsharkMap(t *testing.T) {
	quote := func(proto string) []byte {
		return recipe{proto: "icmp", icmp: 3, src: "198.51.100.1", dst: "198.18.0.1", payload: recipe{proto: proto, payload: counted(12)}.frame(t)[14:]}.frame(t)
	}
	s := store(1, quote("udp"), quote("tcp"), recipe{proto: "tcp", v6: true, payload: counted(50)}.frame(t),
		recipe{proto: "icmp6", v6: true, icmp: 1, payload: append(make([]byte, 4), recipe{proto: "udp", v6: true, payload: counted(7)}.frame(t)[14:]...)}.frame(t),
		unhex(t, macs+"0806 0001 0800 06 04 0001 020000000002 c6120001 000000000000 c6120002"))
	rows := tshark(t, through(t, rewrite.Rules{Map: mappings(t, "198.18.0.0/16=10.7.0.0/16", "2001:db8::/48=fd00::/48", ":80=:8080")}, s),
		"ip.src ip.dst ipv6.src ipv6.dst udp.dstport tcp.dstport arp.src.proto_ipv4 arp.dst.proto_ipv4 "+statuses)
	for i, want := range []string{
		"198.51.100.1,10.7.0.1 10.7.0.1,198.19.0.1   8080    1,1  1 1 ",
		"198.51.100.1,10.7.0.1 10.7.0.1,198.19.0.1    8080   1,1 1  1 ",
		"  fd00::1 2001:db8:1::1  8080    1   ",
		"  fd00::1,fd00::1 2001:db8:1::1,2001:db8:1::1 8080      1  1",
		"      10.7.0.1 10.7.0.2     ",
	} {
		if got := strings.Join(rows[i], " "); got != want {
			t.Errorf("packet %d: %q, want %q", i+1, got, want)
		}
	}
}

// What was divided is for tshark a stream without gaps, with right checksums and lengths.
func TestTsharkResegment(t *testing.T) {
	unlong := recipe{proto: "tcp", id: 9, tcp: layers.TCP{ACK: true, PSH: true, Seq: 1000}, payload: counted(4000)}.frame(t)
	unlong[16], unlong[17] = 0, 0
	s := through(t, rewrite.Rules{Resegment: 1514}, store(1, unlong))
	for i, want := range []string{"1500 0x0009 1000 1460 0x0010 1 1", "1500 0x000a 2460 1460 0x0010 1 1", "1120 0x000b 3920 1080 0x0018 1 1"} {
		rows := tshark(t, s, "ip.len ip.id tcp.seq_raw tcp.len tcp.flags ip.checksum.status tcp.checksum.status")
		if got := strings.Join(rows[i], " "); got != want {
			t.Errorf("part %d: %q, want %q", i+1, got, want)
		}
	}
	tso := through(t, rewrite.Rules{Resegment: 1514}, golden(t, "tso-ip-len-0.pcap"))
	rows := tshark(t, tso, "ip.len tcp.len _ws.malformed "+statuses)
	if len(rows) != 2 || rows[0][0] != "1500" || rows[0][2] != "" || rows[0][3] != "1" || rows[0][4] != "1" || rows[1][3] != "1" || rows[1][4] != "1" {
		t.Errorf("%q", rows)
	}
}

// Cut packets are whole for tshark.
func TestTsharkCut(t *testing.T) {
	s, names := allGolden(t)
	was := tshark(t, s, statuses)
	for i, row := range tshark(t, through(t, rewrite.Rules{Cut: 100}, s), statuses+" _ws.malformed frame.len") {
		before, after := strings.Join(was[i], " "), strings.Join(row[:5], " ")
		if strings.Contains(after, "0") && !strings.Contains(before, "0") {
			t.Errorf("%s: checksums %q, were %q", names[i], after, before)
		}
	}
}
