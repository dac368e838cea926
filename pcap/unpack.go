package pcap

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow is how much of what is unpacked zstd may have to remember: files packed with --ultra or --long may want more.
const maxWindow = 64 << 20

// unpack begins to unpack what is packed.
func (r *Reader) unpack() error {
	b := r.in.peek(4)
	packed := io.MultiReader(bytes.NewReader(bytes.Clone(b)), &rest{r.in.r, r.in.err})
	var from io.Reader
	switch {
	case bytes.HasPrefix(b, []byte("\x1f\x8b")):
		z, err := gzip.NewReader(packed)
		if err != nil {
			return r.head(broken("gzip", err))
		}
		from, r.info.Compression = z, "gzip"
	case bytes.HasPrefix(b, []byte("\x28\xb5\x2f\xfd")), len(b) >= 4 && b[0]&0xf0 == 0x50 && string(b[1:4]) == "\x2a\x4d\x18": // RFC 8878, 3.1.2
		z, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return r.head(broken("zstd", err))
		}
		c := z.IOReadCloser()
		from, r.info.Compression = c, "zstd"
		r.closers = append(r.closers, c)
	default:
		return nil
	}
	r.in = input{r: &unpacking{from, r.info.Compression}, buf: make([]byte, bufferSize)}
	r.size = 0
	return nil
}

// rest is what an input has not read yet.
type rest struct {
	r   io.Reader
	err error
}

func (r *rest) Read(b []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	return r.r.Read(b)
}

// unpacking is a stream whose errors say what they are of.
type unpacking struct {
	io.Reader
	name string
}

func (u *unpacking) Read(b []byte) (int, error) {
	n, err := u.Reader.Read(b)
	if err != nil && err != io.EOF {
		err = broken(u.name, err)
	}
	return n, err
}

// broken is an error of packed data, in words.
func broken(name string, err error) error {
	switch {
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return fmt.Errorf("zstd with a window above %d MiB: unpack it with unzstd --long=31", maxWindow>>20)
	case errors.Is(err, zstd.ErrUnknownDictionary):
		return errors.New("zstd with a dictionary: unpack it with unzstd -D")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("%s: cut off: %w", name, io.ErrUnexpectedEOF)
	case strings.HasPrefix(err.Error(), name):
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// sizeOf is how many bytes a reader has left, if it is a file; 0: not known.
func sizeOf(from io.Reader) int64 {
	f, ok := from.(interface {
		io.Seeker
		Stat() (fs.FileInfo, error)
	})
	if !ok {
		return 0
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0
	}
	return max(0, info.Size()-at)
}
