// Package signer has the interface of what signs for us: transactions and typed data
// (EIP-712).
//
// A Signer is given what it signs and never a bare hash. So the key can be held
// elsewhere, by a service that takes structured requests only and has rules of its
// own about them (Web3Signer's eth_signTransaction and eth_signTypedData, or a KMS
// behind an adapter that computes the hash), and a bug of ours cannot make it sign
// something that it cannot check.
//
// file/ signs with a key in a file. Every implementation passes the suite in
// signertest/, which also has a client of a small Web3Signer.
package signer

import (
	"context"
	"math/big"

	"deed.example/deed"
)

// A Signer signs with the key of one account.
//
// Implementations must be safe for concurrent use and must not change what they
// are given. They return when the context ends: a transaction is signed while the
// database holds the row of its nonce, so a signer that does not answer must fail.
// An error means that nothing is known to be signed; the same request may be made
// again, and signing twice does no harm.
type Signer interface {
	// Address returns the account. It never changes.
	Address() deed.Wallet

	// SignTransaction returns the signed transaction as eth_sendRawTransaction
	// takes it (EIP-2718).
	SignTransaction(ctx context.Context, tx Transaction) (raw []byte, err error)

	// SignTypedData returns a signature of 65 bytes: r, the low s, and 27 or 28.
	SignTypedData(ctx context.Context, data TypedData) (signature []byte, err error)
}

// A Transaction is a call with dynamic fees (EIP-1559). It carries no ether.
type Transaction struct {
	ChainID        uint64
	Nonce          uint64
	MaxFee         *big.Int // for a unit of gas, in wei, the priority fee included
	MaxPriorityFee *big.Int
	Gas            uint64
	To             deed.Wallet
	Data           []byte
}
