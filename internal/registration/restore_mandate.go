package registration

import (
	"context"
	"fmt"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
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

// findByMandate returns the order that a lost payment was made for with a mandate in the backup,
// at a registrar that cannot find orders by their reference: the name has the year by now. It
// fails with unknown if there is no such mandate, or the name does not have the year.
func (r *Restore) findByMandate(ctx context.Context, p order.Payment, unknown error) (o registrar.Order, placed order.Placed, err error) {
	m, err := r.Mandates.MandateOf(ctx, p.Auth)
	if deed.CodeOf(err) == deed.CodeNotFound {
		return o, placed, unknown
	}
	if err != nil {
		return o, placed, err
	}
	held, err := r.Names.Registration(ctx, m.Name)
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound:
		return o, placed, unknown
	case err != nil:
		return o, placed, err
	case held.Reference != m.Reference, held.Owner != m.Owner, !m.Renews(held.Expires):
		return o, placed, unknown
	}
	placed = order.Placed{Attempts: 1, Backend: held.Backend, From: held.Expires}
	found := registrar.Order{Kind: registrar.OrderRenew, Reference: order.OrderReference(order.JobID(p.ID), placed.Attempts), Backend: held.Backend, Name: m.Name, Years: 1, From: held.Expires}
	switch status, err := r.Lookup.Order(ctx, found); {
	case err != nil:
		return o, placed, err
	case status.State != registrar.OrderDone:
		return o, placed, unknown // it may still be executed
	}
	return found, placed, nil
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
