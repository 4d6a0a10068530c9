package redirect

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/caddyserver/certmagic"

	"deed.example/deed"
)

// What one client, host, name and wallet may cause. Let's Encrypt refuses a host for an
// hour after 5 failures, and an account that has made 300 orders in 3 hours.
const (
	lookupsPerMinute = 120 // handshakes of one client for hosts without a certificate in memory
	ordersPerHost    = 4   // an hour
	ordersPerName    = 10  // an hour
	ordersPerWallet  = 30  // an hour
	retryDelay       = time.Minute
	maxFailed        = 10_000 // hosts that are remembered
)

// certifiable reports whether a text can be the name of a host in a certificate. It
// refuses what certificate authorities refuse, before anything is looked up.
func certifiable(host string) bool {
	if len(host) > 253 || !strings.Contains(host, ".") {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, b := range []byte(label) {
			if b != '-' && (b < '0' || b > '9') && (b|0x20 < 'a' || b|0x20 > 'z') {
				return false
			}
		}
	}
	_, err := netip.ParseAddr(host)
	return err != nil
}

// allow fails unless the host may have a certificate. It is called before a stored
// certificate is read, and before one is ordered.
func (c *Certificates) allow(ctx context.Context, host string) error {
	if !certifiable(host) {
		return fmt.Errorf("%s is no host name", deed.Quoted(host))
	}
	if hello, ok := ctx.Value(certmagic.ClientHelloInfoCtxKey).(*tls.ClientHelloInfo); ok && hello.Conn != nil {
		if err := c.Clients.admit(ctx, "handshakes", hello.Conn.RemoteAddr().String(), lookupsPerMinute); err != nil {
			return err
		}
	}
	if c.resting(host) && !c.stored(ctx, host) {
		return errResting
	}
	_, err := c.Forward(ctx, strings.ToLower(host))
	return err
}

// spend counts an order for the host, and fails if there were too many for it, its name,
// its owner, or all together. What one of them may not order does not count for the next.
func (c *Certificates) spend(ctx context.Context, host string) error {
	f, err := c.Forward(ctx, host)
	if err != nil {
		return err
	}
	for _, limit := range []struct {
		what, key string
		max       int
	}{
		{"host " + host, "certificates:host:" + host, ordersPerHost},
		{"name " + string(f.Name), "certificates:name:" + string(f.Name), ordersPerName},
		{"wallet " + string(f.Owner), "certificates:wallet:" + string(f.Owner), ordersPerWallet},
		{"service", "certificates", c.PerHour},
	} {
		n, reset, err := c.Orders.Count(ctx, limit.key, time.Hour)
		if err != nil {
			return fmt.Errorf("count the orders of certificates: %w", err)
		}
		if n > limit.max {
			return deed.Errorf(deed.CodeRateLimited, "the %s has ordered %d certificates in an hour: wait until %s", limit.what, limit.max, reset.UTC().Format("15:04 UTC"))
		}
	}
	return nil
}

var errResting = errors.New("the last order for the host failed: try again in a minute")

// resting reports whether an order for the host has just failed.
func (c *Certificates) resting(host string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Now().Before(c.failed[strings.ToLower(host)])
}

// rest remembers that an order for the host failed.
func (c *Certificates) rest(host string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.Now()
	if len(c.failed) >= maxFailed {
		for h, until := range c.failed {
			if !now.Before(until) {
				delete(c.failed, h)
			}
		}
	}
	if len(c.failed) < maxFailed { // else the limits of orders are enough
		c.failed[strings.ToLower(host)] = now.Add(retryDelay)
	}
}

// A limitedIssuer orders certificates within the limits. A failed order is not repeated
// by itself: the next visitor repeats it, after a while.
type limitedIssuer struct {
	*certmagic.ACMEIssuer
	c *Certificates
}

// Issue implements certmagic.Issuer.
func (i limitedIssuer) Issue(ctx context.Context, csr *x509.CertificateRequest) (*certmagic.IssuedCertificate, error) {
	if len(csr.DNSNames) != 1 {
		return nil, certmagic.ErrNoRetry{Err: errors.New("a certificate is for one host")}
	}
	host := csr.DNSNames[0]
	if i.c.resting(host) { // a renewal; the certificate that is there is used
		return nil, certmagic.ErrNoRetry{Err: errResting}
	}
	err := i.c.spend(ctx, host)
	if err != nil {
		i.c.rest(host)
		return nil, certmagic.ErrNoRetry{Err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, orderTimeout)
	defer cancel()
	issued, err := i.ACMEIssuer.Issue(ctx, csr)
	if err != nil {
		i.c.rest(host)
		i.c.Log.Warn("cannot get a certificate", "host", host, "err", err)
		return nil, certmagic.ErrNoRetry{Err: err}
	}
	i.c.Log.Info("certificate issued", "host", host)
	return issued, nil
}
