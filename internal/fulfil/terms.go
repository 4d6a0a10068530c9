package fulfil

import (
	"time"

	"deed.example/deed"
)

// Terms are the network, the token and the limits of payments.
type Terms struct {
	ChainID uint64
	Asset   deed.Wallet // the token
	First   uint64      // first block to read; earlier transfers to the treasury are ignored

	MaxOpen      int           // maximum of unsettled payments per wallet
	MaxReverts   int           // of all wallets within a day; then new contract wallets are refused
	ReleaseAfter time.Duration // how long a payment may be stuck before it is released
	ClaimWindow  time.Duration // how long a transfer without a request can be claimed
	Dust         deed.USDC     // smaller transfers are not refunded automatically
}

// DefaultTerms are the terms that an operator need not set.
func DefaultTerms() Terms {
	return Terms{MaxOpen: 5, MaxReverts: 100, ReleaseAfter: time.Minute, ClaimWindow: 5 * time.Minute, Dust: 5 * deed.Cent}
}
