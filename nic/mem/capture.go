package mem

import (
	"errors"
	"io"
	"time"

	"loadtest/nic"
	"loadtest/packet"
	"loadtest/pcap"
)

// maxCaptured is the longest frame that a capture takes, in bytes: more than any Ethernet carries.
const maxCaptured = 65535

// Capture is a device that writes what is sent to it into w, as a pcap with times in ns, and receives nothing. A frame's time
// is zero (ns since 1970) plus its Nanos. Close flushes, and closes w.
func Capture(name string, w io.WriteCloser, zero int64) (nic.Device, error) {
	pw, err := pcap.NewWriter(w, pcap.Options{Snap: maxCaptured, Nanos: true})
	if err != nil {
		return nic.Device{}, err
	}
	return nic.Device{
		Info: nic.Info{
			Name: name, Backend: "pcap", Mode: "written, not sent", MAC: [6]byte{2, 0, 0, 0, 0, 1},
			MTU: maxCaptured - 14, MaxFrame: maxCaptured, NUMA: -1,
		},
		Queues: []nic.Port{&capture{w: w, pcap: pw, zero: zero}},
	}, nil
}

type capture struct {
	w      io.Closer
	pcap   *pcap.Writer
	zero   int64
	closed bool
}

func (c *capture) Send(frames []packet.Frame) (int, error) {
	if c.closed {
		return 0, nic.ErrClosed
	}
	for i, f := range frames {
		if len(f.Data) > maxCaptured {
			return i, nic.ErrTooLong
		}
		f.Nanos += c.zero
		if err := c.pcap.WriteFrame(f, len(f.Data)); err != nil {
			return i, err
		}
	}
	return len(frames), nil
}

func (c *capture) Recv([]packet.Frame) (int, error) {
	if c.closed {
		return 0, nic.ErrClosed
	}
	return 0, nil
}

// Wait sleeps: nothing will ever arrive.
func (c *capture) Wait(d time.Duration) { time.Sleep(d) }

func (c *capture) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	return errors.Join(c.pcap.Flush(), c.w.Close())
}
