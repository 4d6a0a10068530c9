package account

import (
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
)

// An Account is what we know of a wallet.
type Account struct {
	Wallet       deed.Wallet
	Created      time.Time // the first sign-in
	LastActive   time.Time
	Spent        deed.USDC // what it paid and does not get back
	Refunded     deed.USDC
	Domains      int // names it holds, in any state
	Active       int
	ExpiringSoon int
}

// A Held is a name of a wallet, with what happened to it.
type OwnedDomain struct {
	lifecycle.Registration
	Events []lifecycle.Event
}

// A Page is a part of a list.
type Page struct{ Limit, Offset int }
