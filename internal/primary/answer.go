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

// A source gives zones: the Store its own, the Catalog itself.
type source interface {
	SOA(ctx context.Context, origin string) (dnszone.RR, error)
	Zone(ctx context.Context, origin string) (dnssec.ServedZone, error)
	Changes(ctx context.Context, origin string, from uint32) (gone, came []dnszone.RR, serial uint32, err error)
}

// answer answers one question. A stranger is hung up on, so that none can hold
// a connection for long. A transfer that broke cannot be mended: the connection
// is closed, and the secondary asks again.
func (s *Server) answer(w dns.ResponseWriter, r *dns.Msg) {
	x := &exchange{w: w, r: r, now: s.Now}
	admitted, err := s.admit(x)
	if admitted {
		err = s.serve(x)
	}
	if err != nil {
		s.Log.Warn("a secondary got no answer", "peer", w.RemoteAddr().String(), "zone", r.Question[0].Name, "err", err)
	}
	if err != nil || !admitted {
		_ = w.Close() // nothing more is said on it
	}
}

// admit reports whether the peer may read our zones, and tells it when not.
func (s *Server) admit(x *exchange) (bool, error) {
	if opt := x.r.IsEdns0(); opt != nil && opt.Version() != 0 {
		return false, s.refuse(x, dns.RcodeBadVers)
	}
	// Without a signature its status is nil too, as if it were a good one.
	if x.r.IsTsig() == nil {
		from := peer(x.w.RemoteAddr())
		if slices.ContainsFunc(s.Allow, func(p netip.Prefix) bool { return p.Contains(from) }) {
			return true, nil
		}
		return false, s.refuse(x, dns.RcodeRefused)
	}
	if err := x.w.TsigStatus(); err != nil {
		s.observe("refused")
		return false, x.refuseSignature(err)
	}
	return true, nil
}

func (s *Server) refuse(x *exchange, rcode int) error {
	s.observe("refused")
	return x.reply(rcode)
}

// serve answers a peer that was let in.
func (s *Server) serve(x *exchange) error {
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	q := x.r.Question[0]
	origin := strings.TrimSuffix(dns.CanonicalName(q.Name), ".")
	var src source = s.Store
	if s.Catalog != nil && origin == s.Catalog.Origin {
		src = s.Catalog
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

// fail tells the peer that the zone is not ours, or that it could not be read.
func (s *Server) fail(x *exchange, err error) error {
	if deed.CodeOf(err) == deed.CodeNotFound {
		return s.refuse(x, dns.RcodeNotAuth)
	}
	s.Log.Error("a zone could not be read for a secondary", "zone", x.r.Question[0].Name, "err", err)
	return s.refuse(x, dns.RcodeServerFailure)
}

// soa answers with the SOA alone.
func (s *Server) soa(ctx context.Context, x *exchange, src source, origin string) error {
	soa, err := src.SOA(ctx, origin)
	if err != nil {
		return s.fail(x, err)
	}
	s.observe("soa")
	return x.reply(dns.RcodeSuccess, message(soa))
}

// axfr answers with the whole zone, its SOA first and last (RFC 5936, 2.2).
func (s *Server) axfr(ctx context.Context, x *exchange, src source, origin string) error {
	z, err := src.Zone(ctx, origin)
	if err != nil {
		return s.fail(x, err)
	}
	soa, others, err := takeSOA(z.RRs, z.Serial)
	if err != nil {
		return s.fail(x, fmt.Errorf("read the zone %s: %w", origin, err))
	}
	s.observe("axfr")
	return x.stream(func(yield func(dnszone.RR) bool) {
		all(yield, []dnszone.RR{soa}, others, []dnszone.RR{soa})
	})
}

// ixfr answers with what changed since the serial that the peer has (RFC 1995),
// condensed into one step. Over UDP it answers with the SOA alone, which makes
// the peer ask again over TCP.
func (s *Server) ixfr(ctx context.Context, x *exchange, src source, origin string) error {
	from, ok := x.hasSerial()
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
	if x.udp() || !newer(serial, from) {
		s.observe("soa")
		return x.reply(dns.RcodeSuccess, message(soa))
	}
	d, err := difference(ctx, src, origin, from)
	if err != nil {
		if deed.CodeOf(err) != deed.CodeNotFound {
			s.Log.Error("the changes of a zone could not be read", "zone", origin, "from", from, "err", err)
		}
		return s.axfr(ctx, x, src, origin)
	}
	s.observe("ixfr")
	return x.stream(func(yield func(dnszone.RR) bool) {
		all(yield, []dnszone.RR{d.now, d.then}, d.gone, []dnszone.RR{d.now}, d.came, []dnszone.RR{d.now})
	})
}

// hasSerial returns the serial of the zone that the peer has.
func (x *exchange) hasSerial() (uint32, bool) {
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
	then, now  dnszone.RR
	gone, came []dnszone.RR
}

func difference(ctx context.Context, src source, origin string, from uint32) (diff, error) {
	gone, came, serial, err := src.Changes(ctx, origin, from)
	if err != nil {
		return diff{}, err
	}
	var d diff
	if d.then, d.gone, err = takeSOA(gone, from); err != nil {
		return diff{}, fmt.Errorf("read what is gone from %s since %d: %w", origin, from, err)
	}
	if d.now, d.came, err = takeSOA(came, serial); err != nil {
		return diff{}, fmt.Errorf("read what came to %s since %d: %w", origin, from, err)
	}
	return d, nil
}

// all hands over the records of all parts.
func all(yield func(dnszone.RR) bool, parts ...[]dnszone.RR) {
	for _, part := range parts {
		for _, rr := range part {
			if !yield(rr) {
				return
			}
		}
	}
}
