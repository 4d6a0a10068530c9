package main

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/cache/memory"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/health"
	"deed.example/deed/internal/httpapi"
	"deed.example/deed/internal/metrics"
	"deed.example/deed/internal/ratelimit"
)

// httpRows compares the router, limits and JSON of httpapi with a bare net/http
// handler that returns the same bytes.
func httpRows() ([]row, error) {
	api, err := newAPI()
	if err != nil {
		return nil, err
	}
	ours, err := listen(func(l net.Listener) error { return api.Configure().Serve(httpapi.Listen(l, nil)) })
	if err != nil {
		return nil, err
	}
	const body = `{"message":"m"}`
	cases := []struct{ what, request string }{
		{"router + limit + JSON in and out: POST /auth/verify", fmt.Sprintf("POST /auth/verify HTTP/1.1\r\nHost: deed.example\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)},
		{"router + JSON out + ETag: GET /domains/pricing/com", "GET /domains/pricing/com HTTP/1.1\r\nHost: deed.example\r\n\r\n"},
	}
	var rows []row
	for _, c := range cases {
		handler, err := sameBytes(ours, c.request)
		if err != nil {
			return nil, err
		}
		bare, err := listen(func(l net.Listener) error { return http.Serve(l, handler) })
		if err != nil {
			return nil, err
		}
		a, b, err := measure(ours, bare, c.request)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{c.what, "a bare net/http handler returning the same bytes", a, b, 0.70})
	}
	return rows, nil
}

// sameBytes makes one request and returns a handler that repeats its response.
func sameBytes(addr, request string) (http.Handler, error) {
	method, rest, _ := strings.Cut(request, " ")
	path, _, _ := strings.Cut(rest, " ")
	_, body, _ := strings.Cut(request, "\r\n\r\n")
	req, err := http.NewRequest(method, "http://"+addr+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() // it is read below
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	res.Header.Del("Date") // net/http adds it
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		for name, values := range res.Header {
			h[name] = values
		}
		w.WriteHeader(res.StatusCode)
		_, _ = w.Write(raw) // the client is gone if this fails
	}), nil
}

func newAPI() (*httpapi.Server, error) {
	prices, err := catalog.New(catalog.DefaultPricing())
	if err != nil {
		return nil, err
	}
	// Never reached, and the number of digits in the headers stays the same.
	limits := deed.DefaultLimits()
	limits.SignIn.Max = 2_000_000_000
	limits.Search.Max = 2_000_000_000
	counter := &memory.Cache{Now: time.Now}
	counters := metrics.New("bench")
	return &httpapi.Server{
		Catalog: prices,
		Health:  &health.Service{Now: time.Now},
		Limiter: &ratelimit.Limiter{Shared: counter, Local: counter, Durable: counter, Now: time.Now, OnCacheError: counters.CacheMissed},
		Limits:  limits,
		Started: time.Now(),
		Now:     time.Now,
		Log:     slog.New(slog.DiscardHandler),
		Observe: counters.Observe,
	}, nil
}

// listen serves on a free port and returns its address. The process ends soon.
func listen(serve func(net.Listener) error) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() { _ = serve(l) }() // it ends with the process
	return l.Addr().String(), nil
}
