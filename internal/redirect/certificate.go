package redirect

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
)

// An Account is that of the operator at a certificate authority (ACME, RFC 8555).
type Account struct {
	Email     string         // of the operator; configuring it agrees to the authority's terms
	Directory string         // URL of the authority
	Roots     *x509.CertPool // that the authority's own certificate is checked with; nil: those of the system
}

// Certificates gets certificates for hosts with a FORWARD record, when the first visitor
// connects, and renews them when a visitor connects in their last third. The order of the
// checks is that of their cost: the form of the host, the client's rate, the FORWARD
// record, the stored certificate, the limits of orders. Only then an order is made.
//
// Fill the exported fields, then call Start. The account, the certificates and their keys
// are in the Store, so all nodes share them, and a challenge may reach any node.
type Certificates struct {
	Account Account
	Forward func(ctx context.Context, host string) (dnszone.Forward, error) // CodeNotFound: no certificate
	Store   Store
	Locks   Locks
	Orders  deed.Counter // of all nodes, and durable
	PerHour int          // orders of all nodes
	Clients Clients
	HTTP    string // address of the listener for HTTP; "": that challenge is not used
	TLS     string // address of the listener for HTTPS
	Now     func() time.Time
	Log     *slog.Logger

	manager  *certmagic.Config
	issuer   *certmagic.ACMEIssuer
	cache    *certmagic.Cache
	stored   func(ctx context.Context, host string) bool // whether there is a certificate
	stop     context.CancelFunc
	cleaning sync.WaitGroup

	mu     sync.Mutex
	failed map[string]time.Time // guarded by mu: until when no order is made for a host
}

const (
	maxCached     = 10_000           // certificates in memory; the others are read when they are needed
	orderTimeout  = 90 * time.Second // of one order, with its challenges
	cleanInterval = 24 * time.Hour
	keptExpired   = 30 * 24 * time.Hour // how long an expired certificate is stored
)

// Start makes c ready, and starts what deletes old certificates. Close ends it.
func (c *Certificates) Start() error {
	ctx, cancel := context.WithCancel(context.Background())
	c.stop, c.failed = cancel, map[string]time.Time{}
	log := newZapLogger(c.Log)
	c.cache = certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return c.manager, nil },
		Capacity:         maxCached, Logger: log,
	})
	files := &storage{files: c.Store, locks: c.Locks, now: c.Now, held: map[string]string{}}
	c.manager = certmagic.New(c.cache, certmagic.Config{
		OnDemand:            &certmagic.OnDemandConfig{DecisionFunc: c.allow},
		Storage:             files,
		DisableStorageCheck: true, // it is our own database
		OCSP:                certmagic.OCSPConfig{DisableStapling: true},
		Logger:              log,
	})
	template := certmagic.ACMEIssuer{
		CA: c.Account.Directory, TestCA: c.Account.Directory, Email: c.Account.Email, Agreed: true, TrustedRoots: c.Account.Roots,
		DisableHTTPChallenge: c.HTTP == "", CertObtainTimeout: orderTimeout, Logger: log,
		HTTPProxy: http.ProxyURL(nil),
	}
	if err := c.setPorts(&template); err != nil {
		c.Close()
		return err
	}
	c.issuer = certmagic.NewACMEIssuer(c.manager, template)
	c.stored = func(ctx context.Context, host string) bool {
		_, err := files.Load(ctx, certmagic.StorageKeys.SiteCert(c.issuer.IssuerKey(), host))
		return err == nil
	}
	c.manager.Issuers = []certmagic.Issuer{limitedIssuer{c.issuer, c}}
	c.cleaning.Go(func() { c.clean(ctx, files, log) })
	return nil
}

// setPorts tells the library where our listeners are. It finds their ports in use, and
// therefore opens none itself; on all addresses, if the two listeners have different ones.
func (c *Certificates) setPorts(template *certmagic.ACMEIssuer) error {
	var hosts []string
	for _, l := range []struct {
		address string
		port    *int
	}{{c.HTTP, &template.AltHTTPPort}, {c.TLS, &template.AltTLSALPNPort}} {
		if l.address == "" {
			continue
		}
		host, port, err := net.SplitHostPort(l.address)
		if err != nil {
			return err
		}
		if *l.port, err = strconv.Atoi(port); err != nil {
			return err
		}
		hosts = append(hosts, host)
	}
	if hosts = slices.Compact(hosts); len(hosts) == 1 {
		template.ListenHost = hosts[0]
	}
	return nil
}

// Close ends what Start started.
func (c *Certificates) Close() {
	c.stop()
	c.cleaning.Wait()
	c.cache.Stop()
}

// TLSConfig returns the configuration of the listener for HTTPS.
func (c *Certificates) TLSConfig() *tls.Config {
	return &tls.Config{GetCertificate: c.certificate, NextProtos: []string{"http/1.1", challengeProtocol}, MinVersion: tls.VersionTLS12}
}

// challengeProtocol is that of the challenge over TLS (RFC 8737, 6.2).
const challengeProtocol = "acme-tls/1"

// certificate returns the certificate of a host, and orders one if it has none.
func (c *Certificates) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if !certifiable(hello.ServerName) {
		return nil, fmt.Errorf("no certificate: %s is no host name", deed.Quoted(hello.ServerName))
	}
	if len(hello.SupportedProtos) == 1 && hello.SupportedProtos[0] == challengeProtocol {
		if err := c.Clients.admit(hello.Context(), "handshakes", hello.Conn.RemoteAddr().String(), lookupsPerMinute); err != nil {
			return nil, err
		}
	}
	return c.manager.GetCertificate(hello)
}

// Challenges answers the challenges of the certificate authority over HTTP (RFC 8555,
// 8.3), and leaves all else to next.
func (c *Certificates) Challenges(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if certmagic.LooksLikeHTTPChallenge(r) && certifiable(hostOf(r)) && c.issuer.HandleHTTPChallenge(w, r) {
			return
		}
		next.ServeHTTP(w, r)
	})
}

// clean deletes expired certificates once a day, on one of the nodes.
func (c *Certificates) clean(ctx context.Context, files *storage, log *zap.Logger) {
	ticker := time.NewTicker(cleanInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err := certmagic.CleanStorage(ctx, files, certmagic.CleanStorageOptions{
			Logger: log, Interval: cleanInterval / 2, ExpiredCerts: true, ExpiredCertGracePeriod: keptExpired,
		})
		if err != nil && ctx.Err() == nil {
			c.Log.Warn("cannot delete expired certificates", "err", err)
		}
	}
}
