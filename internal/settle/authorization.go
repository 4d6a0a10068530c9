package settle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"deed.example/deed"
	"deed.example/deed/internal/network"
)

// An Authorization is a transfer that its payer has signed, as x402 carries it
// (EIP-3009).
type Authorization struct {
	Asset       network.Asset // the token and the chain that it is signed for
	Payer       deed.Wallet
	PayTo       deed.Wallet
	Amount      deed.USDC
	ValidAfter  int64  // Unix seconds, in the chain's time
	ValidBefore int64  // likewise
	Nonce       string // 0x and 64 lowercase hex digits; the token accepts it once per payer
	Signature   []byte
}

// WrapperSuffix is the end of a signature that includes how to deploy its wallet
// (ERC-6492).
var WrapperSuffix = bytes.Repeat([]byte{0x64, 0x92}, 16)

// Wrapped reports whether the signature includes how to deploy the payer's wallet.
func (a Authorization) Wrapped() bool { return bytes.HasSuffix(a.Signature, WrapperSuffix) }

// PaymentID returns the ID of the payment on one chain and token, for our own
// database. It is derived from the payer and the nonce, and not from the signature
// or the request, because the token accepts that pair once. Both are public on the
// chain, so the ID is never shown to callers: they know a payment by its PublicID.
func (a Authorization) PaymentID(chainID uint64, asset deed.Wallet) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s %s", chainID, asset, a.Payer, a.Nonce))
	return "pay_" + hex.EncodeToString(sum[:16])
}
