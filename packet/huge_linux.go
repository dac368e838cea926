package packet

import "golang.org/x/sys/unix"

// huge asks for huge pages: a block of gigabytes is touched page by page while it is filled, which costs more than filling it.
func huge(block []byte) {
	_ = unix.Madvise(block[:len(block)&^(1<<12-1)], unix.MADV_HUGEPAGE) // a wish; a kernel without them says no
}
