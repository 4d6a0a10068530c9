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

// house is a primary that runs.
type house struct {
	*memory
	server  *primary.Server
	catalog *primary.Catalog
	addr    string
	closed  sync.Once

	mu      sync.Mutex
	answers map[string]int // guarded by mu
}

// open starts a primary; the peers in allow need no signature.
func open(t *testing.T, allow ...netip.Prefix) *house {
	t.Helper()
	h := &house{memory: newMemory(), answers: map[string]int{}}
	h.catalog = &primary.Catalog{Origin: catalog, Store: h.memory}
	h.server = &primary.Server{
		Store: h.memory, Catalog: h.catalog, Keys: []primary.Key{key(t)}, Allow: allow,
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
func (h *house) close(t *testing.T) {
	t.Helper()
	h.closed.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := h.server.Close(ctx); err != nil {
			t.Error(err)
		}
	})
}

// count returns how often the primary gave such an answer.
func (h *house) count(answer string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.answers[answer]
}

// signed returns a question with a good signature.
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

// secrets are what a test client signs with, besides the right key.
var secrets = map[string]string{keyName + ".": secret}

// ask sends one question to the primary and returns its first answer.
func (h *house) ask(t *testing.T, network string, m *dns.Msg) *dns.Msg {
	t.Helper()
	c := &dns.Client{Net: network, TsigSecret: secrets, Timeout: 10 * time.Second}
	r, _, err := c.Exchange(m, h.addr)
	if err != nil {
		t.Fatalf("%s %v: %v", network, m.Question, err)
	}
	return r
}

// transfer returns all records of a transfer from addr, in their order, and how
// many messages they came in. Every message must be signed when m is.
func transfer(t *testing.T, addr string, m *dns.Msg) (rrs []dnszone.RR, messages int) {
	t.Helper()
	tr := &dns.Transfer{ReadTimeout: 10 * time.Second}
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
		t.Errorf("%s: too many: %s %s %q", what, rr.Owner, dns.TypeToString[rr.Type], rr.Data)
	}
	for _, rr := range minus(want, got) {
		t.Errorf("%s: missing: %s %s %q", what, rr.Owner, dns.TypeToString[rr.Type], rr.Data)
	}
	if len(got) != len(want) {
		t.Errorf("%s: got %d records, want %d", what, len(got), len(want))
	}
}

// body takes the SOA off both ends of a whole transfer.
func body(t *testing.T, rrs []dnszone.RR) []dnszone.RR {
	t.Helper()
	if len(rrs) < 2 || rrs[0].Type != dns.TypeSOA || rrs[0] != rrs[len(rrs)-1] {
		t.Fatalf("a transfer of %d records has not the same SOA at both ends", len(rrs))
	}
	return rrs[:len(rrs)-1]
}

// apply does what an IXFR of one step says.
func apply(t *testing.T, zone, rrs []dnszone.RR) []dnszone.RR {
	t.Helper()
	var soas []int
	for i, rr := range rrs {
		if rr.Type == dns.TypeSOA {
			soas = append(soas, i)
		}
	}
	if len(soas) != 4 || soas[0] != 0 || soas[1] != 1 || soas[3] != len(rrs)-1 || rrs[0] != rrs[soas[2]] || rrs[0] != rrs[soas[3]] {
		t.Fatalf("no incremental transfer of one step: its SOAs are at %v of %d", soas, len(rrs))
	}
	gone, came := rrs[1:soas[2]], rrs[soas[2]:soas[3]]
	if left := minus(gone, zone); len(left) > 0 {
		t.Fatalf("gone, but never there: %v", left)
	}
	return append(minus(zone, gone), slices.Clone(came)...)
}
