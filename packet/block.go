package packet

import (
	"strings"
	"unsafe"
)

// hugeSize is from how many bytes on a block is worth a system call.
const hugeSize = 1 << 22

// newBlock is a block of so many bytes, whatever they are. The runtime clears all that is made but what a Builder grows by, and
// clearing a gigabyte takes as long as reading it.
func newBlock(size int) []byte {
	if size == 0 {
		return nil
	}
	var b strings.Builder
	b.Grow(size)
	b.WriteByte(0) // an empty string need not point to its bytes
	block := unsafe.Slice(unsafe.StringData(b.String()), size)
	if size >= hugeSize {
		huge(block)
	}
	return block
}
