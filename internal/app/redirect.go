package app

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"deed.example/deed/internal/connlimit"
	"deed.example/deed/internal/redirect"
	"deed.example/deed/internal/sqldb"
)

var (
	_ redirect.Store = sqldb.Certificates{}
	_ redirect.Locks = sqldb.Certificates{}
)

// redirects answer for hosts with a FORWARD record.
type redirects struct {
	http, https  *listening             // nil if off
	certificates *redirect.Certificates // nil without https
}

// handshakeTimeout is longer than most certificate authorities take: the first visitor
// of a host waits for its certificate. An order goes on without the visitor.
const handshakeTimeout = 30 * time.Second

// listenForRedirects opens the listeners for hosts with a FORWARD record that are not
// off. Each has the limits.
func (a *App) listenForRedirects(limits connlimit.Limits) (err error) {
	c := &a.config
	clients := redirect.Clients{Counter: a.local, Trusted: c.Proxies}
	var handler http.Handler = redirect.Handler{Forward: a.dns.zones.Forward, Clients: clients, Log: a.log}
	if c.RedirectListen != off {
		if a.redirects.http, err = a.listenForVisitors("redirect.listen", c.RedirectListen, limits, 5*time.Second); err != nil {
			return err
		}
		a.redirects.http.Handler = handler
	}
	if c.RedirectTLSListen == off {
		return nil
	}
	l, err := a.listenForVisitors("redirect.tls_listen", c.RedirectTLSListen, limits, handshakeTimeout)
	if err != nil {
		return err
	}
	a.redirects.https, l.Handler = l, handler
	if err := a.openCertificates(clients); err != nil {
		return err
	}
	l.Listener = tls.NewListener(l.Listener, a.redirects.certificates.TLSConfig())
	if a.redirects.http != nil {
		a.redirects.http.Handler = a.redirects.certificates.Challenges(handler)
	}
	return nil
}

// listenForVisitors returns a server without a handler, with limits for strangers, at
// the address of a setting.
func (a *App) listenForVisitors(setting, address string, limits connlimit.Limits, timeout time.Duration) (*listening, error) {
	l, err := listenLimited(setting, address, limits, a.config.Proxies)
	if err != nil {
		return nil, err
	}
	return &listening{l, &http.Server{
		ReadHeaderTimeout: timeout, ReadTimeout: 2 * timeout, WriteTimeout: 2 * timeout, IdleTimeout: 30 * time.Second, MaxHeaderBytes: 16 << 10,
		ConnState: connlimit.ConnState, ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}}, nil
}

// openCertificates gets certificates for the listener of HTTPS.
func (a *App) openCertificates(clients redirect.Clients) error {
	c := &a.config
	roots, err := readRoots(c.ACMERoots)
	if err != nil {
		return err
	}
	store := sqldb.Certificates{DB: a.DB, Now: a.clock.Now}
	certificates := &redirect.Certificates{
		Account: redirect.Account{Email: c.ACMEEmail, Directory: c.ACMEDirectory, Roots: roots},
		Forward: a.dns.zones.Forward, Store: store, Locks: store,
		Orders: sqldb.Limits{DB: a.DB, Now: a.clock.Now}, PerHour: c.CertificatesHour, Clients: clients,
		TLS: a.redirects.https.addr(), Now: a.clock.Now, Log: a.log,
	}
	if a.redirects.http != nil {
		certificates.HTTP = a.redirects.http.addr()
	}
	if err := certificates.Start(); err != nil {
		return err
	}
	a.redirects.certificates = certificates
	return nil
}

// readRoots reads the certificates of redirect.acme_roots; none is not an error.
func readRoots(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("redirect.acme_roots: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(raw) {
		return nil, fmt.Errorf("redirect.acme_roots: there is no certificate in PEM in %s", path)
	}
	return pool, nil
}

// servers returns the listeners that are not off.
func (r *redirects) servers() (list []*listening) {
	for _, l := range []*listening{r.http, r.https} {
		if l != nil {
			list = append(list, l)
		}
	}
	return list
}

// close closes the listeners, and ends what gets certificates.
func (r *redirects) close() {
	for _, l := range r.servers() {
		_ = l.Listener.Close() // Serve has closed it already
	}
	if r.certificates != nil {
		r.certificates.Close()
	}
}
