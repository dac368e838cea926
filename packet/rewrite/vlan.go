package rewrite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"loadtest/packet"
)

// A VLANOp changes the 802.1Q and 802.1ad tags of a frame.
type VLANOp struct {
	Kind VLANKind
	ID   uint16 // 0 to 4094; of push, set and tag
	PCP  int8   // priority 0 to 7; -1: as it was, 0 in a new tag
	TPID uint16 // of push: 0x8100 or 0x88a8
}

// VLANKind is what a VLANOp does.
type VLANKind uint8

// Kinds of VLANOp.
const (
	VLANTag    VLANKind = iota // set the outermost tag, or push one where there is none
	VLANPush                   // a further tag, which is the outermost then
	VLANSet                    // the outermost tag; what has none stays as it is
	VLANPop                    // the outermost tag
	VLANPopAll                 // every tag
)

const tagLen = 4

// ParseVLAN reads operations with commas between them: N[:PCP], push:N[:PCP][:0x88a8], set:N[:PCP], pop, pop:all, none (pop:all).
// Errors begin with the text.
func ParseVLAN(text string) ([]VLANOp, error) {
	var ops []VLANOp
	for word := range strings.SplitSeq(text, ",") {
		op, err := parseVLAN(word)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		ops = append(ops, op)
	}
	return ops, nil
}

func parseVLAN(text string) (VLANOp, error) {
	switch text {
	case "none", "pop:all":
		return VLANOp{Kind: VLANPopAll, PCP: -1}, nil
	case "pop":
		return VLANOp{Kind: VLANPop, PCP: -1}, nil
	}
	op := VLANOp{Kind: VLANTag, PCP: -1}
	words := strings.Split(text, ":")
	switch words[0] {
	case "push":
		op.Kind, op.TPID = VLANPush, packet.TypeVLAN
		words = words[1:]
	case "set":
		op.Kind = VLANSet
		words = words[1:]
	}
	if n := len(words); op.Kind == VLANPush && n > 1 && strings.HasPrefix(words[n-1], "0x") {
		switch words[n-1] {
		case "0x8100":
		case "0x88a8":
			op.TPID = packet.TypeQinQ
		default:
			return op, fmt.Errorf("tag type %s: want 0x8100 (802.1Q) or 0x88a8 (802.1ad)", words[n-1])
		}
		words = words[:n-1]
	}
	if len(words) == 0 || len(words) > 2 {
		return op, errVLAN
	}
	id, err := strconv.ParseUint(words[0], 10, 16)
	if err != nil {
		return op, errVLAN
	}
	if id > 4094 { // 4095 is no VLAN (IEEE 802.1Q, table 9-2)
		return op, fmt.Errorf("VLAN %d: want 0 to 4094", id)
	}
	op.ID = uint16(id)
	if len(words) == 2 {
		pcp, err := strconv.ParseUint(words[1], 10, 8)
		if err != nil || pcp > 7 {
			return op, fmt.Errorf("priority %s: want 0 to 7", words[1])
		}
		op.PCP = int8(pcp)
	}
	return op, nil
}

var errVLAN = errors.New("want a VLAN, as 100, or push:N[:PCP][:0x88a8], set:N[:PCP], pop, pop:all, none; commas between several")

// String is what ParseVLAN reads.
func (o VLANOp) String() string {
	text := strconv.Itoa(int(o.ID))
	switch o.Kind {
	case VLANPop:
		return "pop"
	case VLANPopAll:
		return "pop:all"
	case VLANPush:
		text = "push:" + text
	case VLANSet:
		text = "set:" + text
	}
	if o.PCP >= 0 {
		text += ":" + strconv.Itoa(int(o.PCP))
	}
	if o.Kind == VLANPush && o.TPID == packet.TypeQinQ {
		text += ":0x88a8"
	}
	return text
}

// apply says whether tags changed.
func (o VLANOp) apply(f *frame) bool {
	b := f.bytes()
	if len(b) < packet.EtherLen {
		return false
	}
	outer := isTag(b)
	if outer && len(b) < packet.EtherLen+tagLen { // cut in its tag
		return false
	}
	switch {
	case o.Kind == VLANPop && outer:
		f.pop()
	case o.Kind == VLANPopAll && outer:
		for len(b) >= packet.EtherLen+tagLen && isTag(b) {
			f.pop()
			b = f.bytes()
		}
	case o.Kind == VLANPush:
		f.push(o.TPID, o.tci(0))
	case o.Kind == VLANTag && !outer:
		f.push(packet.TypeVLAN, o.tci(0))
	case outer && (o.Kind == VLANSet || o.Kind == VLANTag):
		return put(b[14:], o.tci(binary.BigEndian.Uint16(b[14:])))
	default:
		return false
	}
	return true
}

// tci is a tag's control word, made of the one that was: priority, drop eligible, VLAN (IEEE 802.1Q, 9.6).
func (o VLANOp) tci(was uint16) uint16 {
	was = was&0xf000 | o.ID
	if o.PCP >= 0 {
		was = was&0x1fff | uint16(o.PCP)<<13
	}
	return was
}

func isTag(b []byte) bool {
	typ := binary.BigEndian.Uint16(b[12:])
	return typ == packet.TypeVLAN || typ == packet.TypeQinQ
}
