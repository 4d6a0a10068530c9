// Package hook makes the HTTP requests of webhooks: it implements webhook.Sender.
//
// The receivers are chosen by strangers, so a request must not reach what only this
// machine can reach. Names are resolved by the dialer, and every address that it
// connects to is checked at that moment, after the resolution and for each address of
// a name, so a name that changes its address (DNS rebinding) is refused, too.
// Connections are not reused, proxies are not used, redirects are not followed, and of
// the response only the status is used.
package hook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"syscall"
	"time"

	"deed.example/deed/internal/webhook"
)

const (
	timeout       = 10 * time.Second // of one request with its answer
	maxBody       = 64 << 10         // bytes of an answer that are read
	maxHeaderSize = 16 << 10
)

// errAddress is the error of a connection to an address that is not allowed.
var errAddress = errors.New("address not allowed")

// Config configures a Sender. The zero value is for production.
type Config struct {
	Allow    func(netip.Addr) bool // which addresses may be connected to; nil: webhook.Public
	Resolver *net.Resolver         // nil: that of the system
	TLS      *tls.Config           // nil: the system's certificate authorities
}

// Sender sends webhooks. Make one with New.
type Sender struct{ client *http.Client }

// New returns a sender.
func New(c Config) *Sender {
	allow := c.Allow
	if allow == nil {
		allow = webhook.Public
	}
	dialer := &net.Dialer{Timeout: timeout, KeepAlive: -1, Resolver: c.Resolver, Control: func(network, address string, _ syscall.RawConn) error {
		return check(network, address, allow)
	}}
	return &Sender{&http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:                  nil, // a proxy would connect where we must not
			DialContext:            dialer.DialContext,
			TLSClientConfig:        c.TLS,
			TLSHandshakeTimeout:    timeout,
			DisableKeepAlives:      true, // each message is resolved and checked anew
			DisableCompression:     true,
			MaxResponseHeaderBytes: maxHeaderSize,
		},
	}}
}

// check is called by the dialer with the address of each connection, before it is
// made.
func check(network, address string, allow func(netip.Addr) bool) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil || network != "tcp4" && network != "tcp6" || !allow(target.Addr()) {
		return fmt.Errorf("%w: %s", errAddress, address)
	}
	return nil
}

// Send implements webhook.Sender.
func (s *Sender) Send(ctx context.Context, url string, h http.Header, body []byte) webhook.Outcome {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return webhook.Outcome{Failure: webhook.FailureConnection}
	}
	r.Header = h.Clone()
	r.Header.Set("User-Agent", "Deed-Webhooks/1.0")
	res, err := s.client.Do(r)
	if err != nil {
		return webhook.Outcome{Failure: failureOf(err)}
	}
	defer res.Body.Close() // what was read is discarded
	// The status counts even if the body is too long, or breaks off. With 101 the body is the
	// connection itself, which no deadline ends any more.
	if res.StatusCode != http.StatusSwitchingProtocols {
		_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxBody))
	}
	return webhook.OutcomeOf(res.StatusCode)
}

// failureOf returns the failure that owners are shown for an error.
func failureOf(err error) webhook.Failure {
	var alert tls.AlertError
	var record tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, errAddress):
		return webhook.FailureAddress
	case errors.Is(err, context.DeadlineExceeded), os.IsTimeout(err):
		return webhook.FailureTimeout
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &alert), errors.As(err, &record), errors.As(err, &certificate):
		return webhook.FailureTLS
	}
	return webhook.FailureConnection
}
