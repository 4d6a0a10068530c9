//go:build long

package main

import (
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// More addresses of name servers on port 53, where Zonemaster expects them.
const (
	rootServer   = "127.77.1.1"
	firstServer  = "127.77.1.2" // serves the names of the service
	secondServer = "127.77.1.3" // likewise
)

// rootRecords are all of a DNS without a network, but for com: the root itself, the
// addresses of the name servers, and the names of these addresses.
var rootRecords = []string{
	". 3600 IN SOA a.root.example. hostmaster.example. 1 14400 3600 1209600 3600", ". 3600 IN NS a.root.example.", "a.root.example. 3600 IN A " + rootServer,
	"com. 3600 IN NS ns1.deed.example.", "com. 3600 IN NS ns2.deed.example.",
	"ns1.deed.example. 3600 IN A " + firstServer, "ns2.deed.example. 3600 IN A " + secondServer,
	"2.1.77.127.in-addr.arpa. 3600 IN PTR ns1.deed.example.", "3.1.77.127.in-addr.arpa. 3600 IN PTR ns2.deed.example.",
}

// answerAsRoot answers from rootRecords, and refers to com.
func answerAsRoot(t *testing.T) func(q *dns.Msg) *dns.Msg {
	t.Helper()
	var zone []dns.RR
	for _, text := range rootRecords {
		rr, err := dns.NewRR(text)
		if err != nil {
			t.Fatal(err)
		}
		zone = append(zone, rr)
	}
	return func(q *dns.Msg) *dns.Msg {
		name, qtype := strings.ToLower(q.Question[0].Name), q.Question[0].Qtype
		r := new(dns.Msg).SetReply(q)
		if opt := q.IsEdns0(); opt != nil {
			r.SetEdns0(1232, opt.Do())
		}
		if dns.IsSubDomain("com.", name) && !(name == "com." && qtype == dns.TypeDS) {
			r.Ns, r.Extra = append(r.Ns, zone[3], zone[4]), append(r.Extra, zone[5], zone[6])
			return r
		}
		r.Authoritative, r.Rcode = true, dns.RcodeNameError
		for _, rr := range zone {
			if dns.IsSubDomain(name, rr.Header().Name) {
				r.Rcode = dns.RcodeSuccess
			}
			if name == rr.Header().Name && qtype == rr.Header().Rrtype {
				r.Answer = append(r.Answer, rr)
			}
		}
		if len(r.Answer) == 0 {
			r.Ns = append(r.Ns, zone[0])
		}
		return r
	}
}

// relayPort53 passes everything on port 53 of the address to a server, byte by byte.
func relayPort53(t *testing.T, addr, to string) {
	t.Helper()
	packets, err := net.ListenPacket("udp", addr+":53")
	if errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, syscall.EADDRNOTAVAIL) {
		t.Skipf("port 53 of %s is not available: %v", addr, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { packets.Close() }) // ends its reader
	listener, err := net.Listen("tcp", addr+":53")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() }) // likewise
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return // the test has ended
			}
			go relayStream(in, to)
		}
	}()
	go func() {
		for {
			query := make([]byte, 65535)
			n, from, err := packets.ReadFrom(query)
			if err != nil {
				return // the test has ended
			}
			go relayPacket(packets, from, query[:n], to)
		}
	}()
}

// relayPacket passes one query on. Who gets no answer asks again.
func relayPacket(back net.PacketConn, from net.Addr, query []byte, to string) {
	out, err := net.Dial("udp", to)
	if err != nil {
		return
	}
	defer out.Close() // one answer is all there is
	answer := make([]byte, 65535)
	if err := out.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return
	}
	if _, err := out.Write(query); err != nil {
		return
	}
	if n, err := out.Read(answer); err == nil {
		_, _ = back.WriteTo(answer[:n], from) // who does not get it asks again
	}
}

func relayStream(in net.Conn, to string) {
	defer in.Close() // all was copied
	out, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer out.Close() // likewise
	go func() {
		_, _ = io.Copy(out, in)             // ends with the connection
		_ = out.(*net.TCPConn).CloseWrite() // the last answer may still come
	}()
	_, _ = io.Copy(in, out) // likewise
}
