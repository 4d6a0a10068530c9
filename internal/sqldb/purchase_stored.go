package sqldb

import (
	"encoding/json"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
)

// purchaseVersion is the version of storedPurchase. Rows that were written before
// versions existed have 0: the same names, capitalized, which encoding/json also
// accepts, and "Asked" for the request key. Migration 17 rewrote them, and nodes that
// had not been upgraded yet may have written more.
const purchaseVersion = 1

// storedPurchase is a purchase as stored in its column. Its names are stored, so they
// must not change. The auth code of a transfer is sealed, and erased when its job has
// ended.
type storedPurchase struct {
	Version     int                `json:"v"`
	Kind        order.PurchaseKind `json:"kind"`
	Name        deed.Name          `json:"name"`
	Years       int                `json:"years,omitzero"`
	Nameservers []string           `json:"nameservers,omitempty"`
	Records     []storedRecord     `json:"records,omitempty"`
	AuthCode    string             `json:"authCode,omitzero"` // when there is no Sealer
	Sealed      string             `json:"sealed,omitzero"`
	From        time.Time          `json:"from,omitzero"`
	Change      *storedChange      `json:"change,omitempty"`
	RequestKey  string             `json:"requestKey,omitzero"`
	Asked       string             `json:"Asked,omitzero"` // the request key in version 0
	Facts       storedFacts        `json:"facts,omitzero"`
}

type storedFacts struct {
	Restore        bool      `json:"restore,omitzero"`
	PremiumRenewal deed.USDC `json:"premiumRenewal,omitzero"`
	PremiumCost    deed.USDC `json:"premiumCost,omitzero"`
	Price          deed.USDC `json:"price,omitzero"`

	Terms      string                     `json:"terms,omitzero"`
	Registrant lifecycle.RegistrantPolicy `json:"registrant,omitzero"`
}

type storedChange struct {
	Kind       dnszone.ChangeKind `json:"kind"`
	Zone       deed.Name          `json:"zone"`
	By         deed.Wallet        `json:"by"`
	Ops        []storedOp         `json:"ops,omitempty"`
	IfRevision uint32             `json:"ifRevision,omitzero"`
}

type storedOp struct {
	Op     dnszone.OpKind   `json:"op"`
	ID     dnszone.RecordID `json:"id,omitzero"`
	Record storedRecord     `json:"record,omitzero"`
	Patch  storedPatch      `json:"patch,omitzero"`
}

// storedRecord is converted from and to a dnszone.Record, so a new field there does
// not compile until it is stored, too.
type storedRecord struct {
	ID       dnszone.RecordID `json:"id,omitzero"`
	Type     string           `json:"type"`
	Host     string           `json:"host"`
	Value    string           `json:"value"`
	TTL      int              `json:"ttl"`
	Distance *int             `json:"distance,omitempty"`
	Created  time.Time        `json:"created,omitzero"`
	Updated  time.Time        `json:"updated,omitzero"`
}

// storedPatch is converted from and to a dnszone.RecordPatch, likewise.
type storedPatch struct {
	Type     *string `json:"type,omitempty"`
	Host     *string `json:"host,omitempty"`
	Value    *string `json:"value,omitempty"`
	TTL      *int    `json:"ttl,omitempty"`
	Distance *int    `json:"distance,omitempty"`
	Priority *int    `json:"priority,omitempty"`
}

// storePurchase returns the stored form of a purchase, with its auth code in the clear.
func storePurchase(p order.Purchase) storedPurchase {
	s := storedPurchase{
		Version: purchaseVersion, Kind: p.Kind, Name: p.Name, Years: p.Years, Nameservers: p.Nameservers, AuthCode: p.AuthCode.Reveal(), From: p.From,
		RequestKey: p.RequestKey, Facts: storedFacts(p.Facts),
	}
	for _, rec := range p.Records {
		s.Records = append(s.Records, storedRecord(rec))
	}
	if c := p.Change; c.Kind != "" {
		s.Change = &storedChange{Kind: c.Kind, Zone: c.Zone, By: c.By, IfRevision: c.IfRevision}
		for _, op := range c.Ops {
			s.Change.Ops = append(s.Change.Ops, storedOp{op.Op, op.ID, storedRecord(op.Record), storedPatch(op.Patch)})
		}
	}
	return s
}

// purchase is the inverse of storePurchase.
func (s storedPurchase) purchase() order.Purchase {
	p := order.Purchase{
		Kind: s.Kind, Name: s.Name, Years: s.Years, Nameservers: s.Nameservers, AuthCode: deed.Secret(s.AuthCode), From: s.From,
		RequestKey: s.RequestKey, Facts: order.PurchaseFacts(s.Facts),
	}
	for _, rec := range s.Records {
		p.Records = append(p.Records, dnszone.Record(rec))
	}
	if c := s.Change; c != nil {
		p.Change = dnszone.Change{Kind: c.Kind, Zone: c.Zone, By: c.By, IfRevision: c.IfRevision}
		for _, op := range c.Ops {
			p.Change.Ops = append(p.Change.Ops, dnszone.RecordOp{Op: op.Op, ID: op.ID, Record: dnszone.Record(op.Record), Patch: dnszone.RecordPatch(op.Patch)})
		}
	}
	return p
}

// decode reads the stored form in any version. What the column does not have is left as
// it is.
func (s *storedPurchase) decode(column string) error {
	if err := json.Unmarshal([]byte(column), s); err != nil {
		return err
	}
	if s.Asked != "" {
		s.RequestKey, s.Asked = s.Asked, ""
	}
	s.Version = purchaseVersion
	return nil
}
