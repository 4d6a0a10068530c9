package primary

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
)

// A source provides zones: the Store provides the hosted ones, the Catalog itself.
type source interface {
	SOA(ctx context.Context, origin string) (dnszone.RR, error)
	Zone(ctx context.Context, origin string) (dnssec.ServedZone, error)
	Changes(ctx context.Context, origin string, from uint32) (removed, added []dnszone.RR, serial uint32, err error)
}

// answer handles one query. The connection of an unauthenticated peer is closed, so
// that it cannot be held open. A transfer that fails midway cannot be repaired: the
// connection is closed, and the secondary retries.
func (s *Server) answer(w dns.ResponseWriter, r *dns.Msg) {
	x := &exchange{w: w, r: r, now: s.Now, nsid: s.NSID, idle: s.IdleTimeout}
	err := s.admit(x)
	if x.admitted {
		s.listener.admit(w.RemoteAddr())
		err = s.serve(x)
	}
	if err != nil {
		s.Log.Warn("query of a secondary failed", "peer", w.RemoteAddr().String(), "zone", questionName(r), "err", err)
	}
	if err != nil || !x.admitted {
		_ = w.Close() // the peer gets nothing more on it
	}
}

// questionName returns the name in the question, for the log. A message that is not a query
// may have none.
func questionName(r *dns.Msg) string {
	if len(r.Question) == 0 {
		return ""
	}
	return r.Question[0].Name
}

// admit lets a peer in that may read the zones, and replies when it may not. Messages that
// are not queries (updates, notices) are not implemented, for anyone.
func (s *Server) admit(x *exchange) error {
	if x.r.Opcode != dns.OpcodeQuery {
		return s.refuse(x, dns.RcodeNotImplemented)
	}
	if len(x.r.Question) != 1 { // the library takes a message that ends after its header for one without any
		return s.refuse(x, dns.RcodeFormatError)
	}
	if opt := x.r.IsEdns0(); opt != nil && opt.Version() != 0 {
		return s.refuse(x, dns.RcodeBadVers)
	}
	// TsigStatus is nil for an unsigned message, too, as if the signature were
	// valid.
	if x.r.IsTsig() == nil {
		from := peer(x.w.RemoteAddr())
		if slices.ContainsFunc(s.Allow, func(p netip.Prefix) bool { return p.Contains(from) }) {
			x.admitted = true
			return nil
		}
		return s.refuse(x, dns.RcodeRefused)
	}
	if err := x.w.TsigStatus(); err != nil {
		s.observe("refused")
		return x.refuseSignature(err)
	}
	x.admitted = true
	return nil
}

func (s *Server) refuse(x *exchange, rcode int) error {
	s.observe("refused")
	return x.reply(rcode)
}

// serve answers an authorized peer.
func (s *Server) serve(x *exchange) error {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	q := x.r.Question[0]
	origin := strings.TrimSuffix(dns.CanonicalName(q.Name), ".")
	src, err := s.source(ctx, origin)
	if err != nil {
		return s.fail(x, err)
	}
	switch {
	case q.Qclass != dns.ClassINET:
		return s.refuse(x, dns.RcodeRefused)
	case q.Qtype == dns.TypeSOA:
		return s.soa(ctx, x, src, origin)
	case q.Qtype == dns.TypeIXFR:
		return s.ixfr(ctx, x, src, origin)
	case q.Qtype == dns.TypeAXFR && !x.udp():
		return s.axfr(ctx, x, src, origin)
	}
	return s.refuse(x, dns.RcodeRefused)
}

// fail reports to the peer that the zone is not served here, or that it could not
// be read.
func (s *Server) fail(x *exchange, err error) error {
	if deed.CodeOf(err) == deed.CodeNotFound {
		return s.refuse(x, dns.RcodeNotAuth)
	}
	s.Log.Error("cannot read a zone for a secondary", "zone", x.r.Question[0].Name, "err", err)
	return s.refuse(x, dns.RcodeServerFailure)
}

// soa answers with the SOA alone.
func (s *Server) soa(ctx context.Context, x *exchange, src source, origin string) error {
	soa, err := src.SOA(ctx, origin)
	if err != nil {
		return s.fail(x, err)
	}
	s.observe("soa")
	return x.reply(dns.RcodeSuccess, wireRR(soa))
}

// axfr answers with the whole zone, its SOA first and last (RFC 5936, 2.2).
func (s *Server) axfr(ctx context.Context, x *exchange, src source, origin string) error {
	z, err := src.Zone(ctx, origin)
	if err != nil {
		return s.fail(x, err)
	}
	soa, others, err := takeSOA(z.RRs, z.Serial)
	if err != nil {
		return s.fail(x, fmt.Errorf("read zone %s: %w", origin, err))
	}
	s.observe("axfr")
	return x.stream(func(yield func(dnszone.RR) bool) {
		yieldAll(yield, []dnszone.RR{soa}, others, []dnszone.RR{soa})
	})
}

// ixfr answers with the changes since the peer's serial (RFC 1995), condensed into
// one step. Over UDP it answers with the SOA alone, which makes the peer retry over
// TCP.
func (s *Server) ixfr(ctx context.Context, x *exchange, src source, origin string) error {
	from, ok := x.copySerial()
	if !ok {
		return s.refuse(x, dns.RcodeFormatError)
	}
	soa, err := src.SOA(ctx, origin)
	if err != nil {
		return s.fail(x, err)
	}
	serial, err := serialOf(soa)
	if err != nil {
		return s.fail(x, err)
	}
	if x.udp() || !dnssec.NewerSerial(serial, from) {
		s.observe("soa")
		return x.reply(dns.RcodeSuccess, wireRR(soa))
	}
	d, err := difference(ctx, src, origin, from)
	if err != nil {
		if deed.CodeOf(err) != deed.CodeNotFound {
			s.Log.Error("cannot read the changes of a zone", "zone", origin, "from", from, "err", err)
		}
		return s.axfr(ctx, x, src, origin)
	}
	s.observe("ixfr")
	return x.stream(func(yield func(dnszone.RR) bool) {
		yieldAll(yield, []dnszone.RR{d.after, d.before}, d.removed, []dnszone.RR{d.after}, d.added, []dnszone.RR{d.after})
	})
}

// copySerial returns the serial of the peer's copy of the zone, which an IXFR query has in its
// authority section (RFC 1995, 3).
func (x *exchange) copySerial() (uint32, bool) {
	if len(x.r.Ns) != 1 {
		return 0, false
	}
	soa, ok := x.r.Ns[0].(*dns.SOA)
	if !ok || dns.CanonicalName(soa.Hdr.Name) != dns.CanonicalName(x.r.Question[0].Name) {
		return 0, false
	}
	return soa.Serial, true
}

// A diff is the step from one serial to another, with the SOA of each.
type diff struct {
	before, after  dnszone.RR
	removed, added []dnszone.RR
}

func difference(ctx context.Context, src source, origin string, from uint32) (diff, error) {
	removed, added, serial, err := src.Changes(ctx, origin, from)
	if err != nil {
		return diff{}, err
	}
	var d diff
	if d.before, d.removed, err = takeSOA(removed, from); err != nil {
		return diff{}, fmt.Errorf("read the records removed from %s since %d: %w", origin, from, err)
	}
	if d.after, d.added, err = takeSOA(added, serial); err != nil {
		return diff{}, fmt.Errorf("read the records added to %s since %d: %w", origin, from, err)
	}
	return d, nil
}

// yieldAll yields the records of all parts, in order.
func yieldAll(yield func(dnszone.RR) bool, parts ...[]dnszone.RR) {
	for _, part := range parts {
		for _, rr := range part {
			if !yield(rr) {
				return
			}
		}
	}
}
