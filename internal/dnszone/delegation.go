package dnszone

import (
	"maps"
	"slices"
	"strings"

	"deed.example/deed"
)

// checkDelegations refuses NS records below others, which before does not have. No resolver
// asks for them, and in a signed zone PowerDNS has NSEC records for them, which nobody signed.
func checkDelegations(before, after Zone, refuse func(host string, err error)) {
	is := nestedDelegations(after)
	if len(is) == 0 {
		return
	}
	was := nestedDelegations(before)
	for _, host := range slices.Sorted(maps.Keys(is)) {
		if _, ok := was[host]; !ok {
			refuse(host, deed.Invalid("host", "%s is below %s, which has NS records, so it is part of the zone there: no resolver would ask for its own NS records here",
				deed.Quoted(absolute(host, after.Name)), deed.Quoted(absolute(is[host], after.Name))))
		}
	}
}

// nestedDelegations returns the hosts with NS records that are below another one, with that.
func nestedDelegations(z Zone) map[string]string {
	hosts := map[string]bool{}
	for _, r := range z.Records {
		if r.Type == "NS" {
			hosts[r.Host] = true
		}
	}
	nested := map[string]string{}
	for host := range hosts {
		for _, above, found := strings.Cut(host, "."); found; _, above, found = strings.Cut(above, ".") {
			if hosts[above] {
				nested[host] = above
			}
		}
	}
	return nested
}
