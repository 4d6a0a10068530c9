package opusdnstest

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar/local"
)

// The account of a Server.
const (
	Key          = "opk_test_key"
	Organization = "organization_01h45ytscbebyvny4gc8cr8ma2"
)

// A Server is the vendor's API in front of a registry. Make it with NewServer.
type Server struct {
	registry *local.Registry
	now      func() time.Time
	routes   *http.ServeMux
	held     chan struct{} // one for each request that is held

	mu       sync.Mutex // guards the fields below, and orders all requests
	faults   faults
	records  map[deed.Name]record
	contacts []contact
	hosts    map[string][]string
	events   []Event
	late     []lateOrder
	verify   map[deed.Name]time.Time // deadline of a demanded verification
	keys     map[deed.Name]string    // that the registry has instead of a DS
	updating map[deed.Name]string    // names with changes that the registry holds: "held", and "pending" when there is one
	requests int

	// Account is what the vendor knows about the account. Change it with Configure.
	account Account
}

// An Account has the settings of an account at the vendor.
type Account struct {
	Balance  string
	Credit   int
	Currency string
	Prices   []Price
	Claims   map[deed.Name]bool // names with a trademark claim
	Async    bool               // registrations are executed later, with an event
	Renews   bool               // a restore also renews the name, by a year
	Terms    []int              // years of an order; none for any
	Keeps    bool               // a name is deleted when it expires, and not before

	RefuseContacts bool // new contacts are not accepted
}

// A Price is an entry of the price list.
type Price struct {
	Action, Class, Price, Currency string
	Years                          int
}

// A record is what the vendor stores about a name, besides the registry.
type record struct {
	id        string
	reference string // of the order at the registry
	transfer  bool   // it was ordered as a transfer
	arrived   bool   // it was transferred, and is unlocked with the code of its last holder
	created   time.Time
	updated   time.Time
	code      string
	premium   bool
	contacts  map[string]string
	pending   bool // an asynchronous registration that was not executed yet
	failed    bool // one that was refused
}

// NewServer returns a server in front of the registry, which has no faults of its
// own.
func NewServer(r *local.Registry) *Server {
	s := &Server{
		registry: r, now: func() time.Time { return r.Now().UTC().Truncate(time.Second) }, routes: http.NewServeMux(),
		held:    make(chan struct{}, 100),
		records: map[deed.Name]record{}, hosts: map[string][]string{}, verify: map[deed.Name]time.Time{}, updating: map[deed.Name]string{}, keys: map[deed.Name]string{},
		account: Account{Balance: "1000.00", Currency: "USD", Prices: defaultPrices},
	}
	s.addRoutes()
	return s
}

// defaultPrices are the prices of a new account.
var defaultPrices = []Price{
	{"create", "com", "9.50", "USD", 1}, {"renew", "com", "10.20", "USD", 1}, {"transfer", "com", "9.80", "USD", 1}, {"restore", "com", "80.00", "USD", 1},
	{"create", "dev", "11.00", "USD", 1}, {"renew", "dev", "12.00", "USD", 1}, {"renew", "dev", "23.00", "USD", 2}, {"trade", "dev", "0.00", "USD", 1},
}

// Configure changes the account.
func (s *Server) Configure(change func(*Account)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.account)
}

// Requests returns the number of requests so far.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// DemandVerification lets the registry demand a verification of the name's registrant
// by the deadline. A zero deadline ends the demand: the registrant was verified.
func (s *Server) DemandVerification(name deed.Name, deadline time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.verify[name] = deadline
	if deadline.IsZero() {
		delete(s.verify, name)
	}
}

// SetKey gives the registry a key of the name, which it has instead of a DS.
func (s *Server) SetKey(name deed.Name, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[name] = key
}

// HoldUpdates lets the registry not decide about changes of the name, or ends that: then those
// that it got meanwhile are not made.
func (s *Server) HoldUpdates(name deed.Name, hold bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.updating[name] = ""
	if hold {
		s.updating[name] = "held"
	}
}

// Received returns when a request has arrived that the fault Slow holds.
func (s *Server) Received() { <-s.held }

func (s *Server) addRoutes() {
	for pattern, handle := range map[string]func(call) reply{
		"GET /v1/domains":                             s.list,
		"POST /v1/domains":                            s.create,
		"GET /v1/domains/check":                       s.check,
		"POST /v1/domains/transfer":                   s.transfer,
		"GET /v1/domains/{domain}":                    s.get,
		"PATCH /v1/domains/{domain}":                  s.update,
		"DELETE /v1/domains/{domain}":                 s.remove,
		"POST /v1/domains/{domain}/renew":             s.renew,
		"POST /v1/domains/{domain}/restore":           s.restore,
		"DELETE /v1/domains/{domain}/transfer":        s.cancelTransfer,
		"POST /v1/domains/{domain}/transfer/outbound": s.decide,
		"GET /v1/domains/{domain}/dnssec":             s.getDS,
		"PUT /v1/domains/{domain}/dnssec":             s.putDS,
		"DELETE /v1/domains/{domain}/dnssec":          s.deleteDS,
		"GET /v1/contacts":                            s.listContacts,
		"POST /v1/contacts":                           s.createContact,
		"DELETE /v1/contacts/{contact}":               s.deleteContact,
		"POST /v1/hosts":                              s.createHost,
		"PUT /v1/hosts/{host}":                        s.updateHost,
		"DELETE /v1/hosts/{host}":                     s.deleteHost,
		"GET /v1/events":                              s.listEvents,
		"PATCH /v1/events/{event}":                    s.acknowledge,
		"GET /v1/tlds/portfolio":                      s.portfolio,
		"GET /v1/tlds/{tld}":                          s.tld,
		"GET /v1/organizations/{organization}":        s.organization,
		"GET /v1/organizations/{organization}/pricing/product-type/{type}": s.pricing,
	} {
		s.routes.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.handle(w, r, handle) })
	}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.routes.ServeHTTP(w, r) }

// A call is a request that was read.
type call struct {
	ctx   context.Context
	r     *http.Request
	body  []byte
	fault Fault
	name  deed.Name // of the domain in the path; "" if it has none
}

// handle answers a request, with the active fault.
func (s *Server) handle(w http.ResponseWriter, r *http.Request, handle func(call) reply) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		drop(w)
		return
	}
	c := call{ctx: r.Context(), r: r, body: body}
	s.mu.Lock()
	s.requests++
	c.fault = s.faults.take(isOrder(r))
	s.mu.Unlock()
	if s.faultBefore(w, c) {
		return
	}
	s.mu.Lock()
	out := s.answer(c, handle)
	s.mu.Unlock()
	if out.lost || c.fault == LostReply {
		drop(w)
		return
	}
	writeReply(w, out, c.fault)
}

// answer checks the key, executes what is due, and calls the handler.
func (s *Server) answer(c call, handle func(call) reply) reply {
	if c.r.Header.Get("X-Api-Key") != Key {
		return refuse(http.StatusUnauthorized, "ERROR_AUTHENTICATION", "authentication")
	}
	s.executeLate(c.ctx)
	if domain := c.r.PathValue("domain"); domain != "" {
		name, ok := s.resolve(domain)
		if !ok {
			return notFound()
		}
		c.name = name
	}
	return handle(c)
}

// resolve returns the name of a domain, which may be given by its ID.
func (s *Server) resolve(reference string) (deed.Name, bool) {
	if strings.HasPrefix(reference, "domain_") {
		for name, r := range s.records {
			if r.id == reference {
				return name, true
			}
		}
		return "", false
	}
	name, err := deed.ParseName(reference)
	return name, err == nil
}

// isOrder reports whether the request is an order, which some faults are for.
func isOrder(r *http.Request) bool {
	path := r.URL.Path
	return r.Method == http.MethodPost && (path == "/v1/domains" || path == "/v1/domains/transfer" ||
		strings.HasSuffix(path, "/renew") || strings.HasSuffix(path, "/restore"))
}
