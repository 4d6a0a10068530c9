package agent

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
)

// A Local calls the HTTP interface in this process: the same middleware, routes
// and checks as for an external request, without the network.
type Local struct{ Handler http.Handler }

// Call implements Caller.
func (l Local) Call(ctx context.Context, c Call) (a Answer, err error) {
	target := c.Path
	if len(c.Query) > 0 {
		target += "?" + c.Query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, c.Method, target, bytes.NewReader(c.Body))
	if err != nil {
		return Answer{}, fmt.Errorf("call %s %s: %w", c.Method, c.Path, err)
	}
	r.RemoteAddr = c.From.RemoteAddr
	if len(c.From.ForwardedFor) > 0 {
		r.Header["X-Forwarded-For"] = c.From.ForwardedFor
	}
	c.SetHeaders(r.Header)
	w := &responseBuffer{header: http.Header{}}
	// The middleware panics to abort a connection. Here that would end the process.
	defer func() {
		if v := recover(); v != nil {
			a, err = Answer{}, fmt.Errorf("call %s %s: the response was aborted: %v", c.Method, c.Path, v)
		}
	}()
	l.Handler.ServeHTTP(w, r)
	return Answer{Status: w.status, Header: w.header, Body: w.body.Bytes()}, nil
}

// SetHeaders sets the headers of a call.
func (c Call) SetHeaders(h http.Header) {
	switch {
	case c.Text:
		h.Set("Content-Type", "text/dns")
	case c.Body != nil:
		h.Set("Content-Type", "application/json")
	}
	if c.Bearer != "" {
		h.Set("Authorization", "Bearer "+c.Bearer)
	}
	switch {
	case c.Payment.Header == "":
	case c.Payment.Version == 1:
		h.Set("X-PAYMENT", c.Payment.Header)
	default:
		h.Set("PAYMENT-SIGNATURE", c.Payment.Header)
	}
}

// responseBuffer is an http.ResponseWriter that keeps the response in memory.
type responseBuffer struct {
	status int
	header http.Header
	body   bytes.Buffer
}

func (w *responseBuffer) Header() http.Header { return w.header }

func (w *responseBuffer) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *responseBuffer) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}
