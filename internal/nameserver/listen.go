package nameserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// portAttempts is how often listen tries to find a port that is free for UDP and
// TCP.
const portAttempts = 32

// readBuffer is the size of the kernel's receive buffer of a UDP socket.
const readBuffer = 4 << 20

// listen binds the port exclusively for TCP, then for UDP with n sockets that share
// it.
func listen(addr string, n int) (net.Listener, []*net.UDPConn, error) {
	want, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, nil, err
	}
	for try := 1; ; try++ {
		tcp, err := net.ListenTCP("tcp", want)
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, nil, fmt.Errorf("%w: is the server already running?", err)
		}
		if err != nil {
			return nil, nil, err
		}
		at := tcp.Addr().(*net.TCPAddr).AddrPort()
		udp, err := listenUDP(at, n, want.Port == 0)
		if err == nil {
			return tcp, udp, nil
		}
		tcp.Close() // never served
		if want.Port != 0 || try == portAttempts {
			return nil, nil, err
		}
	}
}

// listenUDP opens n sockets on one port. A port that the system chose for TCP may
// be in use for UDP, and a shared bind does not report that. So alone says to check
// first, with an exclusive bind, that the port is free.
func listenUDP(at netip.AddrPort, n int, alone bool) ([]*net.UDPConn, error) {
	if alone {
		c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(at))
		if err != nil {
			return nil, err
		}
		c.Close() // only a check
	}
	shared := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		return errors.Join(c.Control(func(fd uintptr) { err = share(fd, at.Addr()) }), err)
	}}
	var conns []*net.UDPConn
	for range n {
		c, err := shared.ListenPacket(context.Background(), "udp", at.String())
		if err != nil {
			for _, c := range conns {
				c.Close() // never served
			}
			return nil, err
		}
		udp := c.(*net.UDPConn)
		_ = udp.SetReadBuffer(readBuffer) // the system may grant less
		conns = append(conns, udp)
	}
	return conns, nil
}
