//go:build amd64 || arm64 || riscv64

package netmap

import (
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"loadtest/internal/link"
	"loadtest/nic"
	"loadtest/units"
)

// look asks over a route socket.
func look(r request) (i nic.Info, err error) {
	err = link.At(r.name, func(iface string) error {
		l, f, err := link.Open(iface)
		if err != nil {
			return err
		}
		defer l.Close()
		i = nic.Info{
			Driver: l.Driver(), MAC: f.MAC, LineRate: units.BitRate(l.Speed()) * units.Mbps,
			MTU: f.MTU, MaxFrame: f.MTU + ethernet, NUMA: link.NUMA(f.Parent), Down: !f.Up,
		}
		return nil
	})
	return i, err
}

// A watch asks for the interface's state, and keeps it promiscuous.
type watch struct {
	promiscuous int // a packet socket: what it asked for ends with it, however the process ends

	mu    sync.Mutex
	link  *link.Link // nil: there is no interface
	first link.Facts // when the port was opened
}

func newWatch(r request) (watcher, error) {
	w := &watch{promiscuous: -1}
	if r.virtual {
		return w, nil
	}
	if err := w.open(r); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *watch) open(r request) (err error) {
	if w.link, w.first, err = link.Open(r.name); err != nil || r.host {
		return err
	}
	if w.promiscuous, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err == nil {
		m := unix.PacketMreq{Ifindex: int32(w.link.Index), Type: unix.PACKET_MR_PROMISC}
		err = unix.SetsockoptPacketMreq(w.promiscuous, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &m)
	}
	if err != nil {
		return fmt.Errorf("promiscuous mode needs CAP_NET_RAW, use sudo: %w", err)
	}
	return nil
}

// status: what the driver had no slot for (rx_missed) is missed.
func (w *watch) status() nic.Status {
	if w.link == nil {
		return nic.Status{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now, err := w.link.Ask()
	if err != nil { // the interface is gone
		return nic.Status{LinkDown: true, Downs: 1}
	}
	return nic.Status{
		LinkDown: !now.Up,
		Downs:    now.Downs - w.first.Downs,
		Missed:   now.RxMissed - w.first.RxMissed,
		TxErrors: now.TxErrors - w.first.TxErrors,
	}
}

func (w *watch) wire() link.Wire {
	if w.link == nil {
		return link.Unknown()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.link.Wire()
}

func (w *watch) close() error {
	var errs []error
	if w.promiscuous >= 0 {
		errs = append(errs, unix.Close(w.promiscuous))
	}
	if w.link != nil {
		errs = append(errs, w.link.Close())
	}
	return errors.Join(errs...)
}
