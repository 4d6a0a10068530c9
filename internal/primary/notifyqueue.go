package primary

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed/internal/dnszone"
)

const (
	minNotifyInterval = 75 * time.Millisecond // between two notices of one zone
	maxZones          = 4096                  // pending zones of one secondary; it finds any others at its next refresh
	maxInFlight       = 16                    // unconfirmed notices to one secondary on the wire
	maxAttempts       = 14                    // about five minutes
	maxRefusals       = 4                     // attempts after which a refusal of the catalog is accepted
	firstRetryDelay   = 100 * time.Millisecond
	maxRetryDelay     = time.Minute
	firstAckTimeout   = 500 * time.Millisecond // doubles with every attempt
	maxAckTimeout     = 4 * time.Second
)

// A notifyQueue holds the pending notices of one secondary and sends them.
type notifyQueue struct {
	to       Secondary
	now      func() time.Time
	log      *slog.Logger
	ctx      context.Context // done when the queue is closed
	wg       sync.WaitGroup
	inFlight chan struct{}

	mu    sync.Mutex
	zones map[string]*notice // pending, by owner of the SOA; guarded by mu
}

// A notice is the pending NOTIFY of one zone. Its SOA is guarded by the mutex of
// the queue.
type notice struct {
	soa   dnszone.RR
	final bool // the zone is being removed: any response confirms the notice

	catalog  bool          // the zone is the catalog, which not every server supports
	replaced chan struct{} // holds a value when soa was replaced, or the notice canceled
}

func newNotifyQueue(ctx context.Context, to Secondary, now func() time.Time, log *slog.Logger) *notifyQueue {
	return &notifyQueue{to: to, now: now, log: log, ctx: ctx, inFlight: make(chan struct{}, maxInFlight), zones: map[string]*notice{}}
}

// add queues a notice with the SOA, which replaces an older one.
func (q *notifyQueue) add(soa dnszone.RR) { q.put(notice{soa: soa}) }

// addFinal queues the last notice of a zone.
func (q *notifyQueue) addFinal(soa dnszone.RR) { q.put(notice{soa: soa, final: true}) }

// addCatalog queues a notice of the catalog.
func (q *notifyQueue) addCatalog(soa dnszone.RR) { q.put(notice{soa: soa, catalog: true}) }

func (q *notifyQueue) put(want notice) {
	soa := want.soa
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := q.zones[soa.Owner]; n != nil {
		n.soa, n.final = soa, want.final
		n.wake()
		return
	}
	if len(q.zones) >= maxZones || q.ctx.Err() != nil {
		return
	}
	n := &want
	n.replaced = make(chan struct{}, 1)
	q.zones[soa.Owner] = n
	q.wg.Go(func() { q.run(n) })
}

// cancel drops the notice of a zone.
func (q *notifyQueue) cancel(origin string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := q.zones[origin]; n != nil {
		delete(q.zones, origin)
		n.wake()
	}
}

// waiting returns the number of zones with a pending notice.
func (q *notifyQueue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.zones)
}

// wake ends the wait before the next attempt.
func (n *notice) wake() {
	select {
	case n.replaced <- struct{}{}:
	default: // it was woken already
	}
}

// run sends the notices of one zone until its latest serial was sent.
func (q *notifyQueue) run(n *notice) {
	sent := q.current(n)
	for sent != (dnszone.RR{}) {
		q.sendUntilConfirmed(n, sent)
		if q.wait(minNotifyInterval, nil) {
			return
		}
		sent = q.next(n, sent)
	}
}

// current returns the SOA to send; it is empty when the notice was canceled.
func (q *notifyQueue) current(n *notice) dnszone.RR {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.zones[n.soa.Owner] != n {
		return dnszone.RR{}
	}
	return n.soa
}

// next returns the SOA to send after sent. It is empty when there is no newer
// one, and then the notice is removed from the queue.
func (q *notifyQueue) next(n *notice, sent dnszone.RR) dnszone.RR {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.zones[n.soa.Owner] != n {
		return dnszone.RR{}
	}
	if n.soa == sent {
		delete(q.zones, n.soa.Owner)
		return dnszone.RR{}
	}
	return n.soa
}

// sendUntilConfirmed resends the notice until it is confirmed or replaced, or the
// attempts are used up.
func (q *notifyQueue) sendUntilConfirmed(n *notice, soa dnszone.RR) {
	var err error
	for try := range maxAttempts {
		if q.current(n) != soa {
			return
		}
		if err = q.send(soa, min(firstAckTimeout<<try, maxAckTimeout)); err == nil || q.isFinal(n) && errors.Is(err, errRefused) {
			return
		}
		if n.catalog && errors.Is(err, errRefused) && try+1 >= maxRefusals {
			q.log.Info("a secondary does not take the catalog: it needs a command for each zone", "secondary", q.to.Name, "err", err)
			return
		}
		if q.wait(min(firstRetryDelay<<try, maxRetryDelay), n.replaced) {
			return
		}
	}
	q.log.Warn("a secondary does not confirm a NOTIFY", "secondary", q.to.Name, "zone", soa.Owner, "err", err)
}

var errRefused = errors.New("the secondary responded")

func (q *notifyQueue) isFinal(n *notice) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return n.final
}

// wait waits for d or for a value in early, and reports whether the queue was closed.
func (q *notifyQueue) wait(d time.Duration, early <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-early:
	case <-q.ctx.Done():
	}
	return q.ctx.Err() != nil
}

// send sends one notice, with the SOA in it (RFC 1996, 3.7), and waits for its
// confirmation.
func (q *notifyQueue) send(soa dnszone.RR, timeout time.Duration) error {
	select {
	case q.inFlight <- struct{}{}:
		defer func() { <-q.inFlight }()
	case <-q.ctx.Done():
		return q.ctx.Err()
	}
	ctx, cancel := context.WithTimeout(q.ctx, timeout)
	defer cancel()
	m := new(dns.Msg)
	m.SetNotify(soa.Owner + ".")
	m.Answer = []dns.RR{wireRR(soa)}
	if !q.to.Key.zero() {
		q.to.Key.sign(m, q.now())
	}
	r, err := query(ctx, q.to, m)
	if err != nil {
		return err
	}
	if r.Rcode != dns.RcodeSuccess {
		return fmt.Errorf("%w %s", errRefused, dns.RcodeToString[r.Rcode])
	}
	return nil
}
