package afpacket

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"loadtest/nic"
	"loadtest/units"
)

// info describes a port of that name whose receive ring has so many bytes.
func (l *link) info(name string, f facts, ring int) nic.Info {
	mode := fmt.Sprintf("sendmmsg, receive ring of %d MiB", ring>>20)
	merges := l.merges()
	if merges {
		mode += ", GRO on: TCP segments may arrive merged"
	}
	return nic.Info{
		Name: name, Backend: "afpacket", Driver: l.driver(), Mode: mode, MAC: f.mac,
		LineRate: units.BitRate(l.speed()) * units.Mbps,
		MTU:      f.mtu, MaxFrame: f.mtu + ethernet, NUMA: numa(f.parent), Down: !f.up, Merges: merges,
	}
}

// numa is the memory node of a PCI device; -1 if there is none. The path is the same in each network namespace.
func numa(pci string) int {
	b, err := os.ReadFile("/sys/bus/pci/devices/" + pci + "/numa_node")
	if n, e := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && e == nil && pci != "" {
		return n
	}
	return -1
}

// ioctl asks about the interface that a struct ifreq names (netdevice(7)); any socket in its namespace will do.
func ioctl(fd int, request uintptr, ifreq unsafe.Pointer) bool {
	_, _, errno := unix.RawSyscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(ifreq))
	return errno == 0
}

// driver is the name of the interface's driver, "" if it has none.
func (l *link) driver() string {
	info, err := unix.IoctlGetEthtoolDrvinfo(l.fd, l.name)
	if err != nil {
		return ""
	}
	return unix.ByteSliceToString(info.Driver[:])
}

// ethtool asks the driver; the answer is what linux/ethtool.h has behind the command's number, nil if the driver knows none.
func (l *link) ethtool(command uint32) []byte {
	var answer [44]byte // struct ethtool_cmd, the longest of those asked for
	binary.NativeEndian.PutUint32(answer[:], command)
	r := struct {
		name [unix.IFNAMSIZ]byte
		data *[44]byte
		_    [16]byte
	}{data: &answer}
	copy(r.name[:unix.IFNAMSIZ-1], l.name)
	if !ioctl(l.fd, unix.SIOCETHTOOL, unsafe.Pointer(&r)) {
		return nil
	}
	return answer[4:]
}

// speed is the line's, in Mbit/s; 0 if it is not known.
func (l *link) speed() uint32 {
	a := l.ethtool(unix.ETHTOOL_GSET)
	if a == nil {
		return 0
	}
	v := uint32(binary.NativeEndian.Uint16(a[8:])) | uint32(binary.NativeEndian.Uint16(a[24:]))<<16
	if v == 1<<32-1 || v == 1<<16-1 { // SPEED_UNKNOWN
		return 0
	}
	return v
}

// merges says whether the interface makes one long frame of several TCP segments before anybody can see them.
func (l *link) merges() bool {
	a := l.ethtool(unix.ETHTOOL_GGRO)
	return a != nil && binary.NativeEndian.Uint32(a) != 0
}
