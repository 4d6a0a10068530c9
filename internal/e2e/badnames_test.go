package e2e_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/registrar/local"
)

// badNames cannot be registered.
var badNames = map[string]string{
	"a path":                  "a.com/evil",
	"a NUL":                   "a\x00.com",
	"a NUL at the end":        "a.com\x00",
	"a line":                  "a.com\n",
	"a line inside":           "a\n.com",
	"right to left":           "a\u202ecom.moc",
	"right to left in a name": "a\u202eb.com",
	"300 characters":          strings.Repeat("a", 300) + ".com",
	"300 in short labels":     strings.Repeat("a.", 150) + "com",
	"two dots":                "a..com",
	"a dot first":             ".a.com",
	"a hyphen first":          "-a.com",
	"a hyphen last":           "a-.com",
	"a star":                  "*.com",
	"an underscore":           "_a.com",
	"a TLD":                   "com",
	"a public suffix":         "co.uk",
	"an address":              "1.2.3.4",
	"an address of IPv6":      "[2001:db8::1]",
	"mixed scripts":           "pаypal.com", // the second letter is Cyrillic
	"mixed, in ASCII":         "xn--pypal-4ve.com",
	"hyphens of xn--":         "ab--cd.com",
	"no punycode":             "xn--a.com",
	"a host":                  "www.example.com",
	"a space":                 "a b.com",
	"a symbol":                "i❤.com",
	"a SQL quote":             "a';--.com",
}

// A namedRoute is a route with a name as parameter.
type namedRoute struct {
	endpoint string // "PUT /domains/{domain}/lock"; a name in the body or the query is in none of the braces
	body     string // with %s for the name in JSON, when it stands there
	query    string // likewise, in the query
	media    string // of the body, when it is not JSON
	bearer   bool
}

// namedRoutes are all such routes. A new one must be added.
var namedRoutes = []namedRoute{
	{endpoint: "POST /domains/register", body: `{"domain":%s}`},
	{endpoint: "POST /domains/renew", body: `{"domain":%s}`},
	{endpoint: "POST /domains/transfer", body: `{"domain":%s,"authCode":"code"}`},
	{endpoint: "GET /domains/check", query: "?domains=%s"},
	{endpoint: "GET /domains/{domain}"},
	{endpoint: "POST /domains/{domain}/authcode", bearer: true},
	{endpoint: "POST /domains/{domain}/cancel", body: `{"dryRun":true}`, bearer: true},
	{endpoint: "PUT /domains/{domain}/lock", body: `{"locked":false}`, bearer: true},
	{endpoint: "PUT /domains/{domain}/ds", body: `{"ds":[]}`, bearer: true},
	{endpoint: "PUT /domains/{domain}/nameservers", body: `{"nameservers":["ns1.example.net","ns2.example.net"]}`, bearer: true},
	{endpoint: "PUT /domains/{domain}/owner", body: `{"walletAddress":"0x71c7656ec7ab88b098defb751b7401b5f6d8976f"}`, bearer: true},
	{endpoint: "GET /domains/{domain}/registrant", bearer: true},
	{endpoint: "PUT /domains/{domain}/registrant", body: `{"name":"Ada Example","street":["1 Any Street"],"city":"London","country":"GB","phone":"+44.2079460000","email":"ada@example.com"}`, bearer: true},
	{endpoint: "DELETE /domains/{domain}/registrant", bearer: true},
	{endpoint: "GET /dns/{domain}", bearer: true},
	{endpoint: "POST /dns/{domain}", body: `{"type":"A","host":"www","value":"192.0.2.10"}`, bearer: true},
	{endpoint: "PUT /dns/{domain}/{recordId}", body: `{"ttl":60}`, bearer: true},
	{endpoint: "DELETE /dns/{domain}/{recordId}", bearer: true},
	{endpoint: "POST /dns/{domain}/batch", body: `{"changes":[{"op":"add","type":"A","host":"www","value":"192.0.2.10"}]}`, bearer: true},
	{endpoint: "GET /dns/{domain}/export", bearer: true},
	{endpoint: "POST /dns/{domain}/import", body: "www 300 IN A 192.0.2.10\n", media: "text/dns", bearer: true},
	{endpoint: "GET /dns/{domain}/revisions", bearer: true},
	{endpoint: "POST /dns/{domain}/rollback/{revision}", bearer: true},
	{endpoint: "GET /dns/{domain}/propagation", bearer: true},
	{endpoint: "GET /account/mandates/{domain}", bearer: true},
	{endpoint: "GET /account/mandates/{domain}/plan", bearer: true},
	{endpoint: "POST /account/mandates/{domain}", body: `{"mandates":[]}`, bearer: true},
	{endpoint: "DELETE /account/mandates/{domain}", bearer: true},
	{endpoint: "GET /rdap/domain/{name}"},
}

// ask makes the call with a name.
func (r namedRoute) ask(t *testing.T, s *env, name, token, payment string) answer {
	t.Helper()
	method, path, _ := strings.Cut(r.endpoint, " ")
	path = strings.NewReplacer("{domain}", url.PathEscape(name), "{name}", url.PathEscape(name), "{recordId}", "rec_1", "{revision}", "1").Replace(path)
	if r.query != "" {
		path += fmt.Sprintf(r.query, url.QueryEscape(name))
	}
	body := r.body
	if strings.Contains(body, "%s") {
		body = fmt.Sprintf(body, quoteJSON(t, name))
	}
	headers := []string{"PAYMENT-SIGNATURE", payment}
	if r.bearer {
		headers = append(headers, "Authorization", token)
	}
	if r.media != "" {
		headers = append(headers, "Content-Type", r.media)
	}
	return s.do(t, method, path, body, headers...)
}

// Every bad name on every route is 400, before the registry, the chain or the
// database is used: the registry is down, the chain hangs, and the payment stays
// usable.
func TestBadNamesOnEveryRoute(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.buyer(t)
		token, payment := s.bearer(t, a), s.promise(a, comPrice).header(t)
		g := s.behindGate(t)
		g.close()
		s.waits(50 * time.Millisecond)
		s.faults.Set(local.FaultDown, 0)
		for _, r := range namedRoutes {
			for what, name := range badNames {
				if got := r.ask(t, s, name, token, payment); got.status != 400 || got.error(t).Code != string(deed.CodeValidation) {
					t.Errorf("%s with %s: got %d %s, want 400 %s", r.endpoint, what, got.status, got.body, deed.CodeValidation)
				}
			}
		}
		s.faults.Set(local.FaultNone, 0)
		g.open()
		s.waits(time.Minute)
		if s.open(t) != 0 || s.balance(t, s.payTo) != 1_000_000_000_000 {
			t.Error("something moved")
		}
		list := read[api.Transactions](t, s.get(t, "/account/transactions", "Authorization", token))
		if list.Total != 0 {
			t.Errorf("something was written down: %+v", list)
		}
		if got := s.register(t, "first.com", payment); got.status != 201 {
			t.Errorf("the payment is no longer good: got %d %s", got.status, got.body)
		}
		s.audit(t)
	})
}

// A search for an invalid label is rejected.
func TestBadNamesInSearch(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.faults.Set(local.FaultDown, 0)
		for what, name := range badNames {
			if name == "com" {
				continue // a valid label
			}
			s.get(t, "/domains/search?query="+url.QueryEscape(name)).expect(t, 400, deed.CodeValidation)
			if got := s.get(t, "/domains/search?query=a&tlds="+url.QueryEscape(name)); got.status != 400 || got.error(t).Code != string(deed.CodeTLDNotSupported) {
				t.Errorf("%s as a TLD: got %d %s", what, got.status, got.body)
			}
		}
		for _, label := range []string{"-a", "a-", "ab--cd"} {
			got := read[api.SearchResult](t, s.get(t, "/domains/search?tlds=com&query="+label))
			if r := got.Results[0]; r.Available || r.Reason != "invalid" {
				t.Errorf("%s: got %+v", label, r)
			}
		}
	})
}

// All spellings of a name are the same name on every route: it is bought once and
// has one owner.
func TestSpellingsOfAName(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		spellings := []string{"xn--bcher-kva.com", "XN--BCHER-KVA.COM", "bücher.com", "BÜCHER.com", "bu\u0308cher.com", "bücher.com.", "bücher。com", "ｂücher.com"}
		owner := s.buyer(t)
		if got := s.register(t, spellings[3], s.promise(owner, comPrice).header(t)); got.status != 201 || !strings.Contains(got.body, `"domain":"xn--bcher-kva.com"`) {
			t.Fatalf("got %d %s", got.status, got.body)
		}
		mine, theirs := s.bearer(t, owner), s.bearer(t, newAccount(t))
		for _, name := range spellings {
			s.register(t, name, s.promise(s.buyer(t), comPrice).header(t)).expect(t, 409, deed.CodeDomainUnavailable)
			for _, r := range namedRoutes {
				got := r.ask(t, s, name, theirs, "")
				switch {
				case r.bearer:
					got.expect(t, 403, deed.CodeOwnershipDenied)
				case strings.HasPrefix(r.endpoint, "GET ") && (got.status != 200 || !strings.Contains(got.body, `"xn--bcher-kva.com"`)):
					t.Errorf("%s of %s: got %d %s", r.endpoint, name, got.status, got.body)
				}
			}
			if d := read[api.Domain](t, s.do(t, "PUT", "/domains/"+url.PathEscape(name)+"/lock", `{"locked":true}`, "Authorization", mine)); d.Domain != "xn--bcher-kva.com" || !d.Locked {
				t.Errorf("%s: got %+v", name, d)
			}
		}
		if s.balance(t, s.payTo) != 1_000_000_000_000+comPrice {
			t.Error("it was paid for more than once")
		}
		s.audit(t)
	})
}

// Every route with a name in its path is in namedRoutes.
func TestNamedRoutesAreComplete(t *testing.T) {
	for _, op := range operations(t) {
		takes := strings.Contains(op.endpoint, "{domain}") || strings.Contains(op.endpoint, "{name}") && !strings.Contains(op.endpoint, "nameserver/")
		tried := slices.ContainsFunc(namedRoutes, func(r namedRoute) bool { return r.endpoint == op.endpoint })
		if takes && !tried {
			t.Errorf("%s takes a name: give it a row in namedRoutes", op.endpoint)
		}
	}
}
