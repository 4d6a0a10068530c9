package chain

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
	"deed.example/deed/contracts"
)

// checkGas is the gas limit for verifying one signature of a contract wallet. It
// includes the deployment of a wallet that is not on the chain yet.
const checkGas = 5_000_000

// checkCode is the creation code that calls the wallet.
var checkCode = contracts.Compiled("SignatureCheck").Create

// Signed implements signin.Verifier.
func (c *Client) Signed(ctx context.Context, w deed.Wallet, hash [32]byte, signature []byte) (bool, error) {
	if signer, ok := recoverSigner(hash, signature); ok && signer == common.HexToAddress(string(w)) {
		return true, nil
	}
	return c.checkContractWallet(ctx, w, hash, signature)
}

// recoverSigner returns the account whose key made the signature. It accepts one
// encoding only: 65 bytes, the low s, and 0, 1, 27 or 28 at the end.
func recoverSigner(hash [32]byte, signature []byte) (common.Address, bool) {
	if len(signature) != crypto.SignatureLength {
		return common.Address{}, false
	}
	sig := [crypto.SignatureLength]byte(signature)
	if sig[64] >= 27 {
		sig[64] -= 27
	}
	r, s := new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:64])
	if !crypto.ValidateSignatureValues(sig[64], r, s, true) {
		return common.Address{}, false
	}
	key, err := crypto.SigToPub(hash[:], sig[:])
	if err != nil {
		return common.Address{}, false
	}
	return crypto.PubkeyToAddress(*key), true
}

// checkContractWallet has the wallet's code verify the signature. A wallet that
// reverts, runs out of gas or returns anything but the magic value did not sign. Anybody can
// ask for it, and the code may take long, so such checks leave slots to others.
func (c *Client) checkContractWallet(ctx context.Context, w deed.Wallet, hash [32]byte, signature []byte) (bool, error) {
	waiting, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	select {
	case c.signed <- struct{}{}:
		defer func() { <-c.signed }()
	case <-waiting.Done():
		return false, fmt.Errorf("wait for a free slot to check a signature: %w", waiting.Err())
	}
	body := map[string]string{
		"data": "0x" + hex.EncodeToString(slices.Concat(checkCode, checkArguments(w, hash, signature))),
		"gas":  fmt.Sprintf("0x%x", checkGas),
	}
	var result string
	err := c.call(ctx, &result, "eth_call", body, "latest")
	if e, ok := errors.AsType[*RemoteError](err); ok && e.Code == codeReverted {
		return false, nil // only the arguments can make it revert
	}
	if err != nil {
		return false, err
	}
	return result == "0x01", nil
}

// checkArguments encodes (address, bytes32, bytes) for a constructor.
func checkArguments(w deed.Wallet, hash [32]byte, signature []byte) []byte {
	word := func(n int) []byte { return common.LeftPadBytes(big.NewInt(int64(n)).Bytes(), 32) }
	out := common.LeftPadBytes(common.HexToAddress(string(w)).Bytes(), 32)
	out = append(out, hash[:]...)
	out = append(out, word(3*32)...) // offset of the bytes
	out = append(out, word(len(signature))...)
	return append(out, common.RightPadBytes(signature, (len(signature)+31)/32*32)...)
}
