package settle

import (
	"time"

	"deed.example/deed"
)

// A Transaction is one that one of our accounts signed. It is stored before it is
// sent, and sent until it is mined.
type Transaction struct {
	From     deed.Wallet // the signer, who pays its gas
	Nonce    uint64      // of From
	Attempt  int         // the number of the attempt of its purpose, counted from 1
	Hash     string
	Raw      []byte // the signed bytes
	SignedAt time.Time
}

// Sent is what a store has of the transactions for some purposes.
type Sent struct {
	Next uint64                   // the next nonce of the account; 0 if it has signed nothing
	For  map[string][]Transaction // by purpose, without their bytes, those of the last attempt last
}

// An Intent requests the next nonce of an account.
type Intent struct {
	From     deed.Wallet
	First    uint64   // the nonce to use when the store has none for the account
	Next     uint64   // the next nonce of the account as Sent has returned it; 0: unknown
	Purposes []string // what the transaction is for; each attempt of a purpose is signed once
	Attempt  int      // of each of them, counted from 1
}

// After a restored backup, the nonces of transactions that an account has made since its
// last stored one are skipped. These limit how many.
const (
	maxSkipped       = 1000
	skippedPerSecond = 10
)

// MaxSkipped returns how many nonces may be skipped of an account whose last transaction was
// stored that long ago. An endpoint that counts more is wrong: nothing that is signed with
// such a nonce would ever be mined.
func MaxSkipped(since time.Duration) uint64 {
	return maxSkipped + skippedPerSecond*uint64(max(since, 0)/time.Second)
}
