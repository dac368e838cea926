package afpacket

import (
	"encoding/binary"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"loadtest/nic"
	"loadtest/packet"
)

const (
	// blockSize holds the longest frame that generic receive offload can make, 64 KiB.
	blockSize = 128 << 10
	// retireMillis is after how long a block that is not full is handed over.
	retireMillis = 1
	defaultRing  = 32 << 20 // bytes
	// sockaddrAt is where struct sockaddr_ll stands behind a frame's header (TPACKET_ALIGN), pkttypeAt its packet type.
	sockaddrAt = unix.SizeofTpacket3Hdr
	pkttypeAt  = sockaddrAt + 10
)

// A receiver is the Recv half: a ring of blocks, each of them the kernel's or ours.
type receiver struct {
	fd    int
	ring  []byte
	stamp stamper

	block int  // start of the current block in ring
	ours  bool // the kernel has handed it over
	left  int  // frames in it that were not lent yet
	next  int  // start of the next frame's header in ring
}

func (r *receiver) open(index int, o Options) (err error) {
	// Protocol 0 and no interface until the ring stands: nothing foreign gets in first.
	if r.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
		return os.NewSyscallError("socket", err)
	}
	if err = unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V3); err != nil {
		return os.NewSyscallError("setsockopt PACKET_VERSION", err)
	}
	// Linux before 4.20 does not know it; Recv skips those frames anyway.
	_ = unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1)
	if err = r.mmap(o.Ring); err != nil {
		return err
	}
	promiscuous := unix.PacketMreq{Ifindex: int32(index), Type: unix.PACKET_MR_PROMISC}
	if err = unix.SetsockoptPacketMreq(r.fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &promiscuous); err != nil {
		return os.NewSyscallError("setsockopt PACKET_ADD_MEMBERSHIP", err)
	}
	r.stamp.start(o.Epoch)
	all := uint16(unix.ETH_P_ALL)<<8 | uint16(unix.ETH_P_ALL)>>8 // in network byte order
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		all = unix.ETH_P_ALL
	}
	return os.NewSyscallError("bind", unix.Bind(r.fd, &unix.SockaddrLinklayer{Ifindex: index, Protocol: all}))
}

// mmap makes the ring, half as large as long as the kernel has no memory for it.
func (r *receiver) mmap(size int) (err error) {
	if size <= 0 {
		size = defaultRing
	}
	blocks := max(2, (size+blockSize-1)/blockSize)
	for {
		err = unix.SetsockoptTpacketReq3(r.fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &unix.TpacketReq3{
			Block_size: blockSize, Block_nr: uint32(blocks), Retire_blk_tov: retireMillis,
			Frame_size: 2048, Frame_nr: uint32(blocks) * (blockSize / 2048), // of no meaning in V3, but checked
		})
		if err != unix.ENOMEM || blocks <= 16 {
			break
		}
		blocks /= 2
	}
	if err != nil {
		return os.NewSyscallError("setsockopt PACKET_RX_RING", err)
	}
	r.ring, err = unix.Mmap(r.fd, 0, blocks*blockSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	return os.NewSyscallError("mmap", err)
}

// Recv lends the frames of at most one block.
func (p *port) Recv(frames []packet.Frame) (int, error) {
	if !p.gate.Enter() {
		return 0, nic.ErrClosed
	}
	n := p.rx.recv(frames)
	p.gate.Leave()
	return n, nil
}

func (r *receiver) recv(frames []packet.Frame) (n int) {
	if !r.advance() {
		return 0
	}
	for n < len(frames) && r.left > 0 {
		h := (*unix.Tpacket3Hdr)(unsafe.Pointer(&r.ring[r.next]))
		if r.ring[r.next+pkttypeAt] != unix.PACKET_OUTGOING {
			frames[n] = packet.Frame{Data: r.bytes(h), Nanos: r.stamp.arrival(h.Sec, h.Nsec)}
			n++
		}
		r.next += int(h.Next_offset)
		r.left--
	}
	return n
}

// advance makes the current block one with frames that are not lent yet; it gives back a block that is used up.
func (r *receiver) advance() bool {
	if r.ours && r.left > 0 {
		return true
	}
	if r.ours {
		atomic.StoreUint32(&r.header().Block_status, unix.TP_STATUS_KERNEL)
		r.ours = false
		if r.block += blockSize; r.block == len(r.ring) {
			r.block = 0
		}
	}
	h := r.header()
	if atomic.LoadUint32(&h.Block_status)&unix.TP_STATUS_USER == 0 {
		return false
	}
	r.ours = true
	r.left, r.next = int(h.Num_pkts), r.block+int(h.Offset_to_first_pkt)
	r.stamp.sync()
	return r.left > 0
}

// header is the current block's: struct tpacket_hdr_v1 behind two words.
func (r *receiver) header() *unix.TpacketHdrV1 {
	return (*unix.TpacketHdrV1)(unsafe.Pointer(&r.ring[r.block+8]))
}

// bytes is the frame behind a header. The kernel takes the outer VLAN tag out of a frame: it is put back, into the room
// before the frame, where only the address of the sender's socket ends.
func (r *receiver) bytes(h *unix.Tpacket3Hdr) []byte {
	start := r.next + int(h.Mac)
	end := start + int(h.Snaplen)
	if h.Status&unix.TP_STATUS_VLAN_VALID != 0 && h.Snaplen >= ethernet {
		tpid := uint16(unix.ETH_P_8021Q)
		if h.Status&unix.TP_STATUS_VLAN_TPID_VALID != 0 {
			tpid = h.Hv1.Vlan_tpid
		}
		start -= vlanTag
		copy(r.ring[start:start+12], r.ring[start+vlanTag:])
		binary.BigEndian.PutUint16(r.ring[start+12:], tpid)
		binary.BigEndian.PutUint16(r.ring[start+14:], uint16(h.Hv1.Vlan_tci))
	}
	return r.ring[start:end:end]
}

// Wait waits until the kernel has handed over a block, or d. It is not unix.Poll: that lets the scheduler take the thread's
// processor away, and most frames would be late.
func (p *port) Wait(d time.Duration) {
	if !p.gate.Enter() {
		return
	}
	if d > 0 && !(p.rx.ours && p.rx.left > 0) {
		p.rx.wait(d)
	}
	p.gate.Leave()
}

func (r *receiver) wait(d time.Duration) {
	fd := unix.PollFd{Fd: int32(r.fd), Events: unix.POLLIN}
	t := unix.NsecToTimespec(int64(d))
	unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&fd)), 1, uintptr(unsafe.Pointer(&t)), 0, 0, 0)
	if fd.Revents&unix.POLLERR != 0 { // the link went down; the error is reported until it is read
		_, _ = unix.GetsockoptInt(r.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	}
}
