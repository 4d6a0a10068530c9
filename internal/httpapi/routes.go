package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"deed.example/deed"
)

// A route is one row of the interface document, chapter 4, or an extension.
type route struct {
	pattern string // "GET /auth/nonce"
	handler http.Handler
}

// routes returns the routes of the interface document in its order, then the
// extensions.
func (s *Server) routes() []route { return append(s.documentedRoutes(), s.extensionRoutes()...) }

// documentedRoutes returns the routes of the interface document.
func (s *Server) documentedRoutes() []route {
	l := s.Limits
	return []route{
		{"GET /auth/nonce", s.address(l.SignIn, s.nonce)},
		{"POST /auth/verify", s.address(l.SignIn, s.verify)},
		{"POST /auth/refresh", s.address(l.SignIn, s.refresh)},
		{"POST /auth/revoke", s.wallet(l.Account, s.revoke)},
		{"GET /dns/{domain}", s.wallet(l.DNS, s.owner(s.listRecords))},
		{"POST /dns/{domain}", s.paidWallet(s.addRecord)},
		{"PUT /dns/{domain}/{recordId}", s.paidWallet(s.updateRecord)},
		{"DELETE /dns/{domain}/{recordId}", s.paidWallet(s.deleteRecord)},
		{"GET /account", s.wallet(l.Account, s.account)},
		{"GET /account/domains", s.wallet(l.Account, s.accountDomains)},
		{"GET /account/transactions", s.wallet(l.Account, s.transactions)},
		{"GET /domains/search", s.address(l.Search, s.search)},
		{"GET /domains/pricing", s.handle(s.listPrices)},
		{"GET /domains/pricing/{tld}", s.handle(s.onePrice)},
		{"POST /domains/register", s.handle(s.order(readRegister))},
		{"POST /domains/renew", s.handle(s.order(readRenew))},
		{"GET /domains/status/{jobId}", s.handle(s.job)},
		{"GET /domains/{domain}", s.handle(s.domain)},
		{"GET /health", s.handle(s.health)},
		{"GET /.well-known/agent-card.json", s.handle(s.describe)},
	}
}

// extensionRoutes returns the routes that the interface document does not have.
func (s *Server) extensionRoutes() []route {
	l := s.Limits
	return []route{
		{"GET /account/events", s.wallet(l.Account, s.events)},
		{"POST /account/webhooks", s.wallet(l.Account, s.createWebhook)},
		{"GET /account/webhooks", s.wallet(l.Account, s.listWebhooks)},
		{"DELETE /account/webhooks/{webhookId}", s.wallet(l.Account, s.deleteWebhook)},
		{"POST /account/webhooks/{webhookId}/rotate", s.wallet(l.Account, s.rotateWebhook)},
		{"POST /account/webhooks/{webhookId}/test", s.wallet(l.Account, s.testWebhook)},
		{"GET /account/webhooks/{webhookId}/deliveries", s.wallet(l.Account, s.listDeliveries)},
		{"POST /account/webhooks/{webhookId}/deliveries/{eventId}/replay", s.wallet(l.Account, s.replayDelivery)},
		{"POST /account/calendar", s.wallet(l.Account, s.createCalendar)},
		{"GET /account/calendar", s.wallet(l.Account, s.showCalendar)},
		{"DELETE /account/calendar", s.wallet(l.Account, s.deleteCalendar)},
		{"GET /calendar/{file}", s.address(l.Search, s.calendar)},
		{"PUT /account/email", s.wallet(l.Account, s.setEmail)},
		{"GET /account/email", s.wallet(l.Account, s.showEmail)},
		{"DELETE /account/email", s.wallet(l.Account, s.deleteEmail)},
		{"POST /account/email/confirm", s.wallet(l.Account, s.confirmEmail)},
		{"GET /email/unsubscribe/{token}", s.address(l.Search, s.askUnsubscribe)},
		{"POST /email/unsubscribe/{token}", s.address(l.Search, s.unsubscribe)},
		{"GET /domains/check", s.address(l.Search, s.check)},
		{"POST /domains/transfer", s.handle(s.order(readTransfer))},
		{"POST /domains/{domain}/authcode", s.wallet(l.DNS, s.owner(s.authCode))},
		{"POST /domains/{domain}/cancel", s.wallet(l.DNS, s.owner(s.cancelDomain))},
		{"PUT /domains/{domain}/lock", s.wallet(l.DNS, s.owner(s.setLock))},
		{"PUT /domains/{domain}/nameservers", s.wallet(l.DNS, s.owner(s.setNameservers))},
		{"PUT /domains/{domain}/ds", s.wallet(l.DNS, s.owner(s.setDS))},
		{"PUT /domains/{domain}/owner", s.wallet(l.DNS, s.owner(s.setOwner))},
		{"GET /domains/{domain}/registrant", s.wallet(l.DNS, s.owner(s.showRegistrant))},
		{"PUT /domains/{domain}/registrant", s.wallet(l.DNS, s.owner(s.setRegistrant))},
		{"DELETE /domains/{domain}/registrant", s.wallet(l.DNS, s.owner(s.resetRegistrant))},
		{"GET /account/mandates/{domain}", s.wallet(l.Account, s.owner(s.listMandates))},
		{"POST /account/mandates/{domain}", s.wallet(l.Account, s.owner(s.createMandates))},
		{"DELETE /account/mandates/{domain}", s.wallet(l.Account, s.owner(s.revokeMandates))},
		{"GET /account/mandates/{domain}/plan", s.wallet(l.Account, s.owner(s.planMandates))},
		{"POST /dns/{domain}/batch", s.paidWallet(s.changeRecords)},
		{"GET /dns/{domain}/export", s.wallet(l.DNS, s.owner(s.exportZone))},
		{"POST /dns/{domain}/import", s.paidWallet(s.importZone)},
		{"GET /dns/{domain}/revisions", s.wallet(l.DNS, s.owner(s.listRevisions))},
		{"POST /dns/{domain}/rollback/{revision}", s.paidWallet(s.rollBack)},
		{"GET /dns/{domain}/propagation", s.wallet(l.DNS, s.owner(s.propagation))},
		{"GET /livez", s.handle(s.live)},
		{"GET /readyz", s.handle(s.ready)},
		{"GET /openapi.json", s.handle(s.openAPI)},
		{"GET /.well-known/jwks.json", s.handle(s.describe)},
		{"GET /.well-known/api-catalog", s.handle(s.describe)},
		{"GET /.well-known/ai-catalog.json", s.handle(s.describe)},
		{"GET /.well-known/agent-registration.json", s.handle(s.describe)},
		{"GET /.well-known/security.txt", s.handle(s.describe)},
		{"GET /llms.txt", s.handle(s.describe)},
		{"GET /llms-full.txt", s.handle(s.describe)},
		{"GET /SKILL.md", s.handle(s.describe)},
		{"GET /robots.txt", s.handle(s.describe)},
		{"GET /mcp/server-card", s.handle(s.describe)},
		{"POST /mcp", s.address(l.Agents, s.mcp)},
		{"POST /a2a", s.address(l.Agents, s.a2a)},
		{"GET /rdap/domain/{name}", s.handle(s.rdap)},
		{"GET /rdap/nameserver/{name}", s.handle(s.rdap)},
		{"GET /rdap/help", s.handle(s.rdap)},
		{"GET /rdap/{question...}", s.handle(s.rdap)},
		{"GET /sandbox", s.sandboxed(s.showSandbox)},
		{"POST /sandbox/faucet", s.sandboxed(s.faucet)},
		{"POST /sandbox/faults", s.sandboxed(s.setFaults)},
		{"POST /sandbox/clock", s.sandboxed(s.moveClock)},
		{"POST /sandbox/limits/reset", s.sandboxed(s.resetLimits)},
		{"POST /sandbox/elsewhere", s.sandboxed(s.elsewhere)},
		{"POST /sandbox/transfers", s.sandboxed(s.decideTransfer)},
	}
}

// reservedPaths are patterns that respond 404 or 405 although a wildcard route
// would match them: the name "register", or a record with the id "batch". The
// ServeMux would redirect the last one.
var reservedPaths = []string{
	"GET /domains/register", "GET /domains/renew", "GET /domains/transfer",
	"PUT /dns/{domain}/batch", "DELETE /dns/{domain}/batch", "PUT /dns/{domain}/import", "DELETE /dns/{domain}/import",
	"PUT /dns/{domain}/export", "DELETE /dns/{domain}/export", "PUT /dns/{domain}/revisions", "DELETE /dns/{domain}/revisions",
	"PUT /dns/{domain}/propagation", "DELETE /dns/{domain}/propagation",
	"GET /rdap",
}

// rdap passes the request to the RDAP handler.
func (s *Server) rdap(w http.ResponseWriter, r *http.Request) error {
	s.RDAP.ServeHTTP(w, r)
	return nil
}

// describe passes the request to the handler of the discovery documents.
func (s *Server) describe(w http.ResponseWriter, r *http.Request) error {
	if s.Discovery == nil {
		return deed.Errorf(deed.CodeUnavailable, "this node does not describe itself: ask another")
	}
	s.Discovery.ServeHTTP(w, r)
	return nil
}

// Handler returns all routes, wrapped in the middleware.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	known := map[string]bool{}
	missing := s.handle(s.missing(mux, known))
	for _, r := range append(s.routes(), s.pageRoutes()...) {
		known[r.pattern] = true
		if r.pattern == registrantRoute {
			mux.Handle(partRoute, onlyRegistrant(r.handler, missing))
			continue
		}
		mux.Handle(r.pattern, r.handler)
	}
	for _, pattern := range reservedPaths {
		mux.Handle(pattern, missing)
	}
	mux.Handle("/", missing)
	return s.middleware(mux)
}

// The ServeMux refuses registrantRoute, because /domains/pricing/registrant would match
// it and the route of prices. So partRoute, which is less specific, is served for it.
const (
	registrantRoute = "GET /domains/{domain}/registrant"
	partRoute       = "GET /domains/{domain}/{part}"
)

// onlyRegistrant serves registrantRoute from partRoute.
func onlyRegistrant(h, missing http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("part") != "registrant" {
			missing.ServeHTTP(w, r)
			return
		}
		r.Pattern = registrantRoute
		h.ServeHTTP(w, r)
	})
}

// methods are the methods of all routes, in the order of the Allow header.
var methods = []string{"GET", "HEAD", "POST", "PUT", "DELETE"}

// missing serves requests that match no route: for a known path 204 to OPTIONS
// and 405 to other methods, for any other path 404, as a page to browsers.
func (s *Server) missing(mux *http.ServeMux, known map[string]bool) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		r.Pattern = "" // the route that Observe gets
		allowed := slices.DeleteFunc(slices.Clone(methods), func(m string) bool {
			other := r.Clone(r.Context())
			other.Method = m
			_, pattern := mux.Handler(other)
			if pattern == partRoute && strings.HasSuffix(r.URL.Path, "/registrant") {
				pattern = registrantRoute
			}
			return !known[pattern]
		})
		preflight := r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
		switch {
		case r.Method == http.MethodOptions && (preflight || len(allowed) > 0):
			if len(allowed) > 0 {
				w.Header().Set("Allow", strings.Join(allowed, ", "))
			}
			w.WriteHeader(http.StatusNoContent)
			return nil
		case len(allowed) > 0:
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			return refuse(http.StatusMethodNotAllowed, "%s takes %s, not %s", shownPath(r), strings.Join(allowed, ", "), r.Method)
		}
		if s.wantsMissingPage(r) {
			return s.Page.ServeMissing(w, r)
		}
		return refuse(http.StatusNotFound, "there is nothing at %s: GET /openapi.json describes every path", shownPath(r))
	}
}
