package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/settle"
)

// A settler implements the contracts of package settle and fulfil.Tracer on the chain, as their
// contracts say.
type settler struct {
	c     *chain
	payTo func() deed.Wallet // where we are paid today
}

var errUndecided = errors.New("the chain has not decided")

func isTreasury(w deed.Wallet) bool { return slices.Contains(treasuries, w) }

// pays says whether the use of its nonce is the transfer that was authorized.
func (u use) pays(a settle.Authorization) bool {
	return u.paid && u.to == a.PayTo && u.amount == a.Amount
}

// fails says why the transfer would fail in the next block, or "".
func (b *block) fails(a settle.Authorization) string {
	_, used := b.used[keyOf(a)]
	switch now := b.at.Unix(); {
	case used:
		return "its nonce is used"
	case now <= a.ValidAfter || now >= a.ValidBefore:
		return "it is not valid now"
	case b.balance[a.Payer] < a.Amount:
		return "the payer has too little"
	}
	return ""
}

// Check implements settle.Verifier.
func (s settler) Check(_ context.Context, a settle.Authorization, open []string) (settle.Funds, error) {
	b := s.c.head()
	u, used := b.used[keyOf(a)]
	funds := settle.Funds{Balance: b.balance[a.Payer], Used: map[string]bool{}}
	for _, nonce := range open {
		if _, gone := b.used[keyOf(settle.Authorization{Payer: a.Payer, Nonce: nonce})]; gone {
			funds.Used[nonce] = true
		}
	}
	switch now := b.at.Unix(); {
	case u.pays(a):
		return funds, settle.ErrAlreadyPaid
	case a.PayTo != s.payTo() || len(a.Signature) == 0 || used || now <= a.ValidAfter || now >= a.ValidBefore:
		return funds, deed.Errorf(deed.CodePaymentInvalid, "it can not be settled")
	case funds.Balance < a.Amount:
		return funds, deed.Errorf(deed.CodePaymentInsufficient, "the payer has too little")
	}
	return funds, nil
}

// CheckSigned implements settle.MandateVerifier.
func (s settler) CheckSigned(_ context.Context, a settle.Authorization) error {
	if _, used := s.c.head().used[keyOf(a)]; used {
		return &deed.Error{Code: deed.CodePaymentInvalid, Message: "its nonce is used", Err: settle.ErrSpent}
	}
	if len(a.Signature) == 0 {
		return deed.Errorf(deed.CodePaymentInvalid, "it is not signed")
	}
	return nil
}

// CheckDue implements settle.MandateVerifier.
func (s settler) CheckDue(ctx context.Context, a settle.Authorization, open []string) (settle.Funds, error) {
	b := s.c.head()
	u, used := b.used[keyOf(a)]
	switch {
	case used && !u.pays(a):
		return settle.Funds{}, s.CheckSigned(ctx, a)
	case !used && b.at.Unix() <= a.ValidAfter:
		return settle.Funds{}, &deed.Error{Code: deed.CodePaymentInvalid, Message: "its time has not come", Err: settle.ErrNotYet}
	case isTreasury(a.PayTo):
		s.payTo = func() deed.Wallet { return a.PayTo }
	}
	return s.Check(ctx, a, open)
}

// Settle implements settle.Settler. It may wait for some blocks, as ours does.
func (s settler) Settle(_ context.Context, a settle.Authorization) (string, error) {
	for range 1 + s.c.w.rng.IntN(depth+3) {
		u, used := s.c.final().used[keyOf(a)]
		switch {
		case u.pays(a):
			return u.hash, nil
		case used:
			return "", deed.Errorf(deed.CodePaymentInvalid, "its nonce is gone")
		case s.c.final().at.Unix() >= a.ValidBefore:
			return "", deed.Errorf(deed.CodePaymentInvalid, "it has ended")
		}
		if _, used := s.c.head().used[keyOf(a)]; !used { // else it waits for depth
			if err := s.send(a); err != nil {
				return "", err
			}
		}
		s.c.w.tick(2 * time.Second)
		s.c.mine()
	}
	return "", errUndecided
}

// send broadcasts the transaction that settles a, the one signed before if there
// is one. It fails with a stuck error when there is none, or none any more.
func (s settler) send(a settle.Authorization) error {
	purpose := "settle " + keyOf(a)
	switch state, live := s.c.last(purpose); {
	case state == reverted:
		return fmt.Errorf("%w: it was sent once", settle.ErrReverted)
	case live != nil:
		s.c.add(live)
		return nil
	case state == abandoned:
		return fmt.Errorf("%w: it was given up", settle.ErrUnsettleable)
	}
	if why := s.c.head().fails(a); why != "" {
		return fmt.Errorf("%w: %s", settle.ErrUnsettleable, why)
	}
	if s.c.w.refuses && a.Payer == promiser {
		return fmt.Errorf("%w: the wallet refuses it", settle.ErrUnsettleable)
	}
	s.c.sign(purpose, transaction{kind: transfer, auth: a, fails: s.c.w.fault(40)}) // a contract may lie to a simulation
	return nil
}

// Abandon implements settle.Abandoner: what was given up takes the place of a
// transaction, so that nobody signs one.
func (s settler) Abandon(_ context.Context, a settle.Authorization) error {
	purpose := "settle " + keyOf(a)
	switch state, live := s.c.last(purpose); {
	case live != nil:
		return errors.New("a transaction of ours may still carry it")
	case state != abandoned:
		s.c.signed[purpose] = append(s.c.signed[purpose], nil)
	}
	return nil
}

// What became of the last transaction of a purpose.
type attempt string

const (
	none      attempt = ""          // there is none, or it was displaced for good
	live      attempt = "live"      // it may still be mined
	reverted  attempt = "reverted"  // it was mined, is final, and moved nothing
	done      attempt = "done"      // it is final
	abandoned attempt = "abandoned" // it was given up
)

// last returns what became of the last transaction of a purpose, and the
// transaction when it may still be mined.
func (c *chain) last(purpose string) (attempt, *transaction) {
	all := c.signed[purpose]
	if len(all) == 0 {
		return none, nil
	}
	t := all[len(all)-1]
	if t == nil {
		return abandoned, nil
	}
	final := c.final()
	succeeded, mined := final.mined[t.hash]
	switch {
	case succeeded:
		return done, nil
	case final.displaced[t.hash]:
		return none, nil
	case mined:
		return reverted, nil
	}
	return live, t
}

// sign makes the next transaction of a purpose, writes it down and broadcasts it.
func (c *chain) sign(purpose string, t transaction) {
	c.count++
	t.hash, t.ours = fmt.Sprintf("%s #%d", purpose, c.count), true
	c.sent[t.hash] = true
	c.signed[purpose] = append(c.signed[purpose], &t)
	c.add(&t)
}

// Refund implements settle.Refunder. Its nonce follows from what goes back, so that
// the chain takes it once, whatever was signed before.
func (s settler) Refund(_ context.Context, r settle.Refund) (string, error) {
	of := keyOf(settle.Authorization{Payer: r.Payer, Nonce: r.Nonce})
	purpose := "refund " + r.Label + of
	a := settle.Authorization{Payer: refundWallet, PayTo: r.Payer, Amount: r.Amount, ValidBefore: s.c.now().AddDate(1, 0, 0).Unix(), Nonce: purpose}
	for range 1 + s.c.w.rng.IntN(depth+3) {
		if u, used := s.c.final().used[keyOf(a)]; used {
			return u.hash, nil
		}
		if _, live := s.c.last(purpose); live != nil {
			s.c.add(live)
		} else {
			s.c.sign(purpose, transaction{kind: refund, auth: a, of: of, label: r.Label, fails: s.c.w.fault(10)})
		}
		s.c.w.tick(2 * time.Second)
		s.c.mine()
	}
	return "", errUndecided
}

// Refunded implements settle.RefundFinder.
func (s settler) Refunded(_ context.Context, r settle.Refund) (bool, error) {
	back, err := s.RefundedAmount(context.Background(), r)
	return back > 0, err
}

// RefundedAll implements registration.RefundedPayments.
func (s settler) RefundedAll(ctx context.Context, all []settle.Refund) (refunded []bool, err error) {
	for _, r := range all {
		back, err := s.Refunded(ctx, r)
		if err != nil {
			return nil, err
		}
		refunded = append(refunded, back)
	}
	return refunded, nil
}

// RefundedAmount implements settle.RefundFinder.
func (s settler) RefundedAmount(_ context.Context, r settle.Refund) (sum deed.USDC, err error) {
	for _, back := range s.c.head().refunds[keyOf(settle.Authorization{Payer: r.Payer, Nonce: r.Nonce})] {
		if back.label == r.Label {
			sum += back.amount
		}
	}
	return sum, nil
}

// SentByUs implements fulfil.Tracer.
func (s settler) SentByUs(_ context.Context, txHash string) (bool, error) {
	return s.c.sent[txHash], nil
}

// Incoming implements settle.Watcher. It may stop before the last final block. It
// goes below its contract in one thing: it tells of transfers of nothing.
func (s settler) Incoming(_ context.Context, from uint64) (found settle.Arrivals, err error) {
	to := uint64(s.c.finalHeight())
	found.Final = to
	if to > from && s.c.w.fault(5) {
		to = from
	}
	for n := from; n <= to; n++ {
		b := s.c.blocks[n]
		if b.fat {
			found.Unread = append(found.Unread, settle.UnreadBlock{Number: n, Reason: "the answer is too large"})
			continue
		}
		for _, t := range b.txs {
			u := b.used[keyOf(t.auth)]
			if t.kind == transfer && isTreasury(u.to) && u.hash == t.hash {
				found.Transfers = append(found.Transfers, settle.Transfer{Payer: t.auth.Payer, PayTo: u.to, Nonce: t.auth.Nonce, Amount: u.amount, TxHash: t.hash, Block: n, At: u.at})
			}
		}
	}
	found.Next = max(from, to+1)
	return found, nil
}
