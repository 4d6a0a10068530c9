// Package httpapi is the HTTP way in: it turns requests into calls of the use
// cases and their answers into JSON. It holds no rules of its own.
//
// A request passes the door (door.go: request id, CORS, size of the headers,
// panics), finds its route (routes.go, in the order of the interface document),
// is counted against its limit (handler.go), is parsed, served and answered.
// Handlers return errors; fail (error.go) is the one place where an error
// becomes an answer, and every answer that is no success has its one shape,
// also those that net/http would give by itself (conn.go).
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
	"deed.example/deed/internal/health"
	"deed.example/deed/internal/payment"
	"deed.example/deed/internal/ratelimit"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/signin"
	"deed.example/deed/internal/zone"
)

// Server answers the HTTP interface. Fill every exported field.
type Server struct {
	Catalog *catalog.Service
	Search  *catalog.Searcher
	Health  *health.Service
	Limiter *ratelimit.Limiter
	Limits  deed.Limits

	SignIn *signin.Service

	Registrations *registration.Service
	Payments      *payment.Service
	Accounts      *account.Service
	Zones         *zone.Service
	Terms         PaymentTerms

	// NotReady is why nothing is sold here, and no caller should be sent: paid
	// routes and /readyz answer with it. It is nil where all is well.
	NotReady error

	// Propagation asks every name server for the serial it gives out, beside the
	// one that all should.
	Propagation func(ctx context.Context, name deed.Name, revision uint32) (serial uint32, servers []api.ServerPropagation)

	RDAP http.Handler // of all below /rdap/; nil without names
	MCP  http.Handler // of POST /mcp; nil without one
	A2A  http.Handler // of /a2a; nil where agents are not spoken to

	Discovery http.Handler // of the documents that describe us
	Contact   string       // e-mail address of the operator, in the description; "" for none

	Sandbox *Sandbox // nil when there is none

	Trusted []netip.Prefix // proxies whose X-Forwarded-For is believed
	Version string

	// PublicURL is where callers reach us, without a path.
	PublicURL string

	Started time.Time
	Now     func() time.Time
	Log     *slog.Logger

	// Observe is told of every answer. The route is its pattern, "" when the
	// request found none.
	Observe func(route string, status int, took time.Duration)

	draining    atomic.Bool
	talking     crowd                    // messages of agents that are being answered
	watching    crowd                    // streams of jobs
	streams     atomic.Int64             // those of all callers
	prices      atomic.Pointer[document] // the whole price list, once it was asked for
	description atomic.Pointer[document] // openapi.json, likewise
	bazaars     sync.Map                 // endpoint to api.Bazaar, likewise
}

// Drain makes the server tell its load balancer that it is about to stop. It
// goes on answering.
func (s *Server) Drain() { s.draining.Store(true) }

// Draining says whether the server was told so.
func (s *Server) Draining() bool { return s.draining.Load() }

// Configure returns the http.Server that serves s with our limits on time and
// size. Give it listeners from Listen.
func (s *Server) Configure() *http.Server {
	return &http.Server{
		Handler:                      s.Handler(),
		ReadHeaderTimeout:            5 * time.Second,
		ReadTimeout:                  10 * time.Second,
		WriteTimeout:                 30 * time.Second,
		IdleTimeout:                  60 * time.Second,
		MaxHeaderBytes:               maxHeaderBytes - 4096, // net/http reads 4096 bytes more than it is told
		DisableGeneralOptionsHandler: true,                  // OPTIONS * is answered by us
		ErrorLog:                     slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
	}
}
