package nameserver

import (
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// A refusing listener accepts nothing at first, like a system without memory.
type refusing struct {
	net.Listener
	refused atomic.Bool
}

func (l *refusing) Accept() (net.Conn, error) {
	if l.refused.CompareAndSwap(false, true) {
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.ENOMEM)}
	}
	return l.Listener.Accept()
}

// A connection that the system refuses does not end the server.
func TestServesAfterARefusedConnection(t *testing.T) {
	cfg := Defaults()
	cfg.Listen = "127.0.0.1:0"
	s, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	l := &refusing{Listener: s.tcp}
	s.tcp = l
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	client := dns.Client{Net: "tcp", Timeout: time.Minute}
	m, _, err := client.Exchange(new(dns.Msg).SetQuestion("hotel.test.", dns.TypeSOA), s.Addr().String())
	if err != nil || m.Rcode != dns.RcodeRefused || !l.refused.Load() {
		t.Errorf("got %v, %v", m, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
