package link

import (
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// NUMA is the memory node of a PCI device; -1 if there is none. The path is the same in each network namespace.
func NUMA(pci string) int {
	b, err := os.ReadFile("/sys/bus/pci/devices/" + pci + "/numa_node")
	if n, e := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && e == nil && pci != "" {
		return n
	}
	return -1
}

// Ioctl asks about the interface that a struct ifreq names (netdevice(7)); any socket in its namespace will do.
func Ioctl(fd int, request uintptr, ifreq unsafe.Pointer) bool {
	_, _, errno := unix.RawSyscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(ifreq))
	return errno == 0
}

// Driver is the name of the interface's driver, "" if it has none.
func (l *Link) Driver() string {
	info, err := unix.IoctlGetEthtoolDrvinfo(l.fd, l.Name)
	if err != nil {
		return ""
	}
	return unix.ByteSliceToString(info.Driver[:])
}

// ethtool asks the driver; the answer is what linux/ethtool.h has behind the command's number, nil if the driver knows none.
func (l *Link) ethtool(command uint32) []byte {
	var answer [44]byte // struct ethtool_cmd, the longest of those asked for
	binary.NativeEndian.PutUint32(answer[:], command)
	r := struct {
		name [unix.IFNAMSIZ]byte
		data *[44]byte
		_    [16]byte
	}{data: &answer}
	copy(r.name[:unix.IFNAMSIZ-1], l.Name)
	if !Ioctl(l.fd, unix.SIOCETHTOOL, unsafe.Pointer(&r)) {
		return nil
	}
	return answer[4:]
}

// Speed is the line's, in Mbit/s; 0 if it is not known.
func (l *Link) Speed() uint32 {
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

// Merges says whether the interface makes one long frame of several TCP segments before anybody can see them.
func (l *Link) Merges() bool {
	a := l.ethtool(unix.ETHTOOL_GGRO)
	return a != nil && binary.NativeEndian.Uint32(a) != 0
}

// Queues are how many the interface uses for receiving and for sending; 1 where the driver does not tell.
func (l *Link) Queues() (rx, tx int) {
	a := l.ethtool(unix.ETHTOOL_GCHANNELS)
	if a == nil {
		return 1, 1
	}
	count := func(i int) int { return int(binary.NativeEndian.Uint32(a[4*i:])) } // struct ethtool_channels behind its command
	return max(1, count(4)+count(7)), max(1, count(5)+count(7))
}
