package xdp

import (
	"errors"
	"fmt"
	"os"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// An Attachment is a program at an interface.
type Attachment struct {
	link.Link
	Mode string // Native or Generic
}

// Attach puts a program at an interface of the thread's network namespace: natively, or, where the driver cannot, generically.
// With mode Native or Generic it is that or nothing. Who was there first is not displaced.
func Attach(p *ebpf.Program, index int, mode string) (*Attachment, error) {
	var err error
	for _, m := range []struct {
		name  string
		flags link.XDPAttachFlags
	}{{Native, link.XDPDriverMode}, {Generic, link.XDPGenericMode}} {
		if mode != "" && mode != m.name {
			continue
		}
		var l link.Link
		if l, err = link.AttachXDP(link.XDPOptions{Program: p, Interface: index, Flags: m.flags}); err == nil {
			return &Attachment{l, m.name}, nil
		}
		if busy := occupied(index); busy != nil {
			return nil, busy
		}
		if errors.Is(err, os.ErrPermission) {
			break
		}
	}
	return nil, fmt.Errorf("attach an XDP program: %w", err)
}

// Attached is the id of the XDP program at an interface of the thread's network namespace; 0: there is none.
func Attached(index int) uint32 {
	l, err := netlink.LinkByIndex(index)
	if err != nil || l.Attrs().Xdp == nil || !l.Attrs().Xdp.Attached {
		return 0
	}
	return l.Attrs().Xdp.ProgId
}

// occupied says which program is at an interface already.
func occupied(index int) error {
	id := Attached(index)
	if id == 0 {
		return nil
	}
	text := fmt.Sprintf("XDP program %d is attached to it already", id)
	if p, err := ebpf.NewProgramFromID(ebpf.ProgramID(id)); err == nil {
		if info, err := p.Info(); err == nil && info.Name != "" {
			text = fmt.Sprintf("XDP program %d, %s, is attached to it already", id, info.Name)
		}
		p.Close()
	}
	return fmt.Errorf("%s; end the program that it belongs to, or: ip link set IF xdp off. Or afpacket: %w", text, unix.EBUSY)
}
