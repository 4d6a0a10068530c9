package primary_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/primary"
)

func TestParseKey(t *testing.T) {
	for _, c := range []struct{ name, secret string }{
		{"", secret}, {".", secret}, {strings.Repeat("a", 64), secret},
		{keyName, ""}, {keyName, "not base64"}, {keyName, "c2hvcnQ="},
	} {
		if _, err := primary.ParseKey(c.name, c.secret); deed.CodeOf(err) != deed.CodeValidation {
			t.Errorf("%q %q: got %v", c.name, c.secret, err)
		}
	}
	if text := fmt.Sprintf("%v %+v %#v", key(t), key(t), key(t)); strings.Contains(text, "0123456789abcdef") {
		t.Errorf("a formatted key contains its secret: %s", text)
	}
}

func TestSOA(t *testing.T) {
	h := open(t)
	z := h.add(t, "example.com", "a1")
	for _, network := range []string{"udp", "tcp"} {
		r := h.ask(t, network, signed(question("EXAMPLE.com.", dns.TypeSOA)))
		if r.Rcode != dns.RcodeSuccess || !r.Authoritative || len(r.Answer) != 1 || fromWire(t, r.Answer[0]) != z.RRs[0] || r.IsTsig() == nil {
			t.Errorf("%s: got %v", network, r)
		}
	}
}

func TestAXFR(t *testing.T) {
	h := open(t)
	z := h.add(t, "example.com", "a1",
		"www.example.com. 60 IN A 192.0.2.1", "*.example.com. 60 IN AAAA 2001:db8::1",
		"example.com. 60 IN MX 10 mail.example.net.", `example.com. 60 IN TXT "a; b" "c\"d"`,
		"_sip._tcp.example.com. 60 IN SRV 1 2 5060 sip.example.net.",
		"example.com. 60 IN HTTPS 1 . alpn=h2,h3 ipv4hint=192.0.2.1", "odd.example.com. 60 IN TYPE65280 \\# 3 0a0b0c")
	rrs, _ := transfer(t, h.addr, signed(question("example.com.", dns.TypeAXFR)))
	sameRecords(t, "AXFR", body(t, rrs), z.RRs)
}

// A large zone is split into several messages, each of which is signed.
func TestAXFRInParts(t *testing.T) {
	h := open(t)
	h.add(t, "example.com", "a1")
	z := h.edit("example.com", func(others []dnszone.RR) []dnszone.RR {
		for i := range 1000 {
			text := string(rune('a'+i%26)) + strings.Repeat("x", i%250)
			others = append(others, dnszone.RR{Owner: fmt.Sprintf("t%d.example.com", i), Type: dns.TypeTXT, TTL: 60, Data: string([]byte{byte(len(text))}) + text})
		}
		for i := range 12 { // a few that are larger than a chunk
			data := strings.Repeat("\xff"+strings.Repeat("y", 255), 80+i)
			others = append(others, dnszone.RR{Owner: fmt.Sprintf("large%d.example.com", i), Type: dns.TypeTXT, TTL: 60, Data: data})
		}
		return others
	})
	rrs, messages := transfer(t, h.addr, signed(question("example.com.", dns.TypeAXFR)))
	sameRecords(t, "AXFR", body(t, rrs), z.RRs)
	if messages < 15 {
		t.Errorf("got %d messages, want more", messages)
	}
}

// A change during a transfer is not part of it.
func TestAXFRIsConsistent(t *testing.T) {
	h := open(t)
	h.add(t, "example.com", "a1")
	z := h.edit("example.com", func(others []dnszone.RR) []dnszone.RR {
		for i := range 4000 {
			others = append(others, dnszone.RR{Owner: fmt.Sprintf("t%d.example.com", i), Type: dns.TypeTXT, TTL: 60, Data: "\xff" + strings.Repeat("z", 255)})
		}
		return others
	})
	tr := &dns.Transfer{TsigSecret: secrets, ReadTimeout: patience}
	parts, err := tr.In(signed(question("example.com.", dns.TypeAXFR)), h.addr)
	if err != nil {
		t.Fatal(err)
	}
	var got []dnszone.RR
	for part := range parts {
		if part.Error != nil {
			t.Fatal(part.Error)
		}
		if got == nil {
			h.edit("example.com", func([]dnszone.RR) []dnszone.RR { return nil })
		}
		for _, rr := range part.RR {
			got = append(got, fromWire(t, rr))
		}
	}
	if got = body(t, got); !slices.Equal(got, z.RRs) {
		t.Errorf("got %d records, want the %d of the time of the query", len(got), len(z.RRs))
	}
}

func TestIXFR(t *testing.T) {
	h := open(t)
	first := h.add(t, "example.com", "a1", "www.example.com. 60 IN A 192.0.2.1")
	second := h.edit("example.com", func(others []dnszone.RR) []dnszone.RR {
		return append(others, rr(t, "ftp.example.com. 60 IN A 192.0.2.2"), rr(t, "brief.example.com. 60 IN A 192.0.2.3"))
	})
	third := h.edit("example.com", func(others []dnszone.RR) []dnszone.RR {
		return slices.DeleteFunc(others, func(rr dnszone.RR) bool {
			return rr.Owner == "www.example.com" || rr.Owner == "brief.example.com"
		})
	})
	for _, old := range []dnssec.ServedZone{first, second} {
		rrs, _ := transfer(t, h.addr, signed(ixfr("example.com", old.Serial)))
		sameRecords(t, fmt.Sprintf("IXFR from %d", old.Serial), apply(t, old.RRs, rrs), third.RRs)
	}
	if h.count("ixfr") != 2 || h.count("axfr") != 0 {
		t.Errorf("got %v, want 2 incremental transfers", h.answers)
	}
	rrs, _ := transfer(t, h.addr, signed(ixfr("example.com", 7)))
	sameRecords(t, "IXFR from an unknown serial", body(t, rrs), third.RRs)
	for _, c := range []struct {
		network string
		have    uint32
	}{{"tcp", third.Serial}, {"tcp", third.Serial + 1}, {"tcp", third.Serial + 1<<30}, {"udp", first.Serial}, {"udp", third.Serial}, {"udp", 7}} {
		r := h.ask(t, c.network, signed(ixfr("example.com", c.have)))
		if len(r.Answer) != 1 || fromWire(t, r.Answer[0]) != third.RRs[0] {
			t.Errorf("IXFR from %d over %s: got %v, want the SOA alone", c.have, c.network, r.Answer)
		}
	}
}

// Serials wrap around: 4294967295 is followed by 0.
func TestIXFRSerialWraparound(t *testing.T) {
	h := open(t)
	h.add(t, "example.com", "a1")
	last := dnssec.ServedZone{Origin: "example.com", Serial: 1<<32 - 1, RRs: []dnszone.RR{soaOf("example.com", 1<<32-1)}}
	h.zones["example.com"].snapshots = []dnssec.ServedZone{last}
	now := h.edit("example.com", func([]dnszone.RR) []dnszone.RR { return []dnszone.RR{rr(t, "example.com. 300 IN NS ns1.example.net.")} })
	r := h.ask(t, "tcp", signed(ixfr("example.com", last.Serial)))
	var rrs []dnszone.RR
	for _, rr := range r.Answer {
		rrs = append(rrs, fromWire(t, rr))
	}
	sameRecords(t, "IXFR", apply(t, last.RRs, rrs), now.RRs)
}

func TestAllowedAddress(t *testing.T) {
	h := open(t, netip.MustParsePrefix("127.0.0.0/8"))
	z := h.add(t, "example.com", "a1")
	rrs, _ := transfer(t, h.addr, question("example.com.", dns.TypeAXFR))
	sameRecords(t, "AXFR without a signature", body(t, rrs), z.RRs)
	r := h.send(t, "tcp", sign(t, question("example.com.", dns.TypeAXFR), "unknown.", secret))
	if r.Rcode != dns.RcodeNotAuth || len(r.Answer) > 0 {
		t.Errorf("a bad signature from an allowed address: got %v", r)
	}
}

// One address cannot use up all connections.
func TestConnectionsAreLimited(t *testing.T) {
	h := open(t)
	h.add(t, "example.com", "a1")
	var conns []net.Conn
	for range 161 {
		c, err := net.Dial("tcp", h.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		conns = append(conns, c)
	}
	last := conns[len(conns)-1]
	if err := last.SetReadDeadline(time.Now().Add(patience)); err != nil { // less than the primary waits for a question
		t.Fatal(err)
	}
	if _, err := last.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the connection above the limit: got %v, want it closed", err)
	}
	h.ask(t, "udp", signed(question("example.com.", dns.TypeSOA))) // UDP still works
}

// Close returns even if a peer keeps a connection open.
func TestCloseWithOpenConnections(t *testing.T) {
	h := open(t)
	c, err := net.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	h.close(t)
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is still open")
	}
}

// Close does not wait for a secondary that has stopped reading.
func TestCloseAbortsTransfers(t *testing.T) {
	h := open(t)
	h.add(t, "example.com", "a1")
	h.edit("example.com", func(others []dnszone.RR) []dnszone.RR {
		data := strings.Repeat("\xff"+strings.Repeat("y", 255), 200)
		for i := range 500 { // more than the buffers of a connection take
			others = append(others, dnszone.RR{Owner: fmt.Sprintf("large%d.example.com", i), Type: dns.TypeTXT, TTL: 60, Data: data})
		}
		return others
	})
	c, err := dns.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write(sign(t, question("example.com.", dns.TypeAXFR), keyName+".", secret)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c.Conn, make([]byte, 1000)); err != nil { // it has begun
		t.Fatal(err)
	}
	h.closed.Do(func() {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := h.server.Close(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the aborted transfer reported", err)
		}
	})
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	rest, err := io.Copy(io.Discard, c.Conn)
	if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() || rest >= 500*200*256 {
		t.Errorf("the transfer continued: %d more bytes, %v", rest, err)
	}
}
