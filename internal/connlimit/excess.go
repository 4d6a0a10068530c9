package connlimit

import (
	"net/netip"
	"slices"
	"time"
)

// graceTime is how long a connection that waits for a request is treated like one in use:
// the request of a client that has just connected may be on its way.
const graceTime = time.Second

// excess returns the connections to close when there are too many: those that have waited
// longer than graceTime, or any if there are none. The networks with the most connections
// lose theirs first, in a network the clients with the most, and of a client those that
// have been in use longest. There are several, since it looks at all of them. The caller
// holds mu.
func (l *listener) excess() []*conn {
	now := l.now()
	var all, waiting []*conn
	for c := range l.open {
		all = append(all, c)
		if c.waits && now.Sub(c.since) > graceTime {
			waiting = append(waiting, c)
		}
	}
	if len(waiting) > 0 {
		all = waiting
	}
	slices.SortFunc(all, func(a, b *conn) int { return b.since.Compare(a.since) })
	all = spread(all, func(c *conn) netip.Prefix { return c.client })
	all = spread(all, func(c *conn) netip.Prefix { return c.network })
	return all[max(0, len(all)-max(1, l.limits.All/64)):]
}

// spread returns the connections in another order: the first of each key, then the second
// of each, and so on. At the end are those of the keys with the most.
func spread(list []*conn, key func(*conn) netip.Prefix) []*conn {
	var rounds [][]*conn
	seen := map[netip.Prefix]int{}
	for _, c := range list {
		k := key(c)
		round := seen[k]
		seen[k]++
		if round == len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[round] = append(rounds[round], c)
	}
	return slices.Concat(rounds...)
}
