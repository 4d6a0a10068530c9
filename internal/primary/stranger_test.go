package primary_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// A message that ends after its header, although that says that there is a question, is
// malformed, also from a peer that needs no signature: its address may be spoofed over UDP,
// and a panic would end the process.
func TestHeaderAlone(t *testing.T) {
	h := open(t, netip.MustParsePrefix("127.0.0.0/8"))
	h.add(t, "example.com", "a1")
	header := pack(t, question("example.com.", dns.TypeSOA))[:12]
	for _, network := range []string{"udp", "tcp"} {
		if r := h.send(t, network, header); r.Rcode != dns.RcodeFormatError {
			t.Errorf("over %s: got %v", network, r)
		}
	}
}

// Neither do corrupted messages from such a peer, which need no signature to be read.
func TestCorruptedQueriesOfAllowedPeers(t *testing.T) {
	h := open(t, netip.MustParsePrefix("127.0.0.0/8"))
	h.add(t, "example.com", "a1")
	rng := rand.New(rand.NewPCG(9, 10))
	c, err := dns.Dial("udp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := range 6000 {
		m := ixfr([]string{"example.com", catalog, "foreign.example"}[i%3], 1)
		if i%4 == 0 {
			m = question("example.com.", []uint16{dns.TypeSOA, dns.TypeAXFR, dns.TypeIXFR}[i%3])
		}
		m.SetEdns0(1232, i%2 == 0)
		raw := pack(t, m)
		for range rng.IntN(4) {
			raw[rng.IntN(len(raw))] = byte(rng.Uint32() >> rng.UintN(8))
		}
		if _, err := c.Write(raw[:len(raw)-rng.IntN(len(raw))*(i%2)]); err != nil {
			t.Fatal(err)
		}
	}
	if r := h.ask(t, "tcp", question("example.com.", dns.TypeSOA)); r.Rcode != dns.RcodeSuccess {
		t.Errorf("after all that: got %v", r)
	}
}

// Strangers who hold all connections open, from many addresses, do not keep a secondary out,
// and the connection of a secondary is not closed for theirs.
func TestStrangersKeepNoSecondaryOut(t *testing.T) {
	h := open(t)
	h.add(t, "example.com", "a1")
	first := h.dialFrom(t, "127.0.0.1")
	if _, err := exchangeOver(first); err != nil {
		t.Fatal(err)
	}
	for i := range 600 {
		h.dialFrom(t, fmt.Sprintf("127.0.1.%d", 1+i/150))
	}
	for name, c := range map[string]net.Conn{"a new connection": h.dialFrom(t, "127.0.0.2"), "an earlier one": first} {
		if r, err := exchangeOver(c); err != nil || r.Rcode != dns.RcodeSuccess {
			t.Errorf("%s: got %v, %v", name, r, err)
		}
	}
}

// NSD opens up to 128 connections when as many zones have changed, and does not ask again for
// ten minutes after one that is closed.
func TestSecondaryWithManyConnections(t *testing.T) {
	h := open(t)
	h.add(t, "example.com", "a1")
	var conns []net.Conn
	for range 128 {
		conns = append(conns, h.dialFrom(t, "127.0.0.1"))
	}
	for i, c := range conns {
		if r, err := exchangeOver(c); err != nil || r.Rcode != dns.RcodeSuccess {
			t.Fatalf("connection %d: got %v, %v", i, r, err)
		}
	}
}

// A secondary with many zones asks for them on one connection.
func TestManyQueriesOnOneConnection(t *testing.T) {
	h := open(t)
	h.add(t, "example.com", "a1")
	c := h.dialFrom(t, "127.0.0.1")
	for i := range 300 {
		if r, err := exchangeOver(c); err != nil || r.Rcode != dns.RcodeSuccess {
			t.Fatalf("query %d: got %v, %v", i, r, err)
		}
	}
}

// dialFrom opens a connection from an address of this machine.
func (h *testPrimary) dialFrom(t *testing.T, from string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: patience}
	c, err := d.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() }) // the primary may have closed it
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return c
}

// exchangeOver sends a signed query over the connection.
func exchangeOver(c net.Conn) (*dns.Msg, error) {
	conn := &dns.Conn{Conn: c, TsigSecret: map[string]string{keyName + ".": secret}} // a new one, or it signs over the last response
	if err := conn.WriteMsg(signed(question("example.com.", dns.TypeSOA))); err != nil {
		return nil, err
	}
	return conn.ReadMsg()
}
