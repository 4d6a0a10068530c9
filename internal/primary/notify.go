package primary

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
)

const (
	// catalogPollInterval is how often the catalog is checked for zones that were
	// added or removed by another node.
	catalogPollInterval = time.Second

	// drainPollInterval is how often Close checks whether all notices are
	// confirmed.
	drainPollInterval = 5 * time.Millisecond
)

// A Notifier sends NOTIFY to every secondary when a zone has a new serial, and when
// a zone is added or removed. It implements dnssec.Publisher: secondaries fetch
// what they were notified of. Set the exported fields, call Start, and Close at the
// end.
//
// Callers never block on it. A notice is sent at once, but for one zone at most
// every 75 ms. Until the secondary confirms it, it is resent with a growing delay
// for a few minutes. A newer serial replaces it. A secondary that serves an earlier
// serial nevertheless is reminded (Remind).
type Notifier struct {
	Secondaries []Secondary
	Catalog     *Catalog  // nil when there is none
	Withdrawn   Withdrawn // nil: secondaries hear of removed zones by the catalog only
	Now         func() time.Time
	Log         *slog.Logger

	queues []*notifyQueue // one per secondary; immutable after Start
	stop   context.CancelFunc
	wg     sync.WaitGroup
	wake   chan struct{} // holds a value when the catalog should be checked

	catalogMu      sync.Mutex
	lastCatalogSOA dnszone.RR // last announced; guarded by catalogMu
	catalogFailed  bool       // the last check failed; guarded by catalogMu

	mu      sync.Mutex
	serials map[string]uint32 // last published, by origin; guarded by mu, nil while not running

	reminders reminders // guarded by mu
}

var _ dnssec.Publisher = (*Notifier)(nil)

var errStopped = errors.New("the notifier is not running")

// Start starts the notifier.
func (n *Notifier) Start() {
	ctx, stop := context.WithCancel(context.Background())
	n.stop = stop
	n.wake = make(chan struct{}, 1)
	for _, to := range n.Secondaries {
		n.queues = append(n.queues, newNotifyQueue(ctx, to, n.Now, n.Log))
	}
	n.mu.Lock()
	n.serials = map[string]uint32{}
	n.mu.Unlock()
	n.wg.Go(func() { n.watchCatalog(ctx) })
}

// Close stops accepting zones. It waits for the confirmation of pending notices
// until ctx is done, then drops them. It returns when all goroutines have ended.
func (n *Notifier) Close(ctx context.Context) {
	n.mu.Lock()
	n.serials = nil
	n.mu.Unlock()
	n.checkCatalog(ctx)
	n.drain(ctx)
	n.stop()
	n.wg.Wait()
	for _, q := range n.queues {
		q.wg.Wait()
	}
}

// drain waits until all notices are confirmed, or ctx is done.
func (n *Notifier) drain(ctx context.Context) {
	ticker := time.NewTicker(drainPollInterval)
	defer ticker.Stop()
	for n.Waiting() > 0 {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Publish implements dnssec.Publisher.
func (n *Notifier) Publish(_ context.Context, z dnssec.ServedZone) error {
	soa, _, err := takeSOA(z.RRs, z.Serial)
	if err != nil {
		return fmt.Errorf("notify the secondaries of %s: %w", z.Origin, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.serials == nil {
		return errStopped
	}
	last, known := n.serials[z.Origin]
	if known && !dnssec.NewerSerial(z.Serial, last) {
		return nil
	}
	n.serials[z.Origin] = z.Serial
	delete(n.reminders.at, z.Origin)
	n.notify(soa)
	if !known {
		n.triggerCatalogCheck()
	}
	return nil
}

// Withdraw implements dnssec.Publisher. The zone need not have been published by this
// process: what a snapshot had at the start was not.
func (n *Notifier) Withdraw(ctx context.Context, origin string) error {
	if err := n.forget(origin); err != nil {
		return err
	}
	n.notifyWithdrawn(ctx, origin)
	n.triggerCatalogCheck()
	return nil
}

// forget drops the pending notices of a zone.
func (n *Notifier) forget(origin string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.serials == nil {
		return errStopped
	}
	delete(n.serials, origin)
	delete(n.reminders.at, origin)
	for _, q := range n.queues {
		q.cancel(origin)
	}
	return nil
}

// Waiting returns the number of unconfirmed notices, of all secondaries together.
func (n *Notifier) Waiting() int {
	sum := 0
	for _, q := range n.queues {
		sum += q.waiting()
	}
	return sum
}

// notify queues a zone's SOA for every secondary.
func (n *Notifier) notify(soa dnszone.RR) {
	for _, q := range n.queues {
		q.add(soa)
	}
}

// triggerCatalogCheck requests a check of the catalog.
func (n *Notifier) triggerCatalogCheck() {
	select {
	case n.wake <- struct{}{}:
	default: // a check is already requested
	}
}

// watchCatalog checks the catalog on request, and every catalogPollInterval.
func (n *Notifier) watchCatalog(ctx context.Context) {
	ticker := time.NewTicker(catalogPollInterval)
	defer ticker.Stop()
	for {
		n.checkCatalog(ctx)
		select {
		case <-ctx.Done():
			return
		case <-n.wake:
		case <-ticker.C:
		}
	}
}

// checkCatalog announces a new serial of the catalog, and the first serial it sees:
// a secondary may have missed notices while this process was not running.
func (n *Notifier) checkCatalog(ctx context.Context) {
	if n.Catalog == nil {
		return
	}
	n.catalogMu.Lock()
	defer n.catalogMu.Unlock()
	soa, err := n.Catalog.SOA(ctx, n.Catalog.Origin)
	if err != nil {
		if !n.catalogFailed && ctx.Err() == nil {
			n.Log.Warn("cannot read the catalog", "err", err)
		}
		n.catalogFailed = true
		return
	}
	n.catalogFailed = false
	if soa != n.lastCatalogSOA {
		for _, q := range n.queues {
			q.addCatalog(soa)
		}
		n.lastCatalogSOA = soa
	}
}
