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

// A Purchase is what a payment buys, as plain data: it is stored with the payment
// and may be delivered later, by another process. Its JSON names are stored, so they
// must not change without a migration.
type Purchase struct {
	Kind  PurchaseKind
	Name  deed.Name
	Years int `json:",omitzero"`

	Nameservers []string         `json:",omitempty"` // of a new name; empty means our own
	Records     []dnszone.Record `json:",omitempty"` // initial records of a new name
	AuthCode    string           `json:",omitzero"`  // of a transfer
	From        time.Time        `json:",omitzero"`  // the expiry that a renewal must start at; zero for any

	Change     dnszone.Change `json:",omitzero"`      // to the DNS
	RequestKey string         `json:"Asked,omitzero"` // identifies the request, when the change is derived from it

	Facts PurchaseFacts `json:",omitzero"`
}

// PurchaseFacts is what was found out about a purchase when its price was quoted. It
// is not part of the request.
type PurchaseFacts struct {
	Restore        bool      `json:",omitzero"` // a renewal restores the name from redemption
	PremiumRenewal deed.USDC `json:",omitzero"` // wholesale price of each further year of a premium name
}

// changePurchases maps kinds of DNS changes to kinds of purchase.
var changePurchases = map[dnszone.ChangeKind]PurchaseKind{
	dnszone.ChangeAdd:    PurchaseDNSAdd,
	dnszone.ChangeUpdate: PurchaseDNSUpdate,
	dnszone.ChangeDelete: PurchaseDNSDelete,
	dnszone.ChangeBatch:  PurchaseDNSBatch,
}

// PurchaseOf returns the purchase of a change.
func PurchaseOf(c dnszone.Change) Purchase {
	return Purchase{Kind: changePurchases[c.Kind], Name: c.Zone, Change: c}
}

// Fingerprint is equal for equal purchases. A payment is bound to it, because
// its signature covers neither the path nor the body of the request.
func (p Purchase) Fingerprint() string {
	plain := fmt.Appendf(nil, "%q %q %d", p.Kind, p.Name, p.Years)
	request := p
	request.Facts = PurchaseFacts{}
	request.Kind, request.Name, request.Years = "", "", 0
	request.Change.Ops = dnszone.WithoutGivenIDs(p.Change.Ops)
	if p.RequestKey != "" {
		request.Change = dnszone.Change{By: p.Change.By}
	}
	if more, err := json.Marshal(request); err == nil && string(more) != emptyPurchase { // plain data cannot fail
		plain = append(plain, more...)
	}
	sum := sha256.Sum256(plain)
	return hex.EncodeToString(sum[:])
}

// emptyPurchase is the JSON of a purchase without details.
const emptyPurchase = `{"Kind":"","Name":""}`
