package packet

import "golang.org/x/sys/unix"

// huge asks for huge pages: a block of gigabytes that is touched for the first time costs more, page by page, than what fills it.
// It is a wish; a kernel that has none says no.
func huge(block []byte) { _ = unix.Madvise(block[:len(block)&^(1<<12-1)], unix.MADV_HUGEPAGE) }
