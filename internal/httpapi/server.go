// Package httpapi is the HTTP adapter: it turns requests into calls of the
// services and their results into JSON. It has no rules of its own.
//
// A request passes the middleware (middleware.go: request id, CORS, limits of the
// headers, panics), is routed (routes.go, in the order of the interface document),
// counted against its rate limit (handler.go), parsed and served. Handlers return
// errors; fail (error.go) is the one place where an error becomes a response.
// Every error response has the same body, including those that net/http sends
// itself (conn.go).
package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/account"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/connlimit"
	"deed.example/deed/internal/email"
	"deed.example/deed/internal/event"
	"deed.example/deed/internal/feed"
	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/health"
	"deed.example/deed/internal/mandate"
	"deed.example/deed/internal/ratelimit"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/signin"
	"deed.example/deed/internal/tracing"
	"deed.example/deed/internal/webhook"
	"deed.example/deed/internal/zone"
)

// Server serves the HTTP interface. Set every exported field, unless it says what nil
// means.
type Server struct {
	Catalog *catalog.Service
	Search  *catalog.Searcher
	Health  *health.Service
	Limiter *ratelimit.Limiter
	Limits  deed.Limits

	SignIn *signin.Service

	Registrations *registration.Service
	Payments      *fulfil.Service
	Accounts      *account.Service
	Events        *event.Service
	Webhooks      *webhook.Service
	Emails        *email.Service
	Feeds         *feed.Service
	Zones         *zone.Service
	Mandates      *mandate.Service // nil if no payments are taken
	Terms         PaymentTerms

	// Sale returns what can be done with the names of a TLD; nil if nobody sells it.
	Sale func(deed.TLD) *api.TLDSale

	// NotReady is the error of paid routes and of /readyz on a node that is not
	// fit to sell. It is nil on a healthy node.
	NotReady error

	// Propagation returns the serial that each name server serves of a zone, compared with
	// the current one.
	Propagation func(ctx context.Context, name deed.Name, serial uint32) []api.ServerPropagation

	RDAP http.Handler // of /rdap/
	MCP  http.Handler // of POST /mcp; nil if disabled
	A2A  http.Handler // of POST /a2a; nil if disabled

	Page      Page         // for browsers; nil if disabled
	Discovery http.Handler // of the discovery documents
	Contact   string       // e-mail address of the operator for openapi.json; optional

	Sandbox *Sandbox // nil outside a sandbox

	Trusted []netip.Prefix // proxies whose X-Forwarded-For is trusted
	Version string

	// PublicURL is the base URL that callers use, without a path.
	PublicURL string

	Started time.Time
	Now     func() time.Time
	Log     *slog.Logger

	AccessLog bool // whether every response is logged

	Tracer *tracing.Tracer // nil if requests are not traced

	// Observe is called for every response. The route is its pattern, "" if no
	// route matched.
	Observe func(route string, status int, took time.Duration)

	draining       atomic.Bool
	activeMessages clientLimiter               // of MCP and A2A
	activeStreams  clientLimiter               // of jobs and of events
	streamCount    atomic.Int64                // of all clients
	prices         atomic.Pointer[priceList]   // of today
	description    atomic.Pointer[description] // openapi.json, made on first use
	bazaars        sync.Map                    // endpoint to api.Bazaar, likewise
}

// Drain makes /readyz fail, so that load balancers stop sending requests. The
// server continues to serve requests.
func (s *Server) Drain() { s.draining.Store(true) }

// Draining reports whether Drain was called.
func (s *Server) Draining() bool { return s.draining.Load() }

// writeTimeout is how long a request may take with its response, unless it is a stream.
const writeTimeout = 30 * time.Second

// Configure returns an http.Server for s with timeouts and size limits. Use it
// with listeners from Listen.
func (s *Server) Configure() *http.Server {
	return &http.Server{
		Handler:                      s.Handler(),
		ReadHeaderTimeout:            5 * time.Second,
		ReadTimeout:                  10 * time.Second,
		WriteTimeout:                 writeTimeout,
		IdleTimeout:                  60 * time.Second,
		MaxHeaderBytes:               maxHeaderBytes - 4096, // net/http adds 4096 bytes
		DisableGeneralOptionsHandler: true,                  // OPTIONS * reaches the middleware
		ConnState:                    connlimit.ConnState,
		ErrorLog:                     slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
	}
}
