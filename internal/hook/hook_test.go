package hook_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"

	"deed.example/deed/internal/hook"
	"deed.example/deed/internal/webhook"
)

func anywhere(netip.Addr) bool { return true }

// receiver returns a server at an address of this machine, and how many connections it
// has had.
func receiver(t *testing.T, address string, h http.HandlerFunc) (url string, connections *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	connections = &atomic.Int64{}
	s := &http.Server{Handler: h, ConnState: func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}}
	go s.Serve(l)                   // until Close
	t.Cleanup(func() { s.Close() }) // the listener goes away with the test
	return "http://" + l.Addr().String(), connections
}

func ok(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }

// resolver returns a resolver whose name server answers A questions with what answer
// returns for the n-th one.
func resolver(t *testing.T, answer func(n int64) []string) *net.Resolver {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Int64
	s := &dns.Server{PacketConn: pc, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, r *dns.Msg) {
		m := new(dns.Msg).SetReply(r)
		if q := r.Question[0]; q.Qtype == dns.TypeA {
			for _, a := range answer(n.Add(1)) {
				m.Answer = append(m.Answer, &dns.A{Hdr: dns.RR_Header{Name: q.Name, Rrtype: dns.TypeA, Class: dns.ClassINET}, A: net.ParseIP(a)})
			}
		}
		_ = w.WriteMsg(m) // the resolver asks again
	})}
	go s.ActivateAndServe()            // until Shutdown
	t.Cleanup(func() { s.Shutdown() }) // it goes away with the test
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", pc.LocalAddr().String())
	}}
}

func port(t *testing.T, url string) string {
	t.Helper()
	_, p, err := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// As configured for production, nothing connects to this machine, however the address
// is written.
func TestLocalAddressesAreRefused(t *testing.T) {
	url, connections := receiver(t, "127.0.0.1:0", ok)
	s := hook.New(hook.Config{})
	p := port(t, url)
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "[::1]", "0.0.0.0", "[::]"} {
		got := s.Send(t.Context(), "http://"+host+":"+p+"/", http.Header{}, nil)
		if got.Status != 0 || got.Failure != webhook.FailureAddress {
			t.Errorf("%s: got %+v", host, got)
		}
	}
	if n := connections.Load(); n != 0 {
		t.Errorf("%d connections reached the receiver", n)
	}
}

// A name that has a public address when it is looked at, and a private one for the
// next connection, is refused then. So is the private one of several addresses.
func TestDNSRebinding(t *testing.T) {
	public, wanted := receiver(t, "127.0.0.2:0", ok) // stands for a public address
	private, reached := receiver(t, "127.0.0.1:"+port(t, public), ok)
	answers := [][]string{{"127.0.0.2"}, {"127.0.0.1"}, {"127.0.0.1", "127.0.0.1"}, {"169.254.169.254"}}
	s := hook.New(hook.Config{
		Allow:    func(a netip.Addr) bool { return a.Unmap() == netip.MustParseAddr("127.0.0.2") },
		Resolver: resolver(t, func(n int64) []string { return answers[min(int(n), len(answers))-1] }),
	})
	url := "http://rebinding.example:" + port(t, private) + "/"
	if got := s.Send(t.Context(), url, http.Header{}, nil); got.Status != 204 || got.Failure != "" {
		t.Fatalf("the public address: got %+v", got)
	}
	for range answers[1:] {
		if got := s.Send(t.Context(), url, http.Header{}, nil); got.Failure != webhook.FailureAddress {
			t.Errorf("the private address: got %+v", got)
		}
	}
	if wanted.Load() != 1 || reached.Load() != 0 {
		t.Errorf("got %d connections to the public address and %d to the private one", wanted.Load(), reached.Load())
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	target, reached := receiver(t, "127.0.0.1:0", ok)
	for _, status := range []int{301, 302, 303, 307, 308} {
		url, _ := receiver(t, "127.0.0.1:0", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target, status) })
		got := hook.New(hook.Config{Allow: anywhere}).Send(t.Context(), url, http.Header{}, nil)
		if got.Status != status || got.Failure != webhook.FailureStatus {
			t.Errorf("%d: got %+v", status, got)
		}
	}
	if reached.Load() != 0 {
		t.Errorf("%d redirects were followed", reached.Load())
	}
}

// A proxy in the environment would connect in our place.
func TestProxiesAreNotUsed(t *testing.T) {
	proxy, asked := receiver(t, "127.0.0.1:0", ok)
	t.Setenv("HTTP_PROXY", proxy)
	t.Setenv("HTTPS_PROXY", proxy)
	got := hook.New(hook.Config{}).Send(t.Context(), "http://192.0.2.1:8080/", http.Header{}, nil)
	if got.Failure != webhook.FailureAddress || asked.Load() != 0 {
		t.Errorf("got %+v, and %d connections to the proxy", got, asked.Load())
	}
}

// A body without an end costs 64 KiB, and the status counts.
func TestLongAnswersAreCutOff(t *testing.T) {
	ended := make(chan struct{})
	url, _ := receiver(t, "127.0.0.1:0", func(w http.ResponseWriter, _ *http.Request) {
		defer close(ended)
		for chunk := make([]byte, 32<<10); ; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	if got := hook.New(hook.Config{Allow: anywhere}).Send(t.Context(), url, http.Header{}, nil); got.Status != 200 || got.Failure != "" {
		t.Errorf("got %+v", got)
	}
	<-ended // the connection was closed
	url, _ = receiver(t, "127.0.0.1:0", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("a", 100<<10))
	})
	if got := hook.New(hook.Config{Allow: anywhere}).Send(t.Context(), url, http.Header{}, nil); got.Failure != webhook.FailureConnection {
		t.Errorf("long headers: got %+v", got)
	}
}

// A receiver that switches protocols, and then says nothing, is not waited for: that would
// have no end.
func TestSwitchedProtocols(t *testing.T) {
	closed := make(chan error, 1)
	url, _ := receiver(t, "127.0.0.1:0", func(w http.ResponseWriter, _ *http.Request) {
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			closed <- err
			return
		}
		_, _ = buffered.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		_ = buffered.Flush()
		_, err = conn.Read(make([]byte, 1))
		closed <- err
		_ = conn.Close()
	})
	if got, want := hook.New(hook.Config{Allow: anywhere}).Send(t.Context(), url, http.Header{}, nil), (webhook.Outcome{Status: 101, Failure: webhook.FailureStatus}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if err := <-closed; err != io.EOF {
		t.Errorf("the connection was not closed: %v", err)
	}
}

func TestFailures(t *testing.T) {
	held := make(chan struct{})
	hanging, _ := receiver(t, "127.0.0.1:0", func(http.ResponseWriter, *http.Request) { <-held })
	defer close(held)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	plain, _ := receiver(t, "127.0.0.1:0", ok)
	s := hook.New(hook.Config{Allow: anywhere})
	expired, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if got := s.Send(expired, hanging, http.Header{}, nil); got.Failure != webhook.FailureTimeout {
		t.Errorf("hanging: got %+v", got)
	}
	for url, want := range map[string]webhook.Failure{
		"http://" + closed.Addr().String():                webhook.FailureConnection,
		"https://" + strings.TrimPrefix(plain, "http://"): webhook.FailureTLS,
		"http://no such host/":                            webhook.FailureConnection,
	} {
		if got := s.Send(t.Context(), url, http.Header{}, nil); got.Failure != want || got.Status != 0 {
			t.Errorf("%s: got %+v, want %s", url, got, want)
		}
	}
}

// Certificates are checked.
func TestCertificates(t *testing.T) {
	receiver := httptest.NewTLSServer(http.HandlerFunc(ok))
	defer receiver.Close()
	if got := hook.New(hook.Config{Allow: anywhere}).Send(t.Context(), receiver.URL, http.Header{}, nil); got.Failure != webhook.FailureTLS {
		t.Errorf("a stranger's certificate: got %+v", got)
	}
	roots := x509.NewCertPool()
	roots.AddCert(receiver.Certificate())
	s := hook.New(hook.Config{Allow: anywhere, TLS: &tls.Config{RootCAs: roots}})
	if got := s.Send(t.Context(), receiver.URL, http.Header{}, nil); got.Status != 204 || got.Failure != "" {
		t.Errorf("a trusted certificate: got %+v", got)
	}
}
