package e2e_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/apitest"
	"deed.example/deed/internal/app"
	"deed.example/deed/internal/cache/redis"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/health"
	"deed.example/deed/internal/httpapi"
	"deed.example/deed/internal/signin"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// service is the whole service behind a real listener. client validates every
// exchange against openapi.yaml.
type service struct {
	config app.Config
	app    *app.App
	api    *httpapi.Server // of app
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
	config  func(*app.Config) // changes the rest
	setHTTP func(*http.Server)
	setAPI  func(*httpapi.Server)
}

// loopback is trusted by tests that send X-Forwarded-For for many addresses.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// open opens a service that takes no payments, unless the options say otherwise.
func open(t *testing.T, o options) *service {
	t.Helper()
	c := testConfig(t)
	c.Hooks.DB, c.Hooks.Cache, c.Hooks.SignInNow = o.db, o.shared, o.now
	if o.db == nil {
		c.Hooks.DB = sqldbtest.SQLite(t)
	}
	if o.limits != nil {
		c.Limits = *o.limits
	}
	if o.rpcURL != "" {
		c.ChainRPCURL = deed.Secret(o.rpcURL)
	}
	c.Proxies = o.trusted
	if o.config != nil {
		o.config(&c)
	}
	return openConfig(t, c, o)
}

// testConfig is the configuration of a node on an external chain that is down. No
// timeout in it is reached on a busy machine.
func testConfig(t *testing.T) app.Config {
	t.Helper()
	c := app.Default()
	c.Data, c.Version, c.PublicURL = t.TempDir(), "test", testSite.URI
	c.Listen, c.MetricsListen, c.DNSListen = "127.0.0.1:0", "off", "off"
	c.ChainRPCURL, c.AllowEmbedded, c.ChainTimeout = "http://127.0.0.1:1", true, time.Minute
	c.Search.CacheTTL, c.Search.Timeout = 0, time.Minute
	c.RequestWait, c.PollInterval = time.Minute, 5*time.Millisecond
	c.Registrar.IANAID, c.Registrar.Contact = "9999", "https://deed.example/contact"
	c.SigninKeys = filepath.Join(c.Data, "signin.keys")
	c.DNSKey = filepath.Join(c.Data, "dns.key")
	for path, text := range map[string]string{
		c.SigninKeys: testKeys[0].ID + " " + base64.StdEncoding.EncodeToString([]byte(testKeys[0].Secret.Reveal())),
		c.DNSKey:     zoneSecret,
	} {
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// openConfig opens the service of a configuration and serves it. The worker does not
// run: tests advance what is due themselves.
func openConfig(t *testing.T, c app.Config, o options) *service {
	t.Helper()
	a, err := app.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	h := &service{config: c, app: a, api: a.API, http: a.HTTP, db: a.DB}
	h.http.WriteTimeout = 10 * time.Minute // no request of a busy machine is cut off
	if o.checks != nil {
		h.api.Health = &health.Service{Checks: o.checks, Now: time.Now}
	}
	if o.setAPI != nil {
		o.setAPI(h.api)
	}
	if o.setHTTP != nil {
		o.setHTTP(h.http)
	}
	h.serve(t)
	return h
}

// openSearch returns a searcher without a cache, with a timeout that a busy
// machine does not reach.
func openSearch(prices *catalog.Service, r catalog.Checker, names catalog.Names) *catalog.Searcher {
	return &catalog.Searcher{Prices: prices, Registrar: r, Names: names, Timeout: time.Minute, MaxParallel: 16, Slots: make(chan struct{}, 64), OnError: func(error) {}, Now: time.Now}
}

func (h *service) serve(t *testing.T) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := h.http.Serve(httpapi.Listen(h.app.Callers, h.app.API.PublicURL)); err != http.ErrServerClosed {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { h.http.Close(); <-done })
	h.addr = h.app.Callers.Addr().String()
	h.client = apitest.Client(t, &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true})
	t.Cleanup(h.client.CloseIdleConnections)
}

// zoneSecret is what the keys of zones are derived from, on every service, too.
const zoneSecret = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

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
	e := a.error(t)
	if a.status != status || e.Code != string(code) {
		t.Errorf("got %d %s, want %d %s", a.status, a.body, status, code)
	}
	if want := "/docs/errors#" + strings.ToLower(strings.ReplaceAll(e.Code, "_", "-")); e.Code != "" && !strings.HasSuffix(e.DocURL, want) {
		t.Errorf("got doc_url %q, want one that ends with %s", e.DocURL, want)
	}
}
