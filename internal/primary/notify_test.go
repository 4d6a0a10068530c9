package primary_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed"
	"deed.example/deed/internal/primary"
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

// tellers starts a notifier without a catalog.
func tellers(t *testing.T, to ...primary.Secondary) *primary.Notifier {
	t.Helper()
	n := &primary.Notifier{Secondaries: to, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	n.Start()
	t.Cleanup(n.Close)
	return n
}

// quiet waits until all notices are confirmed or given up.
func quiet(t *testing.T, n *primary.Notifier) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for n.Waiting() > 0 {
		select {
		case <-ctx.Done():
			t.Fatalf("%d notices are still waiting", n.Waiting())
		case <-time.After(time.Millisecond):
		}
	}
}

func zoneAt(origin string, serial uint32) deed.ServedZone {
	return deed.ServedZone{Origin: origin, Serial: serial, RRs: []deed.RR{soaOf(origin, serial)}}
}

func tellOf(t *testing.T, n *primary.Notifier, origin string, serial uint32) {
	t.Helper()
	if err := n.Publish(t.Context(), zoneAt(origin, serial)); err != nil {
		t.Fatal(err)
	}
}

func TestNotice(t *testing.T) {
	withKey, without := listen(t, confirm, false), listen(t, confirm, false)
	n := tellers(t, primary.Secondary{Name: "a", Addr: withKey.addr, Key: key(t)}, primary.Secondary{Name: "b", Addr: without.addr})
	tellOf(t, n, "example.com", 7)
	quiet(t, n)
	if got, want := <-withKey.notices, (heard{"example.com.", 7, true}); got != want {
		t.Errorf("with a key: got %v, want %v", got, want)
	}
	if got, want := <-without.notices, (heard{"example.com.", 7, false}); got != want {
		t.Errorf("without: got %v, want %v", got, want)
	}
	if len(withKey.notices) > 0 || len(without.notices) > 0 {
		t.Error("a confirmed notice was sent again")
	}
}

// A notice is sent again while nobody confirms it, whatever is answered instead.
func TestNoticeIsRepeated(t *testing.T) {
	for name, answer := range map[string]func(heard) (int, bool){"refused": refuse, "lost": silent} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := listen(t, answer, false)
			n := tellers(t, primary.Secondary{Name: "a", Addr: e.addr, Key: key(t)})
			tellOf(t, n, "example.com", 7)
			for range 3 {
				if got := <-e.notices; got.serial != 7 {
					t.Errorf("got %v", got)
				}
			}
			e.from(confirm)
			quiet(t, n)
		})
	}
}

// Anybody can send an answer without a signature.
func TestUnsignedConfirmationIsNone(t *testing.T) {
	e := listen(t, confirm, true)
	n := tellers(t, primary.Secondary{Name: "a", Addr: e.addr, Key: key(t)})
	tellOf(t, n, "example.com", 7)
	for range 3 {
		if got := <-e.notices; got.serial != 7 || !got.signed {
			t.Errorf("got %v", got)
		}
	}
	if n.Waiting() != 1 {
		t.Error("an unsigned confirmation was believed")
	}
}

// A newer serial takes the place of one that nobody confirms, at once.
func TestNewerSerialReplaces(t *testing.T) {
	e := listen(t, refuse, false)
	n := tellers(t, primary.Secondary{Name: "a", Addr: e.addr, Key: key(t)})
	tellOf(t, n, "example.com", 7)
	<-e.notices
	tellOf(t, n, "example.com", 9)
	tellOf(t, n, "example.com", 8) // too late
	e.until(t, func(h heard) bool { return h.serial == 9 })
	e.from(func(h heard) (int, bool) { return dns.RcodeSuccess, h.serial == 9 })
	quiet(t, n)
	for len(e.notices) > 0 {
		if h := <-e.notices; h.serial != 9 {
			t.Errorf("after serial 9: got %v", h)
		}
	}
}

// Many changes at once are few notices, and the last one is among them.
func TestNoticesAreFew(t *testing.T) {
	e := listen(t, confirm, false)
	n := tellers(t, primary.Secondary{Name: "a", Addr: e.addr, Key: key(t)})
	for serial := range uint32(500) {
		tellOf(t, n, "example.com", serial+1)
	}
	all := e.until(t, func(h heard) bool { return h.serial == 500 })
	if len(all) > 100 {
		t.Errorf("500 changes were told in %d notices", len(all))
	}
}

// After Withdraw nothing is told any more, and any serial is new.
func TestWithdraw(t *testing.T) {
	e := listen(t, refuse, false)
	n := tellers(t, primary.Secondary{Name: "a", Addr: e.addr, Key: key(t)})
	tellOf(t, n, "example.com", 7)
	<-e.notices
	for range 2 {
		if err := n.Withdraw(t.Context(), "example.com"); err != nil {
			t.Fatal(err)
		}
	}
	quiet(t, n)
	e.from(confirm)
	tellOf(t, n, "example.com", 3)
	e.until(t, func(h heard) bool { return h.serial == 3 })
}

// A dead secondary keeps nobody waiting, neither the publisher nor the others,
// and what is remembered for it is bounded.
func TestDeadSecondary(t *testing.T) {
	dead, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer dead.Close()
	e := listen(t, confirm, false)
	n := tellers(t, primary.Secondary{Name: "dead", Addr: dead.LocalAddr().String(), Key: key(t)},
		primary.Secondary{Name: "nowhere", Addr: "no.such.host.invalid:53"}, primary.Secondary{Name: "a", Addr: e.addr, Key: key(t)})
	for i := range 5000 {
		tellOf(t, n, fmt.Sprintf("z%d.example", i), 1)
	}
	tellOf(t, n, "example.com", 7)
	if got := n.Waiting(); got > 3*4096 {
		t.Errorf("%d notices are remembered", got)
	}
	e.until(t, func(h heard) bool { return h.serial == 1 })
	n.Close()
	if err := n.Publish(t.Context(), zoneAt("example.com", 8)); err == nil {
		t.Error("a closed notifier took a zone")
	}
	if err := n.Withdraw(t.Context(), "example.com"); err == nil {
		t.Error("a closed notifier withdrew a zone")
	}
}

func TestPublishWantsSOA(t *testing.T) {
	n := tellers(t)
	for _, z := range []deed.ServedZone{
		{Origin: "example.com", Serial: 7},
		{Origin: "example.com", Serial: 8, RRs: []deed.RR{soaOf("example.com", 7)}},
		{Origin: "example.com", Serial: 7, RRs: []deed.RR{{Owner: "example.com", Type: dns.TypeSOA, Data: "\x00"}}},
	} {
		if err := n.Publish(t.Context(), z); err == nil {
			t.Errorf("%v was published", z)
		}
	}
}
