package nameserver

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxSockets limits the sockets that share the port.
const maxSockets = 256

// batchSize is the number of datagrams that are read and answered in one system
// call.
const batchSize = 32

// controlSize is the space for the local address of a datagram.
const controlSize = 64

// share lets sockets share the port. On an unspecified address it requests each
// datagram's local address, so that the response is sent from the address that was
// queried.
func share(fd uintptr, at netip.Addr) error {
	for _, option := range []int{unix.SO_REUSEADDR, unix.SO_REUSEPORT} {
		if err := unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, option, 1); err != nil {
			return err
		}
	}
	switch {
	case !at.IsUnspecified():
		return nil
	case at.Is4():
		return unix.SetsockoptInt(int(fd), unix.SOL_IP, unix.IP_PKTINFO, 1)
	}
	return unix.SetsockoptInt(int(fd), unix.SOL_IPV6, unix.IPV6_RECVPKTINFO, 1)
}

// A header is struct mmsghdr of recvmmsg(2).
type header struct {
	unix.Msghdr
	size uint32
}

// A datagram is the buffer of one query and its response.
type datagram struct {
	in      [maxQuerySize]byte
	out     [maxUDPSize + bufferMargin]byte
	from    [unix.SizeofSockaddrInet6]byte
	control [controlSize]byte
}

// A batch is what one reader reads and writes at once. The headers point into the
// datagrams, and neither ever moves.
type batch struct {
	datagrams [batchSize]datagram
	incoming  [batchSize]header
	outgoing  [batchSize]header
	inVec     [batchSize]unix.Iovec
	outVec    [batchSize]unix.Iovec
	local     bool // local addresses are needed
	got       int  // datagrams read
	ready     int  // responses to be sent
	sent      int
	err       syscall.Errno
}

func newBatch(local bool) *batch {
	b := &batch{local: local}
	for i := range b.datagrams {
		b.inVec[i].Base = &b.datagrams[i].in[0]
		b.inVec[i].SetLen(maxQuerySize)
		b.incoming[i].Iov = &b.inVec[i]
		b.incoming[i].SetIovlen(1)
		b.incoming[i].Name = &b.datagrams[i].from[0]
		b.outgoing[i].Iov = &b.outVec[i]
		b.outgoing[i].SetIovlen(1)
		b.clear(i)
	}
	return b
}

// clear resets a header before a read: the kernel writes lengths into it.
func (b *batch) clear(i int) {
	b.incoming[i].Namelen = unix.SizeofSockaddrInet6
	if b.local {
		b.incoming[i].Control = &b.datagrams[i].control[0]
		b.incoming[i].SetControllen(controlSize)
	}
}

// serveUDP reads the datagrams that have arrived, answers them, sends the
// responses, and waits for more. It stays within one Read forever: the poller
// reports every datagram that arrives in the meantime, so there is no need for a
// read before waiting.
func (s *Server) serveUDP(c *net.UDPConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	b, w := newBatch(s.Addr().Addr().IsUnspecified()), &worker{}
	err = raw.Read(func(fd uintptr) (broken bool) {
		for b.read(fd) {
			s.counts.udp.Add(int64(b.got))
			b.answer(s, w)
			if !b.write(fd) {
				_ = raw.Write(b.write) // fails when the socket is closed, and then Read fails, too
			}
			if b.got < batchSize {
				return false
			}
		}
		return b.err != 0
	})
	return errors.Join(err, b.failure())
}

// answer writes the responses to all datagrams of the batch.
func (b *batch) answer(s *Server, w *worker) {
	second := s.cfg.Now().Unix()
	b.ready, b.sent = 0, 0
	for i := range b.got {
		l := &b.datagrams[i]
		w.r.buf = l.out[:]
		out := s.answerUDP(w, l.in[:b.incoming[i].size], sender{addr: l.client(), second: second})
		if len(out) > 0 {
			b.address(i)
			b.outVec[b.ready].Base = &out[0]
			b.outVec[b.ready].SetLen(len(out))
			b.ready++
		}
		b.clear(i)
	}
}

// address sets the destination of the next response to the source of datagram i,
// and its source to the destination of datagram i.
func (b *batch) address(i int) {
	in, out := &b.incoming[i], &b.outgoing[b.ready]
	out.Name, out.Namelen = in.Name, in.Namelen
	if !b.local {
		return
	}
	out.Control, out.Controllen = in.Control, in.Controllen
	b.datagrams[i].forgetInterface()
}

// client returns the address of the sender.
func (l *datagram) client() netip.Addr {
	if binary.NativeEndian.Uint16(l.from[:]) == unix.AF_INET {
		return netip.AddrFrom4([4]byte(l.from[4:8]))
	}
	return netip.AddrFrom16([16]byte(l.from[8:24]))
}

// forgetInterface clears the interface in the local address, so that the response
// may leave by another one.
func (l *datagram) forgetInterface() {
	h := (*unix.Cmsghdr)(unsafe.Pointer(&l.control))
	data := l.control[unix.CmsgLen(0):]
	switch {
	case h.Level == unix.SOL_IP && h.Type == unix.IP_PKTINFO:
		clear(data[:4]) // of struct in_pktinfo
	case h.Level == unix.SOL_IPV6 && h.Type == unix.IPV6_PKTINFO && !linkLocal(data):
		clear(data[16:20]) // of struct in6_pktinfo
	}
}

// linkLocal reports whether an address is valid on its interface only.
func linkLocal(addr []byte) bool { return addr[0] == 0xfe && addr[1]&0xc0 == 0x80 }

// read reads the datagrams that have arrived, and reports whether there are any.
// Neither it nor write blocks in the kernel, so the scheduler need not know of
// their system calls (RawSyscall); that would cost as much as answering.
func (b *batch) read(fd uintptr) bool {
	for {
		n, _, err := syscall.RawSyscall6(unix.SYS_RECVMMSG, fd, uintptr(unsafe.Pointer(&b.incoming)), batchSize, unix.MSG_DONTWAIT, 0, 0)
		switch err {
		case 0:
			b.got = int(n)
			return true
		case syscall.EAGAIN:
			return false
		case syscall.EINTR, syscall.ECONNREFUSED, syscall.ENOMEM, syscall.ENOBUFS:
			continue // an error of an earlier response, or a temporary one
		}
		b.err = err
		return false
	}
}

// write sends the responses until all are sent or the socket buffer is full. One
// that cannot be sent is dropped: the client retries.
func (b *batch) write(fd uintptr) (done bool) {
	for b.sent < b.ready {
		n, _, err := syscall.RawSyscall6(unix.SYS_SENDMMSG, fd, uintptr(unsafe.Pointer(&b.outgoing[b.sent])), uintptr(b.ready-b.sent), unix.MSG_DONTWAIT, 0, 0)
		switch err {
		case 0:
			b.sent += int(n)
		case syscall.EAGAIN:
			return false
		case syscall.EINTR:
		default:
			b.sent++
		}
	}
	return true
}

func (b *batch) failure() error {
	if b.err != 0 {
		return b.err
	}
	return nil
}
