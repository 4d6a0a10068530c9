package deed

import (
	"encoding/hex"
	"strings"

	"golang.org/x/crypto/sha3"
)

// A Wallet is a lowercase 0x-prefixed address. It is the only identity of a caller.
// Create one with ParseWallet.
type Wallet string

// ZeroWallet is the address that nobody has the key of.
const ZeroWallet Wallet = "0x0000000000000000000000000000000000000000"

// ParseWallet parses an address in one letter case, or in mixed case with a correct
// checksum (EIP-55): a wrong checksum means a typo.
func ParseWallet(s string) (Wallet, error) {
	digits, prefixed := strings.CutPrefix(s, "0x")
	lower := strings.ToLower(digits)
	if _, err := hex.DecodeString(lower); err != nil || !prefixed || len(digits) != 40 {
		return "", Invalid("walletAddress", "%s is not an address: write 0x and 40 hex digits", Quoted(s))
	}
	if digits != lower && digits != strings.ToUpper(digits) && digits != checksummed(lower) {
		return "", Invalid("walletAddress", "%s has a wrong checksum (EIP-55): a letter is mistyped or has the wrong case", Quoted(s))
	}
	return Wallet("0x" + lower), nil
}

// Checksum returns the address in the mixed case of EIP-55, as wallets show it.
func (w Wallet) Checksum() string { return "0x" + checksummed(strings.TrimPrefix(string(w), "0x")) }

// checksummed writes a letter in upper case where the hex digit of the hash at its
// position is 8 or more.
func checksummed(lower string) string {
	h := sha3.NewLegacyKeccak256()
	h.Write([]byte(lower)) // never fails
	sum := hex.EncodeToString(h.Sum(nil))
	out := []byte(lower)
	for i, c := range out {
		if c >= 'a' && sum[i] >= '8' {
			out[i] = c - 'a' + 'A'
		}
	}
	return string(out)
}
