package pcap_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadtest/packet"
	"loadtest/pcap"
)

// A golden is a line of the table in the README of the golden captures.
type golden struct {
	file           string
	link, packets  int
	wire, captured string // "60" or "60–1514"; "-" without packets
	whole          bool
}

// goldens reads that table.
func goldens(t *testing.T) (folder string, all []golden) {
	t.Helper()
	root := os.Getenv("LOADTEST_GOLDEN")
	if root == "" {
		t.Skip("needs LOADTEST_GOLDEN")
	}
	folder = filepath.Join(root, "pcaps")
	readme, err := os.ReadFile(filepath.Join(folder, "README.md"))
	must(t, err)
	link := regexp.MustCompile(`\((\d+)\)`)
	for line := range strings.Lines(string(readme)) {
		cell := strings.Split(line, "|")
		if len(cell) < 10 || !strings.Contains(cell[1], ".pcap") {
			continue
		}
		for i := range cell {
			cell[i] = strings.TrimSpace(cell[i])
		}
		g := golden{file: cell[1], wire: cell[6], captured: cell[7], whole: cell[9] == "no complaint"}
		g.link, err = strconv.Atoi(link.FindStringSubmatch(cell[4])[1])
		must(t, err)
		g.packets, err = strconv.Atoi(cell[5])
		must(t, err)
		all = append(all, g)
	}
	if len(all) < 25 {
		t.Fatalf("%d captures in the table of %s, want 25 or more", len(all), folder)
	}
	return folder, all
}

func TestGolden(t *testing.T) {
	folder, all := goldens(t)
	for _, g := range all {
		t.Run(g.file, func(t *testing.T) {
			path := filepath.Join(folder, g.file)
			s, err := pcap.ReadFile(path)
			if !g.whole {
				if !errors.Is(err, io.ErrUnexpectedEOF) || pcapError(t, err).Packet != g.packets+1 {
					t.Errorf("%v, want unexpected EOF in packet %d", err, g.packets+1)
				}
				return
			}
			must(t, err)
			if int(s.Link) != g.link || s.Len() != g.packets {
				t.Errorf("link type %d, %d packets; want %d, %d", s.Link, s.Len(), g.link, g.packets)
			}
			if wire, captured := span(s, s.Wire), span(s, s.Size); wire != g.wire || captured != g.captured {
				t.Errorf("lengths %s, captured %s; want %s, %s", wire, captured, g.wire, g.captured)
			}
			if d := cmp.Diff(packets(readGopacket(t, path)), packets(s)); d != "" {
				t.Errorf("-gopacket +loadtest: %s", d)
			}
		})
	}
}

// span writes the smallest and the largest length as the table does.
func span(s *packet.Store, length func(int) int) string {
	if s.Len() == 0 {
		return "-"
	}
	low, high := length(0), length(0)
	for i := range s.Len() {
		low, high = min(low, length(i)), max(high, length(i))
	}
	if low == high {
		return strconv.Itoa(low)
	}
	return fmt.Sprintf("%d–%d", low, high)
}
