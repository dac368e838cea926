package pcap_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"os"
	"path/filepath"
	"slices"
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

	links  []uint16 // of packets, if not all link
	tshark string   // why tshark does not say the same
	packed bool     // another packer may write other bytes
}

// samples are captures of each kind, of UDP packets with good checksums: 60, 128 and 250 bytes, 1 ms apart from t0 on.
func samples(t testing.TB) []sample {
	t.Helper()
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

	kinds := join(section(le), face(le, 1, 0, option(le, 2, []byte("eth0")...)), face(le, 101, 262144, option(le, 2, []byte("tun0")...)), face(le, 113, 0),
		whole(le, 0, start/1000, a), whole(le, 1, start/1000+1000, a[14:46]), whole(le, 2, start/1000+2000, "\x00\x00\x00\x01\x00\x06"+a[6:12]+"\x00\x00\x08\x00"+a[14:46]))
	modified := header(le, 0xa1b2cd34, 1)
	for _, p := range inMicros {
		r := plain(le, uint32(p.Nanos/1e9), uint32(p.Nanos%1e9)/1000, p.Data)
		modified = join(modified, r[:16], []byte{2, 0, 0, 0, 0, 8, 0, 0}, r[16:])
	}
	le.PutUint32(modified[16:], 65535)
	old := headerOf(le, micros, 2, 2, 1) // the wire length first
	for _, p := range short {
		old = append(old, record(le, uint32(p.Nanos/1e9), uint32(p.Nanos%1e9)/1000, uint32(p.Wire), uint32(len(p.Data)), p.Data)...)
	}
	untimed := []pkt{{a, 0, 60}, {b[:100], 0, 128}, {c[:100], 0, 250}}
	third := func(units uint64) uint64 { return uint64(t0.Unix())*units + units/4 } // a quarter of a second, in any unit
	units := join(section(le), face(le, 1, 0, option(le, 9, 0x80|20)), face(le, 1, 0, option(le, 9, 3), option(le, 14, 16, 39, 0, 0, 0, 0, 0, 0)),
		whole(le, 0, third(1<<20), a), whole(le, 1, third(1000)-10_000_000, b))
	quarter := t0.Unix()*1e9 + 25e7
	of := func(all []pkt) sample { return sample{link: 1, want: all} }
	packedOf := func(all []pkt) sample { return sample{link: 1, want: all, packed: true} }
	named := func(name string, file []byte, s sample) sample { s.name, s.file = name, file; return s }

	return []sample{
		named("usec-le.pcap", usec, of(inMicros)),
		named("usec-be.pcap", classic(be, micros, 1, 1000, inMicros), of(inMicros)),
		named("nsec-le.pcap", classic(le, nanos, 1, 1, inNanos), of(inNanos)),
		named("nsec-be.pcap", classic(be, nanos, 1, 1, inNanos), of(inNanos)),
		named("modified.pcap", modified, of(inMicros)),
		named("version-2.2.pcap", old, of(short)),
		named("snapped-42B.pcap", classic(le, micros, 1, 1000, short), of(short)),
		named("fcs.pcap", classic(le, micros, 0x24000001, 1000, withFCS), sample{link: 1, want: inMicros, tshark: "it shows the FCS"}),
		named("raw-ip.pcap", classic(le, micros, 101, 1000, []pkt{{a[14:46], first - 789, 32}}), sample{link: 101, want: []pkt{{a[14:46], first - 789, 32}}}),
		named("empty.pcap", classic(le, micros, 1, 1000, nil), of(nil)),
		named("cut.pcap", usec[:len(usec)-20], sample{err: "packet 3 at byte 244: 250 bytes promised, 230 there: unexpected EOF"}),
		named("le.pcapng", ngUsec(le), of(inMicros)),
		named("be.pcapng", ngUsec(be), of(inMicros)),
		named("sections.pcapng", mixed, of(inNanos)),
		named("link-types.pcapng", kinds, sample{link: 1, links: []uint16{1, 101, 113},
			want: []pkt{{a, first - 789, 60}, {a[14:46], first + 1e6 - 789, 32}, {"\x00\x00\x00\x01\x00\x06" + a[6:12] + "\x00\x00\x08\x00" + a[14:46], first + 2e6 - 789, 48}}}),
		named("simple.pcapng", join(section(le), face(le, 1, 100), simple(le, 60, a), simple(le, 128, b[:100]), simple(le, 250, c[:100])), of(untimed)),
		named("obsolete.pcapng", join(section(be), face(be, 1, 0), obsolete(be, 0, start/1000, 60, a), block(be, 9, []byte("MESSAGE=x\n")[:8]), obsolete(be, 0, start/1000+1000, 128, b)),
			sample{link: 1, want: inMicros[:2], tshark: "it counts the journal of systemd"}),
		named("resolutions.pcapng", units, of([]pkt{{a, quarter, 60}, {b, quarter, 128}})),
		named("cut.pcapng", mixed[:len(mixed)-20], sample{err: "packet 3 at byte 408: block type 0x6: 284 bytes promised, 264 there: unexpected EOF"}),
		named("usec.pcap.gz", join(gz(t, usec[:100]), gz(t, usec[100:])), packedOf(inMicros)),
		named("le.pcapng.zst", join(skippable("loadtest"), zst(t, ngUsec(le))), sample{link: 1, want: inMicros, packed: true, tshark: "it knows zstd by a frame that is not skipped"}),
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
	for _, c := range samples(t) {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(testdata, c.name)
			if *update {
				must(t, os.WriteFile(path, c.file, 0o644))
			}
			file, err := os.ReadFile(path)
			must(t, err)
			if !bytes.Equal(file, c.file) && !c.packed {
				t.Errorf("%s is not what this test builds: go test ./pcap -update", path)
			}
			if c.err == "" {
				check(t, file, c.link, c.want)
				for i, link := range c.links {
					if got, _ := lawful(t, file); got[i].Link != link {
						t.Errorf("packet %d: link type %d, want %d", i+1, got[i].Link, link)
					}
				}
				return
			}
			s, err := pcap.ReadFile(path)
			if want := path + ": " + c.err; s != nil || err == nil || err.Error() != want {
				t.Errorf("\n got %v\nwant %s", err, want)
			}
		})
	}
}

// foreignToGopacket are the kinds that it cannot read, or not with one link type; it knows nothing of FCS,
// and rounds times of 2^-n s.
var foreignToGopacket = []string{"fcs.pcap", "modified.pcap", "version-2.2.pcap", "link-types.pcapng", "simple.pcapng", "obsolete.pcapng",
	"resolutions.pcapng"}

// A second opinion on whole captures.
func TestTestdataSecondOpinion(t *testing.T) {
	for _, c := range samples(t) {
		if c.err != "" || c.packed || slices.Contains(foreignToGopacket, c.name) {
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
	for _, c := range samples(t) {
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
