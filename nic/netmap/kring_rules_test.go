package netmap

import (
	"fmt"
	"strings"
	"testing"

	"loadtest/packet"
)

// TestRules: what netmap(4) forbids is seen by the stand-in. Without this the other tests would prove nothing.
func TestRules(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		tx         bool
		do         func(*kring) // tx: head 6, tail 2; rx: 0 and 3, and the first of them is lent
	}{
		{"nothing", "", true, func(*kring) {}},
		{"nothing", "", false, func(*kring) {}},
		{"head beyond the tail", "head 3 is outside of 6..2", true, func(k *kring) { k.give(3) }},
		{"head goes back", "head 5 is outside of 6..2", true, func(k *kring) { k.give(5) }},
		{"head beyond the ring", "head 8 is outside of 6..2", true, func(k *kring) { k.give(8) }},
		{"head of rx beyond the tail", "head 4 is outside of 0..3", false, func(k *kring) { k.give(4) }},
		{"cur behind head", "cur 6 is outside of 7..2", true, func(k *kring) { k.give(7); k.see(6) }},
		{"cur of rx beyond the tail", "cur 4 is outside of 0..3", false, func(k *kring) { k.see(4) }},
		{"a tail", "tail was written: 5, was 2", true, func(k *kring) { *k.word(ringTail) = 5 }},
		{"a size", "its description was written", true, func(k *kring) { *k.word(ringSize) = 64 }},
		{"the kernel's slot", "slot 4: the kernel's slot was written", true, func(k *kring) { k.set(4, 61) }},
		{"the kernel's buffer", "slot 4: the kernel's buffer was written", true, func(k *kring) { k.buffer(4)[5]++ }},
		{"the kernel's buffer of rx", "slot 5: the kernel's buffer was written", false, func(k *kring) { k.buffer(5)[5]++ }},
		{"a buffer's number", "slot 7: another buffer", true, func(k *kring) { k.memory.put32(k.slot(7), 2) }},
		{"a length", "slot 6 has 129 bytes", true, func(k *kring) { k.set(6, 129); k.give(7) }},
		{"no length", "slot 6 has 0 bytes", true, func(k *kring) { k.set(6, 0); k.give(7) }},
		{"flags", "flags 0x20", true, func(k *kring) { k.set(6, 60); k.memory.put16(k.slot(6)+slotFlags, moreFragments); k.give(7) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := cable(t, one(8, 128), one(8, 128), false)
			a, b := open(t, m, "a0").Queues[0], open(t, m, "b0").Queues[0]
			tx, rx := m.nifs["a0"].rings[0], m.nifs["b0"].rings[2]
			for range 3 {
				rx.arrive(make([]byte, 60), 0)
			}
			if n, _ := b.Recv(make([]packet.Frame, 1)); n != 1 {
				t.Fatal(n)
			}
			rx.arrive(make([]byte, 60), 0)
			for i := range 6 { // three find room
				if n, err := a.Send([]packet.Frame{numbered(i, 60)}); n != 1 || err != nil {
					t.Fatal(n, err)
				}
			}
			k, call := rx, b.(*port).kernel.rxSync
			if tt.tx {
				k, call = tx, a.(*port).kernel.txSync
			}
			var said []string
			m.complain = func(f string, a ...any) { said = append(said, fmt.Sprintf(f, a...)) }
			tt.do(k)
			_ = call()
			if got := strings.Join(said, "; "); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
