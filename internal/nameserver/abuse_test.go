package nameserver_test

import (
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed/internal/nameserver"
)

// message returns a query for www.hotel.test A in wire format, modified by change.
func message(t testing.TB, change func(m *dns.Msg)) []byte {
	t.Helper()
	m := query("www.hotel.test", dns.TypeA)
	m.Id = 0x1234
	change(m)
	b, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func same(*dns.Msg) {}

// counted returns the message with these counts in its header.
func counted(msg []byte, questions, answers, authorities, additional uint16) []byte {
	for i, n := range []uint16{questions, answers, authorities, additional} {
		binary.BigEndian.PutUint16(msg[4+2*i:], n)
	}
	return msg
}

const nothing = -1

// Every malformed message gets a valid error response or none.
func TestMalformed(t *testing.T) {
	s := serve(t, config())
	publish(t, s, "hotel.test", testZone...)
	good := func() []byte { return message(t, same) }
	question := good()[12:]
	opt := []byte{0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0}
	cases := map[string]struct {
		msg  []byte
		want int
	}{
		"one byte":                         {[]byte{1}, nothing},
		"eleven bytes":                     {good()[:11], nothing},
		"an answer":                        {message(t, func(m *dns.Msg) { m.Response = true }), nothing},
		"no question":                      {counted(good()[:12], 0, 0, 0, 0), dns.RcodeFormatError},
		"two questions":                    {counted(append(good(), question...), 2, 0, 0, 0), dns.RcodeFormatError},
		"a question that is not there":     {good()[:12], dns.RcodeFormatError},
		"a question cut short":             {good()[:len(good())-1], dns.RcodeFormatError},
		"trailing bytes":                   {append(good(), 0), dns.RcodeFormatError},
		"an answer in the query":           {counted(append(good(), "\x00\x00\x01\x00\x01\x00\x00\x00\x00\x00\x00"...), 1, 1, 0, 0), dns.RcodeFormatError},
		"a name that points at itself":     {counted(append(good()[:12], 0xc0, 12, 0, 1, 0, 1), 1, 0, 0, 0), dns.RcodeFormatError},
		"a name that points ahead":         {counted(append(good()[:12], 0xc0, 14, 0xc0, 12, 0, 1, 0, 1), 1, 0, 0, 0), dns.RcodeFormatError},
		"an undefined label type":          {counted(append(good()[:12], 0x41, 'a', 0, 0, 1, 0, 1), 1, 0, 0, 0), dns.RcodeFormatError},
		"a name of 256 bytes":              {counted(append(good()[:12], strings.Repeat("\x03abc", 64)+"\x00\x00\x01\x00\x01"...), 1, 0, 0, 0), dns.RcodeFormatError},
		"a loop of pointers in additional": {counted(append(good(), 0xc0, byte(len(good())), 0, 1, 0, 1, 0, 0, 0, 0, 0, 0), 1, 0, 0, 1), dns.RcodeSuccess},
		"a count above the records":        {counted(good(), 1, 0, 0, 9), dns.RcodeFormatError},
		"two OPT":                          {counted(append(append(good(), opt...), opt...), 1, 0, 0, 2), dns.RcodeFormatError},
		"an OPT with a name":               {counted(append(append(good(), 1, 'a'), opt...), 1, 0, 0, 1), dns.RcodeFormatError},
		"an OPT whose options overflow":    {counted(append(append(good(), opt[:9]...), 0, 4, 0, 10, 0, 9), 1, 0, 0, 1), dns.RcodeFormatError},
		"UPDATE":                           {message(t, func(m *dns.Msg) { m.SetUpdate("hotel.test.") }), dns.RcodeNotImplemented},
		"NOTIFY":                           {message(t, func(m *dns.Msg) { m.SetNotify("hotel.test.") }), dns.RcodeNotImplemented},
		"STATUS":                           {message(t, func(m *dns.Msg) { m.Opcode = dns.OpcodeStatus }), dns.RcodeNotImplemented},
		"AXFR":                             {message(t, func(m *dns.Msg) { m.SetAxfr("hotel.test.") }), dns.RcodeRefused},
		"IXFR with its SOA":                {message(t, func(m *dns.Msg) { m.SetIxfr("hotel.test.", 1, "a.", "b.") }), dns.RcodeRefused},
		"CHAOS":                            {message(t, func(m *dns.Msg) { m.SetQuestion("version.bind.", dns.TypeTXT); m.Question[0].Qclass = dns.ClassCHAOS }), dns.RcodeRefused},
		"class ANY":                        {message(t, func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassANY }), dns.RcodeRefused},
		"a question about OPT":             {message(t, func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeOPT }), dns.RcodeFormatError},
		"1,500 zero bytes":                 {make([]byte, 1500), dns.RcodeFormatError},
		"9,000 zero bytes":                 {make([]byte, 9000), dns.RcodeFormatError},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := raw(t, s, c.msg)
			if c.want == nothing {
				if got != nil {
					t.Fatalf("got %v, want nothing", got)
				}
				return
			}
			if got == nil || got.Rcode != c.want || !got.Response || got.Id != binary.BigEndian.Uint16(c.msg) {
				t.Errorf("got %v, want %s", got, dns.RcodeToString[c.want])
			}
		})
	}
}

// raw sends a datagram and then a valid query. If the first response is to the valid
// query, there was none to the datagram.
func raw(t *testing.T, s *nameserver.Server, msg []byte) *dns.Msg {
	t.Helper()
	c := dial(t, "udp", s)
	for _, m := range [][]byte{msg, message(t, func(m *dns.Msg) { m.Id = 0xfffe })} {
		if _, err := c.Write(m); err != nil {
			t.Fatal(err)
		}
	}
	var first *dns.Msg
	for {
		m, err := readUnverified(c)
		if err != nil {
			t.Fatal(err)
		}
		if m.Id == 0xfffe {
			return first
		}
		first = m
	}
}

func dial(t testing.TB, network string, s *nameserver.Server) *dns.Conn {
	t.Helper()
	c, err := net.Dial(network, s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return &dns.Conn{Conn: c, UDPSize: 65535}
}

// A response over UDP may have 1,232 bytes, however short its query is: a DKIM key,
// a signed wildcard and the proof that a name does not exist need no TCP.
func TestLongAnswersOverUDP(t *testing.T) {
	s := serve(t, config())
	dkim := strings.Repeat("k", 250)
	lines := append(big(), fmt.Sprintf("s._domainkey 300 TXT %q %q", "v=DKIM1; k=rsa; p="+dkim[:200], dkim))
	if err := s.Publish(t.Context(), newSigner(t, "hotel.test").sign(t, zoneOf(t, "hotel.test", lines))); err != nil {
		t.Fatal(err)
	}
	longest := 0
	for name, typ := range map[string]uint16{"s._domainkey.": dns.TypeTXT, "x.wild.": dns.TypeA, "missing.": dns.TypeA, "": dns.TypeDNSKEY, "x.sub.": dns.TypeA} {
		for _, size := range []uint16{1232, 4096} {
			got := ask(t, s, "udp", query(name+"hotel.test", typ).SetEdns0(size, true))
			if got.Truncated {
				t.Errorf("%s%s: truncated", name, dns.TypeToString[typ])
			}
			got.Compress = true
			longest = max(longest, got.Len())
		}
	}
	if longest < 512 {
		t.Errorf("the longest response has %d bytes: the queries are too easy", longest)
	}
	t.Logf("longest response: %d bytes", longest)
}

// Above the rate limit, every second response is truncated and the others are
// dropped, for this network and this response only. TCP has no rate limit.
func TestRateLimit(t *testing.T) {
	s, www := limited(t), question{name: "www.hotel.test.", typ: dns.TypeA}
	for _, c := range []struct {
		what         string
		from         string
		name         string
		n            int
		whole, short int
	}{
		{"a burst of twice the limit", "127.0.0.1", "www", 40, 20, 10},
		{"the same network", "127.0.0.200", "www", 4, 0, 2},
		{"another network", "127.0.1.1", "www", 4, 4, 0},
		{"another response", "127.0.0.1", "", 20, 20, 0},
		{"names that do not exist", "127.0.0.1", "missing%d", 30, 20, 5},
		{"names of a wildcard", "127.0.0.1", "x%d.wild", 30, 20, 5},
		{"names below a delegation", "127.0.0.1", "x%d.sub", 30, 20, 5},
	} {
		whole, short := flood(t, s, c.from, c.n, func(m *dns.Msg, i int) {
			name := strings.ReplaceAll(c.name, "%d", fmt.Sprint(i)) + ".hotel.test."
			m.SetQuestion(strings.TrimPrefix(name, "."), dns.TypeA).Id = uint16(i)
		})
		if whole != c.whole || short != c.short {
			t.Errorf("%s: got %d whole and %d truncated of %d, want %d and %d", c.what, whole, short, c.n, c.whole, c.short)
		}
	}
	for range 50 {
		if got := ask(t, s, "tcp", query(www.name, www.typ)); len(got.Answer) != 2 {
			t.Fatalf("over TCP: got %v", got)
		}
	}
	if got, want := s.Counts().Limited, int64(20+4+10+10+10); got != want {
		t.Errorf("got %d limited, want %d", got, want)
	}
}

// A client that returns its cookie has proved its address, so it has no limit.
func TestCookiesLiftTheRateLimit(t *testing.T) {
	s := limited(t)
	first := ask(t, s, "udp", withCookie(query("www.hotel.test", dns.TypeA), "0123456789abcdef"))
	cookie := cookieOf(t, first)
	withIt := func(m *dns.Msg, i int) { m.Id = uint16(i); withCookie(m, cookie) }
	if whole, short := flood(t, s, "127.0.0.1", 100, withIt); whole != 100 || short != 0 {
		t.Errorf("with a cookie: got %d whole and %d truncated of 100, want all", whole, short)
	}
	if whole, _ := flood(t, s, "127.0.0.2", 100, withIt); whole != 19 {
		t.Errorf("with the cookie of another address: got %d whole of 100, want 19, one was answered before", whole)
	}
}

func limited(t *testing.T) *nameserver.Server {
	t.Helper()
	cfg := config()
	cfg.RatePerSecond, cfg.Exempt, cfg.Sockets = 10, nil, 1
	cfg.Now = func() time.Time { return time.Unix(1_800_000_000, 0) }
	s := serve(t, cfg)
	publish(t, s, "hotel.test", testZone...)
	return s
}

// flood sends n queries from an address and counts the responses. Then it sends a
// query from another network: there is one reader, so once that is answered, all
// responses to the flood have arrived.
func flood(t *testing.T, s *nameserver.Server, from string, n int, change func(m *dns.Msg, i int)) (whole, short int) {
	t.Helper()
	c, last := dialFrom(t, from, s), dialFrom(t, "127.99"+from[len("127.0"):], s)
	for i := range n {
		if _, err := c.Write(message(t, func(m *dns.Msg) { change(m, i) })); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := last.Write(message(t, same)); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 65535)
	if _, err := last.Read(buf); err != nil {
		t.Fatal(err)
	}
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		if buf[2]&2 != 0 {
			short++
		} else {
			whole++
		}
		if failed := raw.Read(func(fd uintptr) bool {
			_, _, err = syscall.Recvfrom(int(fd), buf, syscall.MSG_DONTWAIT)
			return true
		}); failed != nil {
			t.Fatal(failed)
		}
	}
	return whole - 1, short // one of them was to the last query
}

func dialFrom(t *testing.T, from string, s *nameserver.Server) *net.UDPConn {
	t.Helper()
	c, err := net.DialUDP("udp", &net.UDPAddr{IP: net.ParseIP(from)}, net.UDPAddrFromAddrPort(s.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestExemptNetworksHaveNoLimit(t *testing.T) {
	cfg := config()
	cfg.RatePerSecond = 1
	s := serve(t, cfg)
	publish(t, s, "hotel.test", testZone...)
	for i := range 50 {
		if got := ask(t, s, "udp", query("www.hotel.test", dns.TypeA)); got.Truncated {
			t.Fatalf("response %d was truncated", i)
		}
	}
}

// A long chain of CNAMEs is followed up to the limit.
func TestLongChain(t *testing.T) {
	s := serve(t, config())
	lines := []string{"@ 300 NS ns.example.net."}
	for i := range 50 {
		lines = append(lines, fmt.Sprintf("c%d 300 CNAME c%d", i, i+1))
	}
	publish(t, s, "hotel.test", lines...)
	publish(t, s, "loop.test", "@ 300 NS ns.example.net.", "a 300 DNAME x.b", "b 300 DNAME x.a", "c 300 DNAME d", "d 300 CNAME e", "e 300 CNAME d")
	for name, want := range map[string]int{"w.a.loop.test": 2 + 10, "a.loop.test": 0, "d.loop.test": 2} {
		if got := ask(t, s, "tcp", query(name, dns.TypeA)); len(got.Answer) != want {
			t.Errorf("%s: got %d records, want %d", name, len(got.Answer), want)
		}
	}
	if got := ask(t, s, "tcp", query("c0.hotel.test", dns.TypeA)); len(got.Answer) != 10 || got.Rcode != dns.RcodeSuccess {
		t.Errorf("got %d records, %s, want 10", len(got.Answer), dns.RcodeToString[got.Rcode])
	}
}
