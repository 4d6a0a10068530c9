package dnssec

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"deed.example/deed"
)

// A DS is the digest of a zone's key that its parent publishes (RFC 4034, 5).
type DS struct {
	KeyTag     uint16
	Algorithm  uint8
	DigestType uint8
	Digest     string // hex, lowercase
}

// The supported algorithms of keys, and the lengths in hex of the supported digests
// (RFC 8624, 3.1 and 3.3).
var (
	dsAlgorithms = []uint8{8, 10, 13, 14, 15, 16}
	dsDigests    = map[uint8]int{2: 64, 4: 96}
)

// maxDS is the maximum number of DS records of one name at a registry.
const maxDS = 8

// SameDS reports whether two lists have the same DS records, in any order.
func SameDS(a, b []DS) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(d DS) bool { return !AnyDS(b, []DS{d}) })
}

// AnyDS reports whether the list has any of these DS records.
func AnyDS(list, of []DS) bool {
	return slices.ContainsFunc(list, func(o DS) bool {
		return slices.ContainsFunc(of, func(d DS) bool {
			return o.KeyTag == d.KeyTag && o.Algorithm == d.Algorithm && o.DigestType == d.DigestType && strings.EqualFold(o.Digest, d.Digest)
		})
	})
}

// WithoutDS returns the list without these DS records.
func WithoutDS(list, of []DS) []DS {
	return slices.DeleteFunc(slices.Clone(list), func(d DS) bool { return AnyDS(of, []DS{d}) })
}

// DSOfKey returns the DS with SHA-256 of a key that others sign the zone with, which a
// registry may publish from the key (RFC 5910, 4.2). It fails when it is not a key.
func DSOfKey(name deed.Name, flags uint16, protocol, algorithm uint8, publicKey string) (DS, error) {
	text := strings.Join(strings.Fields(publicKey), "")
	if raw, err := base64.StdEncoding.DecodeString(text); err != nil || len(raw) == 0 {
		return DS{}, fmt.Errorf("%s is not a public key", deed.Quoted(text))
	}
	key := &dns.DNSKEY{
		Hdr:   dns.RR_Header{Name: dns.Fqdn(string(name)), Rrtype: dns.TypeDNSKEY, Class: dns.ClassINET},
		Flags: flags, Protocol: protocol, Algorithm: algorithm, PublicKey: text,
	}
	ds := key.ToDS(dns.SHA256)
	if ds == nil {
		return DS{}, fmt.Errorf("the key of %s has no DS", name)
	}
	return DS{ds.KeyTag, ds.Algorithm, ds.DigestType, strings.ToLower(ds.Digest)}, nil
}

// ParseDS returns the DS records with their digests in lower case. It fails with
// CodeValidation when a resolver could not or should not use one of them.
func ParseDS(keys []DS) ([]DS, error) {
	if len(keys) > maxDS {
		return nil, deed.Invalid("ds", "must have at most %d entries, not %d", maxDS, len(keys))
	}
	var out []DS
	for _, k := range keys {
		k.Digest = strings.ToLower(k.Digest)
		switch {
		case !slices.Contains(dsAlgorithms, k.Algorithm):
			return nil, deed.Invalid("ds", "algorithm %d is none of 8, 10, 13, 14, 15 and 16", k.Algorithm)
		case dsDigests[k.DigestType] == 0:
			return nil, deed.Invalid("ds", "digest type %d is neither 2 (SHA-256) nor 4 (SHA-384)", k.DigestType)
		case len(k.Digest) != dsDigests[k.DigestType] || strings.Trim(k.Digest, "0123456789abcdef") != "":
			return nil, deed.Invalid("ds", "a digest of type %d has %d hex digits", k.DigestType, dsDigests[k.DigestType])
		case slices.Contains(out, k):
			return nil, deed.Invalid("ds", "key %d is duplicated", k.KeyTag)
		}
		out = append(out, k)
	}
	return out, nil
}
