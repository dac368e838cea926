package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"loadtest/internal/lab"
	"loadtest/packet"
	"loadtest/pcap"
)

// exchange is a capture of one TCP connection and a question of DNS, as gopacket makes them: right checksums, 10 ms apart.
func exchange(t *testing.T) string {
	t.Helper()
	s := &packet.Store{}
	at := int64(1_700_000_000_000_000_000)
	add := func(server bool, l4 gopacket.SerializableLayer, payload int) {
		eth := &layers.Ethernet{SrcMAC: []byte{2, 0, 0, 0, 0, 1}, DstMAC: []byte{2, 0, 0, 0, 0, 2}, EthernetType: layers.EthernetTypeIPv4}
		ip := &layers.IPv4{Version: 4, TTL: 64, SrcIP: []byte{10, 1, 0, 5}, DstIP: []byte{192, 0, 2, 80}, Protocol: layers.IPProtocolTCP}
		if server {
			eth.SrcMAC, eth.DstMAC, ip.SrcIP, ip.DstIP = eth.DstMAC, eth.SrcMAC, ip.DstIP, ip.SrcIP
		}
		switch l := l4.(type) {
		case *layers.TCP:
			l.SrcPort, l.DstPort, l.Window = 40000, 80, 1000
			if server {
				l.SrcPort, l.DstPort = 80, 40000
			}
			l.SetNetworkLayerForChecksum(ip)
		case *layers.UDP:
			ip.Protocol = layers.IPProtocolUDP
			l.SrcPort, l.DstPort = 40001, 53
			l.SetNetworkLayerForChecksum(ip)
		}
		buf := gopacket.NewSerializeBuffer()
		o := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
		if err := gopacket.SerializeLayers(buf, o, eth, ip, l4, gopacket.Payload(bytes.Repeat([]byte("x"), payload))); err != nil {
			t.Fatal(err)
		}
		s.Append(buf.Bytes(), at, len(buf.Bytes()))
		at += int64(10 * time.Millisecond)
	}
	add(false, &layers.TCP{SYN: true, Seq: 100}, 0)
	add(true, &layers.TCP{SYN: true, ACK: true, Seq: 500, Ack: 101}, 0)
	add(false, &layers.TCP{ACK: true, PSH: true, Seq: 101, Ack: 501}, 200)
	add(true, &layers.TCP{ACK: true, PSH: true, Seq: 501, Ack: 301}, 5000)
	add(false, &layers.UDP{}, 30)
	return capture(t, s)
}

// seen is what tshark says of the packets of a file.
func seen(t *testing.T, file, fields string) (rows []string) {
	t.Helper()
	lab.Need(t, "tshark")
	args := []string{"-n", "-r", file, "-T", "fields", "-E", "separator=|", "-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"}
	for field := range strings.FieldsSeq(fields) {
		args = append(args, "-e", field)
	}
	out, err := exec.Command("tshark", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// What leaves is what the flags say, to tshark, which also finds every checksum right; what was touched stands in the run's record.
func TestRewritten(t *testing.T) {
	file := exchange(t)
	const sums = " ip.checksum.status tcp.checksum.status udp.checksum.status"
	for _, tt := range []struct {
		name, flags, fields string
		want                []string
		touched             map[string]int64
	}{
		{"addresses and ports of both directions", "--map 10.1.0.0/16=172.16.0.0/16 --map :80=:8080 --loops 1", "ip.src tcp.srcport ip.dst tcp.dstport",
			[]string{"172.16.0.5|40000|192.0.2.80|8080|1|1|", "192.0.2.80|8080|172.16.0.5|40000|1|1|", "172.16.0.5|40000|192.0.2.80|8080|1|1|",
				"192.0.2.80|8080|172.16.0.5|40000|1|1|", "172.16.0.5||192.0.2.80||1||1"}, map[string]int64{"mapped": 5}},
		{"VLAN, TTL, MAC", "--vlan push:7,push:8 --ttl dec:4 --mac-dst 02:00:00:00:00:99 --loops 1", "vlan.id ip.ttl eth.dst",
			[]string{"8,7|60|02:00:00:00:00:99|1|1|", "8,7|60|02:00:00:00:00:99|1|1|", "8,7|60|02:00:00:00:00:99|1|1|", "8,7|60|02:00:00:00:00:99|1|1|", "8,7|60|02:00:00:00:00:99|1||1"},
			map[string]int64{"vlan": 5, "ttl": 5, "mac": 5}},
		{"segments again", "--resegment=1518 --loops 1", "tcp.len tcp.seq_raw",
			[]string{"0|100|1|1|", "0|500|1|1|", "200|101|1|1|", "1460|501|1|1|", "1460|1961|1|1|", "1460|3421|1|1|", "620|4881|1|1|", "||1||1"},
			map[string]int64{"resegmented": 1, "segments": 4}},
		{"cut and padded", "--cut 118 --pad 118 --loops 1", "frame.len ip.len",
			[]string{"114|40|1|1|", "114|40|1|1|", "114|100|1|1|", "114|100|1|1|", "114|58|1||1"}, map[string]int64{"cut": 2, "padded": 3}},
		{"the client is another in each pass", "--vary src-ip:3 --loops 3", "ip.src ip.dst",
			[]string{"10.1.0.5|192.0.2.80|1|1|", "192.0.2.80|10.1.0.5|1|1|", "10.1.0.5|192.0.2.80|1|1|", "192.0.2.80|10.1.0.5|1|1|", "10.1.0.5|192.0.2.80|1||1",
				"10.1.0.6|192.0.2.80|1|1|", "192.0.2.80|10.1.0.6|1|1|", "10.1.0.6|192.0.2.80|1|1|", "192.0.2.80|10.1.0.6|1|1|", "10.1.0.6|192.0.2.80|1||1",
				"10.1.0.7|192.0.2.80|1|1|", "192.0.2.80|10.1.0.7|1|1|", "10.1.0.7|192.0.2.80|1|1|", "192.0.2.80|10.1.0.7|1|1|", "10.1.0.7|192.0.2.80|1||1"},
			map[string]int64{"varied": 5}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out.pcap")
			json := filepath.Join(t.TempDir(), "run.jsonl")
			args := append(strings.Fields("replay --split=no --tag never --json "+json+" "+tt.flags), file, "pcap:"+out)
			if code, _, talk := on(t, nil, args...); code != 0 {
				t.Fatalf("exit %d: %s", code, talk)
			}
			if got := strings.Join(seen(t, out, tt.fields+sums), "\n"); got != strings.Join(tt.want, "\n") {
				t.Errorf("%s\nwant\n%s", got, strings.Join(tt.want, "\n"))
			}
			text, err := os.ReadFile(json)
			if err != nil {
				t.Fatal(err)
			}
			for what, n := range tt.touched {
				if !regexp.MustCompile(`"rewritten":\{[^}]*"` + what + `":` + fmt.Sprint(n) + `[,}]`).Match(text) {
					t.Errorf("the record does not say %s %d:\n%s", what, n, bytes.SplitN(text, []byte("\n"), 2)[0])
				}
			}
		})
	}
}

// A capture that streams from disk leaves as one from memory does, to the byte, and gives the same books, whatever is done to it.
func TestDiskIsMemory(t *testing.T) {
	s := &packet.Store{}
	at := int64(1_700_000_000_000_000_000)
	for i := range 30_000 { // 12 MB
		b := make([]byte, 400)
		copy(b, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 1, 130, byte(i >> 8), byte(i), 0, 0, 64, 17, 0, 0, 10, 0, 0, byte(i % 40), 10, 1, 0, 2, 0x30, 0x39, 0x12, 0x67, 1, 110})
		if i%3 == 1 {
			copy(b[26:], []byte{10, 1, 0, 2, 10, 0, 0, byte((i - 1) % 40), 0x12, 0x67, 0x30, 0x39})
		}
		s.Append(b, at, len(b))
		at += int64(1+i%7) * 1000
	}
	file := capture(t, s)
	dir := t.TempDir()
	for _, flags := range []string{"-b x2 --loops 2", "-b 200Mbps -D 0.1 --map 10.0.0.0/16=10.9.0.0/16", "-b x1 --split --vary src-ip:5 --loops 2 --tag never", "-b x1 --vlan 5 --skip-multicast"} {
		t.Run("books "+flags, func(t *testing.T) {
			var books [2]string
			for i, memory := range []string{"1GB", "2MB"} {
				r := loadtest(t, append(strings.Fields("replay --seed 7 --memory "+memory+" "+flags), file, "sim:wire/a", "sim:wire/b")...)
				if all := r.trials(); r.code != 0 || len(all) != 1 {
					t.Fatalf("exit %d, %d trials: %s", r.code, len(all), r.talk)
				} else if b, err := json.Marshal(all[0].Streams); err == nil {
					books[i] = string(b)
				}
			}
			if len(books[0]) < 100 || books[0] != books[1] {
				t.Errorf("from memory %s\nfrom disk   %s", books[0], books[1])
			}
		})
	}
	t.Run("packets", func(t *testing.T) {
		var all [2]*packet.Store
		for i, memory := range []string{"1GB", "2MB"} {
			out := filepath.Join(dir, memory)
			args := append(strings.Fields("replay --memory "+memory+" -b 50kpps --credit 20s --tag never --loops 2 --vary src-ip:5 --map 10.0.0.0/16=10.9.0.0/16 --ttl 9"), file, "pcap:"+out)
			if code, _, talk := on(t, nil, args...); code != 0 {
				t.Fatalf("exit %d: %s", code, talk)
			}
			var err error
			if all[i], err = pcap.ReadFile(out); err != nil {
				t.Fatal(err)
			}
		}
		if n := all[0].Len(); n != 60_000 || all[1].Len() != n {
			t.Fatalf("%d packets from memory, %d from disk; want 60000", n, all[1].Len())
		}
		for i := range all[0].Len() {
			if a, b := all[0].Frame(i).Data, all[1].Frame(i).Data; !bytes.Equal(a, b) {
				t.Fatalf("packet %d is %x from memory, %x from disk", i+1, a[:60], b[:60])
			}
		}
	})
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	code, _, talk := on(t, func(c *exec.Cmd) { c.Stdin = f }, "replay", "--memory", "2MB", "-", "pcap:"+filepath.Join(dir, "never.pcap"))
	if code != 2 || !strings.Contains(talk, "standard input takes 12.7 MB of memory, and may have 2 MB") || !strings.Contains(talk, "it cannot be read twice: want a file, or more --memory") {
		t.Errorf("standard input that is too large: exit %d, %s", code, talk)
	}
}

// inspect says what capinfos says, of every capture of other tools that both can read.
func TestInspectAndCapinfos(t *testing.T) {
	lab.Need(t, "tshark")
	root := os.Getenv("LOADTEST_GOLDEN")
	if root == "" {
		t.Skip("needs LOADTEST_GOLDEN")
	}
	files, _ := filepath.Glob(filepath.Join(root, "pcaps", "*.pcap*"))
	if len(files) < 25 {
		t.Fatalf("%d captures, want 25 or more", len(files))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			args := []string{"inspect", "--json", file}
			if strings.Contains(file, "cut-") {
				if code, _, talk := on(t, nil, args...); code != 2 || !strings.Contains(talk, "--take-whole") {
					t.Fatalf("exit %d, %s", code, talk)
				}
				args = append(args, "--take-whole")
			}
			code, out, talk := on(t, nil, args...)
			if code != 0 {
				t.Fatalf("exit %d, %s", code, talk)
			}
			var got struct {
				Packets   int64
				WireBytes int64 `json:"wire_bytes"`
				Times     struct {
					Span int64 `json:"span_ns"`
				}
			}
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			info, _ := exec.Command("capinfos", "-MTmcdu", file).Output() // of a cut file it tells what it could read
			lines := strings.Split(strings.TrimSpace(string(info)), "\n")
			cells := strings.Split(lines[len(lines)-1], ",")
			packets, _ := strconv.ParseInt(cells[1], 10, 64)
			size, _ := strconv.ParseInt(cells[2], 10, 64)
			if got.Packets != packets || got.WireBytes != size {
				t.Errorf("%d packets, %d bytes; capinfos %q", got.Packets, got.WireBytes, lines)
			}
			if seconds, err := strconv.ParseFloat(cells[3], 64); err == nil && seconds > 0 && !strings.Contains(file, "time-back") &&
				math.Abs(float64(got.Times.Span)/1e9-seconds) > 1e-6*seconds+1e-9 {
				t.Errorf("%d ns, capinfos %q", got.Times.Span, lines)
			}
		})
	}
}
