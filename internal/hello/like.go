package hello

import (
	"encoding/binary"

	"loadtest/packet"
)

// A likeness is what even a device that translates addresses leaves of a packet.
type likeness struct {
	etherType uint16
	proto     uint8
	id        uint32 // TCP's sequence number, else IPv4's identification
	payload   string // behind the transport header
}

// likenessOf is that of a frame; is: it has one.
func likenessOf(a *arrival) (l likeness, is bool) {
	b, h := a.b, &a.h
	if !a.ip() || h.Fragment || h.End > len(b) {
		return l, false
	}
	l = likeness{etherType: h.Type, proto: h.Proto, payload: string(b[h.Payload:h.End])}
	switch {
	case h.Proto == packet.ProtoTCP:
		l.id = binary.BigEndian.Uint32(b[h.L4+4:])
	case h.Type == packet.TypeIPv4:
		l.id = uint32(binary.BigEndian.Uint16(b[h.L3+4:]))
	}
	return l, true
}

// recent is how long, in ns, a packet may be under way to be known by its likeness.
const recent = int64(1e9)

// alike finds the packet without a tag that is expected and most like what came in: none if two that differ are equally like.
func (k *known) alike(l likeness, ends tuple, a *arrival) (found ref, ok bool) {
	best := 0
	for _, r := range k.likes[l] {
		p := r.probe
		if r.stream.RX != a.port || !p.sent || p.back || a.now-p.sentAt > recent {
			continue
		}
		switch n := kept(p.ends, ends); {
		case n > best:
			found, best, ok = r, n, true
		case n == best && n > 0 && (r.stream != found.stream || p.ends != found.probe.ends):
			ok = false
		}
	}
	return found, ok
}

// kept is how much two packets have in common of their ends: addresses, then ports; 0 without an address.
func kept(a, b tuple) (n int) {
	if a.src.Addr() == b.src.Addr() {
		n += 4
	}
	if a.dst.Addr() == b.dst.Addr() {
		n += 4
	}
	if n == 0 {
		return 0
	}
	if a.src.Port() == b.src.Port() {
		n++
	}
	if a.dst.Port() == b.dst.Port() {
		n++
	}
	return n
}
