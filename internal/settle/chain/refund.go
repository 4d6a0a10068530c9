package chain

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
)

// giveBack brings one refund a step on.
//
// Unlike a payment, which the token takes once however often it is sent, a
// second transfer would pay twice. So there is a second attempt only after the
// chain shows, in the final block, that the first one reverted. Where it shows
// nothing, we send the same bytes again and wait.
func (s *Settler) giveBack(ctx context.Context, v *view, w *wait) (planned bool, err error) {
	attempt := 1
	for _, t := range v.sent[w.purpose] {
		if t.Attempt >= attempt {
			attempt = t.Attempt
		}
	}
	reverted := len(v.sent[w.purpose]) == 0
	for _, t := range v.sent[w.purpose] {
		r, err := s.receiptOf(ctx, v, t.Hash)
		switch {
		case err != nil:
			return false, err
		case r == nil:
		case r.Status == 1 && s.refunded(r, w):
			s.answer(w, t.Hash, nil)
			return false, nil
		case r.Status == 1:
			return false, fmt.Errorf("transaction %s made this refund, but not of %s to %s", t.Hash, w.amount, w.payee)
		case t.Attempt == attempt:
			reverted = !s.Now().Before(t.SignedAt.Add(pause(attempt)))
		}
	}
	if !reverted {
		return false, nil
	}
	if len(v.sent[w.purpose]) > 0 {
		attempt++
	}
	return s.refund(ctx, w, attempt)
}

// refund signs the transfer, unless the chain says that it would fail.
func (s *Settler) refund(ctx context.Context, w *wait, attempt int) (signed bool, err error) {
	data := w.refundCall()
	if _, err := s.Client.ask(ctx, question{from: s.purse(), to: s.USDC, data: data, gas: refundGas}, "latest"); err != nil {
		return false, fmt.Errorf("try the refund: %w", err)
	}
	o := order{key: s.RefundKey, to: s.USDC, gas: refundGas, attempt: attempt, calls: map[string][]byte{w.purpose: data}}
	return true, s.sign(ctx, o)
}

// refunded says whether the transaction moved exactly this refund.
func (s *Settler) refunded(r *receipt, w *wait) bool {
	purse, payee := s.purse(), w.payee
	for _, l := range r.Logs {
		amount, ok := amountOf(l)
		if ok && s.event(l, transferTopic) && amount == w.amount &&
			l.Topics[1] == common.BytesToHash(purse[:]) && l.Topics[2] == common.BytesToHash(payee[:]) {
			return true
		}
	}
	return false
}
