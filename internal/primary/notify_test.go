package primary_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/primary"
)

// startNotifier starts a notifier without a catalog for these secondaries.
func startNotifier(t *testing.T, to ...primary.Secondary) *primary.Notifier {
	t.Helper()
	n := &primary.Notifier{Secondaries: to, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	n.Start()
	t.Cleanup(func() { closeNow(n) })
	return n
}

// closeNow closes the notifier without waiting for confirmations.
func closeNow(n *primary.Notifier) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	n.Close(ctx)
}

// waitConfirmed waits until no notice is pending.
func waitConfirmed(t *testing.T, n *primary.Notifier) {
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

func zoneAt(origin string, serial uint32) dnssec.ServedZone {
	return dnssec.ServedZone{Origin: origin, Serial: serial, RRs: []dnszone.RR{soaOf(origin, serial)}}
}

func publishSerial(t *testing.T, n *primary.Notifier, origin string, serial uint32) {
	t.Helper()
	if err := n.Publish(t.Context(), zoneAt(origin, serial)); err != nil {
		t.Fatal(err)
	}
}

func TestNotice(t *testing.T) {
	withKey, without := listen(t, confirm, false), listen(t, confirm, false)
	n := startNotifier(t, primary.Secondary{Name: "a", Addr: withKey.addr, Key: key(t)}, primary.Secondary{Name: "b", Addr: without.addr})
	publishSerial(t, n, "example.com", 7)
	waitConfirmed(t, n)
	if got, want := <-withKey.notices, (receivedNotice{"example.com.", 7, true}); got != want {
		t.Errorf("with a key: got %v, want %v", got, want)
	}
	if got, want := <-without.notices, (receivedNotice{"example.com.", 7, false}); got != want {
		t.Errorf("without: got %v, want %v", got, want)
	}
	if len(withKey.notices) > 0 || len(without.notices) > 0 {
		t.Error("a confirmed notice was sent again")
	}
}

// A notice is resent until it is confirmed; no other response ends it.
func TestNoticeIsResent(t *testing.T) {
	for name, answer := range map[string]func(receivedNotice) (int, bool){"refused": refuse, "lost": silent} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := listen(t, answer, false)
			n := startNotifier(t, primary.Secondary{Name: "a", Addr: e.addr, Key: key(t)})
			publishSerial(t, n, "example.com", 7)
			for range 3 {
				if got := <-e.notices; got.serial != 7 {
					t.Errorf("got %v", got)
				}
			}
			e.from(confirm)
			waitConfirmed(t, n)
		})
	}
}

// Anybody can forge an unsigned response.
func TestUnsignedConfirmationIsIgnored(t *testing.T) {
	e := listen(t, confirm, true)
	n := startNotifier(t, primary.Secondary{Name: "a", Addr: e.addr, Key: key(t)})
	publishSerial(t, n, "example.com", 7)
	for range 3 {
		if got := <-e.notices; got.serial != 7 || !got.signed {
			t.Errorf("got %v", got)
		}
	}
	if n.Waiting() != 1 {
		t.Error("an unsigned confirmation was accepted")
	}
}

// A newer serial immediately replaces an unconfirmed one.
func TestNewerSerialReplaces(t *testing.T) {
	e := listen(t, refuse, false)
	n := startNotifier(t, primary.Secondary{Name: "a", Addr: e.addr, Key: key(t)})
	publishSerial(t, n, "example.com", 7)
	<-e.notices
	publishSerial(t, n, "example.com", 9)
	publishSerial(t, n, "example.com", 8) // too late
	e.waitFor(t, func(h receivedNotice) bool { return h.serial == 9 })
	e.from(func(h receivedNotice) (int, bool) { return dns.RcodeSuccess, h.serial == 9 })
	waitConfirmed(t, n)
	for len(e.notices) > 0 {
		if h := <-e.notices; h.serial != 9 {
			t.Errorf("after serial 9: got %v", h)
		}
	}
}

// Many changes at once are coalesced into few notices; the last one is sent.
func TestNoticesAreCoalesced(t *testing.T) {
	e := listen(t, confirm, false)
	n := startNotifier(t, primary.Secondary{Name: "a", Addr: e.addr, Key: key(t)})
	for serial := range uint32(500) {
		publishSerial(t, n, "example.com", serial+1)
	}
	all := e.waitFor(t, func(h receivedNotice) bool { return h.serial == 500 })
	if len(all) > 100 {
		t.Errorf("500 changes were sent in %d notices", len(all))
	}
}

// After Withdraw no notices of the zone are sent, and any serial counts as new.
func TestWithdraw(t *testing.T) {
	e := listen(t, refuse, false)
	n := startNotifier(t, primary.Secondary{Name: "a", Addr: e.addr, Key: key(t)})
	publishSerial(t, n, "example.com", 7)
	<-e.notices
	for range 2 {
		if err := n.Withdraw(t.Context(), "example.com"); err != nil {
			t.Fatal(err)
		}
	}
	waitConfirmed(t, n)
	e.from(confirm)
	publishSerial(t, n, "example.com", 3)
	e.waitFor(t, func(h receivedNotice) bool { return h.serial == 3 })
}

// left is what is left of zones that are no longer served.
type left struct{ serial uint32 }

func (l left) Empty(_ context.Context, origin string) (dnssec.ServedZone, error) {
	return zoneAt(origin, l.serial), nil
}

// Secondaries that do not follow the catalog hear of a withdrawn zone also if it was
// published before this process started. That they do not have it is enough, and need not
// be signed.
func TestWithdrawOfAZoneThatWasNotPublished(t *testing.T) {
	has, hasNot := listen(t, confirm, false), listen(t, refuse, true)
	n := startNotifier(t, primary.Secondary{Name: "a", Addr: has.addr, Key: key(t)}, primary.Secondary{Name: "b", Addr: hasNot.addr, Key: key(t)})
	n.Withdrawn = left{8}
	if err := n.Withdraw(t.Context(), "example.com"); err != nil {
		t.Fatal(err)
	}
	for _, e := range []*notifyReceiver{has, hasNot} {
		e.waitFor(t, func(h receivedNotice) bool { return h.origin == "example.com." && h.serial == 8 })
	}
	waitConfirmed(t, n)
}

// An unreachable secondary blocks neither the publisher nor the other secondaries,
// and its queue is bounded.
func TestUnreachableSecondary(t *testing.T) {
	dead, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer dead.Close()
	e := listen(t, confirm, false)
	n := startNotifier(t, primary.Secondary{Name: "dead", Addr: dead.LocalAddr().String(), Key: key(t)},
		primary.Secondary{Name: "nowhere", Addr: "no.such.host.invalid:53"}, primary.Secondary{Name: "a", Addr: e.addr, Key: key(t)})
	for i := range 5000 {
		publishSerial(t, n, fmt.Sprintf("z%d.example", i), 1)
	}
	publishSerial(t, n, "example.com", 7)
	if got := n.Waiting(); got > 3*4096 {
		t.Errorf("%d notices are queued", got)
	}
	e.waitFor(t, func(h receivedNotice) bool { return h.serial == 1 })
	closeNow(n)
	if err := n.Publish(t.Context(), zoneAt("example.com", 8)); err == nil {
		t.Error("a closed notifier accepted a zone")
	}
	if err := n.Withdraw(t.Context(), "example.com"); err == nil {
		t.Error("a closed notifier withdrew a zone")
	}
}

// Notices of zones that were published before Close are sent, even if they were
// still delayed.
func TestCloseSendsPendingNotices(t *testing.T) {
	store := newMemory()
	e := listen(t, confirm, false)
	n := &primary.Notifier{
		Secondaries: []primary.Secondary{{Name: "a", Addr: e.addr, Key: key(t)}}, Catalog: &primary.Catalog{Origin: catalog, Store: store},
		Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}
	n.Start()
	publishSerial(t, n, "example.com", 7)
	e.waitFor(t, func(h receivedNotice) bool { return h.serial == 7 })
	publishSerial(t, n, "example.com", 8)
	store.add(t, "example.org", "b2")
	n.Close(t.Context())
	last := map[string]uint32{}
	for len(e.notices) > 0 {
		h := <-e.notices
		last[h.origin] = h.serial
	}
	if last["example.com."] != 8 || last[catalog+"."] != 2 {
		t.Errorf("the last notices are %v, want example.com 8 and the catalog 2", last)
	}
}

func TestPublishRequiresSOA(t *testing.T) {
	n := startNotifier(t)
	for _, z := range []dnssec.ServedZone{
		{Origin: "example.com", Serial: 7},
		{Origin: "example.com", Serial: 8, RRs: []dnszone.RR{soaOf("example.com", 7)}},
		{Origin: "example.com", Serial: 7, RRs: []dnszone.RR{{Owner: "example.com", Type: dns.TypeSOA, Data: "\x00"}}},
	} {
		if err := n.Publish(t.Context(), z); err == nil {
			t.Errorf("%v was published", z)
		}
	}
}
