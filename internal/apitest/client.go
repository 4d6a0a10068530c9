// Package apitest validates every HTTP exchange of a test against
// api/openapi.yaml.
//
// Client returns an http.Client for tests. For each response it finds the
// operation of the request, and fails the test if the status, a header, the
// content type or the body is not as documented. After a 2xx response it validates
// the request, too. A request that matches no operation may only get the
// x-refusals of the document.
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

// Client returns a client that validates every exchange. A nil base means
// http.DefaultTransport.
func Client(t testing.TB, base http.RoundTripper) *http.Client {
	return &http.Client{Transport: Transport(t, base)}
}

// Transport wraps base and validates every exchange. It is safe for concurrent use
// if base is, and must not be used after the end of the test.
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
		out.GetBody = func() (io.ReadCloser, error) { // the transport retries
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

// A recorder records what the transport reads of a request's body. The transport
// may continue to read after the response has arrived.
type recorder struct {
	mu   sync.Mutex // guards sent
	sent bytes.Buffer
}

// record resets the recorder and returns body, recorded from now on.
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
