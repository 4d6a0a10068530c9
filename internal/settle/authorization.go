package settle

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"deed.example/deed"
	"deed.example/deed/internal/network"
)

// An Authorization is a payer's signed promise to pay, as x402 carries it
// (EIP-3009).
type Authorization struct {
	Asset       network.Asset // the token and the chain that it is signed for
	Payer       deed.Wallet
	PayTo       deed.Wallet
	Amount      deed.USDC
	ValidAfter  int64  // Unix seconds, by the chain's clock
	ValidBefore int64  // likewise
	Nonce       string // 0x and 64 lowercase hex digits; the chain takes it once per payer
	Signature   []byte
}

// PaymentID names the payment of a on one chain and token, inside our own
// database. The payer and the nonce make it, and not the signature or the
// request, because that pair is what the chain takes once. Both are public on the
// chain, so callers are never told it: they know a payment by its PublicID.
func (a Authorization) PaymentID(chainID uint64, asset deed.Wallet) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s %s", chainID, asset, a.Payer, a.Nonce))
	return "pay_" + hex.EncodeToString(sum[:16])
}
