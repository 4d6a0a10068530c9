package chain

import (
	"context"
	"math/big"
	"sort"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
)

const (
	maxRange  = 2_000 // blocks that one question for logs may span
	maxRanges = 64    // such questions for one payment in one round

	// window is how long before its end an authorization may have been used: it
	// passed Check unused, and Check takes none that ends later than mostAhead.
	window = mostAhead + 5*time.Minute
)

func hashOf(s string) common.Hash { return common.HexToHash(s) }

// prove answers a payment whose nonce is used in the final block: by our own
// transaction, by a stranger's, or for something else.
func (s *Settler) prove(ctx context.Context, v *view, w *wait) error {
	for _, t := range v.sent[w.purpose] {
		r, err := s.receiptOf(ctx, v, t.Hash)
		if err != nil {
			return err
		}
		if r != nil && s.paid(r, w.auth) {
			s.answer(w, t.Hash, nil)
			return nil
		}
	}
	end, err := s.endOfNonce(ctx, w, v.final)
	if err != nil {
		return err
	}
	if end.Topics[0] == canceledTopic {
		s.answer(w, "", invalid("the payer cancelled it"))
		return nil
	}
	r, err := s.receiptOf(ctx, v, end.TxHash.Hex())
	switch {
	case err != nil:
		return err
	case r == nil || r.Status != 1:
		return errUnseen // the endpoint contradicts itself: ask again
	case s.paid(r, w.auth):
		s.answer(w, end.TxHash.Hex(), nil)
	default:
		s.answer(w, "", invalid("its nonce was spent on another transfer"))
	}
	return nil
}

// endOfNonce finds the event that used the nonce up. There is one at most, and
// without it nothing is decided.
func (s *Settler) endOfNonce(ctx context.Context, w *wait, final *block) (*logEntry, error) {
	if !w.bounded {
		start, err := s.blockAt(ctx, w.auth.ValidBefore-int64(window/time.Second), uint64(final.Number))
		if err != nil {
			return nil, err
		}
		w.from, w.bounded = start, true
	}
	topics := []any{[]common.Hash{usedTopic, canceledTopic}, common.BytesToHash(w.auth.from[:]), w.auth.nonce}
	for range maxRanges {
		if w.from > uint64(final.Number) {
			w.bounded = false // it was missed: begin anew
			return nil, errUnseen
		}
		to := min(w.from+maxRange-1, uint64(final.Number))
		found, err := s.logs(ctx, w.from, to, topics...)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 && len(found[0].Topics) == 3 {
			return &found[0], nil
		}
		w.from = to + 1
	}
	return nil, errUnseen
}

// blockAt returns the first block up to last that is not older than the time,
// and last when all are.
func (s *Settler) blockAt(ctx context.Context, unix int64, last uint64) (n uint64, err error) {
	found := sort.Search(int(last), func(n int) bool {
		if err != nil {
			return true
		}
		var b *block
		if b, err = s.Client.block(ctx, number(uint64(n))); err != nil {
			return true
		}
		return int64(b.Time) >= unix
	})
	return uint64(found), err
}

// paid says whether the transaction moved exactly this payment to us.
func (s *Settler) paid(r *receipt, a *authorization) bool {
	for _, t := range s.transfersIn(r) {
		if t.Payer == a.Payer && t.Nonce == a.Nonce && t.Amount == a.Amount {
			return true
		}
	}
	return false
}

// transfersIn returns the transfers to us by authorization in a transaction.
//
// The token writes that a nonce is used and, right behind it, the transfer it
// was used for; nothing can come between. So they are told apart even when a
// stranger puts many into one transaction.
func (s *Settler) transfersIn(r *receipt) (all []deed.Transfer) {
	if r.Status != 1 {
		return nil
	}
	for i := range len(r.Logs) - 1 {
		used, moved := r.Logs[i], r.Logs[i+1]
		if !s.event(used, usedTopic) || !s.event(moved, transferTopic) || used.Topics[1] != moved.Topics[1] {
			continue
		}
		amount, ok := amountOf(moved)
		if !ok || common.BytesToAddress(moved.Topics[2][:]) != s.PayTo {
			continue
		}
		all = append(all, deed.Transfer{
			Payer: walletAt(common.BytesToAddress(used.Topics[1][:])), Nonce: used.Topics[2].Hex(),
			Amount: amount, TxHash: r.TxHash.Hex(), Block: uint64(r.Block),
		})
	}
	return all
}

// event says whether the log is one of the token's, with two indexed fields.
func (s *Settler) event(l logEntry, topic common.Hash) bool {
	return l.Address == s.USDC && len(l.Topics) == 3 && l.Topics[0] == topic
}

// amountOf reads what a transfer moved. More than we can count is no payment.
func amountOf(l logEntry) (deed.USDC, bool) {
	n := new(big.Int).SetBytes(l.Data)
	return deed.USDC(n.Int64()), len(l.Data) == 32 && n.IsInt64()
}
