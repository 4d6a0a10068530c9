package mcp

import (
	"bytes"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/agent"
	"deed.example/deed/internal/wirejson"
)

const (
	// maxMessage is what one message may hold: the largest body of a call, and a
	// payment.
	maxMessage = 128 << 10

	// patience is longer than any tool takes.
	patience = time.Minute
)

// NewHandler returns what answers POST /mcp of the service that callers know by a
// public address. It is handed one message at a time.
func NewHandler(d *agent.Desk, version, publicURL string) http.Handler {
	server := newServer(d, version, overHTTP)
	protocol := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless:    true,
		JSONResponse: true,

		DisableLocalhostProtection: true, // it would refuse a proxy on this machine; see below
		MaxRequestBodyBytes:        maxMessage,
	})
	// A page that has its own name resolve to this machine must not reach a
	// service that is meant for it alone (DNS rebinding).
	base, err := url.Parse(publicURL)
	private := err == nil && loopback(base.Host)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience)) // where there is none, none is needed
		plain := &inOneShape{ResponseWriter: w}
		defer plain.finish()
		if private && !loopback(r.Host) {
			http.Error(plain, "this service is for its own machine only: call it as "+publicURL, http.StatusBadRequest)
			return
		}
		in := r.Clone(r.Context())
		in.Header[remoteKey] = []string{r.RemoteAddr}
		protocol.ServeHTTP(plain, in)
	})
}

// loopback reports whether a host, with or without a port, is this machine.
func loopback(host string) bool {
	u := url.URL{Host: host}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}

// remoteKey is where a request's own address stands among its headers, which is
// all that a tool sees of it. Nobody can send a header of such a name.
const remoteKey = ":remote"

func originOf(h http.Header) agent.Origin {
	var o agent.Origin
	if values := h[remoteKey]; len(values) == 1 {
		o.RemoteAddr = values[0]
	}
	o.ForwardedFor = h.Values("X-Forwarded-For")
	return o
}

// inOneShape gives what the protocol's own library refuses in plain text the
// shape of all our errors. All else passes as it is.
type inOneShape struct {
	http.ResponseWriter
	status int          // of a refusal in plain text; 0 when there is none
	text   bytes.Buffer // of that
}

// WriteHeader implements http.ResponseWriter.
func (w *inOneShape) WriteHeader(status int) {
	if status >= 400 && strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		w.status = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *inOneShape) Write(p []byte) (int, error) {
	if w.status != 0 {
		return w.text.Write(p)
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController find what is below.
func (w *inOneShape) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *inOneShape) finish() {
	if w.status == 0 {
		return
	}
	code := deed.CodeValidation
	if w.status >= 500 {
		code = deed.CodeUnavailable
	}
	raw, _ := wirejson.Marshal(api.Error{ // strings always can be
		Error: http.StatusText(w.status), Message: strings.TrimSpace(w.text.String()), Code: string(code), RequestID: w.Header().Get("X-Request-Id"),
	})
	w.Header().Set("Content-Type", "application/json")
	w.ResponseWriter.WriteHeader(w.status)
	_, _ = w.ResponseWriter.Write(raw) // the client is gone if this fails
}
