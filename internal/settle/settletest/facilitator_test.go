package settletest_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/settle/settletest"
)

var (
	_ settle.Verifier = facilitatorClient{}
	_ settle.Settler  = facilitatorClient{}
)

// What only verifies and settles, over HTTP, fits the contracts: a facilitator has no
// wallet of ours to refund from and does not watch our treasury.
func TestFacilitator(t *testing.T) {
	settletest.RunFacilitator(t, func(t *testing.T) settletest.Fixture {
		server := newFacilitator(t)
		return server.fixture(facilitatorClient{server.URL, &http.Client{Transport: server}})
	})
}

// facilitatorClient implements settle.Verifier and settle.Settler with the calls of an
// x402 facilitator.
type facilitatorClient struct {
	url  string
	http *http.Client
}

// facilitatorRequest is the body of both calls.
type facilitatorRequest struct {
	X402Version         int                `json:"x402Version"`
	PaymentPayload      api.PaymentHeader  `json:"paymentPayload"`
	PaymentRequirements api.RequirementsV2 `json:"paymentRequirements"`
}

type verifyResponse struct {
	IsValid       bool   `json:"isValid"`
	InvalidReason string `json:"invalidReason"`
}

// Reasons of a facilitator.
const (
	reasonSignature = "invalid_exact_evm_payload_signature"
	reasonExpired   = "invalid_exact_evm_payload_authorization_valid_before"
	reasonCancelled = "invalid_exact_evm_payload_authorization_cancelled"
	reasonFunds     = "insufficient_funds"
	reasonNetwork   = "invalid_network"
	reasonSettled   = "already_settled"
)

// refusals are the reasons after which the money can never move.
var refusals = map[string]bool{reasonSignature: true, reasonExpired: true, reasonCancelled: true}

func (c facilitatorClient) Check(ctx context.Context, a settle.Authorization, _ []string) (settle.Funds, error) {
	var out verifyResponse
	if err := c.call(ctx, "/verify", a, &out); err != nil {
		return settle.Funds{}, err
	}
	switch {
	case out.IsValid:
		return settle.Funds{Balance: a.Amount}, nil // it reads no balances
	case out.InvalidReason == reasonSettled:
		return settle.Funds{}, settle.ErrAlreadyPaid
	case out.InvalidReason == reasonFunds:
		return settle.Funds{}, deed.Errorf(deed.CodePaymentInsufficient, "the payer has too little")
	}
	return settle.Funds{}, deed.Errorf(deed.CodePaymentInvalid, "the facilitator refused it: %s", out.InvalidReason)
}

func (c facilitatorClient) Settle(ctx context.Context, a settle.Authorization) (string, error) {
	var out api.SettleResponse
	if err := c.call(ctx, "/settle", a, &out); err != nil {
		return "", err
	}
	switch {
	case out.Success:
		return out.Transaction, nil
	case refusals[out.ErrorReason]:
		return "", deed.Errorf(deed.CodePaymentInvalid, "the facilitator refused it: %s", out.ErrorReason)
	}
	return "", fmt.Errorf("the facilitator has not settled it: %s", out.ErrorReason)
}

func (c facilitatorClient) call(ctx context.Context, path string, a settle.Authorization, out any) error {
	in := facilitatorRequest{X402Version: 2, PaymentRequirements: api.RequirementsV2{
		Scheme: "exact", Network: caip2(a.Asset), Amount: strconv.FormatInt(int64(a.Amount), 10), Asset: string(a.Asset.Token), PayTo: string(a.PayTo),
	}}
	in.PaymentPayload.X402Version, in.PaymentPayload.Accepted = 2, &in.PaymentRequirements
	in.PaymentPayload.Payload.Signature = hex.EncodeToString(a.Signature)
	in.PaymentPayload.Payload.Authorization = &api.PaymentAuthorization{
		From: string(a.Payer), To: string(a.PayTo), Value: strconv.FormatInt(int64(a.Amount), 10),
		ValidAfter: strconv.FormatInt(a.ValidAfter, 10), ValidBefore: strconv.FormatInt(a.ValidBefore, 10), Nonce: a.Nonce,
	}
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close() // it was read
	if res.StatusCode != http.StatusOK {
		return errors.New(res.Status)
	}
	return json.NewDecoder(res.Body).Decode(out)
}

func caip2(a network.Asset) string { return fmt.Sprintf("eip155:%d", a.ChainID) }

// sign stands for the payer's signature: it covers the same fields.
func sign(network, asset string, a api.PaymentAuthorization) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", network, asset, a))
	return sum[:]
}
