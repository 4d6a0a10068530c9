package nameserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// portTries is how often we look for a port that is free for UDP and TCP.
const portTries = 32

// readBuffer is how many bytes of datagrams may wait while we answer others.
const readBuffer = 4 << 20

// listen takes the port for TCP alone, then for UDP with n sockets that share it.
func listen(addr string, n int) (net.Listener, []*net.UDPConn, error) {
	want, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, nil, err
	}
	for try := 1; ; try++ {
		tcp, err := net.ListenTCP("tcp", want)
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, nil, fmt.Errorf("%w: is the server running already?", err)
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
		if want.Port != 0 || try == portTries {
			return nil, nil, err
		}
	}
}

// listenUDP opens n sockets on one port. A port that the system chose for TCP
// may be taken for UDP, and shared ports are taken without complaint: so alone
// says to try first whether we are alone on it.
func listenUDP(at netip.AddrPort, n int, alone bool) ([]*net.UDPConn, error) {
	if alone {
		c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(at))
		if err != nil {
			return nil, err
		}
		c.Close() // it was only to see
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
