package primary

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed/internal/dnszone"
)

const (
	gap       = 75 * time.Millisecond // between two notices of one zone
	maxZones  = 4096                  // zones that one secondary is being told of at once; of more it learns by itself
	maxFlying = 16                    // notices to one secondary on the wire at once
	maxTries  = 14                    // about five minutes
	firstWait = 100 * time.Millisecond
	longest   = time.Minute
	firstAck  = 500 * time.Millisecond // for a confirmation; each time twice as long
	longAck   = 4 * time.Second
)

// A line is the way to one secondary.
type line struct {
	to     Secondary
	now    func() time.Time
	log    *slog.Logger
	ctx    context.Context // done when the line is closed
	wg     sync.WaitGroup
	flying chan struct{}

	mu    sync.Mutex
	zones map[string]*notice // being told of, by owner of the SOA; guarded by mu
}

// A notice is what a secondary should hear of one zone. Its SOA is guarded by
// the line.
type notice struct {
	soa  dnszone.RR
	news chan struct{} // holds one when soa was replaced
}

func newLine(ctx context.Context, to Secondary, now func() time.Time, log *slog.Logger) *line {
	return &line{to: to, now: now, log: log, ctx: ctx, flying: make(chan struct{}, maxFlying), zones: map[string]*notice{}}
}

// tell has the secondary told of the SOA, in the place of an older one.
func (l *line) tell(soa dnszone.RR) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := l.zones[soa.Owner]; n != nil {
		n.soa = soa
		n.hurry()
		return
	}
	if len(l.zones) >= maxZones || l.ctx.Err() != nil {
		return
	}
	n := &notice{soa: soa, news: make(chan struct{}, 1)}
	l.zones[soa.Owner] = n
	l.wg.Go(func() { l.carry(n) })
}

// forget stops telling of a zone.
func (l *line) forget(origin string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := l.zones[origin]; n != nil {
		delete(l.zones, origin)
		n.hurry()
	}
}

// waiting returns how many zones the secondary is being told of.
func (l *line) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.zones)
}

// hurry wakes whoever waits to send the notice again.
func (n *notice) hurry() {
	select {
	case n.news <- struct{}{}:
	default: // it is awake
	}
}

// carry tells of one zone, until there is nothing new about it.
func (l *line) carry(n *notice) {
	told := l.current(n)
	for told != (dnszone.RR{}) {
		l.insist(n, told)
		if l.rest(gap, nil) {
			return
		}
		told = l.next(n, told)
	}
}

// current returns the SOA to tell of; it is empty when the zone was forgotten.
func (l *line) current(n *notice) dnszone.RR {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.zones[n.soa.Owner] != n {
		return dnszone.RR{}
	}
	return n.soa
}

// next returns the SOA to tell of after told; it is empty when there is none,
// and then the notice has ended.
func (l *line) next(n *notice, told dnszone.RR) dnszone.RR {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.zones[n.soa.Owner] != n {
		return dnszone.RR{}
	}
	if n.soa == told {
		delete(l.zones, n.soa.Owner)
		return dnszone.RR{}
	}
	return n.soa
}

// insist sends the notice until it is confirmed, replaced or given up.
func (l *line) insist(n *notice, soa dnszone.RR) {
	var err error
	for try := range maxTries {
		if l.current(n) != soa {
			return
		}
		if err = l.send(soa, min(firstAck<<try, longAck)); err == nil {
			return
		}
		if l.rest(min(firstWait<<try, longest), n.news) {
			return
		}
	}
	l.log.Warn("a secondary does not confirm a notice", "secondary", l.to.Name, "zone", soa.Owner, "err", err)
}

// rest waits, or until something is in news, and reports whether the line was closed.
func (l *line) rest(d time.Duration, news <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-news:
	case <-l.ctx.Done():
	}
	return l.ctx.Err() != nil
}

// send sends one notice, with the SOA in it (RFC 1996, 3.7), and waits for its
// confirmation.
func (l *line) send(soa dnszone.RR, patience time.Duration) error {
	select {
	case l.flying <- struct{}{}:
		defer func() { <-l.flying }()
	case <-l.ctx.Done():
		return l.ctx.Err()
	}
	ctx, cancel := context.WithTimeout(l.ctx, patience)
	defer cancel()
	m := new(dns.Msg)
	m.SetNotify(soa.Owner + ".")
	m.Answer = []dns.RR{message(soa)}
	if !l.to.Key.zero() {
		l.to.Key.sign(m, l.now())
	}
	r, err := ask(ctx, l.to, m)
	if err != nil {
		return err
	}
	if r.Rcode != dns.RcodeSuccess {
		return fmt.Errorf("it answered %s", dns.RcodeToString[r.Rcode])
	}
	return nil
}
