package chain

import (
	"context"
	"fmt"

	"deed.example/deed"
	"deed.example/deed/internal/settle"
)

// transferPurpose is the purpose of refunds that were stored as plain transfers.
func (s *Settler) transferPurpose(r settle.Refund) string {
	return fmt.Sprintf("refund %x %s", s.token, r.PaymentID)
}

// finishTransfer finishes a refund that was signed as a plain transfer, before
// refunds used authorizations. A second transfer would pay twice, so the refund
// is not made in another way until the final block shows that the transfer cannot
// be mined any more. Until then the same bytes are sent again.
func (l *lane) finishTransfer(ctx context.Context, v *view, w *wait) (done bool, err error) {
	sent := v.sent[l.s.transferPurpose(w.refund)]
	if len(sent) == 0 {
		return false, nil
	}
	for _, t := range sent {
		r, err := l.receiptOf(ctx, v, t.Hash)
		switch {
		case err != nil:
			return true, err
		case r == nil || r.Status != 1:
		case l.s.transfers(r, t.From, w):
			l.resolve(w, t.Hash, nil)
			return true, nil
		default:
			l.resolve(w, "", fmt.Errorf("transaction %s made the refund %s, but not of %s to %s", t.Hash, w.refund.PaymentID, w.amount, w.refund.Payer))
			return true, nil
		}
	}
	last := sent[len(sent)-1]
	n, err := l.countOf(ctx, v, last.From)
	if err != nil {
		return true, err
	}
	if last.Nonce >= n {
		w.again = l.s.Now().Add(2 * l.s.Network.BlockTime)
		return true, fmt.Errorf("%w: transaction %s is not final yet", errWaiting, last.Hash)
	}
	if ok, at := l.due(last); !ok {
		w.again = at
		return true, fmt.Errorf("%w: transaction %s failed, and it is retried at %s", errWaiting, last.Hash, at.UTC())
	}
	return false, nil
}

// transfers reports whether the transaction made exactly this refund.
func (s *Settler) transfers(r *receipt, from deed.Wallet, w *wait) bool {
	for _, l := range r.Logs {
		amount, ok := amountOf(l)
		if ok && s.event(l, transferTopic) && amount == w.amount &&
			l.Topics[1] == topicOf(addressOf(from)) && l.Topics[2] == topicOf(w.auth.to) {
			return true
		}
	}
	return false
}
