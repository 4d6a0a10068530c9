package primary

import (
	"maps"
	"slices"
	"time"

	"deed.example/deed/internal/dnszone"
)

const (
	// remindInterval is how long a secondary may be behind before it is notified again, and
	// the minimum interval between two such notices of a zone.
	remindInterval = time.Minute

	// reminderRetention is how long a reminder is remembered at least: when many zones are
	// behind, a zone may be checked seldom.
	reminderRetention = time.Hour
)

// reminders are the times at which secondaries were last reminded of zones, or were first
// found to be behind the serial that was last published.
type reminders struct {
	at     map[string]time.Time // by origin
	pruned time.Time
}

// due reports whether it is time for a reminder of a zone, and then begins the next interval.
func (r *reminders) due(origin string, now time.Time) bool {
	if r.at == nil {
		r.at = map[string]time.Time{}
	}
	if now.Sub(r.pruned) >= reminderRetention {
		maps.DeleteFunc(r.at, func(_ string, at time.Time) bool { return now.Sub(at) >= reminderRetention })
		r.pruned = now
	}
	last, known := r.at[origin]
	if known && now.Sub(last) < remindInterval {
		return false
	}
	r.at[origin] = now
	return known
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
