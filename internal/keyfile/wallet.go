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
		return nil, errors.New("name the file of a private key")
	}
	raw, err := secretfile.Read(path)
	if err != nil {
		return nil, err
	}
	return parseWallet(path, raw)
}

// OpenWallet is ReadWallet, and makes the key when it is not there.
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
		return nil, fmt.Errorf("%s holds no private key in hex", path) // not a word of what it holds
	}
	return key, nil
}
