package lab

import (
	"os"

	"golang.org/x/sys/unix"
)

// xsk makes an AF_XDP socket.
func xsk() error {
	fd, err := unix.Socket(unix.AF_XDP, unix.SOCK_RAW, 0)
	if err != nil {
		return os.NewSyscallError("socket AF_XDP", err)
	}
	return unix.Close(fd)
}

// bpf looks for what live frames need beside the rights.
func bpf() error {
	_, err := os.Stat("/sys/kernel/btf/vmlinux")
	return err
}
