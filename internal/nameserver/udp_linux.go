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

// mostSockets bounds the sockets that share the port.
const mostSockets = 256

// batchSize is how many datagrams are read and answered in one system call.
const batchSize = 32

// controlSize has room for the local address of a datagram.
const controlSize = 64

// share lets sockets share the port. On an unspecified address we ask for each
// datagram's local address, so that its answer comes from where it was sent to.
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

// A letter is the memory of one datagram and its answer.
type letter struct {
	in      [longestQuery]byte
	out     [mostUDP + bufferRoom]byte
	from    [unix.SizeofSockaddrInet6]byte
	control [controlSize]byte
}

// A batch is what one reader reads and writes at once. The headers point into
// the letters, and neither ever moves.
type batch struct {
	letters  [batchSize]letter
	incoming [batchSize]header
	outgoing [batchSize]header
	inVec    [batchSize]unix.Iovec
	outVec   [batchSize]unix.Iovec
	local    bool // local addresses are wanted
	got      int  // datagrams read
	ready    int  // answers to be sent
	sent     int
	err      syscall.Errno
}

func newBatch(local bool) *batch {
	b := &batch{local: local}
	for i := range b.letters {
		b.inVec[i].Base = &b.letters[i].in[0]
		b.inVec[i].SetLen(longestQuery)
		b.incoming[i].Iov = &b.inVec[i]
		b.incoming[i].SetIovlen(1)
		b.incoming[i].Name = &b.letters[i].from[0]
		b.outgoing[i].Iov = &b.outVec[i]
		b.outgoing[i].SetIovlen(1)
		b.clear(i)
	}
	return b
}

// clear makes a header ready to be read into: the kernel notes lengths there.
func (b *batch) clear(i int) {
	b.incoming[i].Namelen = unix.SizeofSockaddrInet6
	if b.local {
		b.incoming[i].Control = &b.letters[i].control[0]
		b.incoming[i].SetControllen(controlSize)
	}
}

// serveUDP reads what has arrived, answers it, sends the answers, and waits for
// more. It stays within one Read for good: that is told of every datagram that
// arrives meanwhile, so there is no need to look for one before waiting.
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
				_ = raw.Write(b.write) // fails when the socket is closed, as Read will
			}
			if b.got < batchSize {
				return false
			}
		}
		return b.err != 0
	})
	return errors.Join(err, b.failure())
}

// answer writes the answers to all that was read.
func (b *batch) answer(s *Server, w *worker) {
	second := s.cfg.Now().Unix()
	b.ready, b.sent = 0, 0
	for i := range b.got {
		l := &b.letters[i]
		w.r.buf = l.out[:]
		out := s.answerUDP(w, l.in[:b.incoming[i].size], l.client(), second)
		if len(out) > 0 {
			b.address(i)
			b.outVec[b.ready].Base = &out[0]
			b.outVec[b.ready].SetLen(len(out))
			b.ready++
		}
		b.clear(i)
	}
}

// address sends the next answer to where datagram i came from, and from where
// it was sent to.
func (b *batch) address(i int) {
	in, out := &b.incoming[i], &b.outgoing[b.ready]
	out.Name, out.Namelen = in.Name, in.Namelen
	if !b.local {
		return
	}
	out.Control, out.Controllen = in.Control, in.Controllen
	b.letters[i].forgetInterface()
}

// client returns the address of the sender.
func (l *letter) client() netip.Addr {
	if binary.NativeEndian.Uint16(l.from[:]) == unix.AF_INET {
		return netip.AddrFrom4([4]byte(l.from[4:8]))
	}
	return netip.AddrFrom16([16]byte(l.from[8:24]))
}

// forgetInterface takes the interface out of the local address, so that the
// answer may leave by another one.
func (l *letter) forgetInterface() {
	h := (*unix.Cmsghdr)(unsafe.Pointer(&l.control))
	data := l.control[unix.CmsgLen(0):]
	switch {
	case h.Level == unix.SOL_IP && h.Type == unix.IP_PKTINFO:
		clear(data[:4]) // of struct in_pktinfo
	case h.Level == unix.SOL_IPV6 && h.Type == unix.IPV6_PKTINFO && !linkLocal(data):
		clear(data[16:20]) // of struct in6_pktinfo
	}
}

// linkLocal says whether an address has meaning on its interface only.
func linkLocal(addr []byte) bool { return addr[0] == 0xfe && addr[1]&0xc0 == 0x80 }

// read reads what has arrived, and says whether that is anything. Neither it
// nor write ever waits in the kernel, so the scheduler need not be told of
// their calls (RawSyscall), which would cost as much as answering.
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
			continue // of an earlier answer, or for a moment
		}
		b.err = err
		return false
	}
}

// write sends the answers until all are sent or the socket has no room. One
// that cannot be sent is left out: the client asks again.
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
