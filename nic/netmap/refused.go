package netmap

import (
	"errors"
	"fmt"
	"syscall"
)

// missing says why /dev/netmap cannot be opened.
func missing(err error, system string) error {
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.ENODEV):
		load := "modprobe netmap (built from github.com/luigirizzo/netmap for this kernel)"
		if system == "freebsd" {
			load = "kldload netmap (or a kernel with device netmap)"
		}
		return fmt.Errorf("no /dev/netmap, so its module is not loaded: %s", load)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return errors.New("/dev/netmap may not be opened by this user: use sudo")
	}
	return fmt.Errorf("open /dev/netmap: %w", err)
}

// refused says why the kernel did not give a port's facts or rings.
func refused(err error, r request, h handle) error {
	old := fmt.Errorf("the module has another ABI than %d (net/netmap.h, NETMAP_API), want one since 2018", version)
	switch {
	case errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENOTTY): // NIOCCTRL is as old as ABI 14
		return old
	case errors.Is(err, syscall.EINVAL):
		if _, e := h.ask(""); errors.Is(e, syscall.EINVAL) { // it is not the port that is wrong
			return old
		}
		if r.host {
			return fmt.Errorf("%s has no host rings for netmap: want %s", r.name, r.name)
		}
		return fmt.Errorf("netmap refused %s; dmesg says why. Often: an MTU longer than dev.netmap.buf_size or the module's parameter buf_size", r.name)
	case errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.ENODEV):
		if r.virtual {
			return fmt.Errorf("no port %s, and none can be made: want vale1:a, or a pipe of a port that is there, as vale1:p{1", r.name)
		}
		return fmt.Errorf("no interface %s, or none that netmap can take", r.name)
	case errors.Is(err, syscall.EBUSY):
		return fmt.Errorf("%s is taken by another program or by a VALE switch", r.name)
	case errors.Is(err, syscall.ENOMEM):
		return errors.New("netmap's memory is used up: close other ports, or raise dev.netmap.buf_num, ring_num and if_num")
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s may not be taken by this user: use sudo", r.name)
	}
	return fmt.Errorf("register %s: %w", r.name, err)
}
