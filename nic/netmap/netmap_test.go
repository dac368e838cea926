package netmap

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"
	"unsafe"

	"loadtest/nic"
	"loadtest/nic/nictest"
	"loadtest/packet"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name string
		want request
		err  string
	}{
		{"eth0", request{"eth0", allRings, 0}, ""},
		{"eth0-2", request{"eth0", oneRing, 2}, ""},
		{"eth0^", request{"eth0", hostOnly, 0}, ""},
		{"vale1:a", request{"vale1:a", allRings, 0}, ""},
		{"vale1:a-b", request{"vale1:a-b", allRings, 0}, ""},
		{"vale1:p{1", request{"vale1:p{1", allRings, 0}, ""},
		{"vale1:p}1", request{"vale1:p}1", allRings, 0}, ""},
		{"eth0{7", request{"eth0{7", allRings, 0}, ""},
		{"", request{}, `port "": want an interface, as eth2, eth2-0 (one ring) or eth2^ (host rings)`},
		{"eth0-x", request{}, `want a ring's number behind -, as eth0-0`},
		{"eth0-9999", request{}, `want a ring's number behind -`},
		{"vale1", request{}, `want a switch and a port of it, as vale1:a`},
		{"vale1:p{", request{}, `want a pipe's number behind {, as vale1:p{1`},
		{"{1", request{}, `want a pipe's number`},
		{"eth0@lab", request{}, `want an interface`},
		{strings.Repeat("e", 64), request{}, "63 letters at most"},
	} {
		got, err := parse(tt.name)
		if tt.err == "" && (err != nil || got != tt.want) || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%q: %+v, %v; want %+v, %q", tt.name, got, err, tt.want, tt.err)
		}
	}
}

// The sizes, offsets and numbers of net/netmap.h, ABI 14, on 64 bits.
func TestLayout(t *testing.T) {
	var h header
	var r register
	for name, n := range map[string][2]uintptr{
		"sizeof(struct nmreq_header)": {unsafe.Sizeof(h), 88}, "nr_name": {unsafe.Offsetof(h.name), 8}, "nr_options": {unsafe.Offsetof(h.options), 72},
		"nr_body": {unsafe.Offsetof(h.body), 80}, "sizeof(struct nmreq_register)": {unsafe.Sizeof(r), 56}, "nr_memsize": {unsafe.Offsetof(r.size), 8},
		"nr_tx_slots": {unsafe.Offsetof(r.txSlots), 16}, "nr_tx_rings": {unsafe.Offsetof(r.txRings), 24}, "nr_host_tx_rings": {unsafe.Offsetof(r.hostTx), 28},
		"nr_mem_id": {unsafe.Offsetof(r.memory), 32}, "nr_ringid": {unsafe.Offsetof(r.ring), 34}, "nr_mode": {unsafe.Offsetof(r.mode), 36},
		"nr_flags": {unsafe.Offsetof(r.flags), 40}, "nr_extra_bufs": {unsafe.Offsetof(r.extra), 48},
	} {
		if n[0] != n[1] {
			t.Errorf("%s is %d, want %d", name, n[0], n[1])
		}
	}
}

// memory is a port's, as the kernel lays it out: so many rings each way, of so many slots, and a buffer for each slot.
func memory(rings, slots, size int) region {
	ringBytes := ringFirst + slots*slotBytes
	ringBytes = (ringBytes + 7) &^ 7
	first := 64 + ifRings + 8*(2*rings+2)
	buffers := first + ringBytes*(2*rings+2)
	m := region(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(make([]uint64, (buffers+(2*rings+2)*slots*size+size)/8+1)))), buffers+(2*rings+2)*slots*size+size))
	put := func(at int, v uint64, bytes int) {
		switch bytes {
		case 4:
			binary.NativeEndian.PutUint32(m[at:], uint32(v))
		case 8:
			binary.NativeEndian.PutUint64(m[at:], v)
		}
	}
	for off, n := range map[int]int{ifTxRings: rings, ifRxRings: rings, ifHostTx: 1, ifHostRx: 1} {
		put(64+off, uint64(n), 4)
	}
	buffer := 1
	for i := range 2*rings + 2 {
		at := first + i*ringBytes
		put(64+ifRings+8*i, uint64(at-64), 8)
		put(at+ringBuffers, uint64(buffers-at), 8)
		put(at+ringSlots, uint64(slots), 4)
		put(at+ringSize, uint64(size), 4)
		for k := range slots {
			put(at+ringFirst+k*slotBytes, uint64(buffer), 4)
			buffer++
		}
		if i <= rings { // tx: all free but one
			put(at+ringTail, uint64(slots-1), 4)
		}
	}
	return m
}

// A wire is the other side of a tx ring and of the rx ring it leads to. It checks what netmap(4) asks of programs.
type wire struct {
	t      testing.TB
	tx, rx *ring // of the port whose kernel it is
	peer   *ring // rx ring of the other end
	sent   uint32
	seen   uint32 // head of rx when it was last called
	gone   *bool
	none   error
}

// within says whether b is in the ring's stretch from a to c, which may wrap.
func within(a, b, c, n uint32) bool { return (b+n-a)%n <= (c+n-a)%n }

func (w *wire) txSync() error {
	if *w.gone {
		return w.none
	}
	r := w.tx
	head, cur, tail := *r.word(ringHead), *r.word(ringCur), *r.word(ringTail)
	if head >= r.slots || cur != head || !within(w.sent, head, tail, r.slots) {
		w.t.Errorf("txsync: head %d, cur %d, tail %d, sent up to %d of %d slots", head, cur, tail, w.sent, r.slots)
	}
	for w.sent != head {
		ptail := *w.peer.word(ringTail)
		next := w.peer.next(ptail)
		if next == *w.peer.word(ringHead) || w.peerFull(next) {
			break
		}
		length := r.length(w.sent)
		copy(w.peer.buffer(ptail), r.buffer(w.sent)[:length])
		*(*uint16)(unsafe.Pointer(&w.peer.memory[w.peer.slot(ptail)+slotLength])) = uint16(length)
		*w.peer.word(ringTail) = next
		for i := range r.buffer(w.sent)[:length] { // the device has it: a program that still reads it reads this
			r.buffer(w.sent)[i] = 0xee
		}
		w.sent = r.next(w.sent)
	}
	*r.word(ringTail) = (w.sent + r.slots - 1) % r.slots // one slot stays empty
	return nil
}

func (w *wire) peerFull(next uint32) bool { return next == *w.peer.word(ringHead) }

func (w *wire) rxSync() error {
	if *w.gone {
		return w.none
	}
	r := w.rx
	head, cur, tail := *r.word(ringHead), *r.word(ringCur), *r.word(ringTail)
	if head >= r.slots || cur != head || !within(w.seen, head, tail, r.slots) {
		w.t.Errorf("rxsync: head %d, cur %d, tail %d, given up to %d of %d slots", head, cur, tail, w.seen, r.slots)
	}
	for i := w.seen; i != head; i = r.next(i) { // given back: it may be written again
		for k := range r.buffer(i) {
			r.buffer(i)[k] = 0xdd
		}
	}
	w.seen = head
	return nil
}

func (w *wire) wait(d time.Duration) { time.Sleep(min(d, time.Millisecond)) }
func (w *wire) close() error         { return nil }

// pair is two ports of one queue each at a wire.
func pair(t testing.TB, slots, size int) nictest.Pair {
	gone := new(bool)
	var ports []*port
	var wires []*wire
	for range 2 {
		tx, rx, err := memory(1, slots, size).rings(64, false)
		if err != nil {
			t.Fatal(err)
		}
		w := &wire{t: t, tx: tx[0], rx: rx[0], gone: gone, none: nic.ErrDown}
		wires = append(wires, w)
		ports = append(ports, queues(w, tx, rx)[0].(*port))
		ports[len(ports)-1].max = 1514
	}
	wires[0].peer, wires[1].peer = wires[1].rx, wires[0].rx
	settle := func() { // frames that waited for room go on
		if !*gone {
			for _, p := range ports {
				if !p.gate.Closed() {
					_ = p.kernel.txSync()
				}
			}
		}
	}
	return nictest.Pair{A: ports[0], B: ports[1], Settle: settle, Gone: func() { *gone = true }}
}

func TestPort(t *testing.T) {
	for _, slots := range []int{257, 512, 1024} {
		t.Run("", func(t *testing.T) {
			nictest.Run(t, func(t *testing.T) nictest.Pair { return pair(t, slots, 2048) })
		})
	}
}

// Several rings, and those of the host's stack, are where the memory says.
func TestRings(t *testing.T) {
	m := memory(3, 8, 128)
	tx, rx, err := m.rings(64, false)
	if err != nil || len(tx) != 3 || len(rx) != 3 {
		t.Fatalf("%d tx, %d rx rings, %v", len(tx), len(rx), err)
	}
	htx, hrx, err := m.rings(64, true)
	if err != nil || len(htx) != 1 || len(hrx) != 1 {
		t.Fatalf("host: %d tx, %d rx rings, %v", len(htx), len(hrx), err)
	}
	at := map[int]bool{}
	for _, r := range append(append(tx, rx...), htx[0], hrx[0]) {
		at[r.at] = true
	}
	if len(at) != 8 {
		t.Errorf("%d different rings, want 8", len(at))
	}
	if tx[0].ours() != 7 || htx[0].ours() != 7 || rx[0].ours() != 0 || hrx[0].ours() != 0 {
		t.Errorf("free: %d, %d; come: %d, %d", tx[0].ours(), htx[0].ours(), rx[0].ours(), hrx[0].ours())
	}
}

// A frame in several slots is missed, and so is one whose length lies; a slot without a buffer is an error.
func TestStrangeSlots(t *testing.T) {
	p := pair(t, 16, 2048)
	a, b := p.A.(*port), p.B.(*port)
	data := make([]byte, 60)
	for range 3 {
		if n, err := a.Send([]packet.Frame{{Data: data}}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	*(*uint16)(unsafe.Pointer(&b.rx.memory[b.rx.slot(0)+slotFlags])) = moreFragments
	*(*uint16)(unsafe.Pointer(&b.rx.memory[b.rx.slot(1)+slotLength])) = 3000
	f := make([]packet.Frame, 4)
	if n, err := b.Recv(f); n != 1 || err != nil || b.Status().Missed != 2 {
		t.Errorf("Recv = %d, %v, missed %d; want 1, 2 missed", n, err, b.Status().Missed)
	}
	*(*uint32)(unsafe.Pointer(&a.tx.memory[a.tx.slot(a.tx.head())])) = 1 << 30
	if n, err := a.Send([]packet.Frame{{Data: data}}); n != 0 || err != errBuffer {
		t.Errorf("Send = %d, %v; want %v", n, err, errBuffer)
	}
}

// Whatever a foreign memory says, it is refused, or nothing outside of it is touched.
func FuzzRegion(f *testing.F) {
	m := memory(1, 8, 128)
	f.Add([]byte(m), uint64(64), uint16(100), uint64(1<<63))
	f.Add([]byte(m[:300]), uint64(64), uint16(0), uint64(0))
	f.Fuzz(func(t *testing.T, b []byte, at uint64, where uint16, what uint64) {
		words := make([]uint64, len(b)/8+1)
		m := region(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(b)))
		copy(m, b)
		if int(where)+8 <= len(m) {
			binary.NativeEndian.PutUint64(m[where:], what)
		}
		for _, host := range []bool{false, true} {
			tx, rx, err := m.rings(at, host)
			if err != nil {
				continue
			}
			gone := false
			for _, q := range queues(&wire{t: t, gone: &gone}, tx, rx) {
				p := q.(*port)
				p.kernel = mute{}
				_, _ = p.Recv(make([]packet.Frame, 4))
				_, _ = p.Send([]packet.Frame{{Data: make([]byte, 60)}})
				_, _ = p.Recv(make([]packet.Frame, 4))
			}
		}
	})
}

// mute is a kernel that does nothing.
type mute struct{}

func (mute) txSync() error      { return nil }
func (mute) rxSync() error      { return nil }
func (mute) wait(time.Duration) {}
func (mute) close() error       { return nil }

func TestOpenWithoutTheModule(t *testing.T) {
	_, err := Open("eth0", Options{})
	if err == nil || !strings.Contains(err.Error(), `port "eth0": `) {
		t.Errorf("%v", err)
	}
}
