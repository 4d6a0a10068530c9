package client

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Transport returns an http.RoundTripper for callers that use HTTP directly: it
// sends requests unchanged and pays if the service responds with 402, under the
// same rules as the calls of the client. It pays no other service. Response
// bodies are read completely before RoundTrip returns.
func (c *Client) Transport() http.RoundTripper { return transport{c} }

type transport struct{ c *Client }

// RoundTrip sends a request, and pays for it if necessary and allowed.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := takeBody(req)
	if err != nil {
		return nil, err
	}
	base := t.c.base
	path, under := strings.CutPrefix(req.URL.EscapedPath(), base.EscapedPath())
	if req.URL.Scheme != base.Scheme || req.URL.Host != base.Host || !under {
		return nil, fmt.Errorf("this wallet pays %s only, not %s", base, req.URL.Host)
	}
	query, err := url.ParseQuery(req.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	header := req.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	a, err := t.c.do(req.Context(), request{method: req.Method, path: path, query: query, header: header, body: body, paid: true})
	if a.status == 0 {
		return nil, err
	}
	return &http.Response{ // an error response is a response here, not an error
		Status: fmt.Sprintf("%d %s", a.status, http.StatusText(a.status)), StatusCode: a.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)), Request: req,
	}, nil
}

// takeBody reads and closes the body of a request; it returns nil if there is
// none.
func takeBody(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	defer req.Body.Close() // it is read below
	return io.ReadAll(req.Body)
}
