package primary

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/miekg/dns"
)

const (
	maxUDP       = 64 // concurrent queries over UDP; any above it are dropped
	udpSize      = 4096
	storeTimeout = 10 * time.Second // for reading one zone
)

// A Server answers SOA, AXFR and IXFR queries of the secondaries, and nothing else.
// Set the exported fields, then call Listen.
type Server struct {
	Store     Store
	Withdrawn Withdrawn // nil: zones that are no longer served are NOTAUTH
	Catalog   *Catalog  // nil when there is none
	Keys      []Key     // a peer that signs with one of them may read everything

	// Allow lists the addresses that may read everything without a signature, for
	// secondaries that cannot sign queries for the zones of a catalog (PowerDNS).
	Allow []netip.Prefix

	NSID string // identifies this node to peers that ask; at most 64 bytes, or empty

	ReadTimeout time.Duration // for the first query of a connection; 0: 5 s
	IdleTimeout time.Duration // between two queries; 0: 30 s

	Now func() time.Time
	Log *slog.Logger

	// Observe is called for every response with "soa", "axfr", "ixfr" or "refused".
	// It may be nil.
	Observe func(answer string)

	udp, tcp *dns.Server
	listener *listener
	slots    chan struct{} // one per concurrent query over UDP
}

// Listen binds the address, over TCP and UDP, and starts serving. Port 0 binds a
// free port.
func (s *Server) Listen(address string) error {
	l, p, err := bind(address)
	if err != nil {
		return fmt.Errorf("listen for secondaries: %w", err)
	}
	s.ReadTimeout, s.IdleTimeout = cmp.Or(s.ReadTimeout, 5*time.Second), cmp.Or(s.IdleTimeout, 30*time.Second)
	s.listener = newListener(l)
	s.slots = make(chan struct{}, maxUDP)
	s.tcp, s.udp = s.configure(), s.configure()
	s.tcp.Listener, s.tcp.Handler = s.listener, dns.HandlerFunc(s.answer)
	s.udp.PacketConn, s.udp.Handler = p, dns.HandlerFunc(s.answerUDP)
	for _, server := range []*dns.Server{s.tcp, s.udp} {
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		go s.run(server)
		<-started
	}
	return nil
}

// bind binds one port for both. A port that is free for one need not be free for
// the other, so it tries several times.
func bind(address string) (net.Listener, net.PacketConn, error) {
	const attempts = 16
	var err error
	for range attempts {
		l, failed := net.Listen("tcp", address)
		if failed != nil {
			return nil, nil, failed
		}
		p, failed := net.ListenPacket("udp", l.Addr().String())
		if failed == nil {
			return l, p, nil
		}
		err = errors.Join(failed, l.Close())
	}
	return nil, nil, err
}

func (s *Server) configure() *dns.Server {
	return &dns.Server{
		UDPSize:       udpSize,
		ReadTimeout:   s.ReadTimeout,
		IdleTimeout:   func() time.Duration { return s.IdleTimeout },
		TsigProvider:  newKeyring(s.Keys...),
		MsgAcceptFunc: accept,
		MaxTCPQueries: -1, // a secondary may ask for all its zones on one connection
	}
}

// maxOtherRecords is how many records a message that is not a query may have to be parsed.
const maxOtherRecords = 64

// accept rejects, unparsed, responses, and queries with other counts than those of a
// query. Messages of other opcodes are parsed if they are not large, so that the refusal
// has EDNS if they have.
func accept(h dns.Header) dns.MsgAcceptAction {
	action := dns.DefaultMsgAcceptFunc(h)
	small := int(h.Qdcount)+int(h.Ancount)+int(h.Nscount)+int(h.Arcount) <= maxOtherRecords
	if opcode := int(h.Bits>>11) & 0xF; opcode != dns.OpcodeQuery && action != dns.MsgIgnore {
		if small {
			return dns.MsgAccept
		}
		return dns.MsgRejectNotImplemented
	}
	return action
}

func (s *Server) run(server *dns.Server) {
	if err := server.ActivateAndServe(); err != nil {
		s.Log.Error("the primary stopped serving", "err", err)
	}
}

// Addr returns the address the server listens on.
func (s *Server) Addr() netip.AddrPort {
	return s.listener.Addr().(*net.TCPAddr).AddrPort()
}

// Close stops the server if it listens. Transfers in progress may finish until ctx
// is done, then their connections are closed.
func (s *Server) Close(ctx context.Context) error {
	if s.listener == nil {
		return nil
	}
	udp, tcp := s.udp.ShutdownContext(ctx), s.tcp.ShutdownContext(ctx)
	s.listener.closeAll()
	return errors.Join(udp, tcp)
}

// answerUDP answers the query, or drops it when there are too many.
func (s *Server) answerUDP(w dns.ResponseWriter, r *dns.Msg) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
		s.answer(w, r)
	default:
	}
}

func (s *Server) observe(answer string) {
	if s.Observe != nil {
		s.Observe(answer)
	}
}
