package dnszone

import (
	"strings"

	"deed.example/deed"
)

// An aliases follows the CNAMEs of a zone as a name server does (RFC 1034, 4.3.2).
type aliases struct {
	zone   deed.Name
	target map[string]string // host of a CNAME → its target, absolute
	below  map[string]string // host of a DNAME → its target
	exists map[string]bool   // hosts that have records, or names below them
}

func newAliases(z Zone) aliases {
	a := aliases{z.Name, map[string]string{}, map[string]string{}, map[string]bool{"@": true}}
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

// next returns the target of the CNAME that answers for the host: its own, or that
// of a wildcard (RFC 4592, 3.3.1).
func (a aliases) next(host string) (target string, ok bool) {
	if a.exists[host] {
		target, ok = a.target[host]
		return target, ok
	}
	name := host
	for {
		_, parent, below := strings.Cut(host, ".")
		if dname, ok := a.below[parent]; ok {
			return strings.TrimSuffix(name, parent) + dname, true
		}
		switch {
		case !below:
			target, ok = a.target["*"]
			return target, ok
		case a.exists[parent]:
			target, ok = a.target["*."+parent]
			return target, ok
		}
		host = parent
	}
}

// loops reports whether the CNAMEs that begin at the host never end.
func (a aliases) loops(host string) bool {
	for range len(a.target) + maxDNAMEHops {
		target, ok := a.next(host)
		if !ok {
			return false
		}
		if host, ok = cutZone(target, a.zone); !ok {
			return false // it leaves the zone
		}
	}
	return true
}

// maxDNAMEHops is how often DNAMEs may redirect one name: each may make it longer, so
// it never repeats.
const maxDNAMEHops = 8

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
		refuse(r.Host, deed.Invalid("value", "the CNAME at %s leads back to itself through %s: no resolver can follow it",
			deed.Quoted(absolute(r.Host, after.Name)), deed.Quoted(r.Value)))
	}
}
