//go:build dpdk && cgo && linux

package dpdk

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// The driver net_af_packet does not tell what its sockets had no room for: that would look as if it were lost on the way. So these
// sockets, which nobody gives us, are found among all of the process, and the kernel is asked.

// packetSockets are the packet sockets of the process, by the interface that they are bound to.
func packetSockets() map[int]int {
	found := make(map[int]int)
	all, _ := os.ReadDir("/proc/self/fd")
	for _, e := range all {
		fd, _ := strconv.Atoi(e.Name())
		if a, err := unix.Getsockname(fd); err == nil {
			if p, ok := a.(*unix.SockaddrLinklayer); ok {
				found[fd] = p.Ifindex
			}
		}
	}
	return found
}

// opened are those that were not there before.
func opened(before map[int]int, index int) (fds []int) {
	for fd, i := range packetSockets() {
		if _, old := before[fd]; !old && i == index {
			fds = append(fds, fd)
		}
	}
	return fds
}

// dropped is what they had no room for since they were last asked.
func dropped(sockets []int) (n int64) {
	for _, fd := range sockets {
		if s, err := unix.GetsockoptTpacketStats(fd, unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
			n += int64(s.Drops)
		}
	}
	return n
}
