package main

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	_ "modernc.org/sqlite" // PowerDNS keeps its zones in a file of SQLite

	"deed.example/deed/api"
	"deed.example/deed/client"
	"deed.example/deed/internal/freeport"
	"deed.example/deed/internal/nameserver/peer"
)

// A fleet is the service as the primary of other name servers, which are configured
// as docs/secondaries.md says.
type fleet struct {
	*node
	primary string   // its address
	servers []string // addresses of all name servers; the first is the embedded one
	nsd     *peer.Daemon
}

func startFleet(t *testing.T) *fleet {
	t.Helper()
	page, err := os.ReadFile("../../docs/secondaries.md")
	if err != nil {
		t.Fatal(err)
	}
	addr, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	knot := alongside(t, func(dir string) (*peer.Daemon, error) {
		return peer.StartKnot(dir, string(page), addr.Port(), fleetSecret)
	})
	bind := alongside(t, func(dir string) (*peer.Daemon, error) {
		return peer.StartBIND(dir, string(page), addr.Port(), fleetSecret)
	})
	nsd := alongside(t, func(dir string) (*peer.Daemon, error) {
		return peer.StartNSD(dir, string(page), addr.Port(), fleetSecret)
	})
	pdns := alongside(t, func(dir string) (*peer.Daemon, error) {
		return peer.StartPowerDNS(dir, string(page), addr.Port(), execSQLite)
	})
	keys := filepath.Join(t.TempDir(), "tsig")
	if err := os.WriteFile(keys, []byte("# of the fleet\nfleet-2026 "+fleetSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n := start(t, t.TempDir(), "DEED_LIMITS_REGISTER=1000", "DEED_LIMITS_DNS=100000", "DEED_DNS_TSIG="+keys, "DEED_DNS_PRIMARY_LISTEN="+addr.String(), "DEED_DNS_PRIMARY_ALLOW=127.0.0.1/32",
		fmt.Sprintf("DEED_DNS_SECONDARIES=knot@%s/fleet-2026,bind@%s/fleet-2026,nsd@%s/fleet-2026,pdns@%s", knot.Addr, bind.Addr, nsd.Addr, pdns.Addr))
	return &fleet{n, addr.String(), []string{n.sandbox(t).DNS, knot.Addr.String(), bind.Addr.String(), nsd.Addr.String(), pdns.Addr.String()}, nsd}
}

func execSQLite(file, statements string) error {
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return err
	}
	_, err = db.Exec(statements)
	return errors.Join(err, db.Close())
}

// A name that is bought, changed and lost over HTTP comes to Knot, BIND and PowerDNS
// by itself, and to NSD, which has no catalog, by a command: they answer as the
// embedded server does, the service says so, and nothing of the name is answered
// when it is no longer served.
func TestFleetFollows(t *testing.T) {
	n := startFleet(t)
	servers := n.servers
	c := n.owner(t)
	const domain = "fleet.com"
	sell(t, c, domain, api.RecordRequest{Type: "A", Host: "@", Value: "192.0.2.1"})
	ten := 10
	for _, rec := range []api.RecordRequest{
		{Type: "A", Host: "www", Value: "192.0.2.2"}, {Type: "MX", Host: "@", Value: "mail.fleet.com", Distance: &ten},
		{Type: "TXT", Host: "*.any", Value: `a "quoted"; text`}, {Type: "CNAME", Host: "alias", Value: "www.fleet.com"},
		{Type: "NS", Host: "sub", Value: "ns.example.net"},
	} {
		if _, err := c.AddRecord(t.Context(), domain, rec); err != nil {
			t.Fatalf("%+v: %v", rec, err)
		}
	}
	lacks := func() string {
		seen, err := c.Propagation(t.Context(), domain)
		if err != nil {
			t.Fatal(err)
		}
		return seen.Servers[3].Error
	}
	waitFor(t, func() bool {
		return strings.Contains(lacks(), "REFUSED: it does not have the zone") || strings.Contains(lacks(), "SERVFAIL")
	})
	if err := n.nsd.NSDControl("addzone", domain, "member"); err != nil {
		t.Fatal(err)
	}
	inSync(t, c, domain, "embedded", "knot", "bind", "nsd", "pdns")
	for _, q := range []string{"@ A", "@ AAAA", "@ MX", "@ SOA", "@ NS", "@ DNSKEY", "@ CDS", "www A", "www TXT", "x.any TXT", "y.x.any TXT",
		"any A", "alias A", "missing A", "sub NS", "host.sub A"} {
		sameAnswers(t, domain, q, servers)
	}
	verifyTransfer(t, n.primary, domain)

	n.age(t, "401d") // past its grace
	n.see(t, domain, "redemption")
	for _, addr := range servers {
		waitFor(t, func() bool { return !answers(t, "www."+domain, addr) })
	}
	if _, err := c.Renew(t.Context(), api.RenewRequest{Domain: domain}); err != nil {
		t.Fatal(err)
	}
	for _, addr := range servers { // restored, as it was
		waitFor(t, func() bool { return signs(t, "www."+domain, addr) })
	}
	inSync(t, c, domain, "embedded", "knot", "bind", "nsd", "pdns")
	sameAnswers(t, domain, "www A", servers)
	n.stop(t)
}

// answers says whether the server has an address of the host.
func answers(t *testing.T, host, addr string) bool {
	t.Helper()
	r := exchange(t, ask(host+".", dns.TypeA), addr)
	return r.Rcode == dns.RcodeSuccess && len(r.Answer) > 0
}

// signs says whether the server has an address of the host, with its signature.
func signs(t *testing.T, host, addr string) bool {
	t.Helper()
	return slices.ContainsFunc(exchange(t, ask(host+".", dns.TypeA), addr).Answer, func(rr dns.RR) bool { return rr.Header().Rrtype == dns.TypeRRSIG })
}

// inSync waits until the service says that all its name servers have the zone as
// it is, and wants them to be these.
func inSync(t *testing.T, c *client.Client, domain string, want ...string) {
	t.Helper()
	var seen api.Propagation
	waitFor(t, func() bool {
		var err error
		if seen, err = c.Propagation(t.Context(), domain); err != nil {
			t.Fatal(err)
		}
		return !slices.ContainsFunc(seen.Servers, func(s api.ServerPropagation) bool {
			return !s.InSync || s.Serial != seen.Serial || s.LagSeconds != 0 || s.Error != ""
		})
	})
	var names []string
	for _, s := range seen.Servers {
		names = append(names, s.Server)
	}
	if !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
}

// sameAnswers compares what all servers say to one question, such as "www A", and asks
// again those that differ from the first: a server that loads a zone may fail, or serve
// it without signatures for a moment.
func sameAnswers(t *testing.T, domain, q string, servers []string) {
	t.Helper()
	host, kind, _ := strings.Cut(q, " ")
	name := host + "." + domain + "."
	if host == "@" {
		name = domain + "."
	}
	question := ask(name, dns.StringToType[kind])
	deadline := time.Now().Add(3 * time.Minute)
	for _, addr := range servers[1:] {
		for {
			got, want := answer(t, question, addr), answer(t, question, servers[0])
			if got == want {
				break
			}
			if time.Now().After(deadline) {
				t.Errorf("%s %s: %s says\n%s\n\nand the embedded server\n%s", domain, q, addr, got, want)
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// answer is what the server says to the question. Signatures are part of it: they were
// made once. What a server adds beyond the answer is its own affair.
func answer(t *testing.T, question *dns.Msg, addr string) string {
	t.Helper()
	r := exchange(t, question, addr)
	var lines []string
	for _, rr := range r.Answer {
		lines = append(lines, rr.String())
	}
	for _, rr := range r.Ns {
		if r.Rcode != dns.RcodeSuccess || len(r.Answer) == 0 { // a proof or a referral
			lines = append(lines, rr.String())
		}
	}
	slices.Sort(lines)
	return fmt.Sprintf("%s aa=%t\n%s", dns.RcodeToString[r.Rcode], r.Authoritative, strings.Join(lines, "\n"))
}
