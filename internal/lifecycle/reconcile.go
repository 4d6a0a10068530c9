package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
)

// A Difference is a field of a name on which our record and the registry differ.
type Difference struct {
	Name             deed.Name
	What             DifferenceKind
	Stored, Registry string
}

// A DifferenceKind says what differs.
type DifferenceKind string

// The differences.
const (
	DiffersMissing     DifferenceKind = "missing at the registry"
	DiffersUnknown     DifferenceKind = "unknown to us"
	DiffersUnread      DifferenceKind = "cannot be read" // from the registry
	DiffersReference   DifferenceKind = "reference"
	DiffersExpiry      DifferenceKind = "expiry"
	DiffersLock        DifferenceKind = "lock"
	DiffersNameservers DifferenceKind = "name servers"
	DiffersDS          DifferenceKind = "DS"
	DiffersGlue        DifferenceKind = "glue"
)

// Differences compares the registration with the registry's record. The order of
// name servers does not matter.
func (r Registration) Differences(h Holding) (all []Difference) {
	add := func(what DifferenceKind, stored, registry string) {
		if stored != registry {
			all = append(all, Difference{Name: r.Name, What: what, Stored: stored, Registry: registry})
		}
	}
	if h.Reference != "" { // not every registry stores it
		add(DiffersReference, r.Reference, h.Reference)
	}
	add(DiffersExpiry, r.Expires.UTC().Format(time.RFC3339), h.Expires.UTC().Format(time.RFC3339))
	add(DiffersLock, lockWord(r.Locked), lockWord(h.Locked))
	if !sameMembers(r.Nameservers, h.Nameservers) {
		add(DiffersNameservers, strings.Join(r.Nameservers, " "), strings.Join(h.Nameservers, " "))
	}
	add(DiffersGlue, r.Glue.String(), r.Glue.Corrected(r.Name, h.Nameservers, h.Glue).String())
	if !sameMembers(r.DS, h.DS) {
		add(DiffersDS, fmt.Sprint(r.DS), fmt.Sprint(h.DS))
	}
	return all
}

func lockWord(locked bool) string {
	if locked {
		return "locked"
	}
	return "unlocked"
}

// SameServers reports whether these are the same name servers: their order has no meaning,
// and registries do not keep it.
func SameServers(a, b []string) bool { return sameMembers(a, b) }

// AnyServer reports whether any of the hosts is one of these servers.
func AnyServer(hosts, servers []string) bool {
	return slices.ContainsFunc(hosts, func(host string) bool { return slices.Contains(servers, host) })
}

// StrayDS returns the DS records at the registry without those that make the name bogus, and
// whether there are any. They are:
//   - ours, although the name is served by none of our servers: it was set while the owner
//     changed the servers, which do not have the key. A DS of ours that is in our record is
//     not stray: the owner has set it, or our servers were renamed.
//   - all, if the name is served by our servers only and none is of its keys: it was
//     transferred to us with them, or the database was restored from before a key roll.
func (r Registration) StrayDS(h Holding, servers []string, keys []dnssec.DS) (rest []dnssec.DS, stray bool) {
	served := AnyServer(h.Nameservers, servers)
	switch matches := dnssec.AnyDS(h.DS, keys); {
	case len(h.Nameservers) == 0 || len(keys) == 0 || len(h.DS) == 0:
		return h.DS, false
	case SameServers(h.Nameservers, servers) && !matches:
		return nil, true
	case served || !matches || dnssec.AnyDS(r.DS, keys):
		return h.DS, false
	}
	return dnssec.WithoutDS(h.DS, keys), true
}

// KeepOrder returns the servers in the order of known, if they are the same.
func KeepOrder(known, servers []string) []string {
	if SameServers(known, servers) {
		return known
	}
	return servers
}

// sameMembers reports whether a and b have the same elements, in any order.
func sameMembers[T comparable](a, b []T) bool {
	count := map[T]int{}
	for _, x := range a {
		count[x]++
	}
	for _, x := range b {
		count[x]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}
