package primary_test

import (
	"encoding/hex"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// withEDNS adds EDNS with the options that a server may answer.
func withEDNS(m *dns.Msg) *dns.Msg {
	m.SetEdns0(1232, false)
	nsid, keepalive := &dns.EDNS0_NSID{Code: dns.EDNS0NSID}, &dns.EDNS0_TCP_KEEPALIVE{Code: dns.EDNS0TCPKEEPALIVE}
	m.IsEdns0().Option = []dns.EDNS0{nsid, keepalive, nsid, keepalive} // twice is once
	return m
}

// Every response to a message with EDNS has EDNS (RFC 6891, 7), refusals included, and no
// other response has.
func TestRefusalsHaveEDNS(t *testing.T) {
	h := open(t)
	h.add(t, "example.com", "a1")
	update := new(dns.Msg).SetUpdate("example.com.")
	for i := range 40 {
		update.Insert([]dns.RR{&dns.A{Hdr: dns.RR_Header{Name: fmt.Sprintf("h%d.example.com.", i), Rrtype: dns.TypeA, Class: dns.ClassINET}, A: []byte{192, 0, 2, 1}}})
	}
	status := new(dns.Msg) // without a question
	status.Id, status.Opcode = 7, dns.OpcodeStatus
	for name, c := range map[string]struct {
		m    *dns.Msg
		want int
	}{
		"UPDATE": {update, dns.RcodeNotImplemented}, "NOTIFY": {new(dns.Msg).SetNotify("example.com."), dns.RcodeNotImplemented}, "STATUS": {status, dns.RcodeNotImplemented},
		"unsigned": {question("example.com.", dns.TypeAXFR), dns.RcodeRefused},
	} {
		for _, network := range []string{"udp", "tcp"} {
			plain := h.send(t, network, pack(t, c.m))
			r := h.send(t, network, pack(t, withEDNS(c.m.Copy())))
			if r.Rcode != c.want || r.Opcode != c.m.Opcode || r.IsEdns0() == nil || len(r.Answer)+len(r.Ns) > 0 || len(r.Question) != len(c.m.Question) {
				t.Errorf("%s over %s: got %v, want %s with EDNS", name, network, r, dns.RcodeToString[c.want])
			}
			if plain.Rcode != c.want || plain.IsEdns0() != nil {
				t.Errorf("%s over %s without EDNS: got %v", name, network, plain)
			}
		}
	}
	signedUpdate := h.send(t, "tcp", sign(t, withEDNS(new(dns.Msg).SetUpdate("example.com.")), keyName+".", secret))
	if signedUpdate.Rcode != dns.RcodeNotImplemented || signedUpdate.IsEdns0() == nil || signedUpdate.IsTsig() == nil {
		t.Errorf("signed: got %v", signedUpdate)
	}
}

// A message that is not a query and has very many records is refused unparsed.
func TestLargeUpdateIsNotParsed(t *testing.T) {
	h := open(t)
	update := new(dns.Msg).SetUpdate("example.com.")
	for range 2000 {
		update.Insert([]dns.RR{&dns.A{Hdr: dns.RR_Header{Name: "a.example.com.", Rrtype: dns.TypeA, Class: dns.ClassINET}, A: []byte{192, 0, 2, 1}}})
	}
	if r := h.send(t, "tcp", pack(t, withEDNS(update))); r.Rcode != dns.RcodeNotImplemented {
		t.Errorf("got %v", r)
	}
}

// NSID says which node answered; keepalive, over TCP and for who may transfer, how long a
// connection may be idle.
func TestNSIDAndKeepalive(t *testing.T) {
	h := open(t)
	h.add(t, "example.com", "a1")
	for _, network := range []string{"udp", "tcp"} {
		r := h.ask(t, network, signed(withEDNS(question("example.com.", dns.TypeSOA))))
		var nsid, keepalive string
		for _, o := range r.IsEdns0().Option {
			switch o := o.(type) {
			case *dns.EDNS0_NSID:
				nsid += o.Nsid
			case *dns.EDNS0_TCP_KEEPALIVE:
				keepalive += fmt.Sprint(o.Timeout)
			}
		}
		wantKeepalive := map[string]string{"udp": "", "tcp": "2400"}[network]
		if r.Rcode != dns.RcodeSuccess || nsid != hex.EncodeToString([]byte("ams1")) || keepalive != wantKeepalive {
			t.Errorf("%s: got NSID %q, keepalive %q, in %v", network, nsid, keepalive, r)
		}
		refused := h.send(t, network, pack(t, withEDNS(question("example.com.", dns.TypeSOA))))
		if len(refused.IsEdns0().Option) != 1 {
			t.Errorf("%s, refused: got %v, want no keepalive: the connection is closed", network, refused)
		}
	}
	if r := h.ask(t, "tcp", signed(question("example.com.", dns.TypeSOA).SetEdns0(1232, false))); len(r.IsEdns0().Option) > 0 {
		t.Errorf("not asked for: got %v", r)
	}
}

// The connection of who sends something else than queries is closed.
func TestConnectionIsClosedAfterNotImplemented(t *testing.T) {
	h := open(t)
	c, err := dns.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()                                                 // the primary has closed it
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil { // less than a secondary may be idle
		t.Fatal(err)
	}
	if _, err := c.Write(pack(t, withEDNS(new(dns.Msg).SetNotify("example.com.")))); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ReadMsgHeader(nil); err != nil {
		t.Errorf("got no answer: %v", err)
	}
	if _, err := c.Conn.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("got %v, want the connection closed", err)
	}
}
