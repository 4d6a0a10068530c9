package client

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// TypedData is a structured message to sign (EIP-712). As JSON it is the second
// parameter of eth_signTypedData_v4, so that hardware wallets and remote signers
// can show it to their user.
//
// The client asks for one message only: a TransferWithAuthorization of USDC
// (EIP-3009), that is, a payment.
type TypedData struct {
	Types       map[string][]TypedField `json:"types"`
	PrimaryType string                  `json:"primaryType"`
	Domain      TypedDomain             `json:"domain"`
	Message     map[string]string       `json:"message"` // numbers are decimal
}

// A TypedField is a field of a type.
type TypedField struct {
	Name string `json:"name"`
	Type string `json:"type"` // address, uint256, bytes32 or string
}

// A TypedDomain is the contract that a message is for.
type TypedDomain struct {
	Name              string `json:"name"`
	Version           string `json:"version"`
	ChainID           int64  `json:"chainId"`
	VerifyingContract string `json:"verifyingContract"`
}

// The types of a payment.
var (
	domainFields = []TypedField{{"name", "string"}, {"version", "string"}, {"chainId", "uint256"}, {"verifyingContract", "address"}}
	paymentType  = "TransferWithAuthorization"
	paymentField = []TypedField{{"from", "address"}, {"to", "address"}, {"value", "uint256"}, {"validAfter", "uint256"}, {"validBefore", "uint256"}, {"nonce", "bytes32"}}
)

// Digest returns the 32 bytes that a private key signs. It fails for types that a
// payment does not have.
func (d TypedData) Digest() (out [32]byte, err error) {
	site := map[string]string{
		"name": d.Domain.Name, "version": d.Domain.Version, "chainId": fmt.Sprint(d.Domain.ChainID), "verifyingContract": d.Domain.VerifyingContract,
	}
	domain, err := hashStruct("EIP712Domain", domainFields, site)
	if err != nil {
		return out, err
	}
	message, err := hashStruct(d.PrimaryType, d.Types[d.PrimaryType], d.Message)
	if err != nil {
		return out, err
	}
	return crypto.Keccak256Hash([]byte{0x19, 1}, domain, message), nil
}

// hashStruct hashes the fields of a type in their order (EIP-712, hashStruct).
func hashStruct(name string, fields []TypedField, values map[string]string) ([]byte, error) {
	words := make([]string, len(fields))
	for i, f := range fields {
		words[i] = f.Type + " " + f.Name
	}
	data := crypto.Keccak256([]byte(name + "(" + strings.Join(words, ",") + ")"))
	for _, f := range fields {
		word, err := encodeField(f.Type, values[f.Name])
		if err != nil {
			return nil, fmt.Errorf("%s of %s: %w", f.Name, name, err)
		}
		data = append(data, word...)
	}
	return crypto.Keccak256(data), nil
}

// encodeField returns the 32 bytes of a value.
func encodeField(kind, value string) ([]byte, error) {
	switch kind {
	case "string":
		return crypto.Keccak256([]byte(value)), nil
	case "address":
		if common.IsHexAddress(value) {
			return common.LeftPadBytes(common.HexToAddress(value).Bytes(), 32), nil
		}
	case "uint256":
		if n, ok := new(big.Int).SetString(value, 10); ok && n.Sign() >= 0 && n.BitLen() <= 256 {
			return common.LeftPadBytes(n.Bytes(), 32), nil
		}
	case "bytes32":
		if raw := common.FromHex(value); len(raw) == 32 {
			return raw, nil
		}
	}
	return nil, fmt.Errorf("%q cannot be encoded as %s", value, kind)
}
