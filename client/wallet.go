package client

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// A Signer is a wallet. It must be safe for concurrent use.
type Signer interface {
	// Address returns the wallet's address, without I/O.
	Address() common.Address

	// Sign signs a digest: of a sign-in message (EIP-191) or of a payment
	// (EIP-712). A plain wallet returns 65 bytes, r, s and v, with v 27 or 28.
	Sign(ctx context.Context, digest [32]byte) ([]byte, error)
}

// A Key is a wallet whose private key is in this process.
type Key struct{ key *ecdsa.PrivateKey }

// NewKey returns the wallet of a private key.
func NewKey(key *ecdsa.PrivateKey) *Key { return &Key{key} }

// ParseKey parses a private key in hex, with or without 0x. Its error does not
// contain the input.
func ParseKey(hex string) (*Key, error) {
	key, err := crypto.HexToECDSA(strings.TrimPrefix(strings.TrimSpace(hex), "0x"))
	if err != nil {
		return nil, errors.New("this is no private key: write 64 hex digits")
	}
	return NewKey(key), nil
}

// Address returns the address of the key.
func (k *Key) Address() common.Address { return crypto.PubkeyToAddress(k.key.PublicKey) }

// Sign signs a digest.
func (k *Key) Sign(_ context.Context, digest [32]byte) ([]byte, error) {
	sig, err := crypto.Sign(digest[:], k.key)
	if err != nil {
		return nil, err
	}
	sig[64] += 27
	return sig, nil
}

// String keeps the private key out of logs.
func (k *Key) String() string { return k.Address().Hex() }
