package primary_test

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// receivedNotice is a notice as a secondary received it.
type receivedNotice struct {
	origin string
	serial uint32
	signed bool // by our key
}

// notifyReceiver is a secondary that only receives notices. Like a real one it may
// stay silent, refuse, or confirm.
type notifyReceiver struct {
	addr    string
	notices chan receivedNotice

	mu     sync.Mutex
	answer func(receivedNotice) (rcode int, reply bool) // guarded by mu
}

func confirm(receivedNotice) (int, bool) { return dns.RcodeSuccess, true }
func refuse(receivedNotice) (int, bool)  { return dns.RcodeNotAuth, true }
func silent(receivedNotice) (int, bool)  { return 0, false }

// listen starts a secondary that responds with answer. It signs the responses to
// signed notices, unless unsigned is set.
func listen(t *testing.T, answer func(receivedNotice) (int, bool), unsigned bool) *notifyReceiver {
	t.Helper()
	p, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &notifyReceiver{addr: p.LocalAddr().String(), notices: make(chan receivedNotice, 10_000), answer: answer}
	started := make(chan struct{})
	server := &dns.Server{PacketConn: p, TsigSecret: secrets, NotifyStartedFunc: func() { close(started) }, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, r *dns.Msg) {
		h := receivedNotice{signed: r.IsTsig() != nil && w.TsigStatus() == nil}
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
		if h.signed && !unsigned {
			signed(m)
		}
		_ = w.WriteMsg(m) // the notifier resends after a lost response
	})}
	go func() { _ = server.ActivateAndServe() }() // it ends with the test
	<-started
	t.Cleanup(func() { _ = server.Shutdown() })
	return e
}

func (e *notifyReceiver) answers(h receivedNotice) (int, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.answer(h)
}

func (e *notifyReceiver) from(answer func(receivedNotice) (int, bool)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answer = answer
}

// waitFor receives notices until one matches, and returns all of them.
func (e *notifyReceiver) waitFor(t *testing.T, matches func(receivedNotice) bool) []receivedNotice {
	t.Helper()
	var all []receivedNotice
	deadline := time.After(time.Minute)
	for {
		select {
		case h := <-e.notices:
			all = append(all, h)
			if matches(h) {
				return all
			}
		case <-deadline:
			t.Fatalf("timed out; received %v", all)
		}
	}
}
