package client

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// A Signer is a wallet. It must be safe for concurrent use. It gets what it signs
// in full, not a digest, so that it can show its user what that is.
//
// A plain wallet returns 65 bytes, r, s and v, with v 27 or 28.
type Signer interface {
	// Address returns the wallet's address, without I/O.
	Address() common.Address

	// SignMessage signs a text, which signs in (EIP-191, personal_sign).
	SignMessage(ctx context.Context, text string) ([]byte, error)

	// SignTypedData signs a payment (EIP-712, eth_signTypedData_v4).
	SignTypedData(ctx context.Context, data TypedData) ([]byte, error)
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

// SignMessage signs a text (EIP-191).
func (k *Key) SignMessage(_ context.Context, text string) ([]byte, error) {
	return k.sign(crypto.Keccak256(fmt.Appendf(nil, "\x19Ethereum Signed Message:\n%d%s", len(text), text)))
}

// SignTypedData signs a payment (EIP-712).
func (k *Key) SignTypedData(_ context.Context, data TypedData) ([]byte, error) {
	digest, err := data.Digest()
	if err != nil {
		return nil, err
	}
	return k.sign(digest[:])
}

func (k *Key) sign(digest []byte) ([]byte, error) {
	sig, err := crypto.Sign(digest, k.key)
	if err != nil {
		return nil, err
	}
	sig[64] += 27
	return sig, nil
}

// String keeps the private key out of logs.
func (k *Key) String() string { return k.Address().Hex() }
