//go:build !linux

package nameserver

import (
	"net"
	"net/netip"
)

// mostSockets is one where we do not know how ports are shared.
const mostSockets = 1

// share does nothing: there is one socket.
func share(uintptr, netip.Addr) error { return nil }

// serveUDP answers one datagram after the other.
func (s *Server) serveUDP(c *net.UDPConn) error {
	w, buf := newWorker(mostUDP), make([]byte, longestQuery)
	for {
		n, from, err := c.ReadFromUDPAddrPort(buf)
		if err != nil {
			return err
		}
		s.counts.udp.Add(1)
		if out := s.answerUDP(w, buf[:n], from.Addr(), s.cfg.Now().Unix()); len(out) > 0 {
			// A client that cannot be reached asks again.
			_, _ = c.WriteToUDPAddrPort(out, from)
		}
	}
}
