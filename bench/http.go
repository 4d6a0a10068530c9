package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// httpRows compares the router, limits and JSON of httpapi with a bare net/http
// handler that returns the same bytes.
func httpRows() (rows []row, err error) {
	s, err := openService()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	const body = `{"message":"m"}`
	cases := []struct{ what, request string }{
		{"router + limit + JSON in and out: POST /auth/verify", fmt.Sprintf("POST /auth/verify HTTP/1.1\r\nHost: deed.example\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)},
		{"router + JSON out + ETag: GET /domains/pricing/com", "GET /domains/pricing/com HTTP/1.1\r\nHost: deed.example\r\n\r\n"},
	}
	for _, c := range cases {
		handler, err := sameBytes(s.addr, c.request)
		if err != nil {
			return nil, err
		}
		bare, err := listen(func(l net.Listener) error { return http.Serve(l, handler) })
		if err != nil {
			return nil, err
		}
		a, b, err := measure(s.addr, bare, c.request)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{c.what, "a bare net/http handler returning the same bytes", a, b, 0.80})
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

// listen serves on a free port and returns its address. The process ends soon.
func listen(serve func(net.Listener) error) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() { _ = serve(l) }() // it ends with the process
	return l.Addr().String(), nil
}
