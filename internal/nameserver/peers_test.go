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
	for _, z := range zones {
		files = append(files, file(t, z))
	}
	codes := compareAnswers(t, peerTest{name: name, zones: zones, files: files, generator: newGenerator(r, zones), questions: questions})
	for _, kind := range []string{"positive", "empty", "no such name", "referral", "refused", "truncated"} {
		if codes[kind] == 0 {
			t.Errorf("no response was %s: the queries do not cover enough", kind)
		}
	}
}

// A peerTest is a comparison with another server.
type peerTest struct {
	name      string // of the server
	zones     []dnssec.ServedZone
	files     []peer.Zone // the same zones
	generator *generator
	questions int
}

// compareAnswers asks both servers, and counts the kinds of responses. It logs how many
// agreed.
func compareAnswers(t *testing.T, c peerTest) (kinds map[string]int) {
	t.Helper()
	server := serve(t, config())
	for _, z := range c.zones {
		if err := server.Publish(t.Context(), z); err != nil {
			t.Fatal(err)
		}
	}
	p, err := peer.Start(c.name, t.TempDir(), c.files)
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
	a, b := newClient(t, server.Addr().String()), newClient(t, p.Addr.String())
	agreed, permitted, different := 0, 0, 0
	types := map[uint16]bool{}
	kinds = map[string]int{}
	for range c.questions {
		q := c.generator.next()
		got, want := a.ask(t, q), b.ask(t, q)
		kinds[kindOf(got)]++
		types[q.typ] = true
		switch why := difference(q, got, want); {
		case why == "":
			agreed++
		case tolerated(c.name, q, got, want):
			permitted++
		default:
			t.Errorf("%s (edns %d, do %v, tcp %v): %s\nours:\n%v\n%s:\n%v", q, q.edns, q.do, q.tcp, why, got, c.name, want)
			if different++; different == 5 {
				t.Fatal("too many differences")
			}
		}
	}
	signed := signedQuery(t, query(c.zones[0].Origin, dns.TypeSOA), "some-key.")
	ours, theirs := responseTo(t, "udp", server.Addr().String(), signed), responseTo(t, "udp", p.Addr.String(), signed)
	if sig := theirs.IsTsig(); sig == nil || ours.IsTsig() == nil || ours.Rcode != theirs.Rcode || ours.IsTsig().Error != sig.Error || ours.IsTsig().MACSize != sig.MACSize {
		t.Errorf("an unknown key: ours:\n%v\n%s:\n%v", ours, c.name, theirs)
	}
	t.Logf("%s: %d questions about %d types in %d zones: %d agree, %d differ as the standards permit, %d differ; %v",
		c.name, c.questions, len(types), len(c.zones), agreed, permitted, different, kinds)
	return kinds
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
	case m.Rcode == dns.RcodeYXDomain:
		return "name too long"
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
	types  []uint16   // asked for
	sets   []question // name and type of all records
	exact  int        // one question in so many is for a record that exists; 0: all are random
	labels []string   // for names that do not exist
	long   []string   // labels that make a name long; none: names stay short
}

func newGenerator(r *rand.Rand, zones []dnssec.ServedZone) *generator {
	g := &generator{Rand: r, types: askedTypes, labels: []string{"a", "www", "zzz", "*", "0", "_x", "b", "c", "x1", "y"}}
	seen := map[string]bool{}
	for _, z := range zones {
		g.zones = append(g.zones, z.Origin)
		for _, rr := range z.RRs {
			seen[rr.Owner] = true
			if q := (question{name: rr.Owner, typ: rr.Type}); rr.Type != dns.TypeRRSIG && (len(g.sets) == 0 || g.sets[len(g.sets)-1] != q) {
				g.sets = append(g.sets, q)
			}
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
	q := question{typ: g.types[g.IntN(len(g.types))]}
	name, how := g.owners[g.IntN(len(g.owners))], g.IntN(12)
	if g.exact > 0 && g.IntN(g.exact) == 0 {
		set := g.sets[g.IntN(len(g.sets))]
		q.typ, name, how = set.typ, set.name, 7
	}
	switch how {
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
	if len(g.long) > 0 && g.IntN(4) == 0 {
		for next := name; len(next) <= 253; next = g.long[g.IntN(len(g.long))] + "." + name {
			name = next
		}
	}
	q.name = g.mixCase(dns.Fqdn(name))
	q.edns = []uint16{0, 512, 1232, 4096}[g.IntN(4)]
	q.do = q.edns > 0 && g.IntN(2) == 0
	q.tcp = g.IntN(8) == 0
	return q
}

func (g *generator) label() string { return g.labels[g.IntN(len(g.labels))] }

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
	addr     string
	udp, tcp *dns.Conn
	id       uint16
}

func newClient(t *testing.T, addr string) *client {
	t.Helper()
	a := &client{addr: addr}
	a.udp, a.tcp = a.dial(t, "udp"), a.dial(t, "tcp")
	return a
}

func (a *client) dial(t *testing.T, network string) *dns.Conn {
	t.Helper()
	conn, err := net.Dial(network, a.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() }) // it may be closed already
	return &dns.Conn{Conn: conn, UDPSize: 65535}
}

func (a *client) ask(t *testing.T, q question) *dns.Msg {
	t.Helper()
	a.id++
	m := new(dns.Msg).SetQuestion(q.name, q.typ)
	m.Id, m.RecursionDesired, m.CheckingDisabled, m.AuthenticatedData = a.id, a.id%2 == 0, a.id%3 == 0, a.id%5 == 0
	if q.edns > 0 {
		m.SetEdns0(q.edns, q.do)
	}
	conn := a.udp
	if q.tcp {
		conn = a.tcp
	}
	answer, err := exchange(conn, m)
	if err != nil && q.tcp { // servers close connections that are idle for a while
		a.tcp = a.dial(t, "tcp")
		answer, err = exchange(a.tcp, m)
	}
	if err != nil || answer.Id != m.Id {
		t.Fatalf("%s: got %v, %v", q, answer, err)
	}
	return answer
}

func exchange(conn *dns.Conn, m *dns.Msg) (*dns.Msg, error) {
	if err := conn.WriteMsg(m); err != nil {
		return nil, err
	}
	return conn.ReadMsg()
}
