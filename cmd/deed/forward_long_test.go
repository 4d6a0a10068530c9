//go:build long

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deed.example/deed/api"
	"deed.example/deed/internal/freeport"
	"deed.example/deed/internal/logtest"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// An authority is a running Pebble, the ACME server that Let's Encrypt has for tests of
// clients.
type authority struct {
	dir, ports, admin string // its folder, and its addresses
	client            *http.Client
	cmd               *exec.Cmd
	log               *logtest.Buffer
}

// newAuthority chooses addresses, and makes the certificate of the server itself.
func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir(), ports: freePort(t), admin: freePort(t), log: &logtest.Buffer{}}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	for file, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: cert}, "key.pem": {Type: "PRIVATE KEY", Bytes: secret}} {
		text := pem.EncodeToMemory(block)
		pool.AppendCertsFromPEM(text) // the key is none
		if err := os.WriteFile(filepath.Join(a.dir, file), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a.client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	return a
}

// environ returns the settings of a node that gets its certificates here, and answers at
// the addresses.
func (a *authority) environ(plain, secure string) []string {
	return []string{
		"DEED_REDIRECT_LISTEN=" + plain, "DEED_REDIRECT_TLS_LISTEN=" + secure, "DEED_REDIRECT_ADDRESSES=127.0.0.1", "DEED_REDIRECT_ACME_EMAIL=hostmaster@example.net",
		"DEED_REDIRECT_ACME_DIRECTORY=https://" + a.ports + "/dir", "DEED_REDIRECT_ACME_ROOTS=" + filepath.Join(a.dir, "cert.pem"), "DEED_LIMITS_REGISTER=1000", "DEED_DATABASE_TIMEOUT=2m", // a busy machine is not a fault
	}
}

// start builds and starts Pebble. It resolves hosts with the name server, and validates
// them at the addresses.
func (a *authority) start(t *testing.T, dns, plain, secure string) {
	t.Helper()
	program := filepath.Join(a.dir, "pebble")
	if out, err := exec.Command("go", "build", "-modfile=../../tools/go.mod", "-o", program, "github.com/letsencrypt/pebble/v2/cmd/pebble").CombinedOutput(); err != nil {
		t.Fatalf("build Pebble: %v: %s", err, out)
	}
	config := fmt.Sprintf(`{"pebble": {"listenAddress": %q, "managementListenAddress": %q, "certificate": "cert.pem", "privateKey": "key.pem",
		"httpPort": %s, "tlsPort": %s, "keyAlgorithm": "ecdsa", "retryAfter": {"authz": 1, "order": 1}}}`, a.ports, a.admin, portOf(t, plain), portOf(t, secure))
	if err := os.WriteFile(filepath.Join(a.dir, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	a.cmd = exec.Command(program, "-config", "config.json", "-dnsserver", dns)
	a.cmd.Dir, a.cmd.Stdout, a.cmd.Stderr, a.cmd.Env = a.dir, a.log, a.log, []string{"PEBBLE_VA_NOSLEEP=1"}
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.stop)
	waitFor(t, func() bool {
		res, err := a.client.Get("https://" + a.ports + "/dir")
		if err != nil {
			return false
		}
		return res.Body.Close() == nil
	})
}

func (a *authority) stop() {
	a.cmd.Process.Kill() // it may have ended already
	a.cmd.Wait()         // it was killed
}

// orders returns how many orders were made.
func (a *authority) orders() int { return strings.Count(a.log.String(), "Added order ") }

// roots returns the root of the certificates that it issues.
func (a *authority) roots(t *testing.T) *x509.CertPool {
	t.Helper()
	res, err := a.client.Get("https://" + a.admin + "/roots/0")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() // it is read below
	raw, err := io.ReadAll(res.Body)
	if pool := x509.NewCertPool(); err == nil && pool.AppendCertsFromPEM(raw) {
		return pool
	}
	t.Fatalf("got %s, %v", raw, err)
	return nil
}

func freePort(t *testing.T) string {
	t.Helper()
	addr, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	return addr.String()
}

func portOf(t *testing.T, address string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// visit asks for https://host/ at an address, and returns status and Location.
func visit(t *testing.T, host, at string, roots *x509.CertPool) string {
	t.Helper()
	c := &http.Client{
		Timeout:       3 * time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{DisableKeepAlives: true, TLSHandshakeTimeout: 3 * time.Minute, TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: host}},
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", "https://"+at+"/path", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	res, err := c.Do(req)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close() // it has none
	return fmt.Sprintf("%d %s", res.StatusCode, res.Header.Get("Location"))
}

// redirects waits until a host redirects: on a busy machine an order may take longer than
// a visitor waits.
func redirects(t *testing.T, host, at string, roots *x509.CertPool, want string) {
	t.Helper()
	waitFor(t, func() bool {
		got := visit(t, host, at, roots)
		if got != want {
			t.Logf("%s: got %s", host, got)
			time.Sleep(time.Second) // within the limit of handshakes
		}
		return got == want
	})
}

// A host with a FORWARD redirects over HTTPS, with a certificate that a real ACME server
// issued after it had found the host through our name server. No other host causes an
// order, and a certificate outlives its node.
func TestForwardOverHTTPS(t *testing.T) {
	a := newAuthority(t)
	plain, secure, dir := freePort(t), freePort(t), t.TempDir()
	n := start(t, dir, a.environ(plain, secure)...)
	a.start(t, n.dns, plain, secure)
	roots := a.roots(t)
	sell(t, n.owner(t), "secure.com", api.RecordRequest{Type: "FORWARD", Host: "@", Value: "https://example.net/"},
		api.RecordRequest{Type: "FORWARD", Host: "www", Value: "301 https://example.net/www"}, api.RecordRequest{Type: "FORWARD", Host: "_dmarc", Value: "https://example.net/"},
		api.RecordRequest{Type: "A", Host: "address", Value: "127.0.0.1"})
	want := map[string]string{"secure.com": "302 https://example.net/", "www.secure.com": "301 https://example.net/www"}
	orders := 0
	for range 2 {
		for host, answer := range want {
			redirects(t, host, secure, roots, answer)
		}
		if orders == 0 {
			orders = a.orders()
		}
	}
	if n := a.orders(); orders < 2 || n != orders {
		t.Errorf("got %d orders for the first visits of 2 hosts, and %d for the second ones", orders, n-orders)
	}
	for _, host := range []string{"address.secure.com", "missing.secure.com", "_dmarc.secure.com", "unsold.com", "com", "localhost", "127.0.0.1", "a..b.com", "-a.com",
		"*.secure.com", "www.secure.com/../x", "\xff\xfe.secure.com", "Ä.secure.com", strings.Repeat("a", 64) + ".com", strings.Repeat("a.", 126) + "com"} {
		if got := visit(t, host, secure, roots); !strings.Contains(got, "tls:") {
			t.Errorf("%q: got %s", host, got)
		}
	}
	if n := a.orders(); n != orders {
		t.Errorf("hosts without FORWARD made %d orders", n-orders)
	}
	a.stop()
	n.stop(t)
	n = start(t, dir, a.environ(plain, secure)...)
	for host, answer := range want {
		redirects(t, host, secure, roots, answer) // without the authority
	}
	n.stop(t)
}

// Where the authority cannot reach the port of HTTPS, it validates over HTTP.
func TestForwardIsValidatedOverHTTP(t *testing.T) {
	a := newAuthority(t)
	plain, secure := freePort(t), freePort(t)
	n := start(t, t.TempDir(), a.environ(plain, secure)...)
	a.start(t, n.dns, plain, freePort(t))
	sell(t, n.owner(t), "plain.com", api.RecordRequest{Type: "FORWARD", Host: "@", Value: "https://example.net/"})
	redirects(t, "plain.com", secure, a.roots(t), "302 https://example.net/")
	n.stop(t)
}

// A challenge may reach another node than the one that ordered.
func TestForwardIsValidatedAtAnotherNode(t *testing.T) {
	a := newAuthority(t)
	plain, secure, keys := freePort(t), freePort(t), t.TempDir()
	shared := []string{"DEED_DATABASE_URL=" + sqldbtest.PostgresURL(t), "DEED_SIGNIN_KEYS=" + filepath.Join(keys, "keys"), "DEED_DNS_KEY=" + filepath.Join(keys, "dns.key")}
	one := start(t, t.TempDir(), append(shared, a.environ(freePort(t), secure)...)...)
	reached := freePort(t)
	two := start(t, t.TempDir(), append(append(shared, a.environ(plain, reached)...), "DEED_CHAIN_RPC_URL="+one.sandbox(t).RPCURL, "DEED_REGISTRAR_ALLOW_EMBEDDED=true")...)
	a.start(t, one.dns, plain, reached)
	sell(t, one.owner(t), "nodes.com", api.RecordRequest{Type: "FORWARD", Host: "@", Value: "https://example.net/"})
	redirects(t, "nodes.com", secure, a.roots(t), "302 https://example.net/")
	orders := a.orders()
	redirects(t, "nodes.com", reached, a.roots(t), "302 https://example.net/")
	if n := a.orders(); n != orders {
		t.Errorf("the second node made %d orders for the same host", n-orders)
	}
	two.stop(t)
	one.stop(t)
}
