package primary_test

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// heard is a notice as a secondary got it.
type heard struct {
	origin string
	serial uint32
	signed bool // by our key
}

// ear is a secondary that does nothing but hear notices. Like a real one it may
// be silent, refuse, or confirm.
type ear struct {
	addr    string
	notices chan heard

	mu     sync.Mutex
	answer func(heard) (rcode int, reply bool) // guarded by mu
}

func confirm(heard) (int, bool) { return dns.RcodeSuccess, true }
func refuse(heard) (int, bool)  { return dns.RcodeNotAuth, true }
func silent(heard) (int, bool)  { return 0, false }

// listen starts a secondary that answers so. It signs what was signed, unless
// it is forgetful.
func listen(t *testing.T, answer func(heard) (int, bool), forgetful bool) *ear {
	t.Helper()
	p, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &ear{addr: p.LocalAddr().String(), notices: make(chan heard, 10_000), answer: answer}
	started := make(chan struct{})
	server := &dns.Server{PacketConn: p, TsigSecret: secrets, NotifyStartedFunc: func() { close(started) }, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, r *dns.Msg) {
		h := heard{signed: r.IsTsig() != nil && w.TsigStatus() == nil}
		if soa, ok := r.Answer[0].(*dns.SOA); ok && r.Opcode == dns.OpcodeNotify && r.Authoritative && soa.Hdr.Name == r.Question[0].Name {
			h.origin, h.serial = soa.Hdr.Name, soa.Serial
		}
		e.notices <- h
		rcode, reply := e.answers(h)
		if !reply {
			return
		}
		m := new(dns.Msg)
		m.SetRcode(r, rcode)
		if h.signed && !forgetful {
			signed(m)
		}
		_ = w.WriteMsg(m) // a lost answer is heard again
	})}
	go func() { _ = server.ActivateAndServe() }() // it ends with the test
	<-started
	t.Cleanup(func() { _ = server.Shutdown() })
	return e
}

func (e *ear) answers(h heard) (int, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.answer(h)
}

func (e *ear) from(answer func(heard) (int, bool)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answer = answer
}

// until hears notices until one is right, and returns all of them.
func (e *ear) until(t *testing.T, right func(heard) bool) []heard {
	t.Helper()
	var all []heard
	deadline := time.After(time.Minute)
	for {
		select {
		case h := <-e.notices:
			all = append(all, h)
			if right(h) {
				return all
			}
		case <-deadline:
			t.Fatalf("waited in vain; heard %v", all)
		}
	}
}
