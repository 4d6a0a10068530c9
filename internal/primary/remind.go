package primary

import (
	"maps"
	"slices"
	"time"

	"deed.example/deed/internal/dnszone"
)

// remindInterval is how long a secondary may be behind before it is notified again, and the
// minimum interval between two such notices of a zone.
const remindInterval = time.Minute

// reminders are the times at which secondaries were last reminded of zones, or were first
// found to be behind.
type reminders struct {
	at     map[string]time.Time // by origin
	pruned time.Time
}

// due reports whether it is time for a reminder of a zone, and then begins the next interval.
func (r *reminders) due(origin string, now time.Time) bool {
	if r.at == nil {
		r.at = map[string]time.Time{}
	}
	outdated := func(at time.Time) bool { return now.Sub(at) >= 2*remindInterval } // it was not behind meanwhile
	if outdated(r.pruned) {
		maps.DeleteFunc(r.at, func(_ string, at time.Time) bool { return outdated(at) })
		r.pruned = now
	}
	last, known := r.at[origin]
	if known && now.Sub(last) < remindInterval {
		return false
	}
	r.at[origin] = now
	return known && !outdated(last)
}

// Remind notifies the secondaries with these names again, whose copies of a zone are behind
// its SOA: one that has confirmed a notice may have failed to transfer the zone, and then
// tries again only after the retry time of the SOA. Call it as often as they are found to be
// behind: it sends a notice when that has lasted for a minute, and one a minute after that.
func (n *Notifier) Remind(soa dnszone.RR, names []string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.serials == nil {
		return errStopped
	}
	if !n.reminders.due(soa.Owner, n.Now()) {
		return nil
	}
	for _, q := range n.queues {
		if slices.Contains(names, q.to.Name) {
			q.add(soa)
		}
	}
	return nil
}
