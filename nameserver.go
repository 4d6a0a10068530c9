package deed

import (
	"slices"
	"strings"
)

// Limits of the number of name servers of a name.
const (
	minNameservers = 2
	maxNameservers = 13
)

// ParseNameservers returns the hosts in canonical form, in the same order. It fails
// with CodeValidation unless they are two to thirteen different host names.
func ParseNameservers(hosts []string) ([]string, error) {
	if len(hosts) < minNameservers || len(hosts) > maxNameservers {
		return nil, Invalid("nameservers", "must be %d to %d host names, not %d", minNameservers, maxNameservers, len(hosts))
	}
	out := make([]string, 0, len(hosts))
	for _, h := range hosts {
		host := strings.ToLower(strings.TrimSuffix(h, "."))
		if !isHostName(host) {
			return nil, Invalid("nameservers", "%s is not a host name", Quoted(h))
		}
		if slices.Contains(out, host) {
			return nil, Invalid("nameservers", "%s is duplicated", host)
		}
		out = append(out, host)
	}
	return out, nil
}

// ParseHost returns the canonical form of a full host name: lowercase A-labels
// without a trailing dot. It fails with CodeValidation.
func ParseHost(s string) (string, error) {
	host, ok := toASCII(s)
	if !ok || !isHostName(host) {
		return "", Invalid("name", "%s is not a host name", Quoted(s))
	}
	return host, nil
}

// isHostName reports whether s is a full host name (RFC 952, RFC 1123, 2.1), in
// lower case and not an address.
func isHostName(s string) bool {
	labels := strings.Split(s, ".")
	if len(s) > 253 || len(labels) < 2 || !validTLD(s) {
		return false
	}
	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' {
			return false
		}
		if strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return false
		}
	}
	return true
}
