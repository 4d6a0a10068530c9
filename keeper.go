package deed

import (
	"slices"
	"strings"
	"time"
)

// How many a registry takes.
const (
	minNameservers = 2
	maxNameservers = 13
	maxDS          = 8
)

// WithNameservers returns the entry delegated to the hosts.
func (e RegistryEntry) WithNameservers(hosts []string, at time.Time) (RegistryEntry, error) {
	hosts, err := ParseNameservers(hosts)
	if err == nil {
		err = e.mayChange(at)
	}
	e.Nameservers = hosts
	return e, err
}

// WithLock returns the entry locked or unlocked. While a transfer is pending, a
// lock comes too late (RFC 5731, 2.3).
func (e RegistryEntry) WithLock(locked bool, at time.Time) (RegistryEntry, error) {
	if locked && e.Transfer != "" {
		return e, Invalid("locked", "a transfer of %s is pending, so it cannot be locked", e.Name)
	}
	e.Locked = locked
	return e, e.mayChange(at)
}

// WithAuthHash returns the entry with another code, the only one that is good.
func (e RegistryEntry) WithAuthHash(hash string, at time.Time) (RegistryEntry, error) {
	e.AuthHash = hash
	return e, e.mayChange(at)
}

// WithDS returns the entry with the keys that sign its zone.
func (e RegistryEntry) WithDS(ds []DS, at time.Time) (RegistryEntry, error) {
	ds, err := ParseDS(ds)
	if err == nil {
		err = e.mayChange(at)
	}
	e.DS = ds
	return e, err
}

// mayChange fails with CodeValidation in the phases in which nothing but a
// restore changes a name.
func (e RegistryEntry) mayChange(at time.Time) error {
	switch phase := e.Phase(at); phase {
	case PhaseActive, PhaseGrace:
		return nil
	case PhaseRedemption:
		return Invalid("domain", "%s is in redemption: restore it first", e.Name)
	default:
		return Invalid("domain", "%s is about to be deleted", e.Name)
	}
}

// ParseNameservers returns the hosts in their canonical form, in the same order.
// It fails with CodeValidation unless they are two to thirteen different host
// names.
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
			return nil, Invalid("nameservers", "%s is there twice", host)
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

// isHostName says whether s is a full host name (RFC 952, RFC 1123, 2.1), in
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

// The algorithms that may sign, and the length in hex of the digests that may
// name a key (RFC 8624, 3.1 and 3.3).
var (
	dsAlgorithms = []uint8{8, 10, 13, 14, 15, 16}
	dsDigests    = map[uint8]int{2: 64, 4: 96}
)

// ParseDS returns the keys with their digests in lower case. It fails with
// CodeValidation when a resolver could not or should not follow one of them.
func ParseDS(keys []DS) ([]DS, error) {
	if len(keys) > maxDS {
		return nil, Invalid("ds", "must be %d at most, not %d", maxDS, len(keys))
	}
	var out []DS
	for _, k := range keys {
		k.Digest = strings.ToLower(k.Digest)
		switch {
		case !slices.Contains(dsAlgorithms, k.Algorithm):
			return nil, Invalid("ds", "algorithm %d is not one of %v", k.Algorithm, dsAlgorithms)
		case dsDigests[k.DigestType] == 0:
			return nil, Invalid("ds", "digest type %d is neither 2 (SHA-256) nor 4 (SHA-384)", k.DigestType)
		case len(k.Digest) != dsDigests[k.DigestType] || strings.Trim(k.Digest, "0123456789abcdef") != "":
			return nil, Invalid("ds", "a digest of type %d has %d hex digits", k.DigestType, dsDigests[k.DigestType])
		case slices.Contains(out, k):
			return nil, Invalid("ds", "key %d is there twice", k.KeyTag)
		}
		out = append(out, k)
	}
	return out, nil
}
