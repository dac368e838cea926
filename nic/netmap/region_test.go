//go:build linux || freebsd

package netmap

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loadtest/packet"
)

// guarded is memory with a page behind its end that nobody may touch: who reads on is killed.
type guarded struct{ pages region }

func guard(t testing.TB, most int) *guarded {
	page := unix.Getpagesize()
	n := (most + page - 1) / page * page
	b, err := unix.Mmap(-1, 0, n+page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(b) })
	if err := unix.Mprotect(b[n:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return &guarded{pages: b[:n]}
}

// hold copies b to the end of the memory; as it is aligned to 8, some bytes may be lost.
func (g *guarded) hold(b []byte) region {
	n := min(len(b), len(g.pages)) &^ 7
	m := g.pages[len(g.pages)-n:]
	copy(m, b)
	return m[:n:n]
}

// lies are at what offset of a memory of two rings which number is told, and what is said of it.
func TestLies(t *testing.T) {
	s := one(8, 128)
	const at = 0
	tx, rx := s.ringAt(0), s.ringAt(2)
	for _, tt := range []struct {
		name  string
		where int
		what  int64
		bytes int
		want  string
	}{
		{"no lie", 0, 0, 4, ""},
		{"tx rings", ifTxRings, 1 << 31, 4, "the kernel says that the port has 2147483651 rings"},
		{"tx rings, some", ifTxRings, 9000, 4, "the kernel says that the port has 9003 rings"},
		{"no tx ring", ifTxRings, 0, 4, "tx ring 0: the kernel says that there are 0"},
		{"no rx ring", ifRxRings, 0, 4, "rx ring 0: the kernel says that there are 0"},
		{"host rings", ifHostTx, 1<<32 - 1, 4, "the kernel says that the port has 4294967298 rings"},
		{"not given", ifRings, 0, 8, "tx ring 0: the kernel did not give it"},
		{"offset beyond", ifRings, 1 << 40, 8, "tx ring 0: the kernel says that it lies 1099511627776 bytes behind byte 0 of "},
		{"offset before", ifRings + 16, -8, 8, "rx ring 0: the kernel says that it lies -8 bytes behind byte 0 of "},
		{"offset least", ifRings, -1 << 63, 8, "tx ring 0: the kernel says that it lies -9223372036854775808 bytes behind byte 0 of "},
		{"offset most", ifRings, 1<<63 - 1, 8, "tx ring 0: the kernel says that it lies 9223372036854775807 bytes behind byte 0 of "},
		{"offset odd", ifRings, int64(tx) + 4, 8, "tx ring 0: the kernel says that it lies "},
		{"slots, none", tx + ringSlots, 0, 4, "tx ring 0: the kernel says that it has 0 slots"},
		{"slots, one", rx + ringSlots, 1, 4, "rx ring 0: the kernel says that it has 1 slots"},
		{"slots, too many", tx + ringSlots, 1 << 20, 4, "tx ring 0: the kernel says that it has 1048576 slots"},
		{"slots, most", tx + ringSlots, 1<<32 - 1, 4, "tx ring 0: the kernel says that it has 4294967295 slots"},
		{"buffers of nothing", tx + ringSize, 0, 4, "tx ring 0: the kernel says that its buffers have 0 bytes"},
		{"buffers too long", tx + ringSize, 1<<16 + 1, 4, "tx ring 0: the kernel says that its buffers have 65537 bytes"},
		{"buffers that overlap the end", tx + ringSize, 1 << 12, 4, "tx ring 0: the kernel says that slot 0 has buffer 2, which is none"},
		{"buffers beyond", tx + ringBuffers, 1 << 62, 8, "tx ring 0: the kernel says that its buffers begin 4611686018427387904 bytes behind it"},
		{"buffers before", rx + ringBuffers, -1 << 63, 8, "rx ring 0: the kernel says that its buffers begin -9223372036854775808 bytes behind it"},
		{"a buffer", rx + ringFirst + 7*slotBytes, 1<<32 - 1, 4, "rx ring 0: the kernel says that slot 7 has buffer 4294967295, which is none"},
		{"the kernel's buffer", tx + ringFirst, 1, 4, "tx ring 0: the kernel says that slot 0 has buffer 1, which is none"},
		{"head", tx + ringHead, 8, 4, "tx ring 0: the kernel says that it is at slot 8 of 8"},
		{"tail", rx + ringTail, 1<<32 - 1, 4, "rx ring 0: the kernel says that it is at slot 4294967295 of 8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := guard(t, 1<<16)
			m := g.hold(s.memory())
			s.describe(m, at, func(i int) bool { return i%2 == 0 })
			switch {
			case tt.want == "":
			case tt.bytes == 4:
				m.put32(tt.where, int(tt.what))
			default:
				m.put64(tt.where, tt.what)
			}
			tx, rx, err := m.pair(at, register{mode: modeAll})
			if tt.want == "" {
				if err != nil || tx == nil || rx == nil {
					t.Errorf("%v, %v, %v", tx, rx, err)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) || tx != nil || rx != nil {
				t.Errorf("\n got %v\nwant %s", err, tt.want)
			}
		})
	}
	m := s.memory()
	for _, at := range []uint64{uint64(len(m)), uint64(len(m)) - 8, 1 << 63, 1<<64 - 1, 4} {
		if _, _, err := m.pair(at, register{mode: modeAll}); err == nil || !strings.Contains(err.Error(), "the kernel says that the port lies at byte ") {
			t.Errorf("a port at byte %d of %d: %v", at, len(m), err)
		}
	}
}

// FuzzRegion: a foreign memory is refused, or all buffers of its rings lie in it; and whatever it says later, nothing outside of it is touched.
func FuzzRegion(f *testing.F) {
	s := one(8, 128)
	m := s.memory()
	s.describe(m, 0, func(int) bool { return true })
	f.Add([]byte(m), uint64(0), uint16(0), uint64(0), uint16(0), uint64(0), uint32(modeAll))
	for _, where := range []int{ifTxRings, ifRings, s.ringAt(0) + ringSlots, s.ringAt(0) + ringSize, s.ringAt(2) + ringBuffers, s.ringAt(2) + ringFirst, s.ringAt(2) + ringHead} {
		f.Add([]byte(m), uint64(0), uint16(where), uint64(1<<63), uint16(0), uint64(0), uint32(modeAll))
		f.Add([]byte(m), uint64(0), uint16(0), uint64(s.tx), uint16(where), uint64(1<<32-1), uint32(modeHost))
	}
	g := guard(f, 1<<16)
	f.Fuzz(func(t *testing.T, b []byte, at uint64, where uint16, what uint64, later uint16, then uint64, mode uint32) {
		m := g.hold(b)
		if int(where)+8 <= len(m) {
			m.put64(int(where), int64(what))
		}
		tx, rx, err := m.pair(at, register{mode: mode})
		if (err == nil) != (tx != nil && rx != nil) {
			t.Fatalf("%v, %v, %v: want rings or an error", tx, rx, err)
		}
		if err != nil {
			return
		}
		for _, r := range []*ring{tx, rx} {
			for i := range r.slots {
				if b := r.buffer(i); int64(len(b)) != r.size || cap(b) != len(b) {
					t.Fatalf("slot %d has a buffer of %d bytes, want %d", i, len(b), r.size)
				}
			}
		}
		if int(later)+8 <= len(m) {
			m.put64(int(later), int64(then))
		}
		p := &port{device: &device{max: tx.longest()}, kernel: mute{}, tx: tx, rx: rx}
		lent := make([]packet.Frame, 4)
		for range 3 {
			n, _ := p.Recv(lent)
			for _, f := range lent[:n] {
				for i := range f.Data {
					f.Data[i]++
				}
			}
			_, _ = p.Send([]packet.Frame{{Data: make([]byte, p.max)}, {Data: make([]byte, ethernet)}})
			p.Wait(1)
		}
	})
}

// mute is a kernel that does nothing.
type mute struct{}

func (mute) txSync() error      { return nil }
func (mute) rxSync() error      { return nil }
func (mute) wait(time.Duration) {}
func (mute) close() error       { return nil }
