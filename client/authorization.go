package client

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"deed.example/deed/api"
)

// authorize signs the payment for an offer and returns the value of its header.
func (c *Client) authorize(ctx context.Context, o Offer) (string, error) {
	a := authorization{
		from: c.wallet.Address(), to: common.HexToAddress(o.PayTo), value: int64(o.Price),
		before: c.now().Unix() + int64(o.terms.MaxTimeoutSeconds),
	}
	rand.Read(a.nonce[:]) // it never fails
	signature, err := c.wallet.Sign(ctx, a.digest(coins[o.Network]))
	if err != nil {
		return "", fmt.Errorf("sign the payment: %w", err)
	}
	out, err := json.Marshal(a.header(o.terms, signature))
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(out), nil
}

// authorization is a transfer that anyone with its signature can execute, once
// and before its expiry (EIP-3009).
type authorization struct {
	from, to             common.Address
	value, after, before int64
	nonce                [32]byte
}

// digest returns the EIP-712 digest that the wallet signs.
func (a authorization) digest(c coin) [32]byte {
	hash := func(s string) []byte { return crypto.Keccak256([]byte(s)) }
	number := func(n int64) []byte { return common.LeftPadBytes(big.NewInt(n).Bytes(), 32) }
	address := func(a common.Address) []byte { return common.LeftPadBytes(a.Bytes(), 32) }
	site := crypto.Keccak256(hash("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
		hash(c.name), hash(c.version), number(c.chainID), address(c.address))
	message := crypto.Keccak256(hash("TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"),
		address(a.from), address(a.to), number(a.value), number(a.after), number(a.before), a.nonce[:])
	return crypto.Keccak256Hash([]byte{0x19, 1}, site, message)
}

func (a authorization) header(terms api.RequirementsV2, signature []byte) api.PaymentHeader {
	h := api.PaymentHeader{X402Version: 2, Scheme: terms.Scheme, Network: terms.Network, Accepted: &terms}
	h.Payload.Signature = "0x" + hex.EncodeToString(signature)
	h.Payload.Authorization = new(a.fields())
	return h
}

// fields returns the authorization as x402 has it.
func (a authorization) fields() api.PaymentAuthorization {
	return api.PaymentAuthorization{
		From: a.from.Hex(), To: a.to.Hex(), Value: strconv.FormatInt(a.value, 10),
		ValidAfter: strconv.FormatInt(a.after, 10), ValidBefore: strconv.FormatInt(a.before, 10), Nonce: "0x" + hex.EncodeToString(a.nonce[:]),
	}
}
