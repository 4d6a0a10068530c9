package cli

import (
	"net"
	"slices"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// nameServer is an authoritative server over UDP: a host is unknown for the first
// queries, then it has an address.
func nameServer(t *testing.T, unknown int) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		in := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(in)
			if err != nil {
				return // the test is over
			}
			out := reply(in[:n], unknown <= 0)
			unknown--
			if _, err := conn.WriteTo(out, from); err != nil {
				return
			}
		}
	}()
	return conn.LocalAddr().String()
}

// reply returns the response to a query, or nil if it is not one.
func reply(in []byte, known bool) []byte {
	var p dnsmessage.Parser
	h, err := p.Start(in)
	if err != nil {
		return nil
	}
	q, err := p.Question()
	if err != nil {
		return nil
	}
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: h.ID, Response: true, Authoritative: true}, Questions: []dnsmessage.Question{q}}
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	}
	if known && q.Type == dnsmessage.TypeA {
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 300},
			Body:   &dnsmessage.AResource{A: [4]byte{192, 0, 2, 10}},
		}}
	}
	out, err := m.Pack()
	if err != nil {
		return nil
	}
	return out
}

func TestLookUpWaitsForPublication(t *testing.T) {
	got, err := lookUp(t.Context(), nameServer(t, 3), "www.example.com")
	if err != nil || !slices.Equal(got, []string{"192.0.2.10"}) {
		t.Errorf("got %v, %v", got, err)
	}
}
