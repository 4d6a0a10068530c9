package primary_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"deed.example/deed/internal/primary"
)

// nameserver starts a server that fills every response with answer.
func nameserver(t *testing.T, answer func(m *dns.Msg)) string {
	t.Helper()
	p, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	started := make(chan struct{})
	server := &dns.Server{PacketConn: p, TsigSecret: secrets, NotifyStartedFunc: func() { close(started) }, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, r *dns.Msg) {
		m := new(dns.Msg)
		m.SetReply(r)
		answer(m)
		_ = w.WriteMsg(m) // the client retries after a lost response
	})}
	go func() { _ = server.ActivateAndServe() }() // it ends with the test
	<-started
	t.Cleanup(func() { _ = server.Shutdown() })
	return p.LocalAddr().String()
}

// serving responds with a SOA.
func serving(t *testing.T, origin string, serial uint32) func(*dns.Msg) {
	return func(m *dns.Msg) {
		soa, _, err := dns.UnpackRR(wireSOA(origin, serial), 0)
		if err != nil {
			t.Error(err)
			return
		}
		m.Answer, m.Authoritative = []dns.RR{soa}, true
	}
}

func wireSOA(origin string, serial uint32) []byte {
	rr := soaOf(origin, serial)
	raw := make([]byte, 256)
	off, err := dns.PackDomainName(origin+".", raw, 0, nil, false)
	if err != nil {
		panic(err) // the names in these tests are valid
	}
	raw = append(raw[:off], 0, byte(rr.Type), 0, 1, 0, 0, 1, 44, 0, byte(len(rr.Data)))
	return append(raw, rr.Data...)
}

func TestDrift(t *testing.T) {
	gone, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	const serial = 1000
	d := &primary.Drift{Servers: []primary.Secondary{
		{Name: "there", Addr: nameserver(t, serving(t, "example.com", serial))},
		{Name: "behind", Addr: nameserver(t, serving(t, "example.com", serial-3))},
		{Name: "ahead", Addr: nameserver(t, serving(t, "example.com", serial+1))},
		{Name: "refusing", Addr: nameserver(t, func(m *dns.Msg) { m.Rcode = dns.RcodeRefused })},
		{Name: "elsewhere", Addr: nameserver(t, serving(t, "example.org", serial))},
		{Name: "gone", Addr: gone.LocalAddr().String()},
		{Name: "resolver", Addr: nameserver(t, func(m *dns.Msg) { serving(t, "example.com", serial)(m); m.Authoritative = false })},
		{Name: "signing", Addr: nameserver(t, func(m *dns.Msg) { serving(t, "example.com", serial)(m); signed(m) })},
	}}
	want := []struct {
		serial, lag uint32
		reason      string // a part of it; "" if it has the zone
	}{
		{serial, 0, ""}, {serial - 3, 3, ""}, {serial + 1, 0, ""}, {0, 0, "REFUSED: it does not have the zone"}, {0, 0, "NOERROR without the SOA"},
		{0, 0, "nothing listens at its address"}, {0, 0, "without authority"}, {0, 0, "it cannot be reached"},
	}
	for i, s := range d.Check(t.Context(), "example.com", serial) {
		w := want[i]
		if s.Server != d.Servers[i].Name || s.Serial != w.serial || s.Lag != w.lag || (s.Err != nil) != (w.reason != "") || s.Absent != (w.reason != "") || !strings.Contains(s.Reason, w.reason) {
			t.Errorf("%s: got %+v, want %+v", d.Servers[i].Name, s, w)
		}
	}
}

// A canceled check does not wait for a server that does not respond.
func TestDriftCheckCanceled(t *testing.T) {
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := &primary.Drift{Servers: []primary.Secondary{{Name: "silent", Addr: silent.LocalAddr().String()}}}
	if got := d.Check(ctx, "example.com", 1); len(got) != 1 || got[0].Err == nil {
		t.Errorf("got %v", got)
	}
}
