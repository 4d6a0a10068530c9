package registration

import (
	"context"
	"fmt"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// LostMandates reads the mandates that lost payments may have been made with.
type LostMandates interface {
	// MandateOf returns the mandate with the payer and the nonce of the authorization,
	// without its signature, or CodeNotFound.
	MandateOf(ctx context.Context, a settle.Authorization) (order.Mandate, error)
}

// RenewalPrices quotes renewals.
type RenewalPrices interface {
	Renewal(r lifecycle.Registration, years int, restore bool) (order.Quote, error)
}

// setSource finds out how a lost payment for a renewal was made. The amount of one by
// mandate is a cap, and the rest is refunded with the delivery: if it was refunded before,
// that tells the price, and otherwise the price is that of today. It returns why this is
// left to an operator, or "". The mandate may be newer than the backup, so an amount other
// than the price is not taken for the price.
func (r *Restore) setSource(ctx context.Context, p *order.Payment) (undecided string, err error) {
	if p.Purchase.Kind != order.PurchaseRenewal {
		return "", nil
	}
	held, err := r.Names.Registration(ctx, p.Purchase.Name)
	if deed.CodeOf(err) == deed.CodeNotFound {
		return "", nil // the name is newer than the backup, and no mandate of it can be due yet
	}
	if err != nil {
		return "", err
	}
	m, err := r.Mandates.MandateOf(ctx, p.Auth)
	if err != nil && deed.CodeOf(err) != deed.CodeNotFound {
		return "", err
	}
	byMandate := err == nil && m.Name == p.Purchase.Name && m.Auth.Amount == p.Auth.Amount
	if byMandate {
		p.Source, p.MandateID = order.SourceMandate, m.ID
		p.Purchase.Facts.Price, err = r.paidPrice(ctx, *p)
		if err != nil || p.Purchase.Facts.Price > 0 {
			return "", err
		}
	}
	q, err := r.Prices.Renewal(held, p.Purchase.Years, p.Purchase.Facts.Restore)
	switch {
	case err != nil:
		return fmt.Sprintf("it renewed %s, whose price is unknown: %v", held.Name, err), nil
	case byMandate:
		p.Purchase.Facts.Price = min(q.Amount, p.Auth.Amount)
	case !q.Accepts(p.Auth.Amount):
		return fmt.Sprintf("it renewed %s, which costs %s USDC, perhaps by a mandate that is not in the backup", held.Name, q.Amount), nil
	}
	return "", nil
}

// paidPrice returns the price of a renewal by mandate whose change was refunded before the
// restore: a refund of another amount would never be confirmed. It returns 0 if there was
// no such refund.
func (r *Restore) paidPrice(ctx context.Context, p order.Payment) (deed.USDC, error) {
	change, err := r.Chain.RefundedAmount(ctx, p.RefundOf(order.RefundChange))
	switch {
	case err != nil || change == 0:
		return 0, err
	case change < 0 || change >= p.Auth.Amount:
		return 0, fmt.Errorf("%s USDC of a mandate over %s USDC were refunded as change: investigate it", change, p.Auth.Amount)
	}
	return p.Auth.Amount - change, nil
}
