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

// A Purchase is what a payment buys, as plain data: it is stored with the
// payment and may be delivered later, by another process. Its fields are stored
// by name, so a field that is renamed needs a migration.
type Purchase struct {
	Kind  PurchaseKind
	Name  deed.Name
	Years int `json:",omitzero"`

	Nameservers []string         `json:",omitempty"` // of a new name; none for ours
	Records     []dnszone.Record `json:",omitempty"` // that a new name starts with
	AuthCode    string           `json:",omitzero"`  // of a transfer
	From        time.Time        `json:",omitzero"`  // the expiry that a renewal must begin at; zero for any

	Change     dnszone.Change `json:",omitzero"`      // of the DNS
	RequestKey string         `json:"Asked,omitzero"` // what the caller asked for, when the change only follows from it

	Facts PurchaseFacts `json:",omitzero"`
}

// PurchaseFacts is what we found out about a purchase when we quoted its price. It is no
// part of what the caller asked for.
type PurchaseFacts struct {
	Restore        bool      `json:",omitzero"` // a renewal brings the name back from redemption
	PremiumRenewal deed.USDC `json:",omitzero"` // what each further year of a premium name costs us
}

// A PurchaseKind says what a Purchase is.
type PurchaseKind string

// The kinds of purchase. Money that came without a request buys nothing, and
// goes back.
const (
	PurchaseRegistration PurchaseKind = "registration"
	PurchaseRenewal      PurchaseKind = "renewal"
	PurchaseTransfer     PurchaseKind = "transfer"
	PurchaseDNSAdd       PurchaseKind = "dns_add"
	PurchaseDNSUpdate    PurchaseKind = "dns_update"
	PurchaseDNSDelete    PurchaseKind = "dns_delete"
	PurchaseDNSBatch     PurchaseKind = "dns_batch"
	PurchaseNothing      PurchaseKind = "nothing"
)

// changePurchases are the purchases of changes to the DNS.
var changePurchases = map[dnszone.ChangeKind]PurchaseKind{
	dnszone.ChangeAdd:    PurchaseDNSAdd,
	dnszone.ChangeUpdate: PurchaseDNSUpdate,
	dnszone.ChangeDelete: PurchaseDNSDelete,
	dnszone.ChangeBatch:  PurchaseDNSBatch,
}

// PurchaseOf returns what buys the change.
func PurchaseOf(c dnszone.Change) Purchase {
	return Purchase{Kind: changePurchases[c.Kind], Name: c.Zone, Change: c}
}

// ChangesDNS says whether the purchase is a change to the DNS.
func (k PurchaseKind) ChangesDNS() bool {
	return k == PurchaseDNSAdd || k == PurchaseDNSUpdate || k == PurchaseDNSDelete || k == PurchaseDNSBatch
}

// ClaimsName says whether the name is kept from all other buyers from the moment
// the purchase is promised: nobody has it yet.
func (k PurchaseKind) ClaimsName() bool {
	return k == PurchaseRegistration || k == PurchaseTransfer
}

// Fingerprint is equal for equal purchases. A payment is bound to it, because
// its signature covers neither the path nor the body of the request.
func (p Purchase) Fingerprint() string {
	plain := fmt.Appendf(nil, "%q %q %d", p.Kind, p.Name, p.Years)
	asked := p
	asked.Facts = PurchaseFacts{}
	asked.Kind, asked.Name, asked.Years = "", "", 0
	asked.Change.Ops = dnszone.WithoutGivenIDs(p.Change.Ops)
	if p.RequestKey != "" {
		asked.Change = dnszone.Change{By: p.Change.By}
	}
	if more, err := json.Marshal(asked); err == nil && string(more) != emptyPurchase { // plain data cannot fail
		plain = append(plain, more...)
	}
	sum := sha256.Sum256(plain)
	return hex.EncodeToString(sum[:])
}

// emptyPurchase is how a purchase without particulars is written.
const emptyPurchase = `{"Kind":"","Name":""}`
