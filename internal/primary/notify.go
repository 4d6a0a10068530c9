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
	// lookEvery is how often the catalog is looked at for zones that came or
	// went on another node.
	lookEvery = time.Second

	// drainEvery is how often Close looks whether all is confirmed.
	drainEvery = 5 * time.Millisecond
)

// A Notifier tells every secondary when a zone has a new serial, and when a zone
// has come or gone. It implements dnssec.Publisher: it publishes by telling those
// who will ask. Fill the exported fields, call Start, and Close at the end.
//
// Nobody waits for it. A notice is sent at once, but for one zone not more often
// than every 75 ms; until the secondary confirms it, it is sent again, ever more
// rarely and for a few minutes. A newer serial takes its place.
type Notifier struct {
	Secondaries []Secondary
	Catalog     *Catalog // nil when there is none
	Now         func() time.Time
	Log         *slog.Logger

	lines []*line // one for each secondary; not changed after Start
	stop  context.CancelFunc
	wg    sync.WaitGroup
	wake  chan struct{} // holds one when the catalog should be looked at

	looking sync.Mutex
	told    dnszone.RR // the catalog's last SOA; guarded by looking, as blind
	blind   bool       // the last look failed

	mu      sync.Mutex
	serials map[string]uint32 // last published, by origin; guarded by mu, nil when it is not running
}

var _ dnssec.Publisher = (*Notifier)(nil)

var errStopped = errors.New("the notifier does not run")

// Start makes the notifier ready.
func (n *Notifier) Start() {
	ctx, stop := context.WithCancel(context.Background())
	n.stop = stop
	n.wake = make(chan struct{}, 1)
	for _, to := range n.Secondaries {
		n.lines = append(n.lines, newLine(ctx, to, n.Now, n.Log))
	}
	n.mu.Lock()
	n.serials = map[string]uint32{}
	n.mu.Unlock()
	n.wg.Go(func() { n.watchCatalog(ctx) })
}

// Close takes no more zones. Notices under way may be confirmed before ctx is
// done, then they are given up. It returns when nothing is under way.
func (n *Notifier) Close(ctx context.Context) {
	n.mu.Lock()
	n.serials = nil
	n.mu.Unlock()
	n.lookAtCatalog(ctx)
	n.drain(ctx)
	n.stop()
	n.wg.Wait()
	for _, l := range n.lines {
		l.wg.Wait()
	}
}

// drain waits until all notices are confirmed, or ctx is done.
func (n *Notifier) drain(ctx context.Context) {
	ticker := time.NewTicker(drainEvery)
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
		return fmt.Errorf("tell the secondaries of %s: %w", z.Origin, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.serials == nil {
		return errStopped
	}
	last, known := n.serials[z.Origin]
	if known && !newer(z.Serial, last) {
		return nil
	}
	n.serials[z.Origin] = z.Serial
	n.tell(soa)
	if !known {
		n.look()
	}
	return nil
}

// Withdraw implements dnssec.Publisher.
func (n *Notifier) Withdraw(_ context.Context, origin string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.serials == nil {
		return errStopped
	}
	delete(n.serials, origin)
	for _, l := range n.lines {
		l.forget(origin)
	}
	n.look()
	return nil
}

// Waiting returns how many notices are under way or wait for a confirmation, of
// all secondaries together.
func (n *Notifier) Waiting() int {
	sum := 0
	for _, l := range n.lines {
		sum += l.waiting()
	}
	return sum
}

// tell gives a zone's SOA to every line.
func (n *Notifier) tell(soa dnszone.RR) {
	for _, l := range n.lines {
		l.tell(soa)
	}
}

// look has the catalog looked at soon.
func (n *Notifier) look() {
	select {
	case n.wake <- struct{}{}:
	default: // it will be looked at anyway
	}
}

// watchCatalog looks at the catalog when it is told to, and every second.
func (n *Notifier) watchCatalog(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		n.lookAtCatalog(ctx)
		select {
		case <-ctx.Done():
			return
		case <-n.wake:
		case <-ticker.C:
		}
	}
}

// lookAtCatalog tells of a new serial of the catalog, and of the first it sees:
// a secondary may have missed some while we were away.
func (n *Notifier) lookAtCatalog(ctx context.Context) {
	if n.Catalog == nil {
		return
	}
	n.looking.Lock()
	defer n.looking.Unlock()
	soa, err := n.Catalog.SOA(ctx, n.Catalog.Origin)
	if err != nil {
		if !n.blind && ctx.Err() == nil {
			n.Log.Warn("the catalog could not be looked at", "err", err)
		}
		n.blind = true
		return
	}
	n.blind = false
	if soa != n.told {
		n.tell(soa)
		n.told = soa
	}
}
