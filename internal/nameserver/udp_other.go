//go:build !linux

package nameserver

import (
	"net"
	"net/netip"
)

// maxSockets is one where port sharing is not implemented.
const maxSockets = 1

// share does nothing: there is one socket.
func share(uintptr, netip.Addr) error { return nil }

// serveUDP answers one datagram after the other.
func (s *Server) serveUDP(c *net.UDPConn) error {
	w, buf := newWorker(maxUDPSize), make([]byte, maxQuerySize)
	for {
		n, from, err := c.ReadFromUDPAddrPort(buf)
		if err != nil {
			return err
		}
		s.counts.udp.Add(1)
		if out := s.answerUDP(w, buf[:n], sender{addr: from.Addr(), second: s.cfg.Now().Unix()}); len(out) > 0 {
			// An unreachable client retries.
			_, _ = c.WriteToUDPAddrPort(out, from)
		}
	}
}
