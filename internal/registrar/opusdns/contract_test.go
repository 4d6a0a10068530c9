package opusdns_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/opusdns"
	"deed.example/deed/internal/registrar/opusdns/opusdnstest"
)

// Every endpoint in the table is used, and each request and reply is as documented.
func TestContract(t *testing.T) {
	e := open(t, func(c *opusdns.Config) {
		c.Contact, c.Registrant = "", opusdns.Contact{
			FirstName: "Grace", LastName: "Example", Organization: "Example Ltd", State: "NSW", Email: "names@example.com", Phone: "+44.2071234567",
			Street: "High St 1", City: "London", PostalCode: "N1 1AA", Country: "GB",
		}
	})
	o := e.order("contract.com")
	o.Nameservers = []string{"ns1.example.net", "ns2.example.net"}
	e.step(t, "register", func(ctx context.Context) error { return e.Place(ctx, o) })
	e.step(t, "lock", func(ctx context.Context) error { return e.SetLock(ctx, o.Name, false) })
	e.step(t, "name servers", func(ctx context.Context) error {
		return e.SetNameservers(ctx, o.Name, []string{"ns3.example.net", "ns2.example.net"})
	})
	keys := []dnssec.DS{{KeyTag: 12345, Algorithm: 13, DigestType: 2, Digest: strings.Repeat("0a", 32)}}
	e.step(t, "sign", func(ctx context.Context) error { return e.SetDS(ctx, o.Name, keys) })
	e.step(t, "unsign", func(ctx context.Context) error { return e.SetDS(ctx, o.Name, nil) })
	for _, addr := range []string{"192.0.2.1", "2001:db8::1"} {
		e.step(t, "host", func(ctx context.Context) error {
			return e.SetHost(ctx, "ns3.contract.com", []netip.Addr{netip.MustParseAddr(addr)})
		})
	}
	e.step(t, "no host", func(ctx context.Context) error { return e.DeleteHost(ctx, "ns3.contract.com") })
	owner := lifecycle.Contact{Name: "Ada Example", Street: []string{"1 Any Street", "Floor 2"}, City: "London", PostalCode: "N1 1AA", Country: "GB", Phone: "+44.2079460000", Email: "ada@example.com"}
	var handle string
	e.step(t, "registrant", func(ctx context.Context) (err error) { handle, err = e.SetRegistrant(ctx, o.Name, owner); return err })
	e.step(t, "registrant of record", func(ctx context.Context) error { return e.ResetRegistrant(ctx, o.Name) })
	e.step(t, "no contact", func(ctx context.Context) error { return e.DeleteContact(ctx, handle) })
	e.step(t, "prices", func(ctx context.Context) error { _, err := e.Price(ctx, e.order("new.com")); return err })
	e.step(t, "ping", e.Ping)
	e.step(t, "TLDs", func(ctx context.Context) error { _, err := e.TLDs(ctx); return err })
	e.step(t, "list", func(ctx context.Context) error { _, err := e.Holdings(ctx, "", 10); return err })
	e.vendor.AddEvent(opusdnstest.Event{Object: e.vendor.DomainID(o.Name), ObjectType: "DOMAIN", Type: "MODIFICATION", Subtype: "SUCCESS", Message: "changed"})
	e.step(t, "message", func(ctx context.Context) error {
		_, err := e.NextMessage(ctx, func(context.Context, registrar.Message) error { return nil })
		return err
	})
	e.transfers(t)
	e.step(t, "delete", func(ctx context.Context) error { return e.Delete(ctx, "movable.com") })
	e.redeem(t, o.Name)
	e.conforms(t)
	if unused := e.checker.Unused(); len(unused) > 0 {
		t.Errorf("never used: %v", unused)
	}
}

// step makes a call, which must succeed.
func (e *env) step(t *testing.T, title string, call func(context.Context) error) {
	t.Helper()
	if err := call(t.Context()); err != nil {
		t.Fatalf("%s: %v", title, err)
	}
}

// transfers transfers a name to us, cancels that, and rejects a transfer away.
func (e *env) transfers(t *testing.T) {
	t.Helper()
	code, err := e.registry.Elsewhere(t.Context(), "elsewhere.com")
	if err != nil {
		t.Fatal(err)
	}
	in := registrar.Order{Kind: registrar.OrderTransfer, Reference: "in", Name: "elsewhere.com", Years: 1, AuthCode: code, Submitted: e.Now()}
	e.step(t, "transferable", func(ctx context.Context) error { return e.Transferable(ctx, in.Name, code) })
	e.step(t, "transfer", func(ctx context.Context) error { return e.Place(ctx, in) })
	e.step(t, "cancel", func(ctx context.Context) error { return e.Cancel(ctx, in) })
	e.register(t, "movable.com")
	e.Advance(61 * 24 * time.Hour)
	e.step(t, "unlock", func(ctx context.Context) error { return e.SetLock(ctx, "movable.com", false) })
	out, err := e.AuthCode(t.Context(), "movable.com")
	if err != nil {
		t.Fatal(err)
	}
	e.step(t, "leave", func(ctx context.Context) error { return e.registry.Leave(ctx, "movable.com", out) })
	e.step(t, "reject", func(ctx context.Context) error { return e.DecideTransfer(ctx, "movable.com", false) })
}

// redeem lets the name expire, and restores and renews it.
func (e *env) redeem(t *testing.T, name deed.Name) {
	t.Helper()
	h, err := e.Holding(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	e.Advance(h.Expires.AddDate(0, 0, 46).Sub(e.Now()))
	o := registrar.Order{Kind: registrar.OrderRenew, Reference: "restore", Name: name, Years: 1, From: h.Expires, Restore: true, Submitted: e.Now()}
	e.step(t, "restore", func(ctx context.Context) error { return e.Place(ctx, o) })
}

// The table finds what is not as documented, in requests and in replies.
func TestCheckerFindsViolations(t *testing.T) {
	for _, c := range []struct {
		method, path, in string
		status           int
		out, want        string
	}{
		{"GET", "/v1/domains/one.com", "", 200, `{"name":"one.com","sld":"one","tld":"com"}`, "roid: it is missing"},
		{"GET", "/v1/domains/one.com", "", 200, `{"name":"one.com","sld":"one","tld":"com","roid":7}`, "not a string"},
		{"GET", "/v1/domains/one.com", "", 200, `{"name":"one.com","sld":"one","tld":"com","roid":"1","expires":"x"}`, "expires: it is not documented"},
		{"GET", "/v1/domains/one.com", "", 200, `{"name":"one.com","sld":"one","tld":"com","roid":"1","expires_on":"2027"}`, "not a time"},
		{"GET", "/v1/domains/one.com", "", 200, `{"name":"one.com","sld":"one","tld":"com","roid":"1","registry_statuses":["fine"]}`, "not one of"},
		{"GET", "/v1/domains/one.com", "", 200, `[]`, "not an object"},
		{"GET", "/v1/domains/one.com", "", 200, `{`, "not JSON"},
		{"GET", "/v1/domains/one.com", "", 207, `{}`, "status is not documented"},
		{"GET", "/v1/domains/one.com", "", 404, `{"title":"x","status":404}`, "type: it is missing"},
		{"GET", "/v1/domains?page=0", "", 200, `{"results":[],"pagination":{}}`, "?page"},
		{"GET", "/v1/domains?page_size=1001", "", 200, `{"results":[],"pagination":{}}`, "?page_size"},
		{"GET", "/v1/domains?size=10", "", 200, `{"results":[],"pagination":{}}`, "?size: it is not documented"},
		{"GET", "/v1/domains/check", "", 200, `{"results":[]}`, "?domains: it is missing"},
		{"GET", "/v2/domains", "", 200, `{}`, "no such endpoint"},
		{"POST", "/v1/domains", `{"name":"one.com"}`, 201, `{}`, "contacts: it is missing"},
		{"POST", "/v1/domains", `{"name":"one.com","contacts":{"owner":"contact_01h45ytscbebyvny4gc8cr8ma2"},"renewal_mode":"expire","period":{"unit":"y","value":1}}`, 201, `{}`, "owner is not one of"},
		{"POST", "/v1/domains", `{"name":"one.com","contacts":{},"renewal_mode":"never","period":{"unit":"y","value":0}}`, 201, `{}`, "never is not one of"},
		{"POST", "/v1/domains", `{"name":"one.com","contacts":{},"renewal_mode":"expire","period":{"unit":"y","value":1},"expected_price":"5"}`, 201, `{}`, "expected_price"},
		{"POST", "/v1/domains/one.com/renew", `{"period":{"unit":"y","value":1.5},"current_expiry_date":"2027-01-01T00:00:00Z"}`, 200, `{}`, "not a whole number"},
		{"PUT", "/v1/domains/one.com/dnssec", `[{"algorithm":13}]`, 200, `[]`, "record_type: it is missing"},
		{"PUT", "/v1/hosts/ns1.one.com", `{"ip_addresses":["nowhere"]}`, 200, `{}`, "not an address"},
		{"DELETE", "/v1/domains/one.com", `{}`, 204, ``, "it has no body"},
		{"PATCH", "/v1/events/event_01h45ytscbebyvny4gc8cr8ma2", "", 204, ``, "there is no key"},
	} {
		checker := &opusdnstest.Checker{Next: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if c.status >= 400 {
				w.Header().Set("Content-Type", "application/problem+json")
			}
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte(c.out)) // a recorder takes everything
		})}
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.in))
		r.Header.Set("Content-Type", "application/json")
		if c.method != "PATCH" {
			r.Header.Set("X-Api-Key", "key")
		}
		checker.ServeHTTP(httptest.NewRecorder(), r)
		if found := checker.Violations(); !slices.ContainsFunc(found, func(s string) bool { return strings.Contains(s, c.want) }) {
			t.Errorf("%s %s %s → %d %s: got %q, want %q", c.method, c.path, c.in, c.status, c.out, found, c.want)
		}
	}
}
