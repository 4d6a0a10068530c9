package client

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
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
	signature, err := c.wallet.SignTypedData(ctx, a.typedData(coins[o.Network]))
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

// typedData returns the EIP-712 message that the wallet signs.
func (a authorization) typedData(c coin) TypedData {
	return TypedData{
		Types:       map[string][]TypedField{"EIP712Domain": domainFields, paymentType: paymentField},
		PrimaryType: paymentType,
		Domain:      TypedDomain{c.name, c.version, c.chainID, c.address.Hex()},
		Message: map[string]string{
			"from": a.from.Hex(), "to": a.to.Hex(), "value": strconv.FormatInt(a.value, 10),
			"validAfter": strconv.FormatInt(a.after, 10), "validBefore": strconv.FormatInt(a.before, 10), "nonce": "0x" + hex.EncodeToString(a.nonce[:]),
		},
	}
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
