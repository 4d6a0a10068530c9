package e2e_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
)

// dial connects to the server, with the deadline of the test.
func (h *service) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() }) // the server has closed it, or it is not needed any more
	if err := conn.SetDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// raw sends raw bytes and returns all responses until the server closes the
// connection.
func (h *service) raw(t *testing.T, text string) []answer {
	t.Helper()
	conn := h.dial(t)
	go io.WriteString(conn, text) // the server may respond and close before it has read everything
	return answers(t, conn)
}

// answers reads responses until the server closes the connection.
func answers(t *testing.T, conn net.Conn) []answer {
	t.Helper()
	var out []answer
	for r := bufio.NewReader(conn); ; {
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			return out
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Error(err)
		}
		out = append(out, answer{res.StatusCode, res.Header, string(body)})
		if res.Close {
			return out
		}
	}
}

// Requests that net/http rejects itself get the usual error body, too.
func TestMalformedRequests(t *testing.T) {
	h := open(t, options{})
	tests := []struct {
		name, text string
		status     int
	}{
		{"no HTTP", "HELLO\r\n\r\n", 400},
		{"nonsense", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400},
		{"no Host", "GET /health HTTP/1.1\r\n\r\n", 400},
		{"two Hosts", "GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
		{"bad Host", "GET /health HTTP/1.1\r\nHost: a b\r\n\r\n", 400},
		{"bad header name", "GET /health HTTP/1.1\r\nHost: a\r\nbad header: x\r\n\r\n", 400},
		{"header value with NUL", "GET /health HTTP/1.1\r\nHost: a\r\nX-A: \x00\r\n\r\n", 400},
		{"HTTP/3.0", "GET /health HTTP/3.0\r\nHost: a\r\n\r\n", 400},
		{"HTTP/1.1 in lower case", "GET /health http/1.1\r\nHost: a\r\n\r\n", 400},
		{"bad escape", "GET /domains/%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"unknown transfer coding", "POST /auth/verify HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 400},
		{"two lengths", "POST /auth/verify HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400},
		{"bad length", "POST /auth/verify HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400},
		{"unknown expectation", "POST /auth/verify HTTP/1.1\r\nHost: a\r\nExpect: the best\r\nContent-Length: 2\r\n\r\n{}", 400},
		{"long line", "GET /" + strings.Repeat("a", 20_000) + " HTTP/1.1\r\nHost: a\r\n\r\n", 431},
		{"10,000 headers", "GET /health HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("X-A: b\r\n", 10_000) + "\r\n", 431},
		{"51 headers", "GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + strings.Repeat("X-A: b\r\n", 50) + "\r\n", 431},
		{"50 headers", "GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + strings.Repeat("X-A: b\r\n", 49) + "\r\n", 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := h.raw(t, tt.text)
			if len(got) != 1 || got[0].status != tt.status {
				t.Fatalf("got %+v, want one answer %d", got, tt.status)
			}
			if got[0].header.Get("X-Request-Id") == "" || got[0].header.Get("Content-Type") != "application/json" {
				t.Errorf("got %v", got[0].header)
			}
			if tt.status != 200 {
				got[0].expect(t, tt.status, deed.CodeValidation)
			}
		})
	}
}

// Transfer-Encoding overrides Content-Length (RFC 9112, 6.3), and the bytes after
// the chunks are not taken for another request: the connection ends (6.1).
func TestContentLengthAndTransferEncoding(t *testing.T) {
	h := open(t, options{})
	const smuggled = "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
	got := h.raw(t, fmt.Sprintf("POST /auth/verify HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n%s", len(smuggled)+12, smuggled))
	if len(got) != 1 {
		t.Fatalf("got %+v, want one answer", got)
	}
	got[0].expect(t, 400, deed.CodeValidation)
}

// A client that closes its side after a request gets the response.
func TestHalfClosedConnections(t *testing.T) {
	h := open(t, options{limits: generous()})
	for _, path := range []string{"/domains/search?query=example&tlds=all", "/domains/nothere.com", "/rdap/domain/nothere.com"} {
		for range 20 {
			conn := h.dial(t)
			if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			if got := answers(t, conn); len(got) != 1 || got[0].status >= 500 {
				t.Fatalf("%s: got %+v", path, got)
			}
		}
	}
}

func TestBodies(t *testing.T) {
	h := open(t, options{limits: generous()})
	deep := func(n int) string { return strings.Repeat(`[`, n) + strings.Repeat(`]`, n) }
	tests := []struct {
		name, body string
		headers    []string
		status     int
		code       deed.Code
		says       string
	}{
		{"well-formed", `{"message":"m","signature":"0x"}`, nil, 400, deed.CodeValidation, "not a sign-in message"},
		{"white space around it", " \n{\"message\":\"m\",\"signature\":\"0x\"}\n ", nil, 400, deed.CodeValidation, "not a sign-in message"},
		{"UTF-8 named", `{"message":"m","signature":"0x"}`, []string{"Content-Type", "application/json; charset=UTF-8"}, 400, deed.CodeValidation, "not a sign-in message"},
		{"empty", "", []string{"Content-Type", "application/json"}, 400, deed.CodeValidation, "empty"},
		{"missing field", `{"message":"m"}`, nil, 400, deed.CodeValidation, "signature"},
		{"unknown field", `{"message":"m","signature":"0x","extra":1}`, nil, 400, deed.CodeValidation, "extra"},
		{"other letter case", `{"Message":"m","signature":"0x"}`, nil, 400, deed.CodeValidation, "Message"},
		{"a key twice", `{"message":"m","signature":"0x","message":"n"}`, nil, 400, deed.CodeValidation, "duplicate"},
		{"wrong type", `{"message":1,"signature":"0x"}`, nil, 400, deed.CodeValidation, "message: cannot be a JSON number"},
		{"null", `null`, nil, 400, deed.CodeValidation, ""},
		{"an array", `[]`, nil, 400, deed.CodeValidation, "body: cannot be a JSON array"},
		{"two values", `{"message":"m","signature":"0x"}{}`, nil, 400, deed.CodeValidation, ""},
		{"rubbish behind it", `{"message":"m","signature":"0x"}x`, nil, 400, deed.CodeValidation, ""},
		{"cut off", `{"message":"m"`, nil, 400, deed.CodeValidation, ""},
		{"no JSON", `message=m`, nil, 400, deed.CodeValidation, ""},
		{"bad UTF-8", "{\"message\":\"\xff\",\"signature\":\"0x\"}", nil, 400, deed.CodeValidation, "UTF-8"},
		{"half a surrogate", `{"message":"\ud800","signature":"0x"}`, nil, 400, deed.CodeValidation, ""},
		{"as deep as allowed", deep(16), nil, 400, deed.CodeValidation, "body: cannot be a JSON array"},
		{"too deep", deep(17), nil, 400, deed.CodeValidation, "nested deeper"},
		{"very deep", deep(8000), nil, 400, deed.CodeValidation, "nested deeper"},
		{"too large", `{"message":"` + strings.Repeat("m", 16<<10) + `"}`, nil, 413, deed.CodeValidation, "16384 bytes"},
		{"a form", `message=m`, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, deed.CodeValidation, "application/json"},
		{"no content type", `{}`, []string{"Content-Type", ""}, 415, deed.CodeValidation, ""},
		{"another charset", `{}`, []string{"Content-Type", "application/json; charset=latin1"}, 415, deed.CodeValidation, ""},
		{"a gzip bomb", bomb(t), []string{"Content-Encoding", "gzip"}, 415, deed.CodeValidation, "Content-Encoding"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := h.do(t, "POST", "/auth/verify", tt.body, tt.headers...)
			got.expect(t, tt.status, tt.code)
			if !strings.Contains(got.error(t).Message, tt.says) {
				t.Errorf("got %s, want it to say %q", got.body, tt.says)
			}
			if got.header.Get("X-RateLimit-Limit") == "" {
				t.Errorf("the limit is not told: %v", got.header)
			}
		})
	}
}

func TestDetailsNameTheField(t *testing.T) {
	h := open(t, options{})
	e := h.do(t, "POST", "/auth/refresh", `{"refreshToken":{"a":[1]}}`).error(t)
	if len(e.Details) != 1 || e.Details[0].Field != "refreshToken" || e.Details[0].Reason == "" {
		t.Errorf("got %+v", e)
	}
}

// 100 MB are rejected without being read: the response comes after the first byte
// above the limit, and a client that continues to send is disconnected.
func TestHugeBody(t *testing.T) {
	h := open(t, options{setHTTP: func(s *http.Server) { s.ReadHeaderTimeout, s.ReadTimeout = 5*time.Minute, 5*time.Minute }})
	const size, limit = 100 << 20, 16 << 10
	head := fmt.Sprintf("POST /auth/verify HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", size)
	got := h.raw(t, head+strings.Repeat("m", limit+1))
	if len(got) != 1 {
		t.Fatalf("got %+v, want one answer", got)
	}
	got[0].expect(t, 413, deed.CodeValidation)

	conn := h.dial(t)
	n, err := io.Copy(conn, io.MultiReader(strings.NewReader(head), io.LimitReader(endless{}, size)))
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d bytes were taken, %v", n, err)
	}
}

// A body that does not arrive times out.
func TestSlowBody(t *testing.T) {
	h := open(t, options{setHTTP: func(s *http.Server) { s.ReadHeaderTimeout, s.ReadTimeout = 5*time.Minute, 50*time.Millisecond }})
	got := h.raw(t, "POST /auth/verify HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	if len(got) != 1 {
		t.Fatalf("got %+v, want one answer", got)
	}
	got[0].expect(t, 400, deed.CodeValidation)
	if !strings.Contains(got[0].body, "in time") {
		t.Errorf("got %s", got[0].body)
	}
}

// Headers that do not arrive time out.
func TestSlowHeaders(t *testing.T) {
	written := make(chan struct{})
	h := open(t, options{setHTTP: func(s *http.Server) {
		s.ReadHeaderTimeout = time.Second
		// The timeout starts when the first header has arrived.
		s.ConnContext = func(ctx context.Context, _ net.Conn) context.Context { <-written; return ctx }
	}})
	conn := h.dial(t)
	if _, err := io.WriteString(conn, "GET /health HTTP/1.1\r\nHost: a\r\nX-A"); err != nil {
		t.Fatal(err)
	}
	close(written)
	got := answers(t, conn)
	if len(got) != 1 {
		t.Fatalf("got %+v, want one answer and the connection closed", got)
	}
	got[0].expect(t, 400, deed.CodeValidation)
}

func TestPathsAndMethods(t *testing.T) {
	h := open(t, options{})
	tests := []struct {
		method, path string
		status       int
		allow        string
	}{
		{"POST", "/", 405, "GET, HEAD"}, // the page
		{"GET", "/nope", 404, ""},
		{"POST", "//domains/register", 404, ""},
		{"POST", "/domains//register", 404, ""},
		{"POST", "/domains/register/", 404, ""},
		{"GET", "/DOMAINS/search", 404, ""},
		{"GET", "/domains/%2e%2e/health", 404, ""},
		{"GET", "/domains/./search", 404, ""},
		{"GET", "/dns", 404, ""},
		{"DELETE", "/domains/search", 405, "GET, HEAD"},
		{"POST", "/domains/check", 405, "GET, HEAD"},
		{"POST", "/health", 405, "GET, HEAD"},
		{"GET", "/auth/verify", 405, "POST"},
		{"GET", "/domains/register", 405, "POST"},
		{"PUT", "/domains/renew", 405, "POST"},
		{"PATCH", "/dns/example.com", 405, "GET, HEAD, POST"},
		{"GET", "/dns/example.com/1", 405, "PUT, DELETE"},
		{"PROPFIND", "/domains/example.com", 405, "GET, HEAD"},
		{"TRACE", "/health", 405, "GET, HEAD"},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			got := h.do(t, tt.method, tt.path, "")
			got.expect(t, tt.status, deed.CodeNotFound)
			if allow := got.header.Get("Allow"); allow != tt.allow {
				t.Errorf("Allow: got %q, want %q", allow, tt.allow)
			}
		})
	}
}

func TestCORS(t *testing.T) {
	h := open(t, options{})
	for _, path := range []string{"/domains/register", "/nope"} {
		got := h.do(t, "OPTIONS", path, "", "Origin", "https://page.example", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "payment-signature")
		if got.status != 204 || got.header.Get("Access-Control-Allow-Origin") != "*" || got.header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: got %d %v", path, got.status, got.header)
		}
		for _, name := range []string{"Authorization", "Content-Type", "PAYMENT-SIGNATURE", "X-PAYMENT", "Access-Control-Expose-Headers", "Mcp-Session-Id"} {
			if !strings.Contains(got.header.Get("Access-Control-Allow-Headers"), name) {
				t.Errorf("%s: %s is not allowed", path, name)
			}
		}
	}
	if got := h.do(t, "OPTIONS", "/domains/search", ""); got.status != 204 || got.header.Get("Allow") != "GET, HEAD" {
		t.Errorf("got %d %v", got.status, got.header)
	}
	h.do(t, "OPTIONS", "/nope", "").expect(t, 404, deed.CodeNotFound)
	for _, path := range []string{"/health", "/nope", "/dns/a.com"} { // successes and failures alike
		got := h.get(t, path, "Origin", "https://page.example")
		for _, name := range []string{"PAYMENT-REQUIRED", "PAYMENT-RESPONSE", "X-PAYMENT-RESPONSE", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After", "Location", "X-Request-Id"} {
			if !strings.Contains(got.header.Get("Access-Control-Expose-Headers"), name) {
				t.Errorf("%s: %s is not exposed", path, name)
			}
		}
	}
	for _, line := range []string{"OPTIONS * HTTP/1.1", "PRI * HTTP/2.0", "CONNECT deed.example:443 HTTP/1.1"} { // no path at all
		got := h.raw(t, line+"\r\nHost: a\r\nConnection: close\r\n\r\n")
		if len(got) != 1 {
			t.Fatalf("%s: got %+v, want one answer", line, got)
		}
		got[0].expect(t, 404, deed.CodeNotFound)
	}
}

func TestRequestID(t *testing.T) {
	h := open(t, options{})
	for _, id := range []string{"a", "3f0e1c5e-8b1d-4c51-9d0e-7f0c2b6f1a11", strings.Repeat("x", 64)} {
		got := h.get(t, "/nope", "X-Request-Id", id)
		if got.header.Get("X-Request-Id") != id || got.error(t).RequestID != id {
			t.Errorf("%s: got %s and %s", id, got.header.Get("X-Request-Id"), got.body)
		}
	}
	seen := map[string]bool{}
	for _, id := range []string{"", strings.Repeat("x", 65), "a b", `"><script>`, "é"} {
		got := h.get(t, "/nope", "X-Request-Id", id)
		fresh := got.header.Get("X-Request-Id")
		if fresh == "" || fresh == id || seen[fresh] || got.error(t).RequestID != fresh {
			t.Errorf("%q: got %q and %s", id, fresh, got.body)
		}
		seen[fresh] = true
	}
}

// The number of connections per address is limited.
func TestConnectionsPerAddress(t *testing.T) {
	h := open(t, options{setHTTP: func(s *http.Server) { s.ReadHeaderTimeout = time.Hour }}) // only the limit may close a connection
	var held []net.Conn
	closed := 0
	for range 300 {
		held = append(held, h.dial(t))
	}
	for _, c := range held[256:] {
		if _, err := c.Read(make([]byte, 1)); err == io.EOF || strings.Contains(fmt.Sprint(err), "reset") {
			closed++
		}
	}
	if closed != 44 {
		t.Errorf("%d connections were closed, want 44", closed)
	}
	for _, c := range held {
		c.Close() // frees one
	}
	for t.Context().Err() == nil { // until the server has seen it; the limit is the timeout of the test
		res, err := http.Get("http://" + h.addr + "/livez")
		if err == nil {
			res.Body.Close() // only the status counts
			if res.StatusCode != 200 {
				t.Errorf("afterwards: got %d", res.StatusCode)
			}
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func TestEveryErrorHasTheSameBody(t *testing.T) {
	h := open(t, options{})
	for _, path := range []string{"/nope", "/domains/pricing/nope", "/dns/a.com", "/domains/search", "/domains/check", "/domains/a.com"} {
		var e api.Error
		got := h.get(t, path)
		if err := json.Unmarshal([]byte(got.body), &e, json.RejectUnknownMembers(true)); err != nil || e.Error == "" || e.Message == "" || e.Code == "" {
			t.Errorf("%s: got %s, %v", path, got.body, err)
		}
	}
}

// endless is an infinite body.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'm'
	}
	return len(p), nil
}

// bomb returns a few kilobytes of gzip that decompress to megabytes.
func bomb(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.CopyN(w, endless{}, 8<<20); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// generous returns rate limits that tests do not reach.
func generous() *deed.Limits {
	l := deed.DefaultLimits()
	for _, lim := range []*deed.Limit{&l.Search, &l.Register, &l.DNS, &l.Account, &l.SignIn, &l.Agents} {
		lim.Max = 1_000_000
	}
	return &l
}
