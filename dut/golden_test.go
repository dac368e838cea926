package dut_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// What Vita's own generator makes for a pair of nodes flows through the simulated pair, every packet of it.
func TestVitaGolden(t *testing.T) {
	root := os.Getenv("LOADTEST_GOLDEN")
	if root == "" {
		t.Skip("LOADTEST_GOLDEN is not set: packets of Vita's own generator")
	}
	for _, tt := range []struct{ dir, from, to string }{
		{"seed-node1-60", "node1", "node2"},
		{"seed-node2-60", "node2", "node1"},
		{"seed-node1-imix-2queues", "node1", "node2"},
		{"seed-node2-imix-2queues", "node2", "node1"},
		{"v6-60", "node1", "node2"},
		{"v6-nroutes40-128", "node1", "node2"},
	} {
		t.Run(tt.dir, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join(root, "vita", tt.dir, "traffic.pcap"))
			if err != nil {
				t.Fatal(err)
			}
			var frames [][]byte
			for b = b[24:]; len(b) > 0; {
				n := 16 + binary.LittleEndian.Uint32(b[8:])
				frames = append(frames, b[16:n])
				b = b[n:]
			}
			n := load(t, "vita-1gbe")
			tx := &sender{port: open(t, n, tt.from), frames: frames, due: func(i int64) int64 { return i * 20000 }, count: int64(len(frames)), burst: 1}
			rx := &receiver{port: open(t, n, tt.to)}
			run(n, second, tx, rx)
			if rx.count != tx.count || rx.count < 900 {
				t.Errorf("%d of %d packets arrive, want all: %s", rx.count, tx.count, drops(n))
			}
		})
	}
}
