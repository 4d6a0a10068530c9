// Package mailertest runs an SMTP server of others (aiosmtpd, from Debian) for tests. It
// wants STARTTLS and a sign-in, refuses mailboxes whose names begin with "refused", those
// that begin with "later" for now, and to relay to those that begin with "relayed".
package mailertest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	_ "embed" // the server
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/internal/freeport"
)

//go:embed smtpd.py
var program []byte

// python is Debian's, which has its packages.
const python = "/usr/bin/python3"

// A Server is a running SMTP server.
type Server struct {
	URL   deed.Secret // with the user and the password
	Port  string
	Roots *x509.CertPool
	Cert  string // path of the certificate, for programs that read SSL_CERT_FILE
	lines chan line
}

// A Message is one that the server accepted.
type Message struct {
	From   string
	To     []string
	TLS    bool
	Header mail.Header
	Body   string
}

type line struct {
	Ready bool     `json:"ready"`
	From  string   `json:"from"`
	To    []string `json:"to"`
	TLS   bool     `json:"tls"`
	Data  string   `json:"data"`
}

// Installed reports whether the program is installed.
func Installed(t *testing.T) bool {
	return exec.CommandContext(t.Context(), python, "-c", "import aiosmtpd").Run() == nil
}

// Start starts a server until the test ends. It skips the test where the program is
// not installed.
func Start(t *testing.T) *Server {
	t.Helper()
	if !Installed(t) {
		t.Skip("python3-aiosmtpd is not installed: scripts/need.sh aiosmtpd")
	}
	dir := t.TempDir()
	s := &Server{Port: freePort(t), lines: make(chan line, 1000)}
	cert, key := s.certify(t, dir)
	s.Cert = cert
	script := filepath.Join(dir, "smtpd.py")
	if err := os.WriteFile(script, program, 0o600); err != nil {
		t.Fatal(err)
	}
	s.URL = deed.Secret("smtp://deed:secret@127.0.0.1:" + s.Port)
	cmd := exec.Command(python, script, cert, key, s.Port)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.read(stdout)
	}()
	t.Cleanup(func() {
		_ = stdin.Close() // it ends with it
		<-read
		if err := cmd.Wait(); err != nil {
			t.Errorf("the SMTP server: %v, %s", err, stderr.String())
		}
	})
	if first, ok := <-s.lines; !ok || !first.Ready {
		t.Fatal("the SMTP server does not start")
	}
	return s
}

func (s *Server) read(from io.Reader) {
	defer close(s.lines)
	scan := bufio.NewScanner(from)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		var l line
		if json.Unmarshal(scan.Bytes(), &l) == nil {
			s.lines <- l
		}
	}
}

// Next waits for the next message.
func (s *Server) Next(t *testing.T) Message {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	m, err := s.Receive(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Receive waits for the next message until the context ends.
func (s *Server) Receive(ctx context.Context) (Message, error) {
	select {
	case l := <-s.lines:
		return l.message()
	case <-ctx.Done():
		return Message{}, fmt.Errorf("there is no message: %w", ctx.Err())
	}
}

func (l line) message() (Message, error) {
	m, err := mail.ReadMessage(strings.NewReader(l.Data))
	if err != nil {
		return Message{}, fmt.Errorf("read %q: %w", l.Data, err)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil {
		return Message{}, fmt.Errorf("read %q: %w", l.Data, err)
	}
	return Message{From: l.From, To: l.To, TLS: l.TLS, Header: m.Header, Body: string(body)}, nil
}

func freePort(t *testing.T) string {
	t.Helper()
	addr, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(addr.Port())
}

// certify writes a certificate for 127.0.0.1 and its key, and trusts it.
func (s *Server) certify(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "127.0.0.1"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
	s.Roots = x509.NewCertPool()
	s.Roots.AppendCertsFromPEM(text)
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, content := range map[string][]byte{cert: text, key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}
