package chain

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A response without a result is not an empty result: it does not say that there are no
// logs, that a call succeeded, or that a count is zero. Only what may be missing on the
// chain can be null.
func TestResponseWithoutResult(t *testing.T) {
	for _, body := range []string{`{"jsonrpc":"2.0","id":1}`, `{"jsonrpc":"2.0","id":1,"result":null}`} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(body)) }))
		t.Cleanup(server.Close)
		c := Dial(server.URL)
		c.Retry = time.Millisecond
		e := c.endpoints.all[0]
		e.verified = true
		r := &reader{s: &Settler{}, c: c}
		if logs, err := r.query(t.Context(), 1, 2); err == nil {
			t.Errorf("%s: got %d logs", body, len(logs))
		}
		e.verified = true
		if raw, err := c.ethCall(t.Context(), callMsg{}, "latest"); err == nil {
			t.Errorf("%s: a call returned %x", body, raw)
		}
		e.verified = true
		if n, err := c.count(t.Context(), r.s.token, "latest"); err == nil {
			t.Errorf("%s: counted %d", body, n)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":null}`))
	}))
	t.Cleanup(server.Close)
	c := Dial(server.URL)
	c.endpoints.all[0].verified = true
	if found, err := c.receipt(t.Context(), hashOf("0x01")); err != nil || found != nil {
		t.Errorf("a receipt that does not exist: got %v, %v", found, err)
	}
}
