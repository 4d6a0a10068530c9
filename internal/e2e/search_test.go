package e2e_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/httpapi"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// A counter is the embedded registry with a counter of its calls.
type counter struct {
	*local.Registry
	asked atomic.Int64
}

func (c *counter) Available(ctx context.Context, name deed.Name) (registrar.Availability, error) {
	c.asked.Add(1)
	return c.Registry.Available(ctx, name)
}

// eachSearch runs f with a service and its registry on each database.
func eachSearch(t *testing.T, f func(t *testing.T, h *service, r *counter)) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r := &counter{Registry: &local.Registry{Store: sqldb.Registry{DB: db}, Now: time.Now, Faults: &local.Faults{Slow: time.Hour}}}
		f(t, openWith(t, db, r, time.Minute), r)
	})
}

// openWith opens a service whose searches use the registry, with a timeout.
func openWith(t *testing.T, db *sqldb.DB, r *counter, timeout time.Duration) *service {
	t.Helper()
	return open(t, options{db: db, limits: generous(), setAPI: func(s *httpapi.Server) {
		s.Search = openSearch(s.Catalog, r, sqldb.Registrations{DB: db})
		s.Search.Timeout = timeout
	}})
}

// found formats the results: each name with its price or the reason.
func found(results []api.Found) string {
	var words []string
	for _, r := range results {
		word := r.Domain + " " + r.Reason
		if r.Available {
			word += r.Price
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

func TestSearch(t *testing.T) {
	eachSearch(t, func(t *testing.T, h *service, r *counter) {
		if err := r.Place(t.Context(), registrar.Order{Kind: registrar.OrderRegister, Reference: "a", Name: "first.net", Years: 1}); err != nil {
			t.Fatal(err)
		}
		const want = `{"query":"First","results":[` +
			`{"domain":"first.com","tld":"com","available":true,"premium":false,"priceUsd":"13.06","priceCents":1306,"renewalPriceUsd":"13.06"},` +
			`{"domain":"first.net","tld":"net","available":false,"reason":"taken"},` +
			`{"domain":"first.ai","tld":"ai","available":true,"premium":false,"priceUsd":"96.50","priceCents":9650,"renewalPriceUsd":"96.50","minYears":2}]}` + "\n"
		if page := example(t, "search.md"); page+"\n" != want {
			t.Errorf("the page shows %s", page)
		}
		got := h.get(t, "/domains/search?query=First&tlds=com,.NET,%20ai,com&from=a-page")
		if got.status != 200 || got.body != want || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("got %d %s %v", got.status, got.body, got.header)
		}
		if head := h.do(t, "HEAD", "/domains/search?query=First", ""); head.status != 200 || head.body != "" {
			t.Errorf("HEAD: got %d %s", head.status, head.body)
		}
		for query, want := range map[string]string{
			"query=nic&tlds=dev":                  "nic.dev reserved",
			"query=x&tlds=com,io":                 "x.com reserved, x.io 60.50",
			"query=AB&tlds=io,com":                "ab.io 300.50, ab.com 3000.50", // premium; the second is above the maximum
			"query=first&tlds=sexy":               "first.sexy 3000.74",           // all names of this TLD are premium
			"query=-a&tlds=com":                   "-a.com invalid",
			"query=A-&tlds=com":                   "a-.com invalid",
			"query=ab--cd&tlds=com":               "ab--cd.com invalid",
			"query=xn--bcher-kva&tlds=com,ai":     "xn--bcher-kva.com 13.06, xn--bcher-kva.ai invalid",
			"query=xn--a&tlds=com":                "xn--a.com invalid",
			"query=com&tlds=com,ai":               "com.com 13.06, com.ai invalid", // com.ai is a public suffix
			"query=first&tlds=%D1%80%D1%83%D1%81": "first.xn--p1acf 12.74",
		} {
			if got := found(read[api.SearchResult](t, h.get(t, "/domains/search?"+query)).Results); got != want {
				t.Errorf("%s: got %s, want %s", query, got, want)
			}
		}
	})
}

func TestSearchedTLDs(t *testing.T) {
	h := open(t, options{})
	standard := "com net org io xyz dev app ai co me"
	for _, query := range []string{"query=first", "query=first&tlds="} {
		var tlds []string
		for _, r := range read[api.SearchResult](t, h.get(t, "/domains/search?"+query)).Results {
			tlds = append(tlds, r.TLD)
		}
		if got := strings.Join(tlds, " "); got != standard {
			t.Errorf("%s: got %s, want %s", query, got, standard)
		}
	}
	for _, query := range []string{"query=first&tlds=all", "query=first&tlds=ALL"} {
		results := read[api.SearchResult](t, h.get(t, "/domains/search?"+query)).Results
		if len(results) != len(h.api.Catalog.Listings()) {
			t.Errorf("%s: got %d results", query, len(results))
		}
		for _, r := range results {
			if r.Domain != "first."+r.TLD || !r.Available || r.Price == "" {
				t.Errorf("got %+v", r)
			}
		}
	}
}

func TestSearchRefusals(t *testing.T) {
	eachSearch(t, func(t *testing.T, h *service, r *counter) {
		for query, field := range map[string]string{
			"":                                 "query",
			"query=":                           "query",
			"tlds=com":                         "query",
			"Query=a":                          "query",
			"query=first.com":                  "query",
			"query=a_b":                        "query",
			"query=a+b":                        "query",
			"query=%C3%A9":                     "query",
			"query=%FF":                        "query",
			"query=a&query=a":                  "query",
			"query=a&tlds=com&tlds=net":        "tlds",
			"query=" + strings.Repeat("a", 64): "query",
		} {
			got := h.get(t, "/domains/search?"+query)
			got.expect(t, 400, deed.CodeValidation)
			if e := got.error(t); len(e.Details) != 1 || e.Details[0].Field != field || e.Details[0].Reason == "" || got.header.Get("X-RateLimit-Limit") == "" {
				t.Errorf("%s: got %s %v", query, got.body, got.header)
			}
		}
		for _, query := range []string{"query=a&tlds=%zz", "query=a;tlds=com", "query=%"} {
			h.get(t, "/domains/search?"+query).expect(t, 400, deed.CodeValidation)
		}
		for _, tlds := range []string{"com,nope", "nope,com", "nope", "co.uk", "com,", "com,,io", "all,com", "com%0a", "1", "*"} {
			got := h.get(t, "/domains/search?query=first&tlds="+tlds)
			got.expect(t, 400, deed.CodeTLDNotSupported)
			if strings.Contains(tlds, "nope") && !strings.Contains(got.error(t).Message, "nope") {
				t.Errorf("%s is not named: %s", tlds, got.body)
			}
		}
		if n := r.asked.Load(); n != 0 {
			t.Errorf("the registry was asked %d times", n)
		}
	})
}

func TestCheck(t *testing.T) {
	eachSearch(t, func(t *testing.T, h *service, r *counter) {
		if err := r.Place(t.Context(), registrar.Order{Kind: registrar.OrderRegister, Reference: "a", Name: "first.net", Years: 1}); err != nil {
			t.Fatal(err)
		}
		for list, want := range map[string]string{
			"first.com":                             "first.com 13.06",
			"first.io,FIRST.net.,first.NET,nic.com": "first.io 60.50, first.net taken, nic.com reserved",
			"%20first.com,%20first.dev%20":          "first.com 13.06, first.dev 15.14",
			"A.COM":                                 "a.com reserved",
			"a.com.":                                "a.com reserved",
			"b%C3%BCcher.com,b%C3%BCcher.ai":        "xn--bcher-kva.com 13.06, xn--bcher-kva.ai invalid",
			"bu%CC%88cher.com":                      "xn--bcher-kva.com 13.06", // not NFC, and folded
		} {
			if got := found(read[api.CheckResult](t, h.get(t, "/domains/check?domains="+list)).Results); got != want {
				t.Errorf("%s: got %s, want %s", list, got, want)
			}
		}
		names := make([]string, 201)
		for i := range names {
			names[i] = fmt.Sprintf("name%d.com", i)
		}
		if got := read[api.CheckResult](t, h.get(t, "/domains/check?domains="+strings.Join(names[:200], ","))); len(got.Results) != 200 || got.Results[199].Domain != "name199.com" {
			t.Errorf("200 names: got %d results", len(got.Results))
		}
		h.get(t, "/domains/check?domains="+strings.Join(names, ",")).expect(t, 400, deed.CodeValidation)
		h.get(t, "/domains/check?domains=first.com,first.nope").expect(t, 400, deed.CodeTLDNotSupported)
		h.get(t, "/domains/check?domains=first.co.uk").expect(t, 400, deed.CodeTLDNotSupported)
		for _, query := range []string{"", "domains=", "domain=first.com", "domains=first.com&domains=first.net", "domains=%zz", "domains=first.com,", ","} {
			h.get(t, "/domains/check?"+query).expect(t, 400, deed.CodeValidation)
		}
		got := h.get(t, "/domains/check?domains=first.com,-a.com,first.net,com")
		got.expect(t, 400, deed.CodeValidation)
		if e := got.error(t); len(e.Details) != 2 || e.Details[0].Field != "domains[1]" || e.Details[1].Field != "domains[3]" || !strings.Contains(e.Message, "-a.com") {
			t.Errorf("got %s", got.body)
		}
	})
}

// Invalid names never reach the registry.
func TestInvalidNamesDoNotReachRegistry(t *testing.T) {
	eachSearch(t, func(t *testing.T, h *service, r *counter) {
		for _, name := range []string{
			"a.com%2Fevil", "a.com/evil", "a.com\x00", "a.com\n", "\u202ea.com", strings.Repeat("a", 300) + ".com", strings.Repeat("a.", 300) + "com",
			"a..com", "-a.com", "*.com", "_a.com", "com", "1.2.3.4", "p\u0430ypal.com", "ab--cd.com", "co.uk", "www.first.com", "\xff.com", "☃.com", "a.com:80", "a@b.com", "[::1]", "'or'1.com",
		} {
			h.get(t, "/domains/check?domains="+url.QueryEscape(name)).expect(t, 400, deed.CodeValidation)
			if name != "com" { // a valid label
				h.get(t, "/domains/search?query="+url.QueryEscape(name)).expect(t, 400, deed.CodeValidation)
			}
		}
		if n := r.asked.Load(); n != 0 {
			t.Errorf("the registry was asked %d times", n)
		}
	})
}

// Names without a response of the registry are unknown, and no others. Without any
// response the search fails.
func TestRegistryDownOrSlow(t *testing.T) {
	eachSearch(t, func(t *testing.T, h *service, r *counter) {
		nothing := func(a answer) {
			t.Helper()
			a.expect(t, 503, deed.CodeUnavailable)
			if a.header.Get("Retry-After") == "" || !strings.Contains(a.body, "registrar did not answer") {
				t.Errorf("got %v %s", a.header, a.body)
			}
		}
		r.Faults.Set(local.FaultDown, 0)
		nothing(h.get(t, "/domains/search?query=first&tlds=com,io"))
		nothing(h.get(t, "/domains/search?query=first"))
		nothing(h.get(t, "/domains/check?domains=first.com,first.io"))
		if got := found(read[api.SearchResult](t, h.get(t, "/domains/search?query=-a&tlds=com,io")).Results); got != "-a.com invalid, -a.io invalid" {
			t.Errorf("down, and nothing to ask: got %s", got)
		}
		r.Faults.Set(local.FaultDown, 1)
		if got := found(read[api.SearchResult](t, h.get(t, "/domains/search?query=first")).Results); strings.Count(got, "unknown") != 1 {
			t.Errorf("down once: got %s", got)
		}
		r.Faults.Set(local.FaultSlow, 0) // an hour
		hasty := openWith(t, h.db, r, time.Millisecond)
		nothing(hasty.get(t, "/domains/search?query=first&tlds=com,io"))
		r.Faults.Set(local.FaultNone, 0)
		if err := h.db.Close(); err != nil {
			t.Fatal(err)
		}
		nothing(h.get(t, "/domains/search?query=first&tlds=com,io"))
	})
}

// A search may use cached results; a purchase never does.
func TestSearchAndPurchase(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.api.Search.CacheTTL, s.api.Search.Now = 3*time.Second, s.clock.Now
		search := func() string {
			return found(read[api.SearchResult](t, s.get(t, "/domains/search?query=first&tlds=com")).Results)
		}
		if got := search(); got != "first.com 13.06" {
			t.Errorf("got %s", got)
		}
		if _, err := s.registry.Elsewhere(t.Context(), "first.com"); err != nil {
			t.Fatal(err)
		}
		if got := search(); got != "first.com 13.06" {
			t.Errorf("the answer was not kept: got %s", got)
		}
		s.register(t, "first.com", s.promise(s.buyer(t), comPrice).header(t)).expect(t, 409, deed.CodeDomainUnavailable)
		s.clock.advance(3 * time.Second)
		if got := search(); got != "first.com taken" {
			t.Errorf("three seconds later: got %s", got)
		}
		if got := found(read[api.CheckResult](t, s.get(t, "/domains/check?domains=first.com")).Results); got != "first.com taken" {
			t.Errorf("got %s", got)
		}
	})
}

// A check counts as a search, also if it is rejected.
func TestSearchAndCheckShareALimit(t *testing.T) {
	eachStore(t, func(t *testing.T, o options) {
		o.limits, o.trusted = oneWindow(), loopback
		h := open(t, o)
		addr, _ := caller(t)
		paths := []string{"/domains/search?query=first&tlds=com", "/domains/check?domains=first.com", "/domains/check", "/domains/search?query=."}
		for i := range 60 {
			got := h.get(t, paths[i%len(paths)], "X-Forwarded-For", addr)
			if got.status == 429 || got.header.Get("X-RateLimit-Limit") != "60" || got.header.Get("X-RateLimit-Remaining") != fmt.Sprint(59-i) || got.header.Get("X-RateLimit-Reset") == "" {
				t.Fatalf("call %d: got %d %v", i+1, got.status, got.header)
			}
		}
		for _, path := range paths {
			got := h.get(t, path, "X-Forwarded-For", addr)
			got.expect(t, 429, deed.CodeRateLimited)
			checkWait(t, got)
		}
	})
}
