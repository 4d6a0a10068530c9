// Package file signs with a private key from a file.
//
// The file has the key in hex, with or without 0x. Package secretfile reads and
// creates it, and refuses a file that others can read. The key stays in the memory
// of this process; who wants it elsewhere uses another signer.
package file

import (
	"context"
	"crypto/ecdsa"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
	"deed.example/deed/internal/secretfile"
	"deed.example/deed/internal/signer"
)

// A Signer implements signer.Signer. Make one with Open, OpenOrCreate or New.
type Signer struct {
	key     *ecdsa.PrivateKey
	address deed.Wallet
}

// Open reads the key in the file at path.
func Open(path string) (*Signer, error) {
	if path == "" {
		return nil, errors.New("name the file of a private key")
	}
	raw, err := secretfile.Read(path)
	if err != nil {
		return nil, err
	}
	return parse(path, raw)
}

// OpenOrCreate is Open, and creates the file with a new key when it is missing.
// Nodes that start at once on one folder have the same key.
func OpenOrCreate(path string) (s *Signer, created bool, err error) {
	raw, created, err := secretfile.ReadOrCreate(path, func() ([]byte, error) {
		key, err := crypto.GenerateKey()
		if err != nil {
			return nil, err
		}
		return []byte(hex.EncodeToString(crypto.FromECDSA(key)) + "\n"), nil
	})
	if err != nil {
		return nil, false, err
	}
	s, err = parse(path, raw)
	return s, created, err
}

// New returns a signer with the key, for tests.
func New(key *ecdsa.PrivateKey) *Signer {
	return &Signer{key: key, address: deed.Wallet(strings.ToLower(crypto.PubkeyToAddress(key.PublicKey).Hex()))}
}

func parse(path string, raw []byte) (*Signer, error) {
	key, err := crypto.HexToECDSA(strings.TrimPrefix(strings.TrimSpace(string(raw)), "0x"))
	if err != nil {
		return nil, fmt.Errorf("%s holds no private key in hex", path) // the error must not quote the file
	}
	return New(key), nil
}

// Address implements signer.Signer.
func (s *Signer) Address() deed.Wallet { return s.address }

// SignTransaction implements signer.Signer.
func (s *Signer) SignTransaction(ctx context.Context, tx signer.Transaction) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("sign a transaction: %w", err)
	}
	to, chainID := common.HexToAddress(string(tx.To)), new(big.Int).SetUint64(tx.ChainID)
	signed, err := types.SignNewTx(s.key, types.LatestSignerForChainID(chainID), &types.DynamicFeeTx{
		ChainID: chainID, Nonce: tx.Nonce, GasTipCap: tx.MaxPriorityFee, GasFeeCap: tx.MaxFee, Gas: tx.Gas, To: &to, Data: tx.Data,
	})
	if err != nil {
		return nil, fmt.Errorf("sign a transaction: %w", err)
	}
	return signed.MarshalBinary()
}

// SignTypedData implements signer.Signer.
func (s *Signer) SignTypedData(ctx context.Context, data signer.TypedData) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("sign typed data: %w", err)
	}
	digest := data.Digest()
	signature, err := crypto.Sign(digest[:], s.key)
	if err != nil {
		return nil, fmt.Errorf("sign typed data: %w", err)
	}
	signature[crypto.RecoveryIDOffset] += 27
	return signature, nil
}
