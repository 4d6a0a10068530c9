package catalog

import (
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
)

// A Listing is one TLD of a price list, retail or wholesale. Prices are per year.
type Listing struct {
	TLD          deed.TLD
	Registration deed.USDC
	Renewal      deed.USDC
	Transfer     deed.USDC
	Restore      deed.USDC // for a name in redemption, on top of its renewal
	MinYears     int
	MaxYears     int
	GraceDays    int  // to renew after expiry
	DeleteDays   int  // to cancel a new registration
	Privacy      bool // the registry supports WHOIS privacy
	IDN          bool // internationalised labels are sold
}

// A Markup computes a retail price from a wholesale price.
type Markup struct {
	BasisPoints int64 // hundredths of a percent: 2000 is 20 %
	Fee         deed.USDC
}

// Price returns wholesale × (1 + markup) + fee, rounded up to the cent.
func (m Markup) Price(wholesale deed.USDC) deed.USDC {
	// In two steps, so that the markup is rounded up.
	share := (int64(wholesale)*m.BasisPoints + 9_999) / 10_000
	return (wholesale + deed.USDC(share) + m.Fee).UpToCent()
}

// Marked returns the listing with the markup applied.
func (l Listing) Marked(m Markup) Listing {
	l.Registration = m.Price(l.Registration)
	l.Renewal = m.Price(l.Renewal)
	l.Transfer = m.Price(l.Transfer)
	l.Restore = m.Price(l.Restore)
	return l
}

// ReplacedPrices is a published price list that was replaced by another.
type ReplacedPrices struct {
	Listings []Listing // sorted by TLD
	At       time.Time // when it was replaced
}

// RegistrationPrice returns the price of a new name for a number of years: the
// first at the registration price, the others at the renewal price, each as
// published. It fails with CodeValidation when the registry does not allow that
// number of years.
func (l Listing) RegistrationPrice(years int) (deed.USDC, error) {
	if years < l.MinYears || years > l.MaxYears {
		return 0, deed.Invalid("years", ".%s is sold for %s at once, not for %d", l.TLD, order.Term(l.MinYears, l.MaxYears), years)
	}
	return l.Registration + deed.USDC(years-1)*l.Renewal, nil
}

// RenewalPrice returns the price of a renewal, with or without a restore from
// redemption.
func (l Listing) RenewalPrice(years int, restore bool) deed.USDC {
	price := deed.USDC(years) * l.Renewal
	if restore {
		price += l.Restore
	}
	return price
}
