package nameserver_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/nameserver/peer"
	"deed.example/deed/internal/nameserver/publishtest"
)

// Knot, NSD and BIND, with the same zones and the same queries, respond like this server:
// in code, flags, answer and authority. See tolerated for the exceptions.
func TestAnswersLikeKnot(t *testing.T) { compareWith(t, "knot", 3000) }
func TestAnswersLikeNSD(t *testing.T)  { compareWith(t, "nsd", 3000) }
func TestAnswersLikeBIND(t *testing.T) { compareWith(t, "bind", 3000) }

func compareWith(t *testing.T, name string, questions int) {
	r := rand.New(rand.NewPCG(1, uint64(questions)))
	zones := comparedZones(t, r)
	var files []peer.Zone
	server := serve(t, config())
	for _, z := range zones {
		files = append(files, file(t, z))
		if err := server.Publish(t.Context(), z); err != nil {
			t.Fatal(err)
		}
	}
	p, err := peer.Start(name, t.TempDir(), files)
	if errors.Is(err, peer.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	}()
	g := newGenerator(r, zones)
	a, b := newClient(t, server.Addr().String()), newClient(t, p.Addr.String())
	different, codes := 0, map[string]int{}
	for range questions {
		q := g.next()
		got, want := a.ask(t, q), b.ask(t, q)
		codes[kindOf(got)]++
		if why := difference(q, got, want); why != "" && !tolerated(name, q, got, want) {
			t.Errorf("%s (edns %d, do %v, tcp %v): %s\nours:\n%v\n%s:\n%v", q, q.edns, q.do, q.tcp, why, got, name, want)
			if different++; different == 5 {
				t.Fatal("too many differences")
			}
		}
	}
	for _, kind := range []string{"positive", "empty", "no such name", "referral", "refused", "truncated"} {
		if codes[kind] == 0 {
			t.Errorf("no response was %s: the queries do not cover enough", kind)
		}
	}
	t.Logf("%d questions: %v", questions, codes)
}

// kindOf classifies a response; the queries should cover all kinds.
func kindOf(m *dns.Msg) string {
	switch {
	case m.Truncated:
		return "truncated"
	case m.Rcode == dns.RcodeRefused:
		return "refused"
	case m.Rcode == dns.RcodeNameError:
		return "no such name"
	case len(m.Answer) > 0:
		return "positive"
	case !m.Authoritative:
		return "referral"
	}
	return "empty"
}

// comparedZones are plain and signed, one of them with its child.
func comparedZones(t *testing.T, r *rand.Rand) []dnssec.ServedZone {
	zones := []dnssec.ServedZone{publishtest.Zone(t, "plain.test", 1, big()...)}
	child := newSigner(t, "child.signed.test")
	parent := append(big(), "child 300 NS ns.child", "ns.child 300 A 192.0.2.56", strings.ReplaceAll(child.key.ToDS(dns.SHA256).String(), "\t", " "))
	zones = append(zones,
		newSigner(t, "signed.test").sign(t, publishtest.Zone(t, "signed.test", 1, parent...)),
		child.sign(t, publishtest.Zone(t, "child.signed.test", 1, "@ 300 NS ns", "ns 300 A 192.0.2.56", "*.w 300 A 192.0.2.57")))
	for i := range 8 {
		origin := fmt.Sprintf("random%d.test", i)
		z := publishtest.Zone(t, origin, 1, random(r)...)
		if i%2 == 0 {
			z = newSigner(t, origin).sign(t, z)
		}
		zones = append(zones, z)
	}
	return zones
}

// A question is a query for all servers.
type question struct {
	name string
	typ  uint16
	edns uint16 // 0 is without EDNS
	do   bool
	tcp  bool
}

func (q question) String() string { return q.name + " " + dns.Type(q.typ).String() }

// A generator generates queries for zones.
type generator struct {
	*rand.Rand
	owners []string // of all records of all zones
	zones  []string
}

func newGenerator(r *rand.Rand, zones []dnssec.ServedZone) *generator {
	g := &generator{Rand: r}
	seen := map[string]bool{}
	for _, z := range zones {
		g.zones = append(g.zones, z.Origin)
		for _, rr := range z.RRs {
			seen[rr.Owner] = true
		}
	}
	g.owners = slices.Sorted(maps.Keys(seen))
	return g
}

var askedTypes = []uint16{
	dns.TypeA, dns.TypeA, dns.TypeA, dns.TypeAAAA, dns.TypeTXT, dns.TypeMX, dns.TypeNS, dns.TypeSOA, dns.TypeCNAME, dns.TypeDS,
	dns.TypeDNSKEY, dns.TypeNSEC, dns.TypeSRV, dns.TypeCAA, dns.TypePTR, dns.TypeHTTPS, dns.TypeTLSA, dns.TypeSVCB, dns.TypeSSHFP,
	dns.TypeNAPTR, dns.TypeLOC, dns.TypeURI, dns.TypeOPENPGPKEY, dns.TypeSMIMEA, dns.TypeDNAME, dns.TypeHINFO, 65280, 65281,
}

func (g *generator) next() question {
	q := question{typ: askedTypes[g.IntN(len(askedTypes))]}
	name := g.owners[g.IntN(len(g.owners))]
	switch g.IntN(12) {
	case 0: // below a name that exists
		name = g.label() + "." + name
	case 1:
		name = g.label() + "." + g.label() + "." + name
	case 2, 3: // above it, or a sibling
		_, name, _ = strings.Cut(name, ".")
	case 4:
		_, name, _ = strings.Cut(name, ".")
		name = g.label() + "." + name
	case 5:
		name = g.label() + "." + g.zones[g.IntN(len(g.zones))]
	case 6:
		name = []string{"example.org", "test", "", "www.plain.test.example.org"}[g.IntN(4)]
	case 7: // a name that a wildcard matches
		name = strings.Replace(name, "*", g.label(), 1)
	}
	q.name = g.mixCase(dns.Fqdn(name))
	q.edns = []uint16{0, 512, 1232, 4096}[g.IntN(4)]
	q.do = q.edns > 0 && g.IntN(2) == 0
	q.tcp = g.IntN(8) == 0
	return q
}

func (g *generator) label() string {
	return []string{"a", "www", "zzz", "*", "0", "_x", "b", "c", "x1", "y"}[g.IntN(10)]
}

// mixCase writes some letters in upper case, as clients do to detect spoofed
// responses.
func (g *generator) mixCase(name string) string {
	b := []byte(name)
	for i, c := range b {
		if c >= 'a' && c <= 'z' && g.IntN(3) == 0 {
			b[i] = c - 32
		}
	}
	return string(b)
}

// A client queries one server, over one UDP and one TCP connection.
type client struct {
	udp, tcp *dns.Conn
	id       uint16
}

func newClient(t *testing.T, addr string) *client {
	t.Helper()
	a := &client{}
	for network, c := range map[string]**dns.Conn{"udp": &a.udp, "tcp": &a.tcp} {
		conn, err := net.Dial(network, addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		*c = &dns.Conn{Conn: conn, UDPSize: 65535}
	}
	return a
}

func (a *client) ask(t *testing.T, q question) *dns.Msg {
	t.Helper()
	a.id++
	m := new(dns.Msg).SetQuestion(q.name, q.typ)
	m.Id, m.RecursionDesired = a.id, a.id%2 == 0
	if q.edns > 0 {
		m.SetEdns0(q.edns, q.do)
	}
	conn := a.udp
	if q.tcp {
		conn = a.tcp
	}
	if err := conn.WriteMsg(m); err != nil {
		t.Fatal(err)
	}
	answer, err := conn.ReadMsg()
	if err != nil || answer.Id != m.Id {
		t.Fatalf("%s: got %v, %v", q, answer, err)
	}
	return answer
}

// difference describes how two responses differ, or returns "". Case, order and
// additional records are ignored.
func difference(q question, got, want *dns.Msg) string {
	switch {
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
	case !sameRecords(got.Answer, want.Answer):
		return "the answers differ"
	case !sameRecords(got.Ns, want.Ns):
		return "the authorities differ"
	case (got.IsEdns0() == nil) != (want.IsEdns0() == nil):
		return "one has EDNS"
	}
	return ""
}

func sameRecords(a, b []dns.RR) bool {
	return slices.Equal(recordTexts(a), recordTexts(b))
}

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

func isDNAME(rr dns.RR) bool { return rr.Header().Rrtype == dns.TypeDNAME }

// tolerated reports whether the standards permit the difference.
func tolerated(name string, q question, got, want *dns.Msg) bool {
	switch {
	case q.typ == dns.TypeNSEC && name == "nsd" && len(want.Answer) > len(got.Answer) && containsRecords(want.Answer, got.Answer) && want.Answer[len(got.Answer)].Header().Rrtype == dns.TypeCNAME:
		// An NSEC may coexist with a CNAME (RFC 4035, 2.5), so a query for NSEC
		// does not follow the CNAME. NSD follows it where there is no NSEC.
		return true
	case q.typ == dns.TypeNSEC && name == "knot" && sameRecords(got.Answer, want.Answer) && len(want.Ns) == 0:
		// An NSEC synthesized from a wildcard needs the proof that the name does
		// not exist (RFC 4035, 3.1.3.3). Knot uses the NSEC itself for that.
		return true
	case strings.HasPrefix(q.name, "*.") && name == "knot" && sameRecords(got.Answer, want.Answer) && got.Rcode == want.Rcode && got.Truncated == want.Truncated:
		// A name that begins with an asterisk and does not exist is synthesized
		// from a wildcard like any other (RFC 4592, 2.3), and needs the same proof.
		// Knot omits it.
		return containsRecords(got.Ns, want.Ns)
	case name == "nsd" && sameRecords(got.Answer, want.Answer) && slices.ContainsFunc(got.Answer, isDNAME) && !got.Truncated && !want.Truncated:
		// NSD omits the proof that the target of a DNAME does not exist, which a
		// validator needs (RFC 4035, 3.1.3.2).
		return containsRecords(got.Ns, want.Ns)
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
