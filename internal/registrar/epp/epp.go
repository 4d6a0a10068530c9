// Package epp buys names at registries that speak EPP (RFC 5730 to 5734), over TLS
// with a client certificate.
//
// EPP has no references, so an order is idempotent by the state of the name. A
// registration is done when the name is in our account and has the authInfo that was
// derived for this order; where the registry does not show it, when it was created by
// us after the order was submitted. A renewal is done when the expiry is the start
// and the years of the order; the registry refuses a second one by the expiry that
// each renewal carries. A transfer is looked up with a transfer query.
//
// The state counts, not the result of a command: after a refusal the name is looked
// up. Everything that is not clearly an answer to what was sent is an error without a
// code, and the session is closed: a cut connection, a half frame, another identifier
// or name, a date that cannot be, anything that is not plain XML.
package epp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// A Backend implements registrar.Registrar, registrar.Manager and those optional
// capabilities of package registrar that EPP allows (interface.go): it has no list of
// names, TLDs or orders. Make it with Open.
type Backend struct {
	cfg  Config
	pool *pool
	stop context.CancelFunc
	done sync.WaitGroup

	mu      sync.Mutex
	expires time.Time            // of the client's certificate
	logged  map[string]time.Time // when each kind of line was last logged
	funds   bool                 // the last order was refused for lack of money
	invalid int                  // consecutive invalid replies
	balance registrar.Balance
	hosts   map[string]bool // that the registry is known to have
	contact bool            // the registry is known to have the contact
}

// Close ends the sessions. Calls after it fail.
func (b *Backend) Close() error {
	b.stop()
	b.done.Wait()
	b.pool.close()
	return nil
}

// Ping fails when the registry cannot be reached or does not let us in.
func (b *Backend) Ping(ctx context.Context) error {
	return b.pool.do(ctx, normal, func(ctx context.Context, s *session) error { return s.hello(ctx) })
}

// send sends a command and returns the response, whatever its result. It fails
// without a code. A session that the registry has forgotten is replaced.
func (b *Backend) send(ctx context.Context, c command) (r response, err error) {
	for range b.cfg.Sessions + 1 { // it may have forgotten all of them
		forgotten := false
		err = b.pool.do(ctx, c.priority, func(ctx context.Context, s *session) error {
			if r, err = b.run(ctx, s, c); err != nil {
				return err
			}
			if forgotten, err = b.forgotten(ctx, s, r); err == nil && (forgotten || r.code() >= codeClosing) {
				err = resultError(r) // the session ends
			}
			return err
		})
		if !forgotten {
			break
		}
	}
	b.noteReply(r, err)
	return r, err
}

// noteReply logs an invalid reply, once until a valid one came.
func (b *Backend) noteReply(r response, err error) {
	b.mu.Lock()
	first := false
	switch {
	case errors.Is(err, errInvalidReply):
		b.invalid++
		first = b.invalid == 1
	case err == nil && succeeded(r):
		b.invalid = 0
	}
	b.mu.Unlock()
	if first {
		b.logOnce("invalid", "the registry's replies make no sense", "err", err.Error())
	}
}

// invalidReply notes a reply that is well-formed but cannot be true, and returns its
// error.
func (b *Backend) invalidReply(format string, args ...any) error {
	err := fmt.Errorf("%w: %w", errInvalidReply, fmt.Errorf(format, args...))
	b.noteReply(response{}, err)
	return err
}

// services returns what the registry offers. It connects if that is not known yet.
func (b *Backend) services(ctx context.Context) (services, error) {
	b.pool.mu.Lock()
	svc := b.pool.services
	b.pool.mu.Unlock()
	if svc.objects != nil {
		return svc, nil
	}
	err := b.pool.do(ctx, normal, func(_ context.Context, s *session) error {
		svc = s.services
		return nil
	})
	return svc, err
}

// logInterval is how often lines of one kind are logged.
const logInterval = time.Hour

// logOnce logs an error, at most once an hour for each kind.
func (b *Backend) logOnce(kind, message string, args ...any) {
	now := time.Now()
	b.mu.Lock()
	last, found := b.logged[kind]
	due := !found || now.Sub(last) > logInterval
	if due {
		if b.logged == nil || len(b.logged) > 1000 {
			b.logged = map[string]time.Time{}
		}
		b.logged[kind] = now
	}
	if kind == "funds" {
		b.funds = true
	}
	b.mu.Unlock()
	if due {
		b.cfg.Log.Error(message, append([]any{"registry", b.cfg.Address}, args...)...)
	}
}

// certificateWarning is how long before its expiry a certificate is reported.
const certificateWarning = 30 * 24 * time.Hour

// Warnings implements registrar.Monitored.
func (b *Backend) Warnings() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	if !b.expires.IsZero() && time.Until(b.expires) < certificateWarning {
		out = append(out, fmt.Sprintf("the client certificate for %s expires on %s: have it renewed and replace %s",
			b.cfg.Address, b.expires.UTC().Format(time.DateOnly), b.cfg.CertFile))
	}
	if b.funds {
		out = append(out, fmt.Sprintf("the account at %s has too little money: pay in", b.cfg.Address))
	}
	if b.invalid > 0 {
		out = append(out, fmt.Sprintf("the replies of %s make no sense: see the log", b.cfg.Address))
	}
	return out
}

// CertificateExpires returns when the client's certificate expires.
func (b *Backend) CertificateExpires() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.expires
}

// tlsConfig reads the files, so that a renewed certificate is used without a restart.
func (b *Backend) tlsConfig() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: b.cfg.ServerName}
	if b.cfg.CertFile != "" {
		cert, err := tls.LoadX509KeyPair(b.cfg.CertFile, b.cfg.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("read the client certificate for %s: cert_file %s, key_file %s: %w", b.cfg.Address, b.cfg.CertFile, b.cfg.KeyFile, err)
		}
		b.mu.Lock()
		b.expires = cert.Leaf.NotAfter
		b.mu.Unlock()
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &cert, nil // whatever CAs the registry asks for: it may know the certificate itself
		}
	}
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(b.cfg.Address) // checked by Open
	}
	if b.cfg.CAFile == "" {
		return config, nil
	}
	pem, err := os.ReadFile(b.cfg.CAFile)
	if err != nil {
		return nil, fmt.Errorf("read who signs the certificate of %s: %w", b.cfg.Address, err)
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ca_file %s has no certificate in PEM", b.cfg.CAFile)
	}
	return config, nil
}

func notInAccount(name deed.Name) error {
	return deed.Errorf(deed.CodeNotFound, "%s is not in our account", name)
}
