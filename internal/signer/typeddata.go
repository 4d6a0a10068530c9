package signer

import (
	"encoding/hex"
	"math/big"
	"strings"

	"github.com/go-json-experiment/json"
	"golang.org/x/crypto/sha3"

	"deed.example/deed"
	"deed.example/deed/internal/network"
)

// TypedData is a struct without nested structs, as EIP-712 signs it.
type TypedData struct {
	Domain network.Domain
	Type   string // the name of the struct, such as TransferWithAuthorization
	Fields []Field
}

// A Field is a field of fixed size. Make one with Address, Uint256 or Bytes32.
type Field struct {
	name string
	kind kind
	word [32]byte // as it is encoded
}

// A kind is a type of Solidity.
type kind string

const (
	kindAddress kind = "address"
	kindUint256 kind = "uint256"
	kindBytes32 kind = "bytes32"
)

// Address returns a field of the type address.
func Address(name string, w deed.Wallet) Field {
	f := Field{name: name, kind: kindAddress}
	// A wallet is always valid hex, so the error can only be a programmer's.
	if raw, err := hex.DecodeString(strings.TrimPrefix(string(w), "0x")); err == nil && len(raw) == 20 {
		copy(f.word[12:], raw)
	}
	return f
}

// Uint256 returns a field of the type uint256. The number must not be negative.
func Uint256(name string, n int64) Field {
	f := Field{name: name, kind: kindUint256}
	big.NewInt(n).FillBytes(f.word[:])
	return f
}

// Bytes32 returns a field of the type bytes32.
func Bytes32(name string, b [32]byte) Field { return Field{name: name, kind: kindBytes32, word: b} }

// Digest returns the hash that is signed.
func (d TypedData) Digest() [32]byte {
	var signature []string
	for _, f := range d.Fields {
		signature = append(signature, string(f.kind)+" "+f.name)
	}
	typeHash := keccak([]byte(d.Type + "(" + strings.Join(signature, ",") + ")"))
	parts := [][]byte{typeHash[:]}
	for _, f := range d.Fields {
		parts = append(parts, f.word[:])
	}
	message, separator := keccak(parts...), d.Domain.Separator()
	return keccak([]byte{0x19, 1}, separator[:], message[:])
}

// member is a member of a type in the JSON of typed data.
type member struct {
	Name string `json:"name"`
	Type kind   `json:"type"`
}

// MarshalJSON writes the data as eth_signTypedData takes it.
func (d TypedData) MarshalJSON() ([]byte, error) {
	message := map[string]string{}
	var members []member
	for _, f := range d.Fields {
		message[f.name] = f.text()
		members = append(members, member{f.name, f.kind})
	}
	return json.Marshal(map[string]any{
		"types": map[string][]member{
			"EIP712Domain": {{"name", "string"}, {"version", "string"}, {"chainId", kindUint256}, {"verifyingContract", kindAddress}},
			d.Type:         members,
		},
		"primaryType": d.Type,
		"domain": map[string]any{
			"name": d.Domain.Name, "version": d.Domain.Version, "chainId": d.Domain.ChainID, "verifyingContract": d.Domain.Contract,
		},
		"message": message,
	}, json.Deterministic(true))
}

// text returns the value as JSON has it: numbers are decimal strings, because they
// may be larger than a JSON number is exact for.
func (f Field) text() string {
	switch f.kind {
	case kindAddress:
		return "0x" + hex.EncodeToString(f.word[12:])
	case kindUint256:
		return new(big.Int).SetBytes(f.word[:]).String()
	}
	return "0x" + hex.EncodeToString(f.word[:])
}

func keccak(parts ...[]byte) (sum [32]byte) {
	h := sha3.NewLegacyKeccak256()
	for _, p := range parts {
		h.Write(p) // a hash takes everything
	}
	h.Sum(sum[:0])
	return sum
}
