package e2e_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	accounts "deed.example/deed/internal/account"
	"deed.example/deed/internal/apitest"
	"deed.example/deed/internal/cache/memory"
	"deed.example/deed/internal/cache/redis"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/discovery"
	"deed.example/deed/internal/event"
	"deed.example/deed/internal/health"
	"deed.example/deed/internal/httpapi"
	"deed.example/deed/internal/ratelimit"
	registry "deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/signin"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// service is the whole service behind a real listener. client validates every
// exchange against openapi.yaml.
type service struct {
	api    *httpapi.Server
	http   *http.Server
	db     *sqldb.DB
	addr   string
	client *http.Client
}

// options configure a service.
type options struct {
	db      *sqldb.DB    // default: SQLite
	shared  deed.Counter // default: memory
	limits  *deed.Limits // default: those of the interface document
	rpcURL  string       // of a chain; default: one that is down
	now     func() time.Time
	checks  []health.Check
	trusted []netip.Prefix
	setHTTP func(*http.Server)
	setAPI  func(*httpapi.Server)
}

// loopback is trusted by tests that send X-Forwarded-For for many addresses.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

func open(t *testing.T, o options) *service {
	t.Helper()
	if o.db == nil {
		o.db = sqldbtest.SQLite(t)
	}
	if o.now == nil {
		o.now = time.Now
	}
	if o.rpcURL == "" {
		o.rpcURL = "http://127.0.0.1:1"
	}
	prices, err := catalog.New(catalog.DefaultPricing())
	if err != nil {
		t.Fatal(err)
	}
	local := &memory.Cache{Now: time.Now}
	if o.shared == nil {
		o.shared = local
	}
	limits := deed.DefaultLimits()
	if o.limits != nil {
		limits = *o.limits
	}
	if o.checks == nil {
		o.checks = []health.Check{{Name: "database", Essential: true, Ping: o.db.Ping}, {Name: "cache"}, {Name: "registrar"}, {Name: "chain"}, {Name: "dns"}}
	}
	h := &service{db: o.db}
	h.api = &httpapi.Server{
		Catalog: prices,
		Search:  openSearch(prices, &registry.Registry{Store: sqldb.Registry{DB: o.db}, Now: time.Now}),
		Health:  &health.Service{Checks: o.checks, Now: time.Now},
		Limiter: &ratelimit.Limiter{Shared: o.shared, Local: local, Durable: sqldb.Limits{DB: o.db, Now: time.Now}, Now: time.Now, OnCacheError: func(error) {}},
		Limits:  limits,
		SignIn: &signin.Service{
			Store:    sqldb.NewSessions(o.db, o.now),
			Verifier: newChainClient(o.rpcURL),
			Keys:     func() []signin.TokenKey { return testKeys },
			Site:     testSite,
			Now:      o.now,
		},
		Events:    &event.Service{Store: sqldb.Events{DB: o.db}, Pause: func(ctx context.Context) error { return ctx.Err() }},
		Accounts:  &accounts.Service{Store: sqldb.Accounts{DB: o.db}, Now: o.now},
		Trusted:   o.trusted,
		Version:   "test",
		PublicURL: "https://deed.example",
		Started:   time.Now(),
		Now:       time.Now,
		Log:       slog.New(slog.NewTextHandler(io.Discard, nil)),
		Observe:   func(string, int, time.Duration) {},
	}
	h.api.Discovery = describe(t, h.api)
	if o.setAPI != nil {
		o.setAPI(h.api)
	}
	h.http = h.api.Configure()
	if o.setHTTP != nil {
		o.setHTTP(h.http)
	}
	h.serve(t, o.trusted)
	return h
}

// describe returns the handler of the discovery documents.
func describe(t *testing.T, s *httpapi.Server) http.Handler {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	d, err := discovery.New(discovery.Site{
		PublicURL: s.PublicURL, Version: s.Version, Contact: "security@deed.example", Limits: s.Limits, Listings: s.Catalog.Listings(),
		Network: "base-sepolia", Sandbox: true, Now: time.Now, Key: key,
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// openSearch returns a searcher without a cache, with a timeout that a busy
// machine does not reach.
func openSearch(prices *catalog.Service, r catalog.Checker) *catalog.Searcher {
	return &catalog.Searcher{Prices: prices, Registrar: r, Timeout: time.Minute, MaxParallel: 16, Slots: make(chan struct{}, 64), OnError: func(error) {}, Now: time.Now}
}

func (h *service) serve(t *testing.T, trusted []netip.Prefix) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := h.http.Serve(httpapi.Listen(l, trusted)); err != http.ErrServerClosed {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { h.http.Close(); <-done })
	h.addr = l.Addr().String()
	h.client = apitest.Client(t, &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true})
	t.Cleanup(h.client.CloseIdleConnections)
}

// testKeys are the token keys of every service, so that services on one database
// are nodes of one service.
var testKeys = []signin.TokenKey{{ID: "test", Secret: "0123456789abcdef0123456789abcdef"}}

// testSite is the site in sign-in messages.
var testSite = signin.Site{Scheme: "https", Domain: "deed.example", URI: "https://deed.example", ChainID: devchain.ChainID}

// eachStore runs f on every pair of database and cache.
func eachStore(t *testing.T, f func(t *testing.T, o options)) {
	for dbName, openDB := range map[string]func(testing.TB) *sqldb.DB{"sqlite": sqldbtest.SQLite, "postgres": sqldbtest.Postgres} {
		t.Run(dbName+"+memory", func(t *testing.T) { f(t, options{db: openDB(t)}) })
		t.Run(dbName+"+redis", func(t *testing.T) { f(t, options{db: openDB(t), shared: openRedis(t)}) })
	}
}

func openRedis(t *testing.T) *redis.Cache {
	t.Helper()
	url := os.Getenv("TEST_REDIS_URL")
	if url == "" {
		t.Skip("TEST_REDIS_URL is not set: `make test` starts a Redis server and sets it")
	}
	c, err := redis.Open(url, time.Minute) // a busy machine must not fail a test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() }) // the connections go away with the test
	return c
}

type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) error(t *testing.T) api.Error {
	t.Helper()
	var e api.Error
	if err := json.Unmarshal([]byte(a.body), &e); err != nil {
		t.Errorf("%s is not an error body: %v", a.body, err)
	}
	return e
}

// do sends a request; headers are alternating names and values.
func (h *service) do(t *testing.T, method, path, body string, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+h.addr+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := h.client.Do(req)
	if err != nil {
		t.Error(err) // not Fatal: races send from goroutines of their own
		return answer{}
	}
	defer res.Body.Close() // it has been read, or the error is reported
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return answer{res.StatusCode, res.Header, string(raw)}
}

func (h *service) get(t *testing.T, path string, headers ...string) answer {
	t.Helper()
	return h.do(t, "GET", path, "", headers...)
}

// expect fails unless the response has the status and the code.
func (a answer) expect(t *testing.T, status int, code deed.Code) {
	t.Helper()
	if e := a.error(t); a.status != status || e.Code != string(code) {
		t.Errorf("got %d %s, want %d %s", a.status, a.body, status, code)
	}
}
