package zone

import (
	"context"
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
	Alias(ctx context.Context, name deed.Name, host string) (dnszone.Alias, error)

	// SetAlias stores an alias, unless its target has changed since, and when it is
	// looked up again. If its addresses or TTL have changed, the zone is served
	// with them.
	SetAlias(ctx context.Context, name deed.Name, a dnszone.Alias, next time.Time) error
}

// Limits of what a resolver may say about a target.
const (
	minAliasInterval = time.Minute // between two lookups, however small the TTL is
	maxAliasInterval = time.Hour
	maxAliasAddrs    = 16 // of IPv4 and IPv6 together
)

// AliasUpdater looks up the targets of ALIAS records when their TTL has ended. Fill
// every field.
type AliasUpdater struct {
	Aliases Aliases
	// Lookup returns the addresses of a host and their TTL. No addresses mean that
	// there are none; an error, that it is unknown.
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
	if err != nil {
		return err
	}
	addrs, ttl, failed := u.Lookup(ctx, a.Target)
	ttl = min(max(ttl, minAliasInterval), maxAliasInterval)
	if failed == nil {
		a.Addresses, a.TTL = usableAddresses(addrs), int(ttl/time.Second)
	}
	if err := u.Aliases.SetAlias(ctx, deed.Name(name), a, u.Now().Add(ttl)); err != nil {
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
		if a.IsGlobalUnicast() && !a.IsPrivate() && !slices.ContainsFunc(sharedNetworks, func(p netip.Prefix) bool { return p.Contains(a) }) {
			usable = append(usable, a.WithZone(""))
		}
	}
	slices.SortFunc(usable, netip.Addr.Compare)
	usable = slices.Compact(usable)
	return usable[:min(len(usable), maxAliasAddrs)]
}

// sharedNetworks are not public, and not private by netip's definition (RFC 6890).
var sharedNetworks = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("fec0::/10"),
}
