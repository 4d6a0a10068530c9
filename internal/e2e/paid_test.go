package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/interfacedoc"
)

// A paidRoute is a paid call and how to make it.
type paidRoute struct {
	endpoint string // "POST /domains/register"
	price    deed.USDC

	// ready prepares the call for a wallet and returns its path, body and headers
	// other than the payment.
	ready func(t *testing.T, s *env, a *account) (path, body string, headers []string)

	// end completes the order at the registry; may be nil.
	end func(t *testing.T, s *env)
}

// paidRoutes are all paid calls. A new one must be added: it is then tested with
// every method.
var paidRoutes = []paidRoute{
	{"POST /domains/register", comPrice, func(*testing.T, *env, *account) (string, string, []string) {
		return "/domains/register", `{"domain":"first.com"}`, nil
	}, nil},
	{"POST /domains/renew", comRenewal, func(t *testing.T, s *env, _ *account) (string, string, []string) {
		s.bought(t, "first.com")
		return "/domains/renew", `{"domain":"first.com"}`, nil
	}, nil},
	{"POST /domains/transfer", comPrice, func(t *testing.T, s *env, _ *account) (string, string, []string) {
		code, err := s.registry.Elsewhere(t.Context(), "moving.com")
		if err != nil {
			t.Fatal(err)
		}
		return "/domains/transfer", fmt.Sprintf(`{"domain":"moving.com","authCode":%q}`, code.Reveal()), nil
	}, func(t *testing.T, s *env) {
		if err := s.registry.Decide(t.Context(), "moving.com", true); err != nil {
			t.Error(err)
		}
	}},
	{"POST /dns/{domain}", change, func(t *testing.T, s *env, _ *account) (string, string, []string) {
		return "/dns/first.com", `{"type":"A","host":"www","value":"192.0.2.10"}`, s.ownerOf(t, "first.com")
	}, nil},
	{"PUT /dns/{domain}/{recordId}", change, func(t *testing.T, s *env, _ *account) (string, string, []string) {
		owner := s.ownerOf(t, "first.com")
		return "/dns/first.com/" + s.addedRecord(t, "first.com", owner).ID, `{"ttl":60}`, owner
	}, nil},
	{"DELETE /dns/{domain}/{recordId}", change, func(t *testing.T, s *env, _ *account) (string, string, []string) {
		owner := s.ownerOf(t, "first.com")
		return "/dns/first.com/" + s.addedRecord(t, "first.com", owner).ID, "", owner
	}, nil},
	{"POST /dns/{domain}/batch", 2 * change, func(t *testing.T, s *env, _ *account) (string, string, []string) {
		return "/dns/first.com/batch", `{"changes":[{"op":"add","type":"A","host":"@","value":"192.0.2.1"},{"op":"add","type":"TXT","host":"@","value":"text"}]}`, s.ownerOf(t, "first.com")
	}, nil},
	{"POST /dns/{domain}/import", 2 * change, func(t *testing.T, s *env, _ *account) (string, string, []string) {
		return "/dns/first.com/import", "www 300 IN A 192.0.2.1\nwww 300 IN AAAA 2001:db8::1\n", append(s.ownerOf(t, "first.com"), "Content-Type", "text/dns")
	}, nil},
	{"POST /dns/{domain}/rollback/{revision}", change, func(t *testing.T, s *env, _ *account) (string, string, []string) {
		owner := s.ownerOf(t, "first.com")
		start := read[api.RecordList](t, s.get(t, "/dns/first.com", owner...)).Revision
		s.addedRecord(t, "first.com", owner)
		return fmt.Sprintf("/dns/first.com/rollback/%d", start), "", owner
	}, nil},
}

// ownerOf buys the name and returns the header of its owner, who is not the payer
// in the table above.
func (s *env) ownerOf(t *testing.T, domain string) []string {
	t.Helper()
	return []string{"Authorization", s.bearer(t, s.bought(t, domain))}
}

// addedRecord adds www to the name, paid by another wallet.
func (s *env) addedRecord(t *testing.T, domain string, owner []string) api.Record {
	t.Helper()
	headers := append([]string{"PAYMENT-SIGNATURE", s.promise(s.buyer(t), change).header(t)}, owner...)
	return created(t, s.do(t, "POST", "/dns/"+domain, `{"type":"A","host":"www","value":"192.0.2.10"}`, headers...))
}

// allMethods are those of RFC 9110 and RFC 5789 except CONNECT, and two others.
var allMethods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "BUY"}

// A valid payment on a paid path moves money with the paid method only.
func TestEveryPaidRouteByEveryMethod(t *testing.T) {
	for _, route := range paidRoutes {
		t.Run(route.endpoint, func(t *testing.T) {
			eachEnv(t, func(t *testing.T, s *env) { testPaidRoute(t, s, route) })
		})
	}
}

func testPaidRoute(t *testing.T, s *env, route paidRoute) {
	a := s.buyer(t)
	path, body, headers := route.ready(t, s, a)
	s.runWorker(t) // completes the preparation
	sold, pattern, _ := strings.Cut(route.endpoint, " ")
	payment := append([]string{"PAYMENT-SIGNATURE", s.promise(a, route.price).header(t)}, headers...)
	before := s.balance(t, s.payTo)
	unmoved := func(method string) {
		t.Helper()
		if s.balance(t, s.payTo) != before || s.open(t) != 0 {
			t.Errorf("%s: something moved", method)
		}
	}
	for _, method := range allMethods {
		if slices.ContainsFunc(paidRoutes, func(r paidRoute) bool { return r.endpoint == method+" "+pattern }) {
			continue // a paid method with its own row
		}
		got := s.do(t, method, path, body, payment...)
		switch listed := slices.Contains(methodsAt(pattern), method); {
		case listed && got.status != 200:
			t.Errorf("%s: got %d %s, want what is free there", method, got.status, got.body)
		case method == "OPTIONS" && (got.status != 204 || !strings.Contains(got.header.Get("Allow"), sold)):
			t.Errorf("OPTIONS: got %d, Allow %q", got.status, got.header.Get("Allow"))
		case !listed && method != "OPTIONS" && (got.status != 405 || !strings.Contains(got.header.Get("Allow"), sold)):
			t.Errorf("%s: got %d %s, Allow %q", method, got.status, got.body, got.header.Get("Allow"))
		}
		unmoved(method)
	}
	s.do(t, sold, path, body, headers...).expect(t, 402, deed.CodePaymentRequired)
	unmoved(sold + " without a payment")
	if got := s.do(t, sold, path, body, payment...); got.status < 200 || got.status > 299 {
		t.Errorf("%s: got %d %s", sold, got.status, got.body)
	}
	if route.end != nil {
		route.end(t, s)
	}
	s.runWorker(t)
	if got := s.balance(t, s.payTo) - before; got != route.price {
		t.Errorf("%s moved %s, want %s", sold, got, route.price)
	}
	s.audit(t)
}

// methodsAt returns the methods of a path in the interface document, with HEAD if
// there is GET.
func methodsAt(path string) (methods []string) {
	for _, r := range interfacedoc.Routes() {
		if r.Path == path {
			methods = append(methods, r.Method)
		}
	}
	if slices.Contains(methods, "GET") {
		methods = append(methods, "HEAD")
	}
	return methods
}

// Every paid call of the interface document is in paidRoutes.
func TestPaidRoutesAreComplete(t *testing.T) {
	sold := 0
	for _, r := range interfacedoc.Routes() {
		if r.Method == "GET" || !strings.HasPrefix(r.Path, "/dns/") && !strings.HasPrefix(r.Path, "/domains/") {
			continue
		}
		sold++
		if !slices.ContainsFunc(paidRoutes, func(p paidRoute) bool { return p.endpoint == r.Endpoint() }) {
			t.Errorf("%s is paid for: give it a row in paidRoutes", r.Endpoint())
		}
	}
	if sold < 5 {
		t.Errorf("the interface document sells %d calls", sold)
	}
}
