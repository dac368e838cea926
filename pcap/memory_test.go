package pcap_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

	"loadtest/pcap"
)

// allocated is how many bytes f allocates, alive or not at its end.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A length is only a promise: nothing is allocated for it until the bytes come.
func TestLyingLengthsCostNothing(t *testing.T) {
	ng := func(parts ...[]byte) []byte { return append(section(le), join(parts...)...) }
	promise := func(typ, length uint32) []byte {
		return join(le.AppendUint32(le.AppendUint32(nil, typ), length), make([]byte, 100))
	}
	for _, tt := range []struct {
		name string
		file []byte
		cut  bool // what it promises may be true, and the file cut
	}{
		{"pcap", join(header(le, micros, 1), record(le, s0, 0, 1<<22, 1<<22, "abc")), true},
		{"pcap, above the limit", join(header(le, micros, 1), record(le, s0, 0, 1<<22+1, 1<<22+1, "abc")), false},
		{"pcap, 4 GB", join(header(le, micros, 1), record(le, s0, 0, 1<<32-1, 1<<32-1, "abc")), false},
		{"pcap, 2 GB on the wire", join(header(le, micros, 1), record(le, s0, 0, 3, 1<<31, "abc")), false},
		{"pcap, snap length", join(headerOf(le, micros, 2, 4, 1)[:16], le.AppendUint32(nil, 1<<32-1), le.AppendUint32(nil, 1), plain(le, s0, 0, "abc")[:10]), true},
		{"packet block", ng(face(le, 1, 0), promise(6, 1<<22)), true},
		{"packet block, above the limit", ng(face(le, 1, 0), promise(6, 1<<28)), false},
		{"packet in a block", ng(face(le, 1, 0), enhanced(le, 0, at, 1<<21, 1<<21, "abc")), false},
		{"interface block", ng(promise(1, 1<<22)), true},
		{"another block", ng(promise(9, 1<<31)), true},
		{"section", promise(0x0a0d0d0a, 1<<31), false},
		{"option", ng(face(le, 1, 0, []byte{2, 0, 0xff, 0xff})), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var err error
			got := allocated(func() { _, err = pcap.Read("f", stream{bytes.NewReader(tt.file)}) })
			if err == nil || errors.Is(err, io.ErrUnexpectedEOF) != tt.cut {
				t.Errorf("%v, want an error, unexpected EOF: %v", err, tt.cut)
			}
			if got > 1<<20 {
				t.Errorf("%d bytes allocated, want at most 1 MiB", got)
			}
		})
	}
}

// Whatever happens to the bytes of a file, a reader ends, and takes little memory beside its packets.
func TestDamagedAnywhere(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range samples(t) {
		t.Run(c.name, func(t *testing.T) {
			for range 300 {
				file := bytes.Clone(c.file)
				for range 1 + random.IntN(6) {
					at := random.IntN(len(file))
					switch random.IntN(3) {
					case 0:
						file[at] ^= 1 << random.IntN(8)
					case 1:
						file[at] = byte(random.IntN(256))
					default:
						copy(file[at:], []byte{0xff, 0xff, 0xff, 0x7f}[:1+random.IntN(4)])
					}
				}
				if got := allocated(func() { _, _, _ = pull(t, bytes.NewReader(file), pcap.ReadOptions{}) }); got > 80_000_000 {
					t.Fatalf("%d bytes allocated for %x", got, file)
				}
			}
		})
	}
}
