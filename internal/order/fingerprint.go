package order

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
)

// Fingerprint is equal for equal purchases. A payment is bound to it, because its
// signature covers neither the path nor the body of the request. It is stored and
// compared with the stored value, so its input must never change: see canonical.
func (p Purchase) Fingerprint() string {
	plain := fmt.Appendf(nil, "%q %q %d", p.Kind, p.Name, p.Years)
	if more, err := json.Marshal(p.canonical()); err == nil && string(more) != emptyPurchase { // plain data cannot fail
		plain = append(plain, more...)
	}
	sum := sha256.Sum256(plain)
	return hex.EncodeToString(sum[:])
}

// emptyPurchase is the canonical form of a purchase without details.
const emptyPurchase = `{"Kind":"","Name":""}`

// canonicalPurchase is the input of the fingerprint: the request, without the facts
// that were found, and without the IDs that we assigned. Neither its names nor their
// order may change. Kind, Name and Years precede it; the first two are empty here.
type canonicalPurchase struct {
	Kind        string            `json:"Kind"`
	Name        string            `json:"Name"`
	Nameservers []string          `json:"Nameservers,omitempty"`
	Records     []canonicalRecord `json:"Records,omitempty"`
	AuthCode    string            `json:"AuthCode,omitzero"`
	From        time.Time         `json:"From,omitzero"`
	Change      *canonicalChange  `json:"Change,omitempty"`
	RequestKey  string            `json:"Asked,omitzero"`
}

type canonicalChange struct {
	Kind       dnszone.ChangeKind `json:"Kind"`
	Zone       deed.Name          `json:"Zone"`
	By         deed.Wallet        `json:"By"`
	Ops        []canonicalOp      `json:"Ops"`
	IfRevision uint32             `json:"IfRevision,omitzero"`
}

type canonicalOp struct {
	Op     dnszone.OpKind   `json:"Op"`
	ID     dnszone.RecordID `json:"ID"`
	Record canonicalRecord  `json:"Record,omitzero"`
	Patch  canonicalPatch   `json:"Patch,omitzero"`
}

// canonicalRecord is converted from a dnszone.Record, so a new field there does not
// compile until it is decided whether it is part of the fingerprint.
type canonicalRecord struct {
	ID       dnszone.RecordID `json:"ID"`
	Type     string           `json:"Type"`
	Host     string           `json:"Host"`
	Value    string           `json:"Value"`
	TTL      int              `json:"TTL"`
	Distance *int             `json:"Distance,omitempty"`
	Created  time.Time        `json:"Created,omitzero"`
	Updated  time.Time        `json:"Updated,omitzero"`
}

// canonicalPatch is converted from a dnszone.RecordPatch, likewise.
type canonicalPatch struct {
	Type     *string `json:"Type,omitempty"`
	Host     *string `json:"Host,omitempty"`
	Value    *string `json:"Value,omitempty"`
	TTL      *int    `json:"TTL,omitempty"`
	Distance *int    `json:"Distance,omitempty"`
	Priority *int    `json:"Priority,omitempty"`
}

func (p Purchase) canonical() canonicalPurchase {
	c := canonicalPurchase{Nameservers: p.Nameservers, AuthCode: p.AuthCode.Reveal(), From: p.From, RequestKey: p.RequestKey}
	for _, rec := range p.Records {
		c.Records = append(c.Records, canonicalRecord(rec))
	}
	change := canonicalChange{Kind: p.Change.Kind, Zone: p.Change.Zone, By: p.Change.By, IfRevision: p.Change.IfRevision}
	for _, op := range dnszone.WithoutGivenIDs(p.Change.Ops) {
		change.Ops = append(change.Ops, canonicalOp{op.Op, op.ID, canonicalRecord(op.Record), canonicalPatch(op.Patch)})
	}
	if p.RequestKey != "" {
		change = canonicalChange{By: p.Change.By} // the change is derived from the request
	}
	if change.Kind != "" || change.Zone != "" || change.By != "" || change.Ops != nil || change.IfRevision != 0 {
		c.Change = &change
	}
	return c
}
