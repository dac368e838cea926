package link

import (
	"encoding/binary"
	"testing"

	"github.com/vishvananda/netlink/nl"
)

// attr is one netlink attribute, with others or a number of 64 bits in it.
func attr(kind int, inside ...[]byte) []byte {
	a := nl.NewRtAttr(kind, nil)
	var b []byte
	for _, i := range inside {
		b = append(b, i...)
	}
	a.Data = b
	return a.Serialize()
}

func u64(n ...uint64) (b []byte) {
	for _, v := range n {
		b = binary.NativeEndian.AppendUint64(b, v)
	}
	return b
}

func TestAnswers(t *testing.T) {
	id := func(n uint32) []byte { return attr(groupID, nl.Uint32Attr(n)) }
	stat := func(kind int, n uint64) []byte { return attr(groupStat|nested, attr(kind, u64(n))) }
	for _, tt := range []struct {
		name string
		read func(*tally, []byte)
		in   []byte
		want Wire
	}{
		{"PAUSE", (*tally).pause, append(attr(1|nested, u64(9)), attr(5|nested, attr(1), attr(2, u64(7)), attr(3, u64(8)))...),
			Wire{8, 7, -1, -1, -1, -1, -1}},
		{"PAUSE of a driver that does not count", (*tally).pause, attr(3, []byte{1}), untold().wire()},
		{"FEC with lanes", (*tally).fec, attr(5|nested, attr(2, u64(30, 10, 20)), attr(3, u64(4))), Wire{-1, -1, -1, -1, -1, 30, 4}},
		{"FEC without numbers", (*tally).fec, attr(5|nested, attr(2), attr(3)), untold().wire()},
		{"errors", (*tally).standard, append(attr(statsGroup|nested, id(mac), stat(4, 1), stat(5, 2), stat(19, 4), stat(3, 8), stat(21, 16)),
			attr(statsGroup|nested, stat(0, 32), id(phy))...), Wire{-1, -1, 1, 32, 6, -1, -1}},
		{"errors of another group", (*tally).standard, attr(statsGroup|nested, id(3), stat(4, 1)), untold().wire()},
		{"cut", (*tally).pause, attr(5|nested, attr(2, u64(7)))[:11], untold().wire()},
		{"nothing", (*tally).standard, nil, untold().wire()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := untold()
			if tt.read(&got, tt.in); got.wire() != tt.want {
				t.Errorf("\n got %+v\nwant %+v", got.wire(), tt.want)
			}
		})
	}
}

// FuzzAnswers: an answer without anything of a kind changes no count of it, and none of them panics.
func FuzzAnswers(f *testing.F) {
	f.Add(attr(5|nested, attr(2, u64(7)), attr(3, u64(8))))
	f.Add(attr(statsGroup|nested, attr(groupID, nl.Uint32Attr(mac)), attr(groupStat, attr(4, u64(1)))))
	f.Fuzz(func(t *testing.T, b []byte) {
		var p, c, s = untold(), untold(), untold()
		p.pause(b)
		c.fec(b)
		s.standard(b)
		if p[crc] != -1 || p[fecCorrected] != -1 || c[pauseRx] != -1 || c[symbol] != -1 || s[pauseTx] != -1 || s[fecUncorrected] != -1 {
			t.Fatalf("%v %v %v", p, c, s)
		}
		n := 0
		each(b, func(_ uint16, v []byte) { n += 4 + len(v) })
		if n > len(b) {
			t.Fatalf("%d bytes read of %d", n, len(b))
		}
	})
}
