package mcp

import (
	"bytes"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/agent"
	"deed.example/deed/internal/jsonrpc"
	"deed.example/deed/internal/wirejson"
)

const (
	// maxMessage is the size limit of a message: the largest body of a call, plus a
	// payment.
	maxMessage = 128 << 10

	// requestTimeout is longer than any tool takes.
	requestTimeout = time.Minute
)

// A Site is the service that a handler belongs to.
type Site struct {
	Version   string
	PublicURL string
	Limits    deed.Limits
	Sandbox   bool // it has test money
}

// NewHandler returns the handler of POST /mcp. Each request must hold one message,
// not a batch.
func NewHandler(e *agent.Executor, site Site) http.Handler {
	server := newServer(e, site.Version, httpOptions(site))
	protocol := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless:    true,
		JSONResponse: true,

		DisableLocalhostProtection: true, // it would reject a proxy on this machine; see below
		MaxRequestBodyBytes:        maxMessage,
	})
	// A web page whose host name resolves to this machine must not reach a service
	// that is meant for local use only (DNS rebinding).
	base, err := url.Parse(site.PublicURL)
	private := err == nil && loopback(base.Host)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(requestTimeout)) // fails for writers without deadlines only, such as in tests
		plain := &jsonErrorWriter{ResponseWriter: w, publicURL: site.PublicURL}
		defer plain.finish()
		if private && !loopback(r.Host) {
			http.Error(plain, "this service is for its own machine only: call it as "+site.PublicURL, http.StatusBadRequest)
			return
		}
		if plain.refuse(r) {
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

// remoteKey is the header key that passes the remote address of a request to the
// tool, which sees only the headers. No client can send a header of that name.
const remoteKey = ":remote"

func originOf(h http.Header) agent.Origin {
	var o agent.Origin
	if values := h[remoteKey]; len(values) == 1 {
		o.RemoteAddr = values[0]
	}
	o.ForwardedFor = h.Values("X-Forwarded-For")
	return o
}

// jsonErrorWriter turns errors that the MCP library sends as plain text into the
// JSON error body, or an error of JSON-RPC. Everything else passes unchanged.
type jsonErrorWriter struct {
	http.ResponseWriter
	publicURL string         // of the service
	id        jsontext.Value // of the message; nil if it has none
	status    int            // of an error in plain text; 0 if there is none
	text      bytes.Buffer   // of that error
}

// WriteHeader implements http.ResponseWriter.
func (w *jsonErrorWriter) WriteHeader(status int) {
	if status >= 400 && strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		w.status = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *jsonErrorWriter) Write(p []byte) (int, error) {
	if w.status != 0 {
		return w.text.Write(p)
	}
	_, err := w.ResponseWriter.Write(withID(p, w.id))
	return len(p), err
}

// Unwrap gives http.ResponseController access to the underlying writer.
func (w *jsonErrorWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// notHandled begins what the library says of a method that it does not know, to clients
// of versions before firstStatusVersion.
const notHandled = "JSON RPC not handled: "

func (w *jsonErrorWriter) finish() {
	if w.status == 0 {
		return
	}
	code := deed.CodeValidation
	if w.status >= 500 {
		code = deed.CodeUnavailable
	}
	text := strings.TrimSpace(w.text.String())
	body := api.Error{
		Error: http.StatusText(w.status), Message: text, Code: string(code), RequestID: w.Header().Get("X-Request-Id"),
		DocURL: api.DocURL(w.publicURL, string(code)),
	}
	if said, unknown := strings.CutPrefix(text, notHandled); unknown && w.id != nil {
		body.Error, body.Message = "Invalid request", "method: this server has no "+strings.TrimSuffix(said, " unsupported")
		w.send(http.StatusOK, rpcError(jsonrpc.CodeMethodNotFound, w.id, body))
		return
	}
	w.send(w.status, body)
}

// send writes a response as JSON.
func (w *jsonErrorWriter) send(status int, body any) {
	raw, _ := wirejson.Marshal(body) // strings cannot make it fail
	w.Header().Set("Content-Type", "application/json")
	w.ResponseWriter.WriteHeader(status)
	_, _ = w.ResponseWriter.Write(raw) // the client is gone if this fails
}
