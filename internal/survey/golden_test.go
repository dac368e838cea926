package survey_test

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadtest/internal/survey"
	"loadtest/internal/timeline"
	"loadtest/packet"
	"loadtest/pcap"
)

// golden gives each capture of other tools that can be read; two of them cannot.
func golden(t *testing.T, tool string, do func(t *testing.T, path string, store *packet.Store)) {
	t.Helper()
	folder := os.Getenv("LOADTEST_GOLDEN")
	if folder == "" {
		t.Skip("LOADTEST_GOLDEN is not set")
	}
	if _, err := exec.LookPath(tool); err != nil {
		if slices.Contains(strings.Split(os.Getenv("LOADTEST_REQUIRE"), ","), "tshark") { // which brings them all
			t.Fatal(err)
		}
		t.Skip(err)
	}
	all, err := filepath.Glob(filepath.Join(folder, "pcaps", "*.pcap*"))
	if err != nil || len(all) < 25 {
		t.Fatalf("%d captures in %s (%v), want at least 25", len(all), folder, err)
	}
	for _, path := range all {
		if strings.HasPrefix(filepath.Base(path), "cut-") {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			store, err := pcap.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			do(t, path, store)
		})
	}
}

// through is the survey of a pass.
func through(t *testing.T, s packet.Source) *survey.Survey {
	t.Helper()
	rd, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer rd.Close()
	sv := survey.New()
	var r packet.Record
	for {
		if err := rd.Next(&r); err == io.EOF {
			sv.Done()
			return sv
		} else if err != nil {
			t.Fatal(err)
		}
		sv.Add(&r)
	}
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	b, err := exec.CommandContext(t.Context(), name, args...).Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return string(b)
}

// nanos reads seconds.
func nanos(t *testing.T, s string) int64 {
	t.Helper()
	r, ok := new(big.Rat).SetString(s)
	if !ok || !r.Mul(r, big.NewRat(1e9, 1)).IsInt() {
		t.Fatalf("%q is no time", s)
	}
	return r.Num().Int64()
}

func TestAgainstCapinfos(t *testing.T) {
	golden(t, "capinfos", func(t *testing.T, path string, store *packet.Store) {
		line := strings.Split(strings.TrimSpace(output(t, "capinfos", "-TmrScduaezxo", path)), ",")
		if len(line) != 9 {
			t.Fatalf("%q", line)
		}
		s := through(t, store)
		got := []string{fmt.Sprint(s.Packets), fmt.Sprint(s.WireBytes), fmt.Sprintf("%.2f", s.Sizes.Mean), map[bool]string{true: "True", false: "False"}[s.Times.Back.Packets == 0]}
		if diff := cmp.Diff([]string{line[1], line[2], line[6], line[8]}, got); diff != "" {
			t.Errorf("packets, bytes, mean size, in order: -capinfos +ours\n%s", diff)
		}
		times := &s.Times
		if times.First == nil { // capinfos takes no time for 0
			if store.Len() > 0 && (nanos(t, line[4]) != 0 || nanos(t, line[3]) != 0) {
				t.Errorf("no times; capinfos has %s, %s", line[4], line[3])
			}
			return
		}
		first, last, span := nanos(t, line[4]), nanos(t, line[5]), nanos(t, line[3])
		if line[8] == "False" {
			first, last, span = last, first, 0 // two packets
		}
		if *times.First != first || *times.Last != last || times.Span != span || times.Untimed != 0 {
			t.Errorf("%d to %d, %d, %d untimed; capinfos has %v", *times.First, *times.Last, times.Span, times.Untimed, line)
		}
		if n := float64(s.Packets); span > 0 {
			// Its rate is without the gap behind the last packet.
			rate, err := strconv.ParseFloat(line[7], 64)
			if ours := *times.Pps * n / (n - 1); err != nil || math.Abs(ours-rate) > 0.005+rate/1000 { // it takes differences of floats
				t.Errorf("%f packets/s, capinfos has %f (%v)", ours, rate, err)
			}
		}
		// On a line of one file, times are the same.
		if line := through(t, timeline.New([]packet.Source{store}, timeline.Options{})).Times; times.Back.Packets == 0 && cmp.Diff(*times, line) != "" {
			t.Errorf("on a line:\n%s", cmp.Diff(*times, line))
		}
	})
}

// others are captures of which tshark says more, and why.
var others = map[string]string{
	"ip6-fragments.pcap":    "tshark puts fragments together and sees what is in them",
	"lwaftr-ipv6-0550.pcap": "tshark looks into the tunnel",
	"tso-ip-len-0.pcap":     "tshark takes the length of the frame where the IP header has none",
}

func TestAgainstTshark(t *testing.T) {
	golden(t, "tshark", func(t *testing.T, path string, store *packet.Store) {
		if reason, ok := others[filepath.Base(path)]; ok {
			t.Skip(reason)
		}
		s := through(t, store)
		got := survey.Survey{IPv4: s.IPv4, IPv6: s.IPv6, ARP: s.ARP, TCP: s.TCP, UDP: s.UDP, ICMP: s.ICMP, Tagged: s.Tagged,
			WrongIPv4: survey.Seen{Packets: s.WrongIPv4.Packets}, WrongTCP: survey.Seen{Packets: s.WrongTCP.Packets}, WrongUDP: survey.Seen{Packets: s.WrongUDP.Packets}}
		got.Flows.TCP, got.Flows.UDP = s.Flows.TCP, s.Flows.UDP
		if want := tshark(t, path); text(want) != text(&got) {
			t.Errorf("%s, tshark has %s", text(&got), text(want))
		}
	})
}

// tshark is what tshark sees.
func tshark(t *testing.T, path string) *survey.Survey {
	t.Helper()
	var s survey.Survey
	flows := &s.Flows.TCP // after the packets it lists flows, UDP first
	head := regexp.MustCompile(`^(sll|raw|ethertype|eth|vlan|ieee8021ad|:)+`)
	for line := range strings.Lines(output(t, "tshark", "-r", path, "-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE",
		"-z", "conv,tcp", "-z", "conv,udp", "-T", "fields", "-E", "occurrence=f", "-e", "frame.protocols",
		"-e", "ip.checksum.status", "-e", "tcp.checksum.status", "-e", "udp.checksum.status")) {
		switch {
		case strings.HasPrefix(line, "UDP Conversations"):
			flows = &s.Flows.UDP
		case strings.HasPrefix(line, "TCP Conversations"):
			flows = &s.Flows.TCP
		case strings.Contains(line, "<->"):
			*flows++
		}
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(f) < 4 {
			continue
		}
		if strings.Contains(f[0], "vlan") || strings.Contains(f[0], "ieee8021ad") {
			s.Tagged++
		}
		for i, n := range []*survey.Seen{&s.WrongIPv4, &s.WrongTCP, &s.WrongUDP} {
			if f[i+1] == "0" {
				n.Packets++
			}
		}
		count := map[string]*int64{"ip": &s.IPv4, "ipv6": &s.IPv6, "arp": &s.ARP, "tcp": &s.TCP, "udp": &s.UDP, "icmp": &s.ICMP, "icmpv6": &s.ICMP}
		for i, name := range strings.Split(head.ReplaceAllString(f[0], ""), ":") {
			if i > 1 {
				break // what is inside
			}
			if n := count[name]; n != nil {
				*n++
			}
		}
	}
	return &s
}
