package main

import (
	"errors"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed/api"
	"deed.example/deed/client"
	"deed.example/deed/internal/nameserver/peer"
)

// fleetSecret signs what goes between us and our secondaries in tests.
const fleetSecret = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// alongside starts a name server that others wrote, for as long as the test runs. It
// skips the test when the server is not installed.
func alongside(t *testing.T, start func(dir string) (*peer.Daemon, error)) *peer.Daemon {
	t.Helper()
	d, err := start(t.TempDir())
	if errors.Is(err, peer.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("%s", d.Log())
		}
	})
	return d
}

// ask is a question with DNSSEC, and without recursion.
func ask(name string, qtype uint16) *dns.Msg {
	m := new(dns.Msg).SetQuestion(name, qtype).SetEdns0(4096, true)
	m.RecursionDesired = false
	return m
}

// exchange asks over TCP, where every answer fits. A server that loads a zone may
// close its connections (NSD does): then it is asked again.
func exchange(t *testing.T, m *dns.Msg, addr string) *dns.Msg {
	t.Helper()
	c := dns.Client{Net: "tcp", Timeout: 30 * time.Second}
	deadline := time.Now().Add(2 * time.Minute)
	for {
		r, _, err := c.ExchangeContext(t.Context(), m, addr)
		if err == nil {
			return r
		}
		if t.Context().Err() != nil || time.Now().After(deadline) {
			t.Fatalf("ask %s for %s: %v", addr, m.Question[0].String(), err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// owner returns a client with test money.
func (n *node) owner(t *testing.T) *client.Client {
	t.Helper()
	key := client.NewKey(n.rich(t))
	c, err := client.New(n.callers, client.WithWallet(key), client.WithMaxPayment(100*client.Dollar), client.WithHTTPClient(n.client))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.SignIn(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// sell registers a name with records.
func sell(t *testing.T, c *client.Client, domain string, records ...api.RecordRequest) {
	t.Helper()
	o, err := c.Register(t.Context(), api.RegisterRequest{Domain: domain, DNSRecords: records})
	if err == nil {
		_, err = c.WaitJob(t.Context(), o.JobID)
	}
	if err != nil {
		t.Fatal(err)
	}
}
