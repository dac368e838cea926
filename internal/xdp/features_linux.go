package xdp

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// The family "netdev" of generic netlink (linux/netdev.h), since Linux 6.3.
const (
	cmdDevGet    = 1
	attrIfindex  = 1
	attrFeatures = 3
)

// A command is struct genlmsghdr: command, version, and two bytes that have to be zero, which the library's own leaves to chance.
type command [nl.SizeofGenlmsg]byte

func (c command) Len() int          { return len(c) }
func (c command) Serialize() []byte { return c[:] }

// Ask tells what the driver of an interface of the thread's network namespace offers; an error where this kernel cannot tell.
func Ask(index int) (Features, error) {
	family, err := netlink.GenlFamilyGet("netdev")
	if err != nil {
		return 0, fmt.Errorf("XDP features are not told by this kernel: %w", err)
	}
	req := nl.NewNetlinkRequest(int(family.ID), 0)
	req.AddData(command{cmdDevGet, 1})
	req.AddData(nl.NewRtAttr(attrIfindex, nl.Uint32Attr(uint32(index))))
	answers, err := req.Execute(unix.NETLINK_GENERIC, 0)
	if err != nil {
		return 0, fmt.Errorf("ask for XDP features: %w", err)
	}
	for _, a := range answers {
		attrs, err := nl.ParseRouteAttr(a[min(nl.SizeofGenlmsg, len(a)):])
		if err != nil {
			return 0, fmt.Errorf("ask for XDP features: %w", err)
		}
		for _, at := range attrs {
			if at.Attr.Type == attrFeatures && len(at.Value) >= 8 {
				return Features(binary.NativeEndian.Uint64(at.Value)), nil
			}
		}
	}
	return 0, fmt.Errorf("ask for XDP features: no answer")
}

// Takes says why an interface of the thread's network namespace takes no redirected frames; nil: it does, or this kernel cannot tell.
func Takes(index int) error {
	if f, err := Ask(index); err == nil && f&Transmit == 0 {
		return errors.New("its driver takes no redirected frames now; a veth does where its other end has GRO on or a native XDP program")
	}
	return nil
}
