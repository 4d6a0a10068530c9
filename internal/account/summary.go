package account

import (
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
)

// An Account summarizes a wallet.
type Account struct {
	Wallet       deed.Wallet
	Created      time.Time // the first sign-in
	LastActive   time.Time
	Spent        deed.USDC // paid and not refunded
	Refunded     deed.USDC
	Domains      int // names it owns, in any state
	Active       int
	ExpiringSoon int
}

// An OwnedDomain is a name of a wallet, with its events.
type OwnedDomain struct {
	lifecycle.Registration
	Events []lifecycle.Event
}

// A Page selects a part of a list: after Offset entries, whose total number is wanted,
// or after an entry, which costs the same for every page of a list of any length.
type Page struct {
	Limit, Offset int

	After *Position // nil: Offset counts
}

// A Position is where a page ended. The zero Position is the beginning.
type Position struct {
	Name    deed.Name // of a list of names
	At      time.Time // of a list of transactions, like the other fields
	Payment string
	Refund  bool
}
