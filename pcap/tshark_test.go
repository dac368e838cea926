package pcap_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadtest/pcap"
)

// encapsulations are link types as tshark names them.
var encapsulations = map[string]uint16{"Ethernet": 1, "Raw IP": 101, "Token Ring": 6, "NULL/Loopback": 108, "OpenBSD loopback": 108,
	"Linux cooked-mode capture v1": 113, "Linux cooked-mode capture v2": 276, "Linux Netlink": 253}

// A shark is tshark as a daemon, sharkd: to start it for each file takes most of a second.
type shark struct {
	in  io.Writer
	out *bufio.Scanner
	id  int
}

func newShark(t *testing.T) *shark {
	t.Helper()
	need(t, "tshark")
	need(t, "sharkd")
	cmd := exec.Command("sharkd", "-")
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("sharkd: %v", err)
		}
	})
	s := &shark{in: in, out: bufio.NewScanner(out)}
	s.out.Buffer(nil, 1<<24)
	return s
}

// ask asks for something and returns the answer: none to the loading of a file that is not whole.
func (s *shark) ask(t *testing.T, asks ...string) (answers map[int]string) {
	t.Helper()
	answers = map[int]string{}
	for i, ask := range asks {
		fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,%s}`+"\n", s.id+i+1, ask)
	}
	s.id += len(asks)
	for s.out.Scan() {
		var answer struct{ ID int }
		if json.Unmarshal(s.out.Bytes(), &answer) != nil || answer.ID == 0 { // it talks
			continue
		}
		answers[answer.ID-s.id+len(asks)-1] = s.out.Text()
		if answer.ID == s.id {
			return answers
		}
	}
	t.Fatal("sharkd has nothing more to say")
	return nil
}

// read reads a capture: its records, and whether it is whole.
func (s *shark) read(t *testing.T, path string) (all []string, whole bool) {
	t.Helper()
	path, err := filepath.Abs(path)
	must(t, err)
	answers := s.ask(t, fmt.Sprintf(`"method":"load","params":{"file":%q}`, path),
		`"method":"frames","params":{"column0":"frame.len:1","column1":"frame.cap_len:1","column2":"frame.time_epoch:1","column3":"frame.encap_type:1"}`)
	if strings.Contains(answers[0], `"error"`) { // it is no capture, and what frames there are are of the one before
		return nil, false
	}
	var frames struct{ Result []struct{ C []string } }
	if err := json.Unmarshal([]byte(answers[1]), &frames); err != nil {
		t.Fatalf("sharkd: %v: %s", err, answers[1])
	}
	for _, f := range frames.Result {
		if link := encapsulations[f.C[3]]; link > 0 {
			f.C[3] = fmt.Sprintf("link %d", link)
		}
		all = append(all, strings.Join(f.C, ","))
	}
	return all, strings.Contains(answers[0], `"OK"`)
}

// asTshark writes records as tshark does. No time is one that a simple packet block has none of.
func asTshark(all []rec, noTime bool) (lines []string) {
	for _, r := range all {
		link, at := r.Link, fmt.Sprintf("%d.%09d", r.Nanos/1e9, r.Nanos%1e9)
		if slices.Contains([]uint16{12, 14}, link) { // what some systems wrote for it
			link = 101
		}
		if noTime && r.Nanos == 0 {
			at = ""
		}
		lines = append(lines, fmt.Sprintf("%d,%d,%s,link %d", r.Wire, len(r.Data), at, link))
	}
	return lines
}

// compare compares all that a capture holds: how many packets, their captured and wire lengths, times to the last digit, link
// types, and whether the file is whole; of a file that is not, what is before its end.
func (s *shark) compare(t *testing.T, path string, noTime bool) string {
	t.Helper()
	want, whole := s.read(t, path)
	file, err := os.ReadFile(path)
	must(t, err)
	got, _, err := pull(t, bytes.NewReader(file), pcap.ReadOptions{})
	if (err == nil) != whole {
		return fmt.Sprintf("tshark: whole: %v, loadtest: %v", whole, err)
	}
	return cmp.Diff(want, asTshark(got, noTime))
}

func TestGoldenTshark(t *testing.T) {
	folder, all := goldens(t)
	s := newShark(t)
	for _, g := range all {
		t.Run(g.file, func(t *testing.T) {
			if d := s.compare(t, filepath.Join(folder, g.file), false); d != "" {
				t.Errorf("-tshark +loadtest: %s", d)
			}
		})
	}
}

func TestTestdataTshark(t *testing.T) {
	s := newShark(t)
	for _, c := range samples(t) {
		t.Run(c.name, func(t *testing.T) {
			d := s.compare(t, filepath.Join(testdata, c.name), strings.HasPrefix(c.name, "simple"))
			if (d != "") != (c.tshark != "") {
				t.Errorf("should differ: %q\n-tshark +loadtest: %s", c.tshark, d)
			}
		})
	}
}

// What is not as tshark 4.0 has it, and why; and what is strange, and is.
func TestTshark(t *testing.T) {
	s := newShark(t)
	a := udp(60)
	ng := func(parts ...[]byte) []byte { return append(section(le), join(parts...)...) }
	eth := face(le, 1, 0)
	one := whole(le, 0, at, a)
	honest := func(file []byte) []byte { le.PutUint32(file[16:], 65535); return file }
	longer := func(data string, more ...byte) []byte { r := plain(le, s0, 7, data); return join(r[:16], more, r[16:]) }
	linux := []byte{2, 0, 0, 0, 0, 8, 4, 0}
	unaligned := bytes.Clone(one)
	le.PutUint32(unaligned[4:], uint32(len(one)+1))
	resolution := func(v byte, t uint64) []byte { return ng(face(le, 1, 0, option(le, 9, v)), whole(le, 0, t, a)) }

	for _, tt := range []struct {
		name string
		file []byte
		why  string // they differ; empty: they do not
	}{
		{"captured more than the wire had", join(header(le, micros, 1), record(le, s0, 0, 60, 40, a), record(le, s0, 0, 60, 0, a)), ""},
		{"longer than the snap length", join(header(le, micros, 1), plain(le, s0, 0, udp(1514)), plain(le, s0, 0, udp(1000))), ""},
		{"longest on the wire", join(header(le, micros, 1), record(le, s0, 0, 60, 1<<31-1, a)), ""},
		{"latest time", join(header(le, micros, 1), plain(le, 1<<32-1, 999_999, a)), ""},
		{"version 2.0", join(headerOf(le, micros, 2, 0, 1), record(le, s0, 0, 90, 60, a)), ""},
		{"version 2.2", join(headerOf(le, micros, 2, 2, 1), record(le, s0, 0, 90, 60, a)), ""},
		{"version 2.3", join(headerOf(le, micros, 2, 3, 1), record(le, s0, 0, 90, 60, a), record(le, s0, 0, 60, 90, a)), ""},
		{"version 1.0", join(headerOf(le, micros, 1, 0, 1), plain(le, s0, 0, a)), ""},
		{"AIX", join(headerOf(le, micros, 2, 2, 6), record(le, s0, 7, 90, 60, a)), ""},
		{"modified", honest(join(header(le, 0xa1b2cd34, 1), longer(a, linux...), longer(udp(100), linux...))), ""},
		{"modified, longer", honest(join(header(le, 0xa1b2cd34, 1), longer(a, append(linux, 0, 0, 9, 9)...), longer(udp(100), append(linux, 1, 2, 3, 4)...),
			longer(a, append(linux, 0, 0, 0, 0)...))), ""},
		{"modified as Red Hat 6.1 did", honest(join(header(le, micros, 1), longer(a, linux...), longer(udp(100), linux...), longer(a, linux...))), ""},
		{"Nokia", honest(join(header(le, micros, 1), longer(a, 2, 0xb6, 0xbf, 0x9f), longer(udp(100), 1, 0xd9, 0xbf, 0xbf), longer(a, 2, 0xb6, 0xbf, 0x9f))), ""},
		{"a µs file of an IXIA", join(header(le, 0x1c0001ab, 1), make([]byte, 4), plain(le, s0, 7, a)), ""},
		{"raw IP by other numbers", join(header(le, micros, 12), plain(le, s0, 0, a[14:])), ""},
		{"loopback", join(header(le, micros, 0), plain(le, s0, 0, "\x02\x00\x00\x00"+a[14:])), ""},
		{"link type with bits that mean nothing", join(header(le, micros, 0x00010001), plain(le, s0, 0, a)), ""},
		{"cut behind a record header", join(header(le, micros, 1), plain(le, s0, 0, a), plain(le, s0, 0, a)[:16]), ""},
		{"cut in a record header", join(header(le, micros, 1), plain(le, s0, 0, a), plain(le, s0, 0, a)[:10]), ""},

		{"simple packets", ng(face(le, 1, 40), simple(le, 60, a[:40]), simple(le, 40, a[:40])), ""},
		{"simple packet longer than its block", ng(eth, simple(le, 60, a[:40])), ""},
		{"simple packet without interface", ng(simple(le, 60, a)), ""},
		{"obsolete packet", ng(eth, obsolete(le, 0, at+1, 90, a)), ""},
		{"pcapng, captured more than the wire had", ng(eth, enhanced(le, 0, at, 60, 40, a)), ""},
		{"unknown interface", ng(eth, one, whole(le, 1, at, a)), ""},
		{"an interface of the section before", ng(eth, one, section(le), one), ""},
		{"packet longer than its block", ng(eth, enhanced(le, 0, at, 70, 70, a)), ""},
		{"block longer than its packet", ng(eth, enhanced(le, 0, at, 48, 60, a, option(le, 0))), ""},
		{"options without their end", ng(face(le, 1, 0, option(le, 2, []byte("eth0")...)), one), ""},
		{"option of no bytes", ng(face(le, 1, 0, option(le, 2), option(le, 0)), one), ""},
		{"option longer than its block", ng(face(le, 1, 0, []byte{2, 0, 200, 0, 'e', 't', 'h', '0'}), one), ""},
		{"two resolutions", ng(face(le, 1, 0, option(le, 9, 3), option(le, 9, 6)), whole(le, 0, s0*1e3, a)), ""},
		{"resolution of ns and an offset", ng(face(le, 1, 0, option(le, 9, 9), option(le, 14, 100, 0, 0, 0, 0, 0, 0, 0)), whole(le, 0, nano0+1, a)), ""},
		{"offset below 0", ng(face(le, 1, 0, option(le, 14, le.AppendUint64(nil, 1<<64-100)...)), one), ""},
		{"resolution 10^-10 s", resolution(10, 1234567890123456789), ""},
		{"resolution 2^-20 s", resolution(0x80|20, s0<<20+12345), ""},
		{"resolution 2^-30 s", resolution(0x80|30, s0<<30+12345), ""},
		{"resolution 2^-33 s", resolution(0x80|33, s0<<33+12345), ""},
		{"name, secrets and other blocks", ng(eth, block(le, 4, make([]byte, 4)), block(le, 5, make([]byte, 12)), one), ""},
		{"trailer", ng(eth, join(one[:len(one)-4], []byte{1, 0, 0, 0})), ""},
		{"version 1.2", join(sectionOf(le, 1, 2), eth, one), ""},
		{"version 1.1", join(sectionOf(le, 1, 1), eth, one), ""},
		{"sections of each order, link types of each kind", join(section(le), eth, face(le, 101, 0), one, whole(le, 1, at, a[14:]),
			section(be), face(be, 113, 0), whole(be, 0, at, a)), ""},
		{"section that says its length", join(section(le)[:16], le.AppendUint64(nil, 20), section(le)[24:], eth, one), ""},
		{"cut in the frame of a block", join(ng(eth, one), []byte{6, 0, 0, 0, 9}), ""},

		{"fraction above a second", join(header(le, micros, 1), plain(le, s0, 1_500_000, a)),
			"tshark prints 10 digits behind the point; the seconds are carried here"},
		{"2 GB on the wire", join(header(le, micros, 1), record(le, s0, 0, 60, 1<<31, a)),
			"tshark takes it for 1 less; such a length is a lie, and rates count with it"},
		{"version 2.5", join(headerOf(le, micros, 2, 5, 1), plain(le, s0, 0, a)), "tshark reads versions that there are none of"},
		{"version 543.0", join(headerOf(le, micros, 543, 0, 1), record(le, s0, 0, 90, 60, a)), "tshark knows it of DG/UX, which nobody has"},
		{"FCS", join(header(le, micros, 0x24000001), plain(le, s0, 0, a+"FCS4")), "tshark shows the FCS; it is not for sending"},
		{"FCS of a pcapng", ng(face(le, 1, 0, option(le, 13, 4)), whole(le, 0, at, a+"FCS4")), "tshark shows the FCS; it is not for sending"},
		{"FCS of a packet", ng(eth, enhanced(le, 0, at, 64, 64, a+"FCS4", option(le, 2, 4<<5, 0, 0, 0))), "tshark shows the FCS; it is not for sending"},
		{"unknown link type", join(header(le, micros, 999), plain(le, s0, 0, a)), "tshark cannot show it; here it can be counted, and is not sent"},
		{"SunATM", join(header(le, micros, 123), plain(le, s0, 0, a)), "tshark takes the pseudo-header away; the type is not sent"},
		{"PPP with direction", join(header(le, micros, 204), plain(le, s0, 0, a)), "tshark takes the pseudo-header away; the type is not sent"},
		{"long packet", join(header(le, micros, 1), plain(le, s0, 0, strings.Repeat("x", 262_145))), "tshark takes 256 KiB, 4 MiB are taken here"},
		{"modified, one record", honest(join(header(le, micros, 1), longer(a, linux...))),
			"tshark guesses from one record; it may as well be a usual file that is cut"},
		{"a ns file of an IXIA", join(header(le, 0x1c0001ac, 1), make([]byte, 4), plain(le, s0, 7, a)), "tshark 4.0 takes the ns for µs; later ones do not"},
		{"time before 1970", ng(face(le, 1, 0, option(le, 14, le.AppendUint64(nil, 1<<64-2)...)), whole(le, 0, 7, a)),
			"tshark prints -2.000007000 for 7 µs after -2"},
		{"resolution of 2 bytes", ng(face(le, 1, 0, option(le, 9, 3, 0)), one), "tshark takes no note of an option that it should not believe"},
		{"resolution 10^-12 s", resolution(12, 1234567890123456789), "tshark 4.0 counts past 64 bits"},
		{"resolution 10^-19 s", resolution(19, 1234567890123456789), "tshark 4.0 knows no more than 10^-18 s"},
		{"resolution 2^-50 s", resolution(0x80|50, 1<<62+1<<40+12345), "tshark 4.0 counts past 64 bits"},
		{"resolution 2^-64 s", resolution(0x80|64, 1<<63), "tshark 4.0 knows no more than 2^-63 s"},
		{"after 2262", resolution(0, 1<<60), "ns since 1970 have 63 bits here"},
		{"simple packet with more than the snap length", ng(face(le, 1, 40), simple(le, 60, a)), "tshark refuses the block, whose first 40 bytes are taken here"},
		{"unaligned block", ng(eth, unaligned), ""},
		{"journal of systemd", ng(eth, block(le, 9, []byte("__REALTIME_TIMESTAMP=1\nMESSAGE=x\n\n")), one), "tshark counts what is no packet"},
		{"custom block", ng(eth, block(le, 0xbad, []byte{0, 0, 0, 0, 1, 2, 3, 4}), one), "tshark counts what is no packet"},
		{"call of sysdig", ng(eth, block(le, 0x204, make([]byte, 40)), one), "tshark counts what is no packet"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), strconv.Itoa(len(tt.file)))
			must(t, os.WriteFile(path, tt.file, 0o644))
			d := s.compare(t, path, true)
			if tt.why == "" && d != "" {
				t.Errorf("-tshark +loadtest: %s", d)
			}
			if tt.why != "" && d == "" {
				t.Errorf("the same, but should differ: %s", tt.why)
			}
		})
	}
}
