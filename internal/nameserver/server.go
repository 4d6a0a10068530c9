package nameserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"

	"deed.example/deed/internal/dnssec"
)

// Server answers queries about the zones it was given. Make one with Open.
type Server struct {
	cfg   Config
	zones table
	rate  *rateLimit
	udp   []*net.UDPConn
	tcp   net.Listener
	counts

	conns conns
	wg    sync.WaitGroup // readers and connections

	mu      sync.Mutex    // held while readers start, and while the server closes
	closing chan struct{} // closed by Close
}

// Counts are what a server has done since it was opened.
type Counts struct {
	UDP, TCP  int64 // queries that came
	Dropped   int64 // not answered: not a query at all
	Truncated int64 // cut short because they did not fit
	Limited   int64 // dropped or cut short because of the rate
	Refused   int64 // TCP connections above the limits
}

// counts are Counts while they grow. Readers of UDP add a batch at a time.
type counts struct {
	udp, tcp, dropped, truncated, limited, refused atomic.Int64
}

// Open takes the port. The TCP port is taken for this process alone, which is
// what keeps a second server from starting beside the first: the UDP port is
// shared by design, with our own sockets and, on 5353, with multicast DNS.
func Open(cfg Config) (*Server, error) {
	s := &Server{cfg: cfg, closing: make(chan struct{})}
	s.rate = newRateLimit(cfg)
	s.zones.open()
	s.conns.open(cfg)
	var err error
	if s.tcp, s.udp, err = listen(cfg.Listen, min(max(1, cfg.Sockets), mostSockets)); err != nil {
		return nil, fmt.Errorf("name server on %s: %w", cfg.Listen, err)
	}
	return s, nil
}

// Addr returns where the server listens, for UDP and TCP alike.
func (s *Server) Addr() netip.AddrPort {
	return s.tcp.Addr().(*net.TCPAddr).AddrPort()
}

// Serve answers until Close is called, and returns nil then. An error means
// that a socket broke; the server is closed.
func (s *Server) Serve() error {
	err := <-s.start()
	if s.isClosing() {
		err = nil // it broke because we closed it
	}
	return errors.Join(err, s.Close())
}

// start starts a reader for each socket, and returns a channel that tells why
// one ended.
func (s *Server) start() <-chan error {
	s.mu.Lock()
	defer s.mu.Unlock()
	broken := make(chan error, len(s.udp)+1)
	if s.isClosing() {
		broken <- net.ErrClosed
		return broken
	}
	s.wg.Go(func() { broken <- s.acceptAll() })
	for _, c := range s.udp {
		s.wg.Go(func() { broken <- s.serveUDP(c) })
	}
	return broken
}

func (s *Server) isClosing() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}

// Close gives the port back and returns when all answers under way are sent.
func (s *Server) Close() error {
	err := s.shut()
	s.wg.Wait()
	return err
}

func (s *Server) shut() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isClosing() {
		return nil
	}
	close(s.closing)
	err := s.tcp.Close()
	for _, c := range s.udp {
		err = errors.Join(err, c.Close())
	}
	s.conns.closeAll()
	return err
}

// Publish puts the zone in the place of the one with its origin. It fails when
// the zone has no SOA, or records that cannot be on the wire.
func (s *Server) Publish(_ context.Context, z dnssec.ServedZone) error {
	if old := s.zones.byOrigin(z.Origin); old != nil && !newer(z.Serial, old.serial) {
		return nil // found out before the work of packing it
	}
	packed, err := pack(z)
	if err != nil {
		return fmt.Errorf("publish zone %q: %w", z.Origin, err)
	}
	s.zones.put(packed)
	return nil
}

// Withdraw takes the zone away. It is no error when there is none.
func (s *Server) Withdraw(_ context.Context, origin string) error {
	s.zones.remove(origin)
	return nil
}

// Serial returns the serial of the zone that is being answered with.
func (s *Server) Serial(origin string) (serial uint32, ok bool) {
	z := s.zones.byOrigin(origin)
	if z == nil {
		return 0, false
	}
	return z.serial, true
}

// Counts returns what the server has done so far.
func (s *Server) Counts() Counts {
	return Counts{
		UDP:       s.counts.udp.Load(),
		TCP:       s.counts.tcp.Load(),
		Dropped:   s.dropped.Load(),
		Truncated: s.truncated.Load(),
		Limited:   s.limited.Load(),
		Refused:   s.refused.Load(),
	}
}

// newer compares serials as RFC 1982, 3.2 does.
func newer(a, b uint32) bool { return a != b && int32(a-b) > 0 }
