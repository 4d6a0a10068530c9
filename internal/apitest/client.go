// Package apitest holds every exchange of a test against api/openapi.yaml.
//
// Client returns an http.Client that a test uses as any other. For each answer
// it finds the operation that the request belongs to, and fails the test when
// the status, a header, the content type or the body is not as documented. An
// answer of 2xx also says that the request was good, so the request is checked
// too. A request that belongs to no operation may only meet the x-refusals of
// the document.
//
// The document is parsed once per process and each schema compiled once.
package apitest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
)

// Client returns a client whose every exchange is checked. A nil base is
// http.DefaultTransport.
func Client(t testing.TB, base http.RoundTripper) *http.Client {
	return &http.Client{Transport: Transport(t, base)}
}

// Transport returns base with every exchange checked. It is safe for
// concurrent use where base is, and must not be used after the end of the test.
func Transport(t testing.TB, base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return transport{t, base}
}

type transport struct {
	t    testing.TB
	base http.RoundTripper
}

func (tr transport) RoundTrip(req *http.Request) (*http.Response, error) {
	sent := &recorder{}
	out := req.Clone(req.Context())
	if req.Body != nil && req.Body != http.NoBody {
		out.Body = sent.record(req.Body)
	}
	if req.GetBody != nil {
		out.GetBody = func() (io.ReadCloser, error) { // the transport tries again
			body, err := req.GetBody()
			if err != nil {
				return nil, err
			}
			return sent.record(body), nil
		}
	}
	res, err := tr.base.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	e := exchange{req: req, sent: sent.bytes(), res: res}
	if mediaType(res.Header) != "text/event-stream" {
		e.body, e.bodyErr = buffer(res)
	}
	for _, problem := range theContract().check(e) {
		tr.t.Errorf("%s %s answered %d: %s", req.Method, req.URL.Path, res.StatusCode, problem)
	}
	return res, nil
}

// buffer reads the body of res and puts it back, with the error that ended it.
func buffer(res *http.Response) ([]byte, error) {
	body, err := io.ReadAll(res.Body)
	closeErr := res.Body.Close()
	rest := io.Reader(bytes.NewReader(body))
	if err != nil {
		rest = io.MultiReader(rest, failing{err})
	}
	res.Body = io.NopCloser(rest)
	return body, errors.Join(err, closeErr)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// A recorder keeps what the transport reads of a request's body. The transport
// may go on reading after the answer came.
type recorder struct {
	mu   sync.Mutex // guards sent
	sent bytes.Buffer
}

// record forgets what was recorded and returns body, recorded from now on.
func (r *recorder) record(body io.ReadCloser) io.ReadCloser {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent.Reset()
	return struct {
		io.Reader
		io.Closer
	}{io.TeeReader(body, r), body}
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent.Write(p)
}

func (r *recorder) bytes() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.sent.Bytes())
}
