package operator

import (
	"context"
	"fmt"

	"deed.example/deed"
	"deed.example/deed/internal/order"
)

// Retry tries an order or payment again at once, instead of after its delay.
func (s *Service) Retry(ctx context.Context, a Act, query string) (string, error) {
	f, err := s.one(ctx, query)
	if err != nil {
		return "", err
	}
	if f.PaymentState == order.PaymentUnclaimed {
		return "", deed.Errorf(deed.CodeValidation,
			"%s came without a request, so there is nothing to try again: refund it (refund %s), or decide on it after a restore (restore finish)", f.PaymentID, f.PaymentID)
	}
	if !f.open() {
		return "", deed.Errorf(deed.CodeValidation, "%s is %s: there is nothing to try again", f.PaymentID, f.PaymentState)
	}
	return s.act(ctx, a, "retry", f.PaymentID, f.PaymentID+" is tried again at once", func() error { return s.Rows.Wake(ctx, f) })
}

func (f Found) open() bool {
	switch f.PaymentState {
	case order.PaymentConsumed, order.PaymentRefunded, order.PaymentVoid, order.PaymentReleased, order.PaymentDust:
		return false
	}
	return true
}

// Refund refunds a payment. An order that was placed at a registrar is not refunded
// manually, because the registrar may still deliver it: it is delivered or refunded
// automatically, at its deadline at the latest.
func (s *Service) Refund(ctx context.Context, a Act, query string) (string, error) {
	f, err := s.one(ctx, query)
	if err != nil {
		return "", err
	}
	outcome := f.Amount.String() + " USDC go back to " + string(f.Wallet)
	switch {
	case f.PaymentState == order.PaymentUnclaimed || f.PaymentState == order.PaymentDust:
		return s.act(ctx, a, "refund", f.PaymentID, outcome, func() error { return s.Rows.Refund(ctx, f) })
	case f.PaymentState == order.PaymentSettled && f.JobState == order.JobQueued:
		return s.act(ctx, a, "refund", f.PaymentID, outcome, func() error {
			done, err := s.Rows.FailQueued(ctx, f)
			if err == nil && !done {
				err = deed.Errorf(deed.CodeValidation, "the order was placed at a registrar meanwhile, and ends by itself")
			}
			return err
		})
	case f.PaymentState == order.PaymentSettled:
		return "", deed.Errorf(deed.CodeValidation, "the order is %s at a registrar, which may deliver it: it ends by itself, delivered or refunded", f.JobState)
	}
	return "", deed.Errorf(deed.CodeValidation, "%s is %s: there is nothing to refund", f.PaymentID, f.PaymentState)
}

// RefundDust refunds all transfers of a wallet that came without a request and were too
// small to be refunded automatically. The service sends them in one transaction.
func (s *Service) RefundDust(ctx context.Context, a Act, wallet string) (string, error) {
	w, err := deed.ParseWallet(wallet)
	if err != nil {
		return "", err
	}
	count, sum, err := s.Rows.Dust(ctx, w)
	if err != nil {
		return "", err
	}
	if count == 0 {
		return "", deed.Errorf(deed.CodeNotFound, "%s has no dust", w)
	}
	outcome := fmt.Sprintf("%d payments of %s USDC in all go back to %s", count, sum, w)
	return s.act(ctx, a, "refund dust", string(w), outcome, func() error { return s.Rows.RefundDust(ctx, w) })
}

// ReleaseOrder makes the name of an order whose payment cannot be settled available
// again. The payment is never submitted again, and is refunded if it arrives anyway.
func (s *Service) ReleaseOrder(ctx context.Context, a Act, query string) (string, error) {
	f, err := s.one(ctx, query)
	if err != nil {
		return "", err
	}
	if f.PaymentState != order.PaymentSettling {
		return "", deed.Errorf(deed.CodeValidation, "%s is %s: only a payment that waits to be settled can be released", f.PaymentID, f.PaymentState)
	}
	return s.act(ctx, a, "release", f.PaymentID, f.Domain+" can be bought by others; the payment is given up", func() error { return s.Release(ctx, f.Internal) })
}

// ReplayWebhook sends an event to a webhook again.
func (s *Service) ReplayWebhook(ctx context.Context, a Act, webhookID, eventID string) (string, error) {
	if err := s.Replayable(ctx, webhookID, eventID); err != nil {
		return "", err
	}
	return s.act(ctx, a, "replay", webhookID+" "+eventID, "event "+eventID+" is sent to "+webhookID+" again", func() error {
		return s.Replay(ctx, webhookID, eventID)
	})
}
