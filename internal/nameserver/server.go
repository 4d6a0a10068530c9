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

// Server answers queries for the published zones. Create one with Open.
type Server struct {
	cfg     Config
	zones   table
	rate    *rateLimit
	cookies *cookies // nil if they are off
	udp     []*net.UDPConn
	tcp     net.Listener
	counts

	conns conns
	wg    sync.WaitGroup // readers and connections

	mu      sync.Mutex    // held while readers start, and while the server closes
	closing chan struct{} // closed by Close
}

// Counts are the counters of a server since it was opened.
type Counts struct {
	UDP, TCP  int64 // queries received
	Dropped   int64 // not answered: not a query at all
	Truncated int64 // truncated because they did not fit
	Limited   int64 // dropped or truncated by the rate limit
	Refused   int64 // TCP connections above the limits

	Answers [16]int64 // sent, by response code
	Zones   int64     // served now
}

// counts are the live counters. UDP readers add a batch at a time.
type counts struct {
	udp, tcp, dropped, truncated, limited, refused atomic.Int64
	answers                                        [16]atomic.Int64
}

// answered counts a message that is sent, by the response code in its header (RFC
// 1035, 4.1.1).
func (c *counts) answered(msg []byte) {
	if len(msg) > 3 {
		c.answers[msg[3]&15].Add(1)
	}
}

// Open binds the port. The TCP port is bound exclusively, which prevents a second
// server from starting: the UDP port is shared by design, with the server's other
// sockets and, on 5353, with multicast DNS.
func Open(cfg Config) (*Server, error) {
	if len(cfg.NSID) > maxNSID {
		return nil, fmt.Errorf("name server: the NSID is longer than %d bytes", maxNSID)
	}
	s := &Server{cfg: cfg, closing: make(chan struct{})}
	s.rate = newRateLimit(cfg)
	if cfg.Cookies {
		s.cookies = newCookies(cfg.CookieSecret)
	}
	s.zones.open()
	s.conns.open(cfg)
	var err error
	if s.tcp, s.udp, err = listen(cfg.Listen, min(max(1, cfg.Sockets), maxSockets)); err != nil {
		return nil, fmt.Errorf("name server on %s: %w", cfg.Listen, err)
	}
	return s, nil
}

// Addr returns the address the server listens on, for UDP and TCP alike.
func (s *Server) Addr() netip.AddrPort {
	return s.tcp.Addr().(*net.TCPAddr).AddrPort()
}

// Serve serves until Close is called, and then returns nil. An error means that a
// socket failed; the server is then closed.
func (s *Server) Serve() error {
	err := <-s.start()
	if s.isClosing() {
		err = nil // it failed because it was closed
	}
	return errors.Join(err, s.Close())
}

// start starts a reader for each socket, and returns a channel with the errors that
// ended them.
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

// Close releases the port and returns when all pending responses are sent.
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

// Publish replaces the zone with the same origin. It fails when the zone has no
// SOA, or has records that cannot be encoded.
func (s *Server) Publish(_ context.Context, z dnssec.ServedZone) error {
	if old := s.zones.byOrigin(z.Origin); old != nil && !dnssec.NewerSerial(z.Serial, old.serial) {
		return nil // avoids packing it
	}
	packed, err := pack(z)
	if err != nil {
		return err
	}
	s.zones.put(packed)
	return nil
}

// Withdraw removes the zone. Removing an unknown zone is not an error.
func (s *Server) Withdraw(_ context.Context, origin string) error {
	s.zones.remove(origin)
	return nil
}

// Serial returns the serial of the served zone.
func (s *Server) Serial(origin string) (serial uint32, ok bool) {
	z := s.zones.byOrigin(origin)
	if z == nil {
		return 0, false
	}
	return z.serial, true
}

// Counts returns the current counters.
func (s *Server) Counts() Counts {
	out := Counts{
		Zones:     s.zones.count.Load(),
		UDP:       s.counts.udp.Load(),
		TCP:       s.counts.tcp.Load(),
		Dropped:   s.dropped.Load(),
		Truncated: s.truncated.Load(),
		Limited:   s.limited.Load(),
		Refused:   s.refused.Load(),
	}
	for i := range out.Answers {
		out.Answers[i] = s.answers[i].Load()
	}
	return out
}
