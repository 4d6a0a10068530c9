package settle

import (
	"time"

	"deed.example/deed"
)

// A Transaction is one that an account of ours signed for the chain. It is
// written down before it is sent, and sent until the chain has it.
type Transaction struct {
	From     deed.Wallet // who signed it and pays its gas
	Nonce    uint64      // its place among those of From
	Attempt  int         // how often its purpose was tried, this time included
	Hash     string
	Raw      []byte // the signed bytes
	SignedAt time.Time
}

// An Intent asks for the next place among the transactions of an account.
type Intent struct {
	From     deed.Wallet
	First    uint64   // the place, when the account has signed nothing of ours yet
	Purposes []string // what the transaction is for; one attempt of a purpose is made once
	Attempt  int      // of each of them, counted from 1
}
