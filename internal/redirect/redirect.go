// Package redirect answers requests for hosts with a FORWARD record with a redirect to
// the value of the record. It uses only the Host header, and passes no part of the
// request on.
//
// Over HTTPS a host needs a certificate. Certificates orders it when the first visitor
// connects, but only for hosts with a FORWARD record, and within limits for each client,
// host, name and wallet.
package redirect

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
)

// A Handler redirects. Fill every field.
type Handler struct {
	// Forward returns the FORWARD record of a host, or CodeNotFound.
	Forward func(ctx context.Context, host string) (dnszone.Forward, error)
	Clients Clients
	Log     *slog.Logger
}

// requestsPerMinute is how many requests of one client are answered.
const requestsPerMinute = 600

// ServeHTTP implements http.Handler.
func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "this host only redirects", http.StatusMethodNotAllowed)
		return
	}
	if err := h.Clients.admit(r.Context(), "requests", r.RemoteAddr, requestsPerMinute); err != nil {
		w.Header().Set("Retry-After", "60")
		http.Error(w, err.Error(), http.StatusTooManyRequests)
		return
	}
	forward, err := h.Forward(r.Context(), hostOf(r))
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound:
		http.Error(w, "this host has no FORWARD record", http.StatusNotFound)
		return
	case err != nil:
		h.Log.Warn("cannot read a FORWARD record", "err", err)
		w.Header().Set("Retry-After", "5")
		http.Error(w, "try again later", http.StatusServiceUnavailable)
		return
	}
	location, status := forward.Record.Redirect()
	w.Header().Set("Location", location)
	w.Header().Set("Cache-Control", fmt.Sprintf("max-age=%d", forward.Record.TTL))
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(status)
}

// hostOf returns the host of the request in the form of the DNS, without its port.
func hostOf(r *http.Request) string {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}
