package network

import (
	"encoding/binary"
	"encoding/hex"
	"strings"

	"golang.org/x/crypto/sha3"

	"deed.example/deed"
)

// domainType is the type of a domain that has all four fields (EIP-712).
const domainType = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"

// A Domain is the contract that a typed signature is for (EIP-712).
type Domain struct {
	Name, Version string
	ChainID       uint64
	Contract      deed.Wallet
}

// Separator returns the hash of the domain, which the contract publishes as
// DOMAIN_SEPARATOR.
func (d Domain) Separator() [32]byte {
	var chainID, contract [32]byte
	binary.BigEndian.PutUint64(chainID[24:], d.ChainID)
	// A wallet is always valid hex, so the error can only be a programmer's.
	if raw, err := hex.DecodeString(strings.TrimPrefix(string(d.Contract), "0x")); err == nil && len(raw) == 20 {
		copy(contract[12:], raw)
	}
	name, version := keccak([]byte(d.Name)), keccak([]byte(d.Version))
	kind := keccak([]byte(domainType))
	return keccak(kind[:], name[:], version[:], chainID[:], contract[:])
}

func keccak(parts ...[]byte) (sum [32]byte) {
	h := sha3.NewLegacyKeccak256()
	for _, p := range parts {
		h.Write(p) // a hash takes everything
	}
	h.Sum(sum[:0])
	return sum
}
