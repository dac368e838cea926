package pcap_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"loadtest/pcap"
)

var update = flag.Bool("update", false, "write ../testdata/pcaps anew")

// testdata is where the captures of samples are kept for everyone's tests.
var testdata = filepath.Join("..", "testdata", "pcaps")

// A sample is a small capture: its file and what a reader has to say of it.
type sample struct {
	name string
	file []byte
	link uint16
	want []pkt
	err  string // if set, instead of the packets
}

// samples are captures of each kind, of UDP packets with good checksums: 60, 128 and 250 bytes, 1 ms apart from t0 on.
func samples() []sample {
	a, b, c := udp(60), udp(128), udp(250)
	first := t0.UnixNano()
	inNanos := []pkt{{a, first, 60}, {b, first + 1e6, 128}, {c, first + 2e6, 250}}
	inMicros := []pkt{{a, first - 789, 60}, {b, first + 1e6 - 789, 128}, {c, first + 2e6 - 789, 250}}
	short := []pkt{{a[:42], first - 789, 60}, {b[:42], first + 1e6 - 789, 128}, {c[:42], first + 2e6 - 789, 250}}

	classic := func(o order, magic, network, unit uint32, all []pkt) []byte {
		f := header(o, magic, network)
		o.PutUint32(f[16:], 65535) // an honest snap length
		for _, p := range all {
			f = append(f, record(o, uint32(p.Nanos/1e9), uint32(p.Nanos%1e9)/unit, uint32(len(p.Data)), uint32(p.Wire), p.Data)...)
		}
		return f
	}
	withFCS := make([]pkt, len(inMicros))
	for i, p := range inMicros {
		withFCS[i] = pkt{p.Data + "\xde\xad\xbe\xef", p.Nanos, p.Wire + 4}
	}
	usec := classic(le, micros, 1, 1000, inMicros)
	ngUsec := func(o order) []byte {
		f := join(section(o), face(o, 1, 262144))
		for _, p := range inMicros {
			f = append(f, whole(o, 0, uint64(p.Nanos/1000), p.Data)...)
		}
		return f
	}
	start := uint64(first) // two interfaces with times in ns, then a section in the other byte order
	mixed := join(section(le), face(le, 1, 0, option(le, 9, 9)), face(le, 1, 0, option(le, 9, 9)), block(le, 4, make([]byte, 4)),
		whole(le, 0, start, a), whole(le, 1, start+1e6, b), section(be), face(be, 1, 0, option(be, 9, 9)), whole(be, 0, start+2e6, c))

	return []sample{
		{"usec-le.pcap", usec, 1, inMicros, ""},
		{"usec-be.pcap", classic(be, micros, 1, 1000, inMicros), 1, inMicros, ""},
		{"nsec-le.pcap", classic(le, nanos, 1, 1, inNanos), 1, inNanos, ""},
		{"nsec-be.pcap", classic(be, nanos, 1, 1, inNanos), 1, inNanos, ""},
		{"snapped-42B.pcap", classic(le, micros, 1, 1000, short), 1, short, ""},
		{"fcs.pcap", classic(le, micros, 0x24000001, 1000, withFCS), 1, inMicros, ""},
		{"raw-ip.pcap", classic(le, micros, 101, 1000, []pkt{{a[14:46], first - 789, 32}}), 101, []pkt{{a[14:46], first - 789, 32}}, ""},
		{"empty.pcap", classic(le, micros, 1, 1000, nil), 1, nil, ""},
		{"cut.pcap", usec[:len(usec)-20], 0, nil, "packet 3 at byte 244: 250 bytes promised, 230 there: unexpected EOF"},
		{"le.pcapng", ngUsec(le), 1, inMicros, ""},
		{"be.pcapng", ngUsec(be), 1, inMicros, ""},
		{"sections.pcapng", mixed, 1, inNanos, ""},
		{"cut.pcapng", mixed[:len(mixed)-20], 0, nil, "packet 3 at byte 408: block type 0x6: 284 bytes promised, 264 there: unexpected EOF"},
	}
}

// udp is a UDP packet from 198.18.0.1 to 198.19.0.1 in an Ethernet frame of so many bytes without FCS.
func udp(size int) string {
	eth := &layers.Ethernet{SrcMAC: []byte{2, 0, 0, 0, 0, 1}, DstMAC: []byte{2, 0, 0, 0, 0, 2}, EthernetType: layers.EthernetTypeIPv4}
	ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: []byte{198, 18, 0, 1}, DstIP: []byte{198, 19, 0, 1}}
	port := &layers.UDP{SrcPort: 1024, DstPort: 9}
	if err := port.SetNetworkLayerForChecksum(ip); err != nil {
		panic(err)
	}
	payload := gopacket.Payload(bytes.Repeat([]byte{0}, size-42))
	out := gopacket.NewSerializeBuffer()
	o := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
	if err := gopacket.SerializeLayers(out, o, eth, ip, port, payload); err != nil {
		panic(err)
	}
	return string(out.Bytes())
}

// The captures in testdata are those of samples, and are read as they should be.
func TestTestdata(t *testing.T) {
	if *update {
		must(t, os.MkdirAll(testdata, 0o755))
	}
	for _, c := range samples() {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(testdata, c.name)
			if *update {
				must(t, os.WriteFile(path, c.file, 0o644))
			}
			file, err := os.ReadFile(path)
			must(t, err)
			if !bytes.Equal(file, c.file) {
				t.Errorf("%s is not what this test builds: go test ./pcap -update", path)
			}
			if c.err == "" {
				check(t, file, c.link, c.want)
				return
			}
			s, err := pcap.ReadFile(path)
			if want := path + ": " + c.err; s != nil || err == nil || err.Error() != want {
				t.Errorf("\n got %v\nwant %s", err, want)
			}
		})
	}
}

// A second opinion on whole captures.
func TestTestdataSecondOpinion(t *testing.T) {
	for _, c := range samples() {
		if c.err != "" || c.name == "fcs.pcap" { // gopacket knows nothing of FCS
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			s := readGopacket(t, filepath.Join(testdata, c.name))
			if s.Link != c.link {
				t.Errorf("gopacket: link type %d, want %d", s.Link, c.link)
			}
			if d := cmp.Diff(c.want, packets(s)); d != "" {
				t.Errorf("gopacket (-want +got): %s", d)
			}
		})
	}
}

// What Write writes is what gopacket reads.
func TestWriteSecondOpinion(t *testing.T) {
	for _, c := range samples() {
		if c.err != "" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			must(t, writeNanos(&out, storeOf(c.link, c.want)))
			if m := binary.LittleEndian.Uint32(out.Bytes()); m != nanos {
				t.Fatalf("magic %x, want %x", m, uint32(nanos))
			}
			s, err := gopacketStore(&out)
			must(t, err)
			if d := cmp.Diff(c.want, packets(s)); d != "" {
				t.Errorf("gopacket (-want +got): %s", d)
			}
		})
	}
}
