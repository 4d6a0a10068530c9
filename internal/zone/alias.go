package zone

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
)

// Aliases stores what the targets of ALIAS records resolve to.
type Aliases interface {
	// DueAliases returns aliases that are due, as host/name.
	DueAliases(ctx context.Context, limit int) ([]string, error)

	// Alias returns an alias, or CodeNotFound.
	Alias(ctx context.Context, name deed.Name, host string) (Alias, error)

	// SetAlias stores an alias, unless its target has changed since. If its addresses
	// or TTL have changed, the zone is served with them.
	SetAlias(ctx context.Context, name deed.Name, a Alias) error
}

// Limits of what a resolver may say about a target.
const (
	minAliasInterval = time.Minute // between two lookups, however small the TTL is
	maxAliasInterval = time.Hour
	maxAliasAddrs    = 16 // of IPv4 and IPv6 together

	// aliasQuietTime is how long the addresses must stay the same until they are looked
	// up as often as at first.
	aliasQuietTime = 2 * time.Hour
)

// An Alias is an alias with what decides when its target is looked up.
type Alias struct {
	dnszone.Alias
	Changed  time.Time // the last time it was served with other addresses or a smaller TTL
	Changes  int       // how often, without aliasQuietTime in between
	Failures int       // consecutive lookups that failed
	Next     time.Time // the next lookup
}

// answered returns the alias after a lookup. Each change costs a new serial and
// signatures, for which nobody pays, so the interval doubles with each. With the same
// addresses only a smaller TTL is a change, because the TTL in the cache of a resolver
// is a different one each time.
func (a Alias) answered(addrs []netip.Addr, ttl time.Duration, now time.Time) Alias {
	ttl = min(max(ttl, minAliasInterval), maxAliasInterval)
	if now.Sub(a.Changed) >= aliasQuietTime {
		a.Changes = 0
	}
	addrs = usableAddresses(addrs)
	seconds := int(ttl / time.Second)
	if !slices.Equal(addrs, a.Addresses) || seconds < a.TTL {
		if !a.Changed.IsZero() { // the first addresses are no change
			a.Changes++
		}
		a.Addresses, a.TTL, a.Changed = addrs, seconds, now
	}
	a.Failures, a.Next = 0, now.Add(max(ttl, aliasInterval(a.Changes)))
	return a
}

// otherFamily returns the last addresses of the other family than that of the address.
func (a Alias) otherFamily(of netip.Addr) []netip.Addr {
	return slices.DeleteFunc(slices.Clone(a.Addresses), func(addr netip.Addr) bool { return addr.Is4() == of.Is4() })
}

// failed returns the alias after a lookup without an answer: the interval doubles, so that
// targets that never answer leave time for the others.
func (a Alias) failed(now time.Time) Alias {
	a.Next = now.Add(aliasInterval(a.Failures))
	a.Failures++
	return a
}

// aliasInterval returns the interval between two lookups after consecutive changes or
// failures.
func aliasInterval(n int) time.Duration { return min(minAliasInterval<<min(n, 10), maxAliasInterval) }

// AliasUpdater looks up the targets of ALIAS records when their TTL has ended. Fill
// every field.
type AliasUpdater struct {
	Aliases Aliases
	// Lookup returns the addresses of a host and their TTL. No addresses mean that
	// there are none; an error, that they are unknown. With addresses, those of the other
	// family are.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, time.Duration, error)
	Now    func() time.Time
}

// Due returns aliases that Advance should be called for now.
func (u *AliasUpdater) Due(ctx context.Context, limit int) ([]string, error) {
	return u.Aliases.DueAliases(ctx, limit)
}

// Advance looks up one alias. If its target cannot be looked up, the last addresses are
// served until it can.
func (u *AliasUpdater) Advance(ctx context.Context, id string) error {
	host, name, _ := strings.Cut(id, "/")
	a, err := u.Aliases.Alias(ctx, deed.Name(name), host)
	if deed.CodeOf(err) == deed.CodeNotFound {
		return nil // the name has ended, or the record was deleted
	}
	if err != nil {
		return err
	}
	addrs, ttl, failed := u.Lookup(ctx, a.Target)
	switch {
	case failed == nil:
		a = a.answered(addrs, ttl, u.Now())
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err() // we stopped, the target did not fail
	case len(addrs) > 0:
		a, failed = a.answered(append(addrs, a.otherFamily(addrs[0])...), ttl, u.Now()), nil
	default:
		a = a.failed(u.Now())
	}
	if err := u.Aliases.SetAlias(context.WithoutCancel(ctx), deed.Name(name), a); err != nil { // the lookup may have taken all the time
		return err
	}
	if failed != nil {
		return fmt.Errorf("look up %s for the ALIAS at %s of %s: %w", a.Target, host, name, failed)
	}
	return nil
}

// usableAddresses returns the addresses that a visitor of a public name may be sent to,
// sorted: another order is not another answer. The operator of the target could send
// visitors of the name to hosts of their own network otherwise (DNS rebinding).
func usableAddresses(addrs []netip.Addr) (usable []netip.Addr) {
	for _, a := range addrs {
		a = a.Unmap()
		if a.IsGlobalUnicast() && !a.IsPrivate() && (a.Is4() || allocated.Contains(a)) && !slices.ContainsFunc(sharedNetworks, func(p netip.Prefix) bool { return p.Contains(a) }) {
			usable = append(usable, a.WithZone(""))
		}
	}
	slices.SortFunc(usable, netip.Addr.Compare)
	usable = slices.Compact(usable)
	return usable[:min(len(usable), maxAliasAddrs)]
}

// allocated is the IPv6 space with public addresses. Those that hide an IPv4 address, such as
// by NAT64 of one's own network (RFC 8215), are outside.
var allocated = netip.MustParsePrefix("2000::/3")

// sharedNetworks are not public, and not private by netip's definition (RFC 6890).
var sharedNetworks = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2002::/16"),
}
