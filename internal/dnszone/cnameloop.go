package dnszone

import (
	"math"
	"slices"
	"sort"
	"strings"

	"deed.example/deed"
)

// An aliases follows the CNAMEs of a zone as a name server does (RFC 1034, 4.3.2).
type aliases struct {
	zone   deed.Name
	target map[string]string // host of a CNAME → its target, absolute
	below  map[string]string // host of a DNAME → its target
	exists map[string]bool   // hosts that have records, or names below them
	steps  map[string]int    // what follow has found
}

func newAliases(z Zone) aliases {
	a := aliases{z.Name, map[string]string{}, map[string]string{}, map[string]bool{"@": true}, map[string]int{}}
	for _, r := range z.Records {
		if r.Type == "CNAME" {
			a.target[r.Host] = r.Value
		}
		if r.Type == "DNAME" {
			a.below[r.Host] = r.Value
		}
		for host := r.Host; host != "" && !a.exists[host]; _, host, _ = strings.Cut(host, ".") {
			a.exists[host] = true
		}
	}
	return a
}

// next returns the target of the CNAME that answers for the host: its own, that of a
// wildcard (RFC 4592, 3.3.1), or the one that follows from a DNAME.
func (a aliases) next(host string) (target string, ok bool) {
	if a.exists[host] {
		target, ok = a.target[host]
		return target, ok
	}
	encloser := a.encloser(host)
	if dname, ok := a.below[encloser]; ok {
		return strings.TrimSuffix(host, encloser) + dname, true
	}
	wildcard := "*"
	if encloser != "" {
		wildcard = "*." + encloser
	}
	target, ok = a.target[wildcard]
	return target, ok
}

// encloser returns the longest name above the host that exists; "" is the zone itself.
func (a aliases) encloser(host string) string {
	var above []int // where the names above the host begin
	for i := range len(host) {
		if host[i] == '.' {
			above = append(above, i+1)
		}
	}
	i := sort.Search(len(above), func(i int) bool { return a.exists[host[above[i]:]] })
	if i == len(above) {
		return ""
	}
	return host[above[i]:]
}

const (
	// maxDNAMEHops is how often DNAMEs may redirect one name, besides the CNAMEs.
	maxDNAMEHops = 8

	endless = math.MaxInt
)

// loops reports whether the CNAMEs that begin at the host never end, or end in a name that
// is too long (RFC 6672, 2.2).
func (a aliases) loops(host string) bool { return a.follow(host) > len(a.target)+maxDNAMEHops }

// follow returns how many names answer one after the other, beginning with the host. Each
// name is followed only once for all CNAMEs of a zone: they may lead through each other,
// and everyone waits for the transaction that checks them.
func (a aliases) follow(host string) (steps int) {
	var passed []string
	for {
		known, ok := a.steps[host]
		if ok {
			steps = known
			break
		}
		a.steps[host] = endless // who comes here again, before it is known, is in a loop
		passed = append(passed, host)
		target, ok := a.next(host)
		if !ok {
			break
		}
		if len(target) > maxNameLength {
			steps = endless
			break
		}
		if host, ok = cutZone(target, a.zone); !ok {
			break // it leaves the zone
		}
	}
	for _, host := range slices.Backward(passed) {
		if steps != endless {
			steps++
		}
		a.steps[host] = steps
	}
	return steps
}

// checkLoops refuses a zone in which CNAMEs form a loop that before does not have. An
// old loop does not keep the rest of its zone from being changed.
func checkLoops(before, after Zone, refuse func(host string, err error)) {
	is := newAliases(after)
	var was *aliases
	for _, r := range after.Records {
		if r.Type != "CNAME" || !is.loops(r.Host) {
			continue
		}
		if was == nil {
			old := newAliases(before)
			was = &old
		}
		if _, ok := was.target[r.Host]; ok && was.loops(r.Host) {
			continue
		}
		refuse(r.Host, deed.Invalid("value", "the CNAME at %s leads back to itself through %s, or to a name that is too long: no resolver can follow it",
			deed.Quoted(absolute(r.Host, after.Name)), deed.Quoted(r.Value)))
	}
}
