package pcap_test

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"loadtest/packet"
	"loadtest/pcap"
)

// t0 is the time of the first packet in built captures.
var t0 = time.Date(2024, 2, 29, 12, 0, 0, 123456789, time.UTC)

// Captures are built by hand, byte by byte, in either order.
type order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

var le, be order = binary.LittleEndian, binary.BigEndian

const (
	micros   = 0xa1b2c3d4
	nanos    = 0xa1b23c4d
	ethernet = 1
)

func join(parts ...[]byte) []byte { return slices.Concat(parts...) }

// header is a pcap's header, version 2.4, with a snap length of 64 that some packets of the tests exceed.
func header(o order, magic, network uint32) []byte { return headerOf(o, magic, 2, 4, network) }

func headerOf(o order, magic uint32, major, minor uint16, network uint32) []byte {
	b := o.AppendUint32(nil, magic)
	b = o.AppendUint16(b, major)
	b = o.AppendUint16(b, minor)
	b = append(b, make([]byte, 8)...)
	b = o.AppendUint32(b, 64)
	return o.AppendUint32(b, network)
}

// record is a pcap's record; captured and wire are what it says, data what it has.
func record(o order, seconds, fraction, captured, wire uint32, data string) []byte {
	b := o.AppendUint32(nil, seconds)
	b = o.AppendUint32(b, fraction)
	b = o.AppendUint32(b, captured)
	b = o.AppendUint32(b, wire)
	return append(b, data...)
}

// plain is an honest record.
func plain(o order, seconds, fraction uint32, data string) []byte {
	return record(o, seconds, fraction, uint32(len(data)), uint32(len(data)), data)
}

// block is a pcapng's block around a body, which is padded.
func block(o order, typ uint32, body []byte) []byte {
	body = pad(body)
	b := o.AppendUint32(nil, typ)
	b = o.AppendUint32(b, uint32(len(body)+12))
	b = append(b, body...)
	return o.AppendUint32(b, uint32(len(body)+12))
}

func pad(b []byte) []byte { return append(slices.Clone(b), make([]byte, (4-len(b)%4)%4)...) }

func section(o order, options ...[]byte) []byte { return sectionOf(o, 1, 0, options...) }

func sectionOf(o order, major, minor uint16, options ...[]byte) []byte {
	b := o.AppendUint32(nil, 0x1a2b3c4d)
	b = o.AppendUint16(b, major)
	b = o.AppendUint16(b, minor)
	b = o.AppendUint64(b, 1<<64-1) // length unknown
	return block(o, 0x0a0d0d0a, join(b, join(options...)))
}

func face(o order, link uint16, snap uint32, options ...[]byte) []byte {
	b := o.AppendUint16(nil, link)
	b = o.AppendUint16(b, 0)
	b = o.AppendUint32(b, snap)
	return block(o, 1, join(b, join(options...)))
}

func option(o order, code uint16, value ...byte) []byte {
	b := o.AppendUint16(nil, code)
	b = o.AppendUint16(b, uint16(len(value)))
	return append(b, pad(value)...)
}

// enhanced is an enhanced packet block of an interface at a time in its units.
func enhanced(o order, id uint32, at uint64, captured, wire uint32, data string, options ...[]byte) []byte {
	b := o.AppendUint32(nil, id)
	b = o.AppendUint32(b, uint32(at>>32))
	b = o.AppendUint32(b, uint32(at))
	b = o.AppendUint32(b, captured)
	b = o.AppendUint32(b, wire)
	return block(o, 6, join(b, pad([]byte(data)), join(options...)))
}

// whole is an honest enhanced packet block.
func whole(o order, id uint32, at uint64, data string) []byte {
	return enhanced(o, id, at, uint32(len(data)), uint32(len(data)), data)
}

func obsolete(o order, id uint16, at uint64, wire uint32, data string) []byte {
	b := o.AppendUint16(nil, id)
	b = o.AppendUint16(b, 7) // drops
	b = o.AppendUint32(b, uint32(at>>32))
	b = o.AppendUint32(b, uint32(at))
	b = o.AppendUint32(b, uint32(len(data)))
	b = o.AppendUint32(b, wire)
	return block(o, 2, join(b, pad([]byte(data))))
}

func simple(o order, wire uint32, data string) []byte {
	return block(o, 3, append(o.AppendUint32(nil, wire), data...))
}

// A pkt is what a store holds of a packet.
type pkt struct {
	Data  string
	Nanos int64
	Wire  int
}

func packets(s *packet.Store) []pkt {
	var all []pkt
	for i := range s.Len() {
		f := s.Frame(i)
		all = append(all, pkt{string(f.Data), f.Nanos, s.Wire(i)})
	}
	return all
}

// pcapError is err as the type that every error of reading has.
func pcapError(t testing.TB, err error) *pcap.Error {
	t.Helper()
	var e *pcap.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v has type %T, want *pcap.Error", err, err)
	}
	return e
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// need skips a test without the program it needs, and fails it where LOADTEST_REQUIRE says that it is there.
func need(t testing.TB, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if slices.Contains(strings.Split(os.Getenv("LOADTEST_REQUIRE"), ","), program) {
		t.Fatalf("%s is required and not installed", program)
	}
	t.Skipf("needs %s", program)
}
