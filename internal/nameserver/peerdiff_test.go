package nameserver_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// difference describes how two responses differ, or returns "". Case, order and
// additional records are ignored.
func difference(q question, got, want *dns.Msg) string {
	switch {
	case repeats(got.Answer) || repeats(got.Ns):
		return "a record is there twice"
	case len(got.Question) != 1 || got.Question[0].Name != q.name:
		return "the question differs"
	case got.Rcode != want.Rcode:
		return fmt.Sprintf("got %s, want %s", dns.RcodeToString[got.Rcode], dns.RcodeToString[want.Rcode])
	case got.Truncated != want.Truncated:
		return fmt.Sprintf("truncated: got %v, want %v", got.Truncated, want.Truncated)
	case got.Truncated:
		return "" // its records do not matter (RFC 2181, 9)
	case got.Authoritative != want.Authoritative:
		return fmt.Sprintf("authoritative: got %v, want %v", got.Authoritative, want.Authoritative)
	case got.RecursionDesired != want.RecursionDesired || got.RecursionAvailable:
		return "recursion"
	case got.CheckingDisabled || got.AuthenticatedData:
		return "it is not for a server of the zone to set CD or AD (RFC 4035, 3.1.6)"
	case chosen(q.typ) && (len(got.Answer) > 0) != (len(want.Answer) > 0):
		return "only one has an answer"
	case chosen(q.typ):
		return ""
	case !sameRecords(got.Answer, want.Answer):
		return "the answers differ"
	case !sameRecords(got.Ns, want.Ns):
		return "the authorities differ"
	case (got.IsEdns0() == nil) != (want.IsEdns0() == nil):
		return "one has EDNS"
	}
	return ""
}

// chosen reports whether the server chooses which records it sends for the type (RFC 8482,
// 4 and 7).
func chosen(typ uint16) bool { return typ == dns.TypeANY || typ == dns.TypeRRSIG }

func sameRecords(a, b []dns.RR) bool {
	return slices.Equal(recordTexts(a), recordTexts(b))
}

// repeats reports whether a record is there more than once (RFC 2181, 5).
func repeats(rrs []dns.RR) bool { return len(recordTexts(rrs)) < len(rrs) }

func containsRecords(all, some []dns.RR) bool {
	texts := recordTexts(all)
	return !slices.ContainsFunc(recordTexts(some), func(s string) bool { return !slices.Contains(texts, s) })
}

func recordTexts(rrs []dns.RR) []string {
	var texts []string
	for _, rr := range rrs {
		texts = append(texts, strings.ToLower(rr.String()))
	}
	slices.Sort(texts)
	return slices.Compact(texts) // Knot follows a loop of CNAMEs once more
}

// isProof reports whether the record is an NSEC, or its signature.
func isProof(rr dns.RR) bool {
	sig, signed := rr.(*dns.RRSIG)
	return rr.Header().Rrtype == dns.TypeNSEC || signed && sig.TypeCovered == dns.TypeNSEC
}

func isNS(rr dns.RR) bool { return rr.Header().Rrtype == dns.TypeNS }

func isDNAME(rr dns.RR) bool { return rr.Header().Rrtype == dns.TypeDNAME }

// tolerated reports whether the standards permit the difference.
func tolerated(name string, q question, got, want *dns.Msg) bool {
	switch {
	case chosen(q.typ) && got.Truncated != want.Truncated, got.Truncated && want.Truncated, len(q.name) > 64 && got.Truncated != want.Truncated:
		return true // the client asks again; how a long name is compressed is up to the server
	case q.typ == dns.TypeRRSIG && name == "nsd" && len(got.Answer) == 0 && len(want.Answer) > 0 && want.Answer[0].Header().Rrtype == dns.TypeCNAME:
		return true // as for NSEC, below
	case q.typ == dns.TypeANY && slices.ContainsFunc(got.Answer, isDNAME) && sameRecords(got.Answer, want.Answer):
		return true // the CNAME that follows from a DNAME is an answer to ANY; Knot and NSD go on from there
	case name == "knot" && got.Rcode == dns.RcodeYXDomain && containsRecords(want.Answer, got.Answer) && !want.Truncated:
		return true // Knot goes on although a DNAME makes the name too long (RFC 6672, 2.2)
	case name == "knot" && slices.ContainsFunc(got.Answer, isDNAME) && containsRecords(got.Answer, want.Answer) && len(want.Ns) == 0:
		return true // Knot ends with an answer that has a DNAME twice, and sometimes without the SOA
	case q.typ == dns.TypeNSEC && name == "nsd" && len(want.Answer) > len(got.Answer) && containsRecords(want.Answer, got.Answer) && want.Answer[len(got.Answer)].Header().Rrtype == dns.TypeCNAME:
		// An NSEC may coexist with a CNAME (RFC 4035, 2.5), so a query for NSEC
		// does not follow the CNAME. NSD follows it where there is no NSEC.
		return true
	case q.typ == dns.TypeNSEC && name == "knot" && got.Rcode == want.Rcode && len(want.Answer) > 0 && len(want.Ns) == 0 && (got.Truncated || sameRecords(got.Answer, want.Answer)):
		// An NSEC synthesized from a wildcard needs the proof that the name does
		// not exist (RFC 4035, 3.1.3.3). Knot uses the NSEC itself for that, so its
		// response may fit when ours does not.
		return true
	case strings.HasPrefix(q.name, "*.") && name == "knot" && sameRecords(got.Answer, want.Answer) && got.Rcode == want.Rcode && got.Truncated == want.Truncated:
		// A name that begins with an asterisk and does not exist is synthesized
		// from a wildcard like any other (RFC 4592, 2.3), and needs the same proof.
		// Knot omits it.
		return containsRecords(got.Ns, want.Ns)
	case strings.HasPrefix(q.name, "*.") && name == "knot" && q.do && got.Rcode == want.Rcode && got.Truncated && !want.Truncated:
		return true // likewise: the whole proof does not fit
	case name == "nsd" && sameRecords(got.Answer, want.Answer) && slices.ContainsFunc(got.Answer, isDNAME) && !got.Truncated && !want.Truncated:
		// NSD omits the proof that the target of a DNAME does not exist, which a
		// validator needs (RFC 4035, 3.1.3.2), or has an NSEC that does not prove it.
		return containsRecords(got.Ns, slices.DeleteFunc(slices.Clone(want.Ns), isProof))
	case name == "nsd" && want.Truncated && !got.Truncated && got.Rcode == want.Rcode && slices.ContainsFunc(got.Ns, isNS):
		return true // addresses of servers that are not below the delegation are optional (RFC 9471, 3), not for NSD
	case name == "bind" && q.typ == dns.TypeNSEC && !got.Authoritative && want.Authoritative:
		return true // BIND answers for the NSEC at a delegation, the others refer
	case name == "bind" && want.Rcode == dns.RcodeServerFailure && sameRecords(got.Answer, want.Answer):
		return true // BIND reports a loop of CNAMEs as an error, after the same answer
	case name == "knot" && want.Truncated && got.Rcode == want.Rcode && len(recordTexts(want.Answer)) < len(want.Answer):
		return true // Knot follows a loop of CNAMEs once more, which may not fit
	case got.Rcode != want.Rcode || got.Truncated == want.Truncated:
		return false
	}
	// How well names are compressed is up to the server (RFC 1035, 4.1.4): a
	// response that just fits on one server may not fit on another.
	whole, limit := got, max(dns.MinMsgSize, min(int(q.edns), 1232))
	if got.Truncated {
		whole = want
	}
	whole.Compress = !slices.ContainsFunc(whole.Answer, isDNAME) // only some compress with the target of a DNAME
	return whole.Len() > limit-64
}
