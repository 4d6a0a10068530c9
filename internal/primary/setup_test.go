package primary_test

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/primary"
)

const (
	keyName = "fleet-2026" // as in docs/secondaries.md
	secret  = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	catalog = "catalog.invalid"
)

func key(t *testing.T) primary.Key {
	t.Helper()
	k, err := primary.ParseKey(keyName, secret)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// testPrimary is a running primary with a store in memory.
type testPrimary struct {
	*memory
	server  *primary.Server
	catalog *primary.Catalog
	addr    string
	closed  sync.Once

	mu      sync.Mutex
	answers map[string]int // guarded by mu
}

// patience is how long a test waits on a busy machine. The primary waits for longer, so
// that it is never what closes a connection.
const patience = 2 * time.Minute

// open starts a primary; the peers in allow need no signature.
func open(t *testing.T, allow ...netip.Prefix) *testPrimary {
	t.Helper()
	h := &testPrimary{memory: newMemory(), answers: map[string]int{}}
	h.catalog = &primary.Catalog{Origin: catalog, Store: h.memory}
	h.server = &primary.Server{
		Store: h.memory, Catalog: h.catalog, Keys: []primary.Key{key(t)}, Allow: allow, NSID: "ams1", ReadTimeout: patience * 2, IdleTimeout: patience * 2,
		Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Observe: func(answer string) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.answers[answer]++
		},
	}
	if err := h.server.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	h.addr = h.server.Addr().String()
	t.Cleanup(func() { h.close(t) })
	return h
}

// close stops the primary, once.
func (h *testPrimary) close(t *testing.T) {
	t.Helper()
	h.closed.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := h.server.Close(ctx); err != nil {
			t.Error(err)
		}
	})
}

// count returns the number of such responses of the primary.
func (h *testPrimary) count(answer string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.answers[answer]
}

// signed returns m with a valid signature.
func signed(m *dns.Msg) *dns.Msg {
	return m.SetTsig(keyName+".", dns.HmacSHA256, 300, time.Now().Unix())
}

func question(name string, qtype uint16) *dns.Msg {
	m := new(dns.Msg)
	m.SetQuestion(name, qtype)
	m.RecursionDesired = false
	return m
}

func ixfr(origin string, have uint32) *dns.Msg {
	m := new(dns.Msg)
	return m.SetIxfr(origin+".", have, "ns1.example.net.", "hostmaster.example.net.")
}

// secrets are the TSIG secrets of a test client, by key name.
var secrets = map[string]string{keyName + ".": secret}

// ask sends one query to the primary and returns its first response.
func (h *testPrimary) ask(t *testing.T, network string, m *dns.Msg) *dns.Msg {
	t.Helper()
	c := &dns.Client{Net: network, TsigSecret: secrets, Timeout: patience}
	r, _, err := c.Exchange(m, h.addr)
	if err != nil {
		t.Fatalf("%s %v: %v", network, m.Question, err)
	}
	return r
}

// transfer returns all records of a transfer from addr, in order, and the number
// of messages. Every message must be signed when m is.
func transfer(t *testing.T, addr string, m *dns.Msg) (rrs []dnszone.RR, messages int) {
	t.Helper()
	tr := &dns.Transfer{ReadTimeout: patience}
	if m.IsTsig() != nil {
		tr.TsigSecret = secrets
	}
	parts, err := tr.In(m, addr)
	if err != nil {
		t.Fatal(err)
	}
	for part := range parts {
		if part.Error != nil {
			t.Fatal(part.Error)
		}
		messages++
		for _, rr := range part.RR {
			rrs = append(rrs, fromWire(t, rr))
		}
	}
	return rrs, messages
}

// sameRecords compares two zones as sets.
func sameRecords(t *testing.T, what string, got, want []dnszone.RR) {
	t.Helper()
	for _, rr := range minus(got, want) {
		t.Errorf("%s: unexpected: %s %s %q", what, rr.Owner, dns.TypeToString[rr.Type], rr.Data)
	}
	for _, rr := range minus(want, got) {
		t.Errorf("%s: missing: %s %s %q", what, rr.Owner, dns.TypeToString[rr.Type], rr.Data)
	}
	if len(got) != len(want) {
		t.Errorf("%s: got %d records, want %d", what, len(got), len(want))
	}
}

// body returns the records of a full transfer without the repeated SOA at its end.
func body(t *testing.T, rrs []dnszone.RR) []dnszone.RR {
	t.Helper()
	if len(rrs) < 2 || rrs[0].Type != dns.TypeSOA || rrs[0] != rrs[len(rrs)-1] {
		t.Fatalf("a transfer of %d records does not have the same SOA at both ends", len(rrs))
	}
	return rrs[:len(rrs)-1]
}

// apply applies an IXFR of one step.
func apply(t *testing.T, zone, rrs []dnszone.RR) []dnszone.RR {
	t.Helper()
	var soas []int
	for i, rr := range rrs {
		if rr.Type == dns.TypeSOA {
			soas = append(soas, i)
		}
	}
	if len(soas) != 4 || soas[0] != 0 || soas[1] != 1 || soas[3] != len(rrs)-1 || rrs[0] != rrs[soas[2]] || rrs[0] != rrs[soas[3]] {
		t.Fatalf("not an incremental transfer of one step: its SOAs are at %v of %d", soas, len(rrs))
	}
	removed, added := rrs[1:soas[2]], rrs[soas[2]:soas[3]]
	if unknown := minus(removed, zone); len(unknown) > 0 {
		t.Fatalf("removed, but not in the zone: %v", unknown)
	}
	return append(minus(zone, removed), slices.Clone(added)...)
}
