package keyfile

import (
	"crypto/ecdsa"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed/internal/secretfile"
)

// ReadWallet reads the private key of a wallet, in hex with or without 0x, from
// the file at path.
func ReadWallet(path string) (*ecdsa.PrivateKey, error) {
	if path == "" {
		return nil, errors.New("the file of the private key is not set")
	}
	raw, err := secretfile.Read(path)
	if err != nil {
		return nil, err
	}
	return parseWallet(path, raw)
}

// OpenWallet is ReadWallet, but creates a missing key.
func OpenWallet(path string) (key *ecdsa.PrivateKey, created bool, err error) {
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
	key, err = parseWallet(path, raw)
	return key, created, err
}

func parseWallet(path string, raw []byte) (*ecdsa.PrivateKey, error) {
	key, err := crypto.HexToECDSA(strings.TrimPrefix(strings.TrimSpace(string(raw)), "0x"))
	if err != nil {
		return nil, fmt.Errorf("%s has no private key in hex", path) // the content must not leak
	}
	return key, nil
}
