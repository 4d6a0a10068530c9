package e2e_test

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/cache/redis"
	"deed.example/deed/internal/interfacedoc"
)

// oneWindow returns limits with windows that no test outlasts.
func oneWindow() *deed.Limits {
	l := deed.DefaultLimits()
	for _, lim := range []*deed.Limit{&l.Search, &l.Register, &l.DNS, &l.Account, &l.SignIn, &l.Agents} {
		lim.Window = 1000 * 24 * time.Hour
	}
	return &l
}

// caller returns a unique address and wallet, so that tests on one Redis do not
// share counters.
func caller(t *testing.T) (addr string, w *account) {
	t.Helper()
	w = newAccount(t)
	return fmt.Sprintf("2001:db8:%s:%s::1", w.wallet[2:6], w.wallet[6:10]), w
}

// Every group of chapter 8: its endpoints share one counter, every response has
// the rate limit headers, and the call above the limit is rejected.
func TestEveryLimitOfTheInterfaceDocument(t *testing.T) {
	eachStore(t, func(t *testing.T, o options) {
		o.limits, o.trusted = oneWindow(), loopback
		h := open(t, o)
		for _, lim := range interfacedoc.Limits() {
			t.Run(lim.Endpoints[0], func(t *testing.T) {
				addr, wallet := caller(t)
				for i := 1; i <= lim.Max+1; i++ {
					got := h.call(t, lim.Endpoints[i%len(lim.Endpoints)], addr, wallet)
					if left := max(0, lim.Max-i); got.header.Get("X-RateLimit-Limit") != strconv.Itoa(lim.Max) || got.header.Get("X-RateLimit-Remaining") != strconv.Itoa(left) {
						t.Fatalf("call %d: got %v", i, got.header)
					}
					if refused := got.status == 429; refused != (i > lim.Max) {
						t.Fatalf("call %d of %d: got %d %s", i, lim.Max, got.status, got.body)
					}
				}
				got := h.call(t, lim.Endpoints[0], addr, wallet)
				got.expect(t, 429, deed.CodeRateLimited)
				checkWait(t, got)
				otherAddr, otherWallet := caller(t)
				if got := h.call(t, lim.Endpoints[0], otherAddr, otherWallet); got.status == 429 {
					t.Error("another caller was refused too")
				}
			})
		}
	})
}

// checkWait compares the three places of a response that say how long to wait.
func checkWait(t *testing.T, got answer) {
	t.Helper()
	e := got.error(t)
	retry := got.header.Get("Retry-After")
	reset, err := strconv.ParseInt(got.header.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil || retry == "" || strconv.Itoa(e.RetryAfter) != retry || !strings.Contains(e.Message, "wait "+retry+" seconds") {
		t.Errorf("got Retry-After %q and %s", retry, got.body)
	}
	if wait := time.Until(time.Unix(reset, 0)).Seconds(); e.RetryAfter < int(wait) {
		t.Errorf("told to wait %d seconds, and the window ends in %.1f", e.RetryAfter, wait)
	}
}

// call makes a call to an endpoint such as "PUT /dns/{domain}/{recordId}".
func (h *service) call(t *testing.T, endpoint, addr string, w *account) answer {
	t.Helper()
	method, path, _ := strings.Cut(endpoint, " ")
	path = strings.NewReplacer("{domain}", "example.com", "{recordId}", "1", "{tld}", "com", "{jobId}", "1").Replace(path)
	body := ""
	if method == "POST" || method == "PUT" {
		body = "{}"
	}
	headers := []string{"X-Forwarded-For", addr}
	if w != nil {
		headers = append(headers, "Authorization", "Bearer "+h.tokens(t, w).Access)
	}
	return h.do(t, method, path, body, headers...)
}

func TestUnlimitedRoutesAreNeverLimited(t *testing.T) {
	h := open(t, options{})
	for _, endpoint := range append(interfacedoc.Unlimited(), "GET /livez", "GET /readyz", "GET /openapi.json") {
		for range 130 {
			got := h.call(t, endpoint, "", nil)
			if got.status == 429 || got.header.Get("X-RateLimit-Limit") != "" {
				t.Fatalf("%s: got %d %v", endpoint, got.status, got.header)
			}
		}
	}
}

// A caller cannot choose the address that limits count.
func TestForgedAddressIsIgnored(t *testing.T) {
	h := open(t, options{limits: oneWindow()})
	for i := range 60 {
		if got := h.get(t, "/domains/search?query=a", "X-Forwarded-For", fmt.Sprintf("192.0.2.%d", i), "X-Real-Ip", "192.0.2.1", "Forwarded", "for=192.0.2.1"); got.status == 429 {
			t.Fatalf("call %d: got 429", i+1)
		}
	}
	h.get(t, "/domains/search?query=a", "X-Forwarded-For", "198.51.100.1").expect(t, 429, deed.CodeRateLimited)
}

func TestIPv6NetworkCountsAsOneClient(t *testing.T) {
	h := open(t, options{limits: oneWindow(), trusted: loopback})
	for i := range 60 {
		if got := h.get(t, "/domains/search?query=a", "X-Forwarded-For", fmt.Sprintf("2001:db8:1:2:%x::1", i)); got.status == 429 {
			t.Fatalf("call %d: got 429", i+1)
		}
	}
	h.get(t, "/domains/search?query=a", "X-Forwarded-For", "2001:db8:1:2:ffff::9").expect(t, 429, deed.CodeRateLimited)
	if got := h.get(t, "/domains/search?query=a", "X-Forwarded-For", "2001:db8:1:3::1"); got.status == 429 {
		t.Error("the next network was refused too")
	}
}

func TestLimitIsExactWhenRaced(t *testing.T) {
	eachStore(t, func(t *testing.T, o options) {
		o.limits, o.trusted = oneWindow(), loopback
		h := open(t, o)
		for _, endpoint := range []string{"GET /domains/search", "POST /domains/register", "GET /account"} {
			addr, wallet := caller(t)
			lim := interfacedoc.Limits()[slices.IndexFunc(interfacedoc.Limits(), func(l interfacedoc.Limit) bool { return slices.Contains(l.Endpoints, endpoint) })]
			var wg sync.WaitGroup
			var allowed atomic.Int64
			for range lim.Max + 20 {
				wg.Go(func() {
					if h.call(t, endpoint, addr, wallet).status != 429 {
						allowed.Add(1)
					}
				})
			}
			wg.Wait()
			if int(allowed.Load()) != lim.Max {
				t.Errorf("%s: %d calls were let in, want %d", endpoint, allowed.Load(), lim.Max)
			}
		}
	})
}

// Requests without a valid token are not counted.
func TestUnauthorizedIsNotCounted(t *testing.T) {
	h := open(t, options{limits: oneWindow()})
	_, wallet := caller(t)
	for range 40 {
		h.get(t, "/account").expect(t, 401, deed.CodeAuthRequired)
		h.get(t, "/account", "Authorization", "Bearer nonsense").expect(t, 401, deed.CodeTokenInvalid)
	}
	if got := h.get(t, "/account", "Authorization", "Bearer "+h.tokens(t, wallet).Access); got.header.Get("X-RateLimit-Remaining") != "29" {
		t.Errorf("the first call of a wallet: got %v", got.header)
	}
}

// While Redis is down or hangs, the process counts locally and no caller gets an
// error.
func TestRedisDownOrSlow(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections and never responds
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close() // only the port was needed
	for name, url := range map[string]string{"down": "redis://127.0.0.1:1/0", "slow": "redis://" + silent.Addr().String() + "/0"} {
		t.Run(name, func(t *testing.T) {
			cache, err := redis.Open(url, redis.Timeout)
			if err != nil {
				t.Fatal(err)
			}
			defer cache.Close() // it has no data
			h := open(t, options{limits: oneWindow(), shared: cache})
			for i := 1; i <= 60; i++ {
				got := h.get(t, "/domains/search?query=a")
				if got.status == 429 || got.header.Get("X-RateLimit-Remaining") != strconv.Itoa(60-i) {
					t.Fatalf("call %d: got %d %v", i, got.status, got.header)
				}
			}
			h.get(t, "/domains/search?query=a").expect(t, 429, deed.CodeRateLimited)
		})
	}
}

// Without the database, calls with durable limits are 503, and prices still work.
func TestDatabaseDown(t *testing.T) {
	eachStore(t, func(t *testing.T, o options) {
		h := open(t, o)
		if err := h.db.Close(); err != nil {
			t.Fatal(err)
		}
		got := h.do(t, "POST", "/domains/register", "{}")
		got.expect(t, 503, deed.CodeUnavailable)
		if got.header.Get("Retry-After") == "" || strings.Contains(got.body, "sql") {
			t.Errorf("got %v %s", got.header, got.body)
		}
		if got := h.get(t, "/domains/pricing/com"); got.status != 200 {
			t.Errorf("pricing: got %d %s", got.status, got.body)
		}
	})
}

// The daily count of an address is the same on another node.
func TestDailyWindowIsSharedByNodes(t *testing.T) {
	eachStore(t, func(t *testing.T, o options) {
		o.limits, o.trusted = oneWindow(), loopback
		nodes := []*service{open(t, o), open(t, o)}
		addr, _ := caller(t)
		for i := range 10 {
			if got := nodes[i%2].call(t, "POST /domains/renew", addr, nil); got.header.Get("X-RateLimit-Remaining") != strconv.Itoa(9-i) {
				t.Errorf("call %d: got %v", i+1, got.header)
			}
		}
		nodes[0].call(t, "POST /domains/register", addr, nil).expect(t, 429, deed.CodeRateLimited)
	})
}
