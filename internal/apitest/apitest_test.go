package apitest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"deed.example/deed/internal/apitest"
)

// recorder is a testing.TB that records failures.
type recorder struct {
	testing.TB
	mu       sync.Mutex // guards failures
	failures []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

const (
	jsonType = "Content-Type: application/json\n"
	plain    = jsonType + "X-Request-Id: req_1\n"
	limited  = plain + "X-RateLimit-Limit: 60\nX-RateLimit-Remaining: 59\nX-RateLimit-Reset: 1767323045\n"
	used     = plain + "X-RateLimit-Limit: 60\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1767323045\n"
	etag     = "X-Request-Id: req_1\nETag: \"5feceb66\"\n"
	signedIn = "Authorization: Bearer a.b.c\n"
	v1Paid   = signedIn + "X-PAYMENT: e30=\n"

	price    = `{"tld":"com","registration_price_usd":"12.99","renewal_price_usd":"12.99","transfer_price_usd":"12.99","currency":"USDC","restore_price_usd":"90.00","minYears":1,"maxYears":10}`
	found    = `{"query":"example","results":[{"domain":"example.com","tld":"com","available":true}]}`
	record   = `"id":"r1","recordId":"r1","type":"A","host":"www","value":"192.0.2.10","ttl":3600,"distance":null,"createdAt":"2026-01-02T03:04:05Z","updatedAt":"2026-01-02T03:04:05Z"`
	notFound = `{"error":"Not Found","message":"There is nothing here.","code":"NOT_FOUND"}`
	checks   = `"version":"1","uptimeSeconds":1,"checks":{"database":{"status":"ok","latencyMs":1},"cache":{"status":"ok","latencyMs":1},"registrar":{"status":"off","latencyMs":0},"chain":{"status":"off","latencyMs":0},"dns":{"status":"off","latencyMs":0}},"timestamp":"2026-01-02T03:04:05Z"`
	offer    = `"error":"Payment Required","message":"Pay.","code":"PAYMENT_REQUIRED","currency":"USDC","network":"base-sepolia","x402Version":1,"accepts":[{"scheme":"exact","network":"base-sepolia","maxAmountRequired":"100000","price":"0.10","resource":"https://deed.example/dns/example.com","description":"","mimeType":"application/json","payTo":"0x52908400098527886E0F7030069857D2E4169EE7","maxTimeoutSeconds":300,"asset":"0x036CbD53842c5426634e7929541eC2318f3dCF7e","extra":{"name":"USDC","version":"2"}}]`
)

// A scene is a test case: a request and the response of the server.
type scene struct {
	name    string
	request string // "GET /path"
	sends   string // request headers, one per line
	body    string // of the request
	status  int
	headers string // of the response, one per line
	answer  string
	want    string // part of the failure; "" if the exchange is valid
}

var scenes = []scene{
	{"price", "GET /domains/pricing/com", "", "", 200, jsonType + etag, price, ""},
	{"content type with parameter", "GET /domains/pricing/com", "", "", 200, "Content-Type: application/json; charset=utf-8\n" + etag, price, ""},
	{"not modified", "GET /domains/pricing", "If-None-Match: \"5feceb66\"\n", "", 304, etag, "", ""},
	{"search", "GET /domains/search?query=example&tlds=com", "", "", 200, limited, found, ""},
	{"null distance", "GET /dns/example.com", signedIn, "", 200, limited, `{"domain":"example.com","revision":1,"warnings":[],"records":[{` + record + `}]}`, ""},
	{"updated record", "PUT /dns/example.com/r1", v1Paid + jsonType, `{"ttl":60}`, 200, limited, `{` + record + `,"message":"DNS record updated"}`, ""},
	{"offer", "POST /dns/example.com", signedIn, "", 402, limited + "PAYMENT-REQUIRED: e30=\n", `{` + offer + `,"price_usd":"0.10"}`, ""},
	{"healthy", "GET /health", "", "", 200, plain, `{"status":"ok",` + checks + `}`, ""},
	{"unhealthy", "GET /health", "", "", 503, plain, `{"error":"a","message":"b","code":"SERVICE_UNAVAILABLE","status":"down",` + checks + `}`, ""},
	{"limited", "GET /domains/search?query=a", "", "", 429, used + "Retry-After: 17\n", `{"error":"a","message":"wait 17 seconds","code":"RATE_LIMITED","retryAfter":17}`, ""},
	{"limited, without the seconds", "GET /domains/search?query=a", "", "", 429, used + "Retry-After: 17\n", `{"error":"a","message":"wait","code":"RATE_LIMITED","retryAfter":17}`, "pattern"},
	{"head", "HEAD /domains/pricing/com", "", "", 200, jsonType + etag, "", ""},
	{"preflight", "OPTIONS /domains/register", "", "", 204, "X-Request-Id: req_1\n", "", ""},
	{"unknown path", "GET /nowhere", "", "", 404, plain, notFound, ""},
	{"wrong method", "PATCH /account", "", "", 405, plain + "Allow: GET, HEAD\n", notFound, ""},
	{"head of an unknown path", "HEAD /nowhere", "", "", 404, plain, "", ""},
	{"head of a path without GET", "HEAD /auth/verify", "", "", 405, plain + "Allow: POST\n", "", ""},
	{"escaped path", "GET /domains/%65xample.com", "", "", 404, plain, notFound, ""},
	{"dry run needs no payment", "POST /domains/register", jsonType, `{"domain":"example.com","dryRun":true}`, 200, limited, `{"dryRun":true,"domain":"example.com","years":1,"price_usd":"12.99","currency":"USDC"}`, ""},
	{"dotted path", "GET /domains/pricing/..", "", "", 404, plain, notFound, ""},
	{"header in two lines", "GET /domains/pricing/com", "If-None-Match: \"a\"\nIf-None-Match: \"b\"\n", "", 200, jsonType + etag, price, ""},
	{"refused request is not checked", "GET /domains/search", "", "", 400, limited, `{"error":"a","message":"b","code":"VALIDATION_ERROR"}`, ""},
	{"static path before variable", "GET /domains/search?query=a", "", "", 404, limited, notFound, "does not document this status"},

	{"wrong status", "GET /domains/pricing/com", "", "", 201, jsonType + etag, price, "GET /domains/pricing/com answered 201: openapi.yaml does not document this status"},
	{"missing field", "GET /domains/search?query=a", "", "", 200, limited, `{"query":"a","results":[{"domain":"a.com","available":true}]}`, "body /results/0: missing property 'tld'"},
	{"extra field", "GET /domains/search?query=a", "", "", 200, limited, `{"query":"a","results":[],"total":0}`, "'total' not allowed"},
	{"extra field beside a $ref", "GET /dns/example.com", signedIn, "", 200, limited, `{"domain":"example.com","revision":1,"warnings":[],"records":[{` + record + `,"priority":1}]}`, "body /records/0/priority: false schema"},
	{"extra field of an error", "GET /nowhere", "", "", 404, plain, `{"error":"a","message":"b","code":"NOT_FOUND","detail":"c"}`, "body /detail: false schema"},
	{"extra field of health", "GET /health", "", "", 503, plain, `{"error":"a","message":"b","code":"SERVICE_UNAVAILABLE","status":"down","reqId":"c",` + checks + `}`, "body /reqId: false schema"},
	{"misspelt code", "GET /nowhere", "", "", 404, plain, `{"error":"a","message":"b","code":"NOTFOUND"}`, "body /code: value must be"},
	{"code of another status", "GET /domains/example.com", "", "", 404, plain, `{"error":"a","message":"b","code":"DNS_ERROR"}`, "body /code: value must be 'NOT_FOUND'"},
	{"code of another operation", "POST /auth/verify", "", "", 400, limited, `{"error":"a","message":"b","code":"TLD_NOT_SUPPORTED"}`, "body /code: value must be 'VALIDATION_ERROR'"},
	{"wrong type", "GET /domains/search?query=a", "", "", 200, limited, `{"query":1,"results":[]}`, "body /query: got number, want string"},
	{"wrong const", "GET /livez", "", "", 200, plain, `{"status":"fine"}`, "body /status: value must be 'ok'"},
	{"amount without cents", "GET /domains/pricing/com", "", "", 200, jsonType + etag, strings.ReplaceAll(price, "12.99", "13"), "body /renewal_price_usd: '13' does not match"},
	{"local time", "GET /dns/example.com", signedIn, "", 200, limited, `{"domain":"example.com","revision":1,"warnings":[],"records":[{` + strings.ReplaceAll(record, "05Z", "05+01:00") + `}]}`, "body /records/0/createdAt:"},
	{"offer without price", "POST /dns/example.com", signedIn, "", 402, limited + "PAYMENT-REQUIRED: e30=\n", `{` + offer + `}`, "missing property 'price_usd'"},
	{"reason of an available name", "GET /domains/search?query=a", "", "", 200, limited, `{"query":"a","results":[{"domain":"a.com","tld":"com","available":true,"reason":"taken"}]}`, "body /results/0/available: value must be false"},
	{"broken JSON", "GET /livez", "", "", 200, plain, `{"status":"ok"`, "body: broken JSON"},
	{"two JSON values", "GET /livez", "", "", 200, plain, `{"status":"ok"}{}`, "body: broken JSON"},
	{"empty body", "GET /livez", "", "", 200, plain, "", "body: broken JSON"},
	{"plain text", "GET /nowhere", "", "", 404, "Content-Type: text/plain\nX-Request-Id: req_1\n", "404 page not found", `content type "text/plain" is not documented`},

	{"no request id", "GET /livez", "", "", 200, jsonType, `{"status":"ok"}`, "header X-Request-Id: is missing"},
	{"two request ids", "GET /livez", "", "", 200, plain + "X-Request-Id: req_2\n", `{"status":"ok"}`, "header X-Request-Id: got 2 values"},
	{"preflight without request id", "OPTIONS /domains/register", "", "", 204, "", "", "header X-Request-Id: is missing"},
	{"no limit header", "GET /domains/search?query=a", "", "", 200, plain, found, "header X-RateLimit-Reset: is missing"},
	{"limited with some left", "GET /domains/search?query=a", "", "", 429, limited + "Retry-After: 17\n", `{"error":"a","message":"b","code":"RATE_LIMITED"}`, "header X-RateLimit-Remaining: value must be 0"},
	{"optional header of wrong type", "GET /readyz", "", "", 503, plain + "Retry-After: soon\n", `{"error":"a","message":"b","code":"SERVICE_UNAVAILABLE"}`, "header Retry-After: got string, want integer"},
	{"no ETag on 304", "GET /domains/pricing", "", "", 304, plain, "", "header ETag: is missing"},
	{"no ETag on HEAD", "HEAD /domains/pricing", "", "", 200, plain, "", "header ETag: is missing"},
	{"no Allow", "PATCH /account", "", "", 405, plain, notFound, "header Allow: is missing"},
	{"no challenge", "GET /account", "", "", 401, plain, `{"error":"a","message":"b","code":"AUTH_REQUIRED"}`, "header WWW-Authenticate: is missing"},

	{"undocumented route", "GET /nowhere", "", "", 200, plain, `{}`, "has no such operation"},
	{"undocumented method", "DELETE /account", "", "", 200, plain, `{}`, "has no such operation"},
	{"trailing slash", "GET /livez/", "", "", 200, plain, `{"status":"ok"}`, "has no such operation"},

	{"missing parameter", "GET /domains/search", "", "", 200, limited, found, "query parameter query: is missing"},
	{"parameter twice", "GET /domains/search?query=a&query=b", "", "", 200, limited, found, "query parameter query: got 2 values"},
	{"invalid parameter", "GET /domains/search?query=a.b", "", "", 200, limited, found, "query parameter query: 'a.b' does not match"},
	{"number out of range", "GET /account/domains?limit=101", signedIn, "", 200, limited, `{"domains":[],"total":0,"limit":100,"offset":0}`, "query parameter limit: maximum"},
	{"path parameter", "GET /domains/status/", "", "", 200, plain, `{}`, "has no such operation"},
	{"missing body", "POST /dns/example.com", v1Paid + jsonType, "", 201, limited, `{` + record + `}`, "request body: is missing"},
	{"unknown request field", "POST /dns/example.com", v1Paid + jsonType, `{"type":"A","host":"www","value":"192.0.2.10","prio":1}`, 201, limited, `{` + record + `}`, "request body: additional properties 'prio' not allowed"},
	{"request content type", "PUT /dns/example.com/r1", v1Paid + "Content-Type: text/plain\n", `{"ttl":60}`, 200, limited, `{` + record + `,"message":"DNS record updated"}`, `request body: content type "text/plain" is not documented`},
	{"nobody signed in", "GET /dns/example.com", "", "", 200, limited, `{"domain":"example.com","revision":1,"warnings":[],"records":[]}`, "request header Authorization: is missing"},
	{"nobody paid", "DELETE /dns/example.com/r1", signedIn, "", 200, limited, `{"message":"DNS record deleted","id":"r1"}`, "request header X-PAYMENT: is missing"},
}

func TestExchanges(t *testing.T) {
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			rec, got := s.play(t)
			if got != s.answer {
				t.Errorf("the caller got body %q, want %q", got, s.answer)
			}
			failures := strings.Join(rec.failures, "\n")
			if s.want == "" && failures != "" {
				t.Errorf("got failures for a good exchange:\n%s", failures)
			}
			if !strings.Contains(failures, s.want) {
				t.Errorf("got failures:\n%s\nwant one with %q", failures, s.want)
			}
		})
	}
}

// play runs the exchange and returns the recorder and the response body.
func (s scene) play(t *testing.T) (*recorder, string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header(), s.headers)
		w.WriteHeader(s.status)
		io.WriteString(w, s.answer) // a client that is gone makes the test fail
	}))
	defer server.Close()
	method, path, _ := strings.Cut(s.request, " ")
	req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(s.body))
	if err != nil {
		t.Fatal(err)
	}
	setHeaders(req.Header, s.sends)
	rec := &recorder{}
	res, err := apitest.Client(rec, server.Client().Transport).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return rec, string(body)
}

// setHeaders adds "Name: value" lines; repeated headers are sent repeatedly.
func setHeaders(h http.Header, lines string) {
	for line := range strings.Lines(lines) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		h.Add(name, value)
	}
}
