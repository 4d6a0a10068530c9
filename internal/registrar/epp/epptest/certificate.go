package epptest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Files are the paths of a client's certificate, its key, and the certificate of the
// authority that signed the server's.
type Files struct{ Cert, Key, CA string }

// An authority signs certificates.
type authority struct {
	cert *x509.Certificate
	der  []byte
	key  *ecdsa.PrivateKey
}

// shared is the authority of all servers of a test binary.
var shared = sync.OnceValues(func() (*authority, error) { return newAuthority("EPP test authority") })

func newAuthority(name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &authority{cert: cert, der: der, key: key}, err
}

// clientAuth returns the server's configuration of client certificates: those of the authority,
// or any, while it asks for those of another.
func (a *authority) clientAuth(config *tls.Config, asksForOthers bool) error {
	config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
	if !asksForOthers {
		config.ClientCAs.AddCert(a.cert)
		return nil
	}
	other, err := newAuthority("another authority")
	if err != nil {
		return err
	}
	config.ClientCAs.AddCert(other.cert)
	config.ClientAuth = tls.RequireAnyClientCert
	return nil
}

// issue returns a certificate and its key, in PEM.
func (a *authority) issue(name string, lifetime time.Duration) (cert, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(lifetime),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &private.PublicKey, a.key)
	if err != nil {
		return nil, nil, err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return encode("CERTIFICATE", der), encode("PRIVATE KEY", pkcs8), nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// ClientFiles writes a new client certificate that is valid for this long.
func ClientFiles(t testing.TB, lifetime time.Duration) Files {
	t.Helper()
	f, err := WriteClientFiles(t.TempDir(), lifetime)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// WriteClientFiles writes a new client certificate into a directory.
func WriteClientFiles(dir string, lifetime time.Duration) (f Files, err error) {
	a, err := shared()
	if err != nil {
		return f, err
	}
	cert, key, err := a.issue("registrar", lifetime)
	if err != nil {
		return f, err
	}
	f = Files{Cert: filepath.Join(dir, "client.pem"), Key: filepath.Join(dir, "client.key"), CA: filepath.Join(dir, "ca.pem")}
	for path, content := range map[string][]byte{f.Cert: cert, f.Key: key, f.CA: encode("CERTIFICATE", a.der)} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return f, err
		}
	}
	return f, nil
}
