package netmap

import (
	"bytes"
	"fmt"
	"sync/atomic"
)

// A kring is the kernel's view of a ring. What a program may not do is told at the kernel's next call, as netmap(4) and
// nm_txsync_prologue have it: hwcur <= rhead <= head <= cur <= tail = rtail <= hwtail, and all that is outside of head..tail left alone.
type kring struct {
	*ring
	name          string
	hwcur, hwtail uint32 // tx: next to send, and end of what is free; rx: first that the program has, and where the next frame goes
	rhead, rtail  uint32 // head and tail as the program last saw them
	fixed         []byte // of struct netmap_ring: what no program writes
	shadow        []byte // of each slot: the slot and the begin of its buffer, as they were left
	peer          *kring // tx: where frames go
	lazy          bool   // tx: what is sent is given back one call later
	complain      func(string, ...any)
}

const shadowBytes = slotBytes + 64

func newKring(name string, r *ring, complain func(string, ...any)) *kring {
	k := &kring{ring: r, name: name, complain: complain, shadow: make([]byte, int(r.slots)*shadowBytes)}
	k.fixed = bytes.Clone(r.memory[r.at : r.at+ringHead])
	k.hwtail = *r.word(ringTail)
	k.rtail = k.hwtail
	k.leave()
	return k
}

// ahead is how far b is ahead of a.
func (k *kring) ahead(a, b uint32) uint32 { return (b + k.slots - a) % k.slots }

// owned says whether the program has a slot.
func (k *kring) owned(i uint32) bool { return k.ahead(k.rhead, i) < k.ahead(k.rhead, k.rtail) }

func (k *kring) picture(i uint32) []byte { return k.shadow[int(i)*shadowBytes:][:shadowBytes] }

func (k *kring) remember(i uint32) {
	copy(k.picture(i), k.memory[k.slot(i):][:slotBytes])
	copy(k.picture(i)[slotBytes:], k.buffer(i))
}

// leave ends a call: the program sees the tail.
func (k *kring) leave() {
	k.rtail = k.hwtail
	atomic.StoreUint32(k.word(ringTail), k.rtail)
	for i := range k.slots {
		k.remember(i)
	}
}

// enter begins a call: head is what the program says, as far as it may.
func (k *kring) enter() bool {
	head, cur, tail := atomic.LoadUint32(k.word(ringHead)), atomic.LoadUint32(k.word(ringCur)), atomic.LoadUint32(k.word(ringTail))
	if !bytes.Equal(k.fixed, k.memory[k.at:k.at+ringHead]) {
		k.complain("%s: its description was written", k.name)
		return false
	}
	room := k.ahead(k.rhead, k.rtail)
	switch {
	case tail != k.rtail:
		k.complain("%s: tail was written: %d, was %d", k.name, tail, k.rtail)
	case head >= k.slots || k.ahead(k.rhead, head) > room:
		k.complain("%s: head %d is outside of %d..%d", k.name, head, k.rhead, k.rtail)
	case cur >= k.slots || k.ahead(k.rhead, cur) > room || k.ahead(k.rhead, cur) < k.ahead(k.rhead, head):
		k.complain("%s: cur %d is outside of %d..%d", k.name, cur, head, k.rtail)
	default:
		for i := range k.slots {
			if why := k.broken(i); why != "" {
				k.complain("%s: slot %d: %s", k.name, i, why)
				return false
			}
		}
		for ; k.rhead != head; k.rhead = k.next(k.rhead) {
			if n := k.length(k.rhead); k.peer != nil && (n < ethernet || n > int(k.size) || k.flags(k.rhead) != 0) {
				k.complain("%s: slot %d has %d bytes, flags %#x", k.name, k.rhead, n, k.flags(k.rhead))
				k.memory.put16(k.slot(k.rhead)+slotLength, ethernet)
			}
		}
		return true
	}
	return false
}

// broken says what the program may not have done to a slot. Only what is another's is looked at while others may write theirs.
func (k *kring) broken(i uint32) string {
	was := k.picture(i)
	switch now := k.memory[k.slot(i):][:slotBytes]; {
	case !bytes.Equal(was[:4], now[:4]):
		return "another buffer"
	case k.owned(i):
		return ""
	case !bytes.Equal(was[:slotBytes], now):
		return "the kernel's slot was written"
	case !bytes.Equal(was[slotBytes:], k.buffer(i)[:shadowBytes-slotBytes]):
		return "the kernel's buffer was written"
	}
	return ""
}

// send carries frames to the peer while there is room.
func (k *kring) send() {
	free := k.hwcur
	for k.hwcur != k.rhead && k.peer.room() {
		b := k.buffer(k.hwcur)[:k.length(k.hwcur)]
		k.peer.arrive(b, 0)
		fill(b, 0xee) // the device has it: a program that reads it still reads this
		k.hwcur = k.next(k.hwcur)
	}
	if !k.lazy {
		free = k.hwcur
	}
	k.hwtail = (free + k.slots - 1) % k.slots // one slot stays empty
}

func fill(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}

// room says whether one more frame can arrive.
func (k *kring) room() bool { return k.next(k.hwtail) != k.hwcur }

// arrive puts a frame, or a part of one, into a ring.
func (k *kring) arrive(b []byte, flags int) {
	if !k.room() {
		panic(fmt.Sprintf("%s is full", k.name))
	}
	copy(k.buffer(k.hwtail), b)
	k.memory.put16(k.slot(k.hwtail)+slotLength, len(b))
	k.memory.put16(k.slot(k.hwtail)+slotFlags, flags)
	k.remember(k.hwtail)
	k.hwtail = k.next(k.hwtail)
}

func (k *kring) txSync() {
	if k.enter() {
		k.send()
		k.leave()
	}
}

func (k *kring) rxSync() {
	if k.enter() {
		for ; k.hwcur != k.rhead; k.hwcur = k.next(k.hwcur) { // given back: it may be written again
			fill(k.buffer(k.hwcur), 0xdd)
		}
		k.leave()
	}
}
