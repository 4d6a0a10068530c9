package sqldb

import (
	"context"
	"fmt"
	"time"

	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
)

// settleAccounts ends a job: its claim is dropped, and its payment is consumed or due for
// refund. A payment in any state but settled is a bug, and nothing is written.
func (s Jobs) settleAccounts(ctx context.Context, tx *Tx, j order.Job, to order.PaymentState) error {
	if j.MayHoldClaim() {
		if err := dropClaim(ctx, tx, j.ID); err != nil {
			return err
		}
	}
	p, err := readPayment(ctx, tx, j.PaymentID)
	if err != nil {
		return err
	}
	if err := s.queuePaymentMove(tx, j, p, to); err != nil {
		return err
	}
	if err := s.DB.eraseAuthCode(ctx, tx, p); err != nil {
		return err
	}
	if err := endMandateOf(ctx, tx, p, mandateOutcome(j, to, s.Now())); err != nil || to != order.PaymentConsumed {
		return err
	}
	return s.returnChange(ctx, tx, p)
}

// queuePaymentMove queues that the payment of a job is consumed or due for refund.
func (s Jobs) queuePaymentMove(tx *Tx, j order.Job, p order.Payment, to order.PaymentState) error {
	none := fmt.Errorf("payment %s of job %s is %s", p.ID, j.ID, p.State)
	if _, err := queueMove(tx, p, none, paymentMove{to: to, at: s.Now()}); err != nil {
		return err
	}
	if to == order.PaymentConsumed {
		post(tx, p, s.Now(), consumedEntry(p))
	}
	return nil
}

// checkOpen returns errNotMoved for a job that another process has ended, and otherwise
// an error about its payment, which has not settled.
func (s Jobs) checkOpen(ctx context.Context, tx *Tx, j order.Job, p order.Payment) error {
	stored, err := s.DB.readJob(ctx, tx, j.ID)
	switch {
	case err != nil:
		return err
	case stored.State != j.State:
		return errNotMoved
	}
	return fmt.Errorf("payment %s of job %s is %s", p.ID, j.ID, p.State)
}

// queueMove queues that the job moves through the states. The transaction fails with
// errNotMoved when another process has moved it.
func (s Jobs) queueMove(tx *Tx, j order.Job, next time.Time, states ...order.JobState) error {
	update, args, err := s.moveStatement(j, next, states...)
	if err != nil {
		return err
	}
	tx.require(errNotMoved, update, args...)
	s.emitMove(tx, j, states[len(states)-1])
	return nil
}

// settledPayment returns the payment of a job that is to be completed. It fails with
// errNotMoved if another process has completed it.
func (s Jobs) settledPayment(ctx context.Context, tx *Tx, j order.Job) (order.Payment, error) {
	p, err := readPayment(ctx, tx, j.PaymentID)
	if err == nil && p.State != order.PaymentSettled {
		err = s.checkOpen(ctx, tx, j, p)
	}
	return p, err
}

// completeOrder completes the job of a new name: registration, zone, event, claim, payment
// and ledger. All that it reads comes first.
func (s Jobs) completeOrder(ctx context.Context, tx *Tx, j order.Job, r lifecycle.Registration) error {
	p, err := s.settledPayment(ctx, tx, j)
	if err != nil {
		return err
	}
	if j.Revision, err = s.Zones.createZone(ctx, tx, r, j.Purchase.Records); err != nil {
		return err
	}
	if err := s.queueMove(tx, j, time.Time{}, order.JobCompleted); err != nil {
		return err
	}
	s.insertRegistration(tx, j, r)
	s.insertMove(tx, j, r)
	tx.queue(deleteClaim, j.ID)
	if err := s.queuePaymentMove(tx, j, p, order.PaymentConsumed); err != nil {
		return err
	}
	return s.DB.eraseAuthCode(ctx, tx, p)
}

// settleAndConsume queues that a payment was settled by the transaction and is consumed,
// as one statement. It returns the payment after it.
func (s Jobs) settleAndConsume(tx *Tx, p order.Payment, txHash string) (order.Payment, error) {
	now := s.Now()
	// The payment comes first, as in all transactions: the watcher may be recording the
	// same settlement.
	next, err := queueMove(tx, p, errNotMoved, paymentMove{order.PaymentSettled, txHash, now}, paymentMove{to: order.PaymentConsumed, at: now})
	post(tx, p, now, settledEntry(p), consumedEntry(p))
	return next, err
}

// returnChange makes what the price of a renewal by mandate left over due for refund.
func (s Jobs) returnChange(ctx context.Context, tx *Tx, p order.Payment) error {
	change := p.Change()
	if change <= 0 {
		return nil
	}
	part := order.PartRefund{Label: order.RefundChange, Amount: change, Reason: fmt.Sprintf("the renewal costs %s USDC, and the mandate paid %s USDC", p.Price(), p.Auth.Amount)}
	returned, err := refundPart(ctx, tx, p.ID, part, s.Now())
	if err == nil && !returned {
		err = fmt.Errorf("the change of payment %s was not returned", p.ID)
	}
	return err
}

// mandateOutcome says how the mandate of a job ends that has ended.
func mandateOutcome(j order.Job, to order.PaymentState, now time.Time) mandateEnd {
	if to == order.PaymentConsumed {
		return mandateEnd{state: order.MandateUsed, at: now}
	}
	return mandateEnd{order.MandateFailed, j.Failure, now}
}
