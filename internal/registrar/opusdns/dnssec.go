package opusdns

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
)

// maxDS bounds the DS records of one name.
const maxDS = 30

// ds returns the DS records of the name. Keys count as their DS.
func (b *Backend) ds(ctx context.Context, l lane, name deed.Name) ([]dnssec.DS, error) {
	doing := "look up the DS records of " + string(name)
	var reply []dsData
	err := b.api.do(ctx, request{lane: l, method: http.MethodGet, path: domainPath(name) + "/dnssec"}, &reply)
	if err != nil {
		if p := refusal(err); p != nil && p.is(codeDomainNotFound) {
			return nil, notInAccount(name)
		}
		return nil, b.unknown(doing, err)
	}
	if len(reply) > maxDS {
		return nil, b.unknown(doing, fmt.Errorf("%w: there are %d", errUndocumented, len(reply)))
	}
	var all []dnssec.DS
	for _, r := range reply {
		var key dnssec.DS
		var err error
		switch r.Type {
		case dsRecord:
			key, err = r.parse()
		case keyRecord:
			key, err = r.ofKey(name)
		default:
			continue
		}
		if err != nil {
			return nil, b.unknown(doing, fmt.Errorf("%w: %w", errUndocumented, err))
		}
		if !slices.Contains(all, key) { // a key and its DS are one
			all = append(all, key)
		}
	}
	return all, nil
}

// ofKey returns the DS of a key of the vendor.
func (r dsData) ofKey(name deed.Name) (dnssec.DS, error) {
	if r.Flags == nil || r.Protocol == nil || *r.Flags < 0 || *r.Flags > 65535 || *r.Protocol < 0 || *r.Protocol > 255 || r.Algorithm < 0 || r.Algorithm > 255 {
		return dnssec.DS{}, fmt.Errorf("one of them is not valid")
	}
	return dnssec.DSOfKey(name, uint16(*r.Flags), uint8(*r.Protocol), uint8(r.Algorithm), r.PublicKey)
}

// parse checks a DS record of the vendor. Its algorithm may be one that the service
// would not set.
func (r dsData) parse() (dnssec.DS, error) {
	digest := strings.ToLower(r.Digest)
	if r.KeyTag == nil || r.DigestType == nil || *r.KeyTag < 0 || *r.KeyTag > 65535 || *r.DigestType < 0 || *r.DigestType > 255 ||
		r.Algorithm < 0 || r.Algorithm > 255 || len(digest) > 128 || strings.Trim(digest, "0123456789abcdef") != "" {
		return dnssec.DS{}, fmt.Errorf("one of them is not valid")
	}
	return dnssec.DS{KeyTag: uint16(*r.KeyTag), Algorithm: uint8(r.Algorithm), DigestType: uint8(*r.DigestType), Digest: digest}, nil
}
