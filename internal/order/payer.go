package order

import (
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/settle"
)

// A Payer is the data that decides whether a wallet may open another payment.
type Payer struct {
	Open         []OpenPayment // payments of the wallet that have not settled
	Alias        bool          // the purchase is paid for by an open payment: this one is not settled
	Aliases      int           // of that open payment, so far
	RefusedUntil time.Time     // after transfers that reverted; usually zero

	// Deployments counts the payments of all wallets that deploy their wallet, and are
	// open or reverted within RevertWindow.
	Deployments int
}

// An OpenPayment is a payment that has not settled.
type OpenPayment struct {
	Nonce  string
	Amount deed.USDC
}

// MaxReverts is how many transfers of one payer may revert within RevertWindow, at
// the cost of our gas, before the payer is refused for the same time.
const (
	MaxReverts   = 3
	RevertWindow = 24 * time.Hour
)

// MaxDeployments limits how much gas others can make us spend on deployments that fail.
// An address without a deployed wallet costs nothing, so a limit per payer would have no
// effect.
const MaxDeployments = 50

// RefusedUntil returns until when a payer is refused whose transfers reverted at the
// given times, newest first; zero if not refused.
func RefusedUntil(times []time.Time) time.Time {
	if len(times) < MaxReverts || times[0].Sub(times[MaxReverts-1]) > RevertWindow {
		return time.Time{}
	}
	return times[0].Add(RevertWindow)
}

// aliasesPerPayment, times the limit of open payments, is how often a client that
// lost its answer may sign an open payment again.
const aliasesPerPayment = 4

// Admit checks whether the payer may open another payment of the amount: the balance
// must cover it and all open payments whose nonce is unused, as of the block of the
// balance, and there may be at most limit of them. An alias moves no money, so it needs
// none. It fails with CodePaymentInsufficient or CodeRateLimited.
func (p Payer) Admit(f settle.Funds, w deed.Wallet, amount deed.USDC, limit int, now time.Time) error {
	if now.Before(p.RefusedUntil) {
		return deed.RateLimited(p.RefusedUntil.Sub(now), MaxReverts,
			"payments of %s failed on the chain three times in a day, so it can pay again after %s", w, p.RefusedUntil.UTC().Format(time.RFC3339))
	}
	if f.Deploys && p.Deployments >= MaxDeployments {
		return deed.Errorf(deed.CodePaymentInvalid,
			"the wallet %s is not deployed yet, and too many deployments are open or have failed: deploy the wallet first, with any transaction of its own, then sign again", w)
	}
	count, left := 1, f.Balance-amount
	for _, o := range p.Open {
		if !f.Used[o.Nonce] {
			count++
			left -= o.Amount
		}
	}
	switch {
	case count > limit, p.Aliases > aliasesPerPayment*limit:
		return deed.RateLimited(5*time.Second, limit,
			"%s has %d payments that are not settled yet, which is the limit; nothing was charged, try again when one of them has ended", w, limit)
	case left < 0 && !p.Alias:
		return deed.Errorf(deed.CodePaymentInsufficient, "the wallet %s has %s USDC, of which %s are promised in other payments, and %s are asked",
			w, f.Balance, f.Balance-amount-left, amount)
	}
	return nil
}
