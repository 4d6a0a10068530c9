package order

import (
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/lifecycle"
)

// A Purchase is what a payment buys, as plain data: it is stored with the payment
// and may be delivered later, by another process.
type Purchase struct {
	Kind  PurchaseKind
	Name  deed.Name
	Years int

	Nameservers []string         // of a new name; empty means our own
	Records     []dnszone.Record // initial records of a new name
	AuthCode    deed.Secret      // of a transfer
	From        time.Time        // the expiry that a renewal must start at; zero for any

	Change     dnszone.Change // to the DNS
	RequestKey string         // identifies the request, when the change is derived from it

	Facts PurchaseFacts
}

// PurchaseFacts is what was found out about a purchase when its price was quoted. It
// is not part of the request.
type PurchaseFacts struct {
	Restore        bool      // a renewal restores the name from redemption
	PremiumRenewal deed.USDC // wholesale price of each further year of a premium name
	PremiumCost    deed.USDC // wholesale price of the whole order, of a premium name
	Price          deed.USDC // of a renewal by mandate, whose payment is of the cap; 0 for others

	// What the buyer agreed to: the version of the terms, "" if there were none, and who
	// may be the registrant of the name.
	Terms      string
	Registrant lifecycle.RegistrantPolicy
}

// ByMandate reports whether the purchase is a renewal that its owner signed in advance.
func (p Purchase) ByMandate() bool { return p.Facts.Price > 0 }

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
