package nameserver_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed/internal/nameserver"
	"deed.example/deed/internal/nameserver/publishtest"
)

// The TCP port is bound exclusively, so a second server cannot start.
func TestSecondServerCannotStart(t *testing.T) {
	first := serve(t, config())
	cfg := config()
	cfg.Listen = first.Addr().String()
	if second, err := nameserver.Open(cfg); err == nil {
		second.Close()
		t.Fatal("a second server started on the same port")
	} else if !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), "already running") {
		t.Errorf("got %v, want it to say that the server is already running", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	serve(t, cfg) // the port is free again immediately
}

// A multicast DNS daemon binds the UDP port on all addresses, and shares it.
func TestSharesThePortWithMulticastDNS(t *testing.T) {
	free := serve(t, config())
	addr := free.Addr()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error { return c.Control(reuse) }}
	mdns, err := lc.ListenPacket(t.Context(), "udp4", fmt.Sprintf("0.0.0.0:%d", addr.Port()))
	if err != nil {
		t.Fatal(err)
	}
	defer mdns.Close()
	cfg := config()
	cfg.Listen = addr.String()
	s := serve(t, cfg)
	publish(t, s, "hotel.test", testZone...)
	for range 20 {
		if got := ask(t, s, "udp", query("www.hotel.test", dns.TypeA)); len(got.Answer) != 2 {
			t.Fatalf("got %v", got)
		}
	}
}

// When listening on all addresses, the response comes from the queried address.
func TestRespondsFromQueriedAddress(t *testing.T) {
	for listen, hosts := range map[string][]string{
		"0.0.0.0:0": {"127.0.0.1", "127.0.0.2"},
		"[::]:0":    {"127.0.0.1", "127.0.0.3", "::1"},
	} {
		cfg := config()
		cfg.Listen = listen
		s, err := nameserver.Open(cfg)
		if err != nil && strings.Contains(listen, ":]") {
			t.Logf("no IPv6 here: %v", err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		go s.Serve() // ends with Close
		defer s.Close()
		publish(t, s, "hotel.test", testZone...)
		for _, host := range hosts {
			c := dns.Client{Timeout: time.Minute} // a connected socket receives from its peer only
			at := netip.AddrPortFrom(netip.MustParseAddr(host), s.Addr().Port())
			got, _, err := c.ExchangeContext(t.Context(), query("www.hotel.test", dns.TypeA), at.String())
			if err != nil || len(got.Answer) != 2 {
				t.Errorf("%s, listening on %s: got %v, %v", host, listen, got, err)
			}
		}
	}
}

// Pipelined queries in one write are all answered, in order.
func TestPipelining(t *testing.T) {
	s := serve(t, config())
	publish(t, s, "hotel.test", big()...)
	c := dial(t, "tcp", s)
	const n = 500
	var out []byte
	for i := range n {
		m := message(t, func(m *dns.Msg) {
			m.Id = uint16(i)
			if i%50 == 0 {
				m.Question[0].Name = "many.hotel.test."
			}
		})
		out = append(binary.BigEndian.AppendUint16(out, uint16(len(m))), m...)
	}
	half := out[:len(out)-7] // the end of the last query is missing
	go func() { _, _ = c.Conn.Write(half) }()
	for i := range n - 1 {
		m, err := c.ReadMsg()
		if err != nil || int(m.Id) != i || len(m.Answer) < 2 {
			t.Fatalf("answer %d: got %v, %v", i, m, err)
		}
	}
	if _, err := c.Conn.Write(out[len(half):]); err != nil {
		t.Fatal(err)
	}
	if m, err := c.ReadMsg(); err != nil || m.Id != n-1 {
		t.Errorf("the last answer: got %v, %v", m, err)
	}
}

// A connection without a complete valid query is closed.
func TestIncompleteQueriesAreDisconnected(t *testing.T) {
	cfg := config()
	cfg.Idle = 100 * time.Millisecond
	s := serve(t, cfg)
	for name, start := range map[string]string{
		"nothing": "", "half a length": "\x00", "half a query": "\x00\x1d\x12\x34", "no query": "\x00\x01\x00", "an empty one": "\x00\x00", "one too long": "\xff\xff",
	} {
		c := dial(t, "tcp", s)
		if _, err := io.WriteString(c.Conn, start); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Conn.Read(make([]byte, 1)); n != 0 || err == nil || errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
			t.Errorf("%s: got %d bytes, %v, want it closed", name, n, err)
		}
	}
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// A client may have some connections; above the limit of all clients, the one that waits
// longest is closed.
func TestConnectionLimit(t *testing.T) {
	cfg := config()
	cfg.Conns, cfg.ConnsPerClient = 3, 2
	s := serve(t, cfg)
	publish(t, s, "hotel.test", testZone...)
	use := func(from string) (*net.TCPConn, error) {
		c, err := net.DialTCP("tcp", &net.TCPAddr{IP: net.ParseIP(from)}, net.TCPAddrFromAddrPort(s.Addr()))
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { c.Close() })
		conn := dns.Conn{Conn: c}
		if err := conn.WriteMsg(query("www.hotel.test", dns.TypeA)); err != nil {
			return c, err
		}
		_, err = conn.ReadMsg()
		return c, err
	}
	var open []*net.TCPConn
	for i, c := range []struct {
		from string
		ok   bool
	}{{"127.0.0.1", true}, {"127.0.0.1", true}, {"127.0.0.1", false}, {"127.0.0.2", true}, {"127.0.0.3", true}} {
		conn, err := use(c.from)
		if (err == nil) != c.ok {
			t.Errorf("connection %d, from %s: got %v, want ok %v", i, c.from, err, c.ok)
		}
		open = append(open, conn)
	}
	if got := s.Counts().Refused; got != 1 {
		t.Errorf("got %d refused, want 1", got)
	}
	if n, err := open[0].Read(make([]byte, 1)); n > 0 || err == nil {
		t.Errorf("the connection that waited longest: got %d bytes, %v, want it closed", n, err)
	}
	again := dns.Conn{Conn: open[3]}
	if err := again.WriteMsg(query("www.hotel.test", dns.TypeA)); err != nil {
		t.Error(err)
	}
	if _, err := again.ReadMsg(); err != nil {
		t.Errorf("a connection that waited for a shorter time: %v", err)
	}
	for { // the server notices a close asynchronously; the test's own timeout is the limit
		conn, err := use("127.0.0.1")
		if err == nil {
			break
		}
		if t.Context().Err() != nil {
			t.Fatalf("a closed connection still counts: %v", err)
		}
		conn.Close()
		time.Sleep(time.Millisecond)
	}
}

func TestClose(t *testing.T) {
	s, err := nameserver.Open(config())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	publish(t, s, "hotel.test", testZone...)
	c := dial(t, "tcp", s)
	if err := c.WriteMsg(query("www.hotel.test", dns.TypeA)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ReadMsg(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := c.ReadMsg(); err == nil {
		t.Error("a connection outlived the server")
	}
	if err := s.Serve(); err != nil {
		t.Errorf("serving again: got %v, want nil at once", err)
	}
}

// While zones are published, changed and withdrawn, every response is consistent
// with one version of a zone.
func TestPublishDuringQueries(t *testing.T) {
	s := serve(t, config())
	const zones, rounds = 40, 25
	origin := func(i int) string { return fmt.Sprintf("z%d.test", i) }
	for i := range zones {
		publish(t, s, origin(i), "@ 300 NS ns.example.net.", "www 300 TXT 1", "www 300 TXT x1")
	}
	stop, asked := make(chan struct{}), sync.WaitGroup{}
	for reader := range 4 {
		asked.Go(func() {
			c := dial(t, "udp", s)
			for i := reader; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := c.WriteMsg(query("www."+origin(i%zones), dns.TypeTXT)); err != nil {
					t.Error(err)
					return
				}
				m, err := c.ReadMsg()
				if err != nil {
					t.Error(err)
					return
				}
				if got := fmt.Sprint(recordTexts(m.Answer)); m.Rcode == dns.RcodeSuccess && (len(m.Answer) != 2 || !consistent(m)) {
					t.Errorf("got an inconsistent zone: %s", got)
				}
			}
		})
	}
	for round := uint32(2); round < rounds; round++ {
		for i := range zones {
			if i%7 == int(round)%7 {
				if err := s.Withdraw(t.Context(), origin(i)); err != nil {
					t.Fatal(err)
				}
			}
			z := publishtest.Zone(t, origin(i), round, "@ 300 NS ns.example.net.", fmt.Sprintf("www 300 TXT %d", round), fmt.Sprintf("www 300 TXT x%d", round))
			if err := s.Publish(t.Context(), z); err != nil {
				t.Fatal(err)
			}
			if got, ok := s.Serial(origin(i)); !ok || got != round {
				t.Errorf("%s: got serial %d, want %d", origin(i), got, round)
			}
		}
	}
	close(stop)
	asked.Wait()
}

// consistent reports whether both texts are of one round.
func consistent(m *dns.Msg) bool {
	a, b := m.Answer[0].(*dns.TXT).Txt[0], m.Answer[1].(*dns.TXT).Txt[0]
	return "x"+a == b || "x"+b == a
}
