// Package signtest signs authorizations for a token, as a wallet does (EIP-712). It
// shares no code with the settler and the client, so that tests compare them with
// an independent implementation.
package signtest

import (
	"crypto/ecdsa"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// What a wallet signs for the token (EIP-3009).
const (
	Transfer = "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
	Cancel   = "CancelAuthorization(address authorizer,bytes32 nonce)"
)

// A Token is the contract that a signature is for.
type Token struct {
	Name    string
	ChainID int64
	Address common.Address
}

// Sign signs a struct for the token. The fields are addresses, numbers and 32-byte
// words, in the order of the type.
func (t Token) Sign(key *ecdsa.PrivateKey, structure string, fields ...any) []byte {
	domain := hash("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")
	domain = crypto.Keccak256(domain, hash(t.Name), hash("2"), word(t.ChainID), word(t.Address))
	message := [][]byte{hash(structure)}
	for _, f := range fields {
		message = append(message, word(f))
	}
	sig, err := crypto.Sign(crypto.Keccak256([]byte{0x19, 1}, domain, crypto.Keccak256(message...)), key)
	if err != nil {
		panic(err) // the keys of tests are valid
	}
	sig[64] += 27
	return sig
}

func hash(text string) []byte { return crypto.Keccak256([]byte(text)) }

func word(field any) []byte {
	switch f := field.(type) {
	case common.Address:
		return common.LeftPadBytes(f[:], 32)
	case *big.Int:
		return common.LeftPadBytes(f.Bytes(), 32)
	case int64:
		return word(big.NewInt(f))
	case [32]byte:
		return f[:]
	}
	panic(fmt.Sprintf("%T is not a type of field", field))
}
