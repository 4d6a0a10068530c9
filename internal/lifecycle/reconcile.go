package lifecycle

import (
	"fmt"
	"strings"
	"time"

	"deed.example/deed"
)

// A Difference is something that we and the registry say differently of a name.
type Difference struct {
	Name         deed.Name
	What         DifferenceKind
	Ours, Theirs string
}

// A DifferenceKind says what differs.
type DifferenceKind string

// The differences.
const (
	DiffersMissing     DifferenceKind = "missing at the registry"
	DiffersUnknown     DifferenceKind = "unknown to us"
	DiffersReference   DifferenceKind = "reference"
	DiffersExpiry      DifferenceKind = "expiry"
	DiffersLock        DifferenceKind = "lock"
	DiffersNameservers DifferenceKind = "name servers"
	DiffersDS          DifferenceKind = "DS"
)

// Differences returns what the registry says differently of the name. The order
// of its name servers is the registry's own affair.
func (r Registration) Differences(h Holding) (all []Difference) {
	add := func(what DifferenceKind, ours, theirs string) {
		if ours != theirs {
			all = append(all, Difference{Name: r.Name, What: what, Ours: ours, Theirs: theirs})
		}
	}
	if h.Reference != "" { // not every registry keeps it
		add(DiffersReference, r.Reference, h.Reference)
	}
	add(DiffersExpiry, r.Expires.UTC().Format(time.RFC3339), h.Expires.UTC().Format(time.RFC3339))
	add(DiffersLock, lockWord(r.Locked), lockWord(h.Locked))
	if !sameMembers(r.Nameservers, h.Nameservers) {
		add(DiffersNameservers, strings.Join(r.Nameservers, " "), strings.Join(h.Nameservers, " "))
	}
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

// sameMembers says whether a and b have the same members, in any order.
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
