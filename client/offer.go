package client

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"

	"deed.example/deed/api"
)

// An Offer is the price of a call and the terms of payment.
type Offer struct {
	Price   USDC
	For     string // description
	Domain  string // optional
	Years   int    // optional
	Network string // CAIP-2, such as "eip155:8453"
	PayTo   string

	terms api.RequirementsV2
}

// A coin is the USDC contract of a network with its EIP-712 domain. The client
// signs for no other token.
type coin struct {
	chainID       int64
	address       common.Address
	name, version string
}

var coins = map[string]coin{
	"eip155:8453":  {8453, common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"), "USD Coin", "2"},
	"eip155:84532": {84532, common.HexToAddress("0x036CbD53842c5426634e7929541eC2318f3dCF7e"), "USDC", "2"},
}

// ErrBadOffer is wrapped by the error for an offer that is unsafe to sign.
var ErrBadOffer = errors.New("the service made an offer that is not safe to sign")

// offer parses the offer of a 402. It fails if there is none, which means that the
// call must not be paid again.
func (a answer) offer() (Offer, error) {
	raw, err := base64.StdEncoding.DecodeString(a.header.Get("PAYMENT-REQUIRED"))
	if err != nil || len(raw) == 0 {
		return Offer{}, errors.New("the answer has no PAYMENT-REQUIRED")
	}
	var in api.PaymentOffer
	if err := json.Unmarshal(raw, &in); err != nil {
		return Offer{}, fmt.Errorf("read PAYMENT-REQUIRED: %w", err)
	}
	var body api.PaymentRequired
	if err := json.Unmarshal(a.body, &body); err != nil {
		return Offer{}, fmt.Errorf("read the body of a 402: %w", err)
	}
	for _, terms := range in.Accepts {
		if _, ok := coins[terms.Network]; !ok || terms.Scheme != "exact" {
			continue
		}
		price, err := strconv.ParseInt(terms.Amount, 10, 64)
		if err != nil || price <= 0 {
			return Offer{}, fmt.Errorf("%w: its amount is %q", ErrBadOffer, terms.Amount)
		}
		o := Offer{Price: USDC(price), For: in.Resource.Description, Domain: body.Domain, Years: body.Years, Network: terms.Network, PayTo: terms.PayTo, terms: terms}
		if body.Price != "" && body.Price != o.Price.String() {
			return Offer{}, fmt.Errorf("%w: it says %s USDC and asks for %s", ErrBadOffer, body.Price, o.Price)
		}
		return o, nil
	}
	return Offer{}, errors.New("the service offers no way to pay that this client knows")
}

// check fails for a token other than the USDC of the network, and for an invalid
// payee.
func (o Offer) check(payer common.Address) error {
	c, t := coins[o.Network], o.terms
	payTo := common.HexToAddress(t.PayTo)
	switch {
	case !common.IsHexAddress(t.Asset) || common.HexToAddress(t.Asset) != c.address:
		return fmt.Errorf("%w: %s is not the USDC of %s", ErrBadOffer, t.Asset, o.Network)
	case t.Extra.Name != c.name || t.Extra.Version != c.version:
		return fmt.Errorf("%w: it calls the token %s %s", ErrBadOffer, t.Extra.Name, t.Extra.Version)
	case !common.IsHexAddress(t.PayTo) || !strings.HasPrefix(t.PayTo, "0x") || payTo == (common.Address{}) || payTo == c.address || payTo == payer:
		return fmt.Errorf("%w: %s cannot be the payee", ErrBadOffer, t.PayTo)
	case t.MaxTimeoutSeconds < 30 || t.MaxTimeoutSeconds > 3600:
		return fmt.Errorf("%w: a payment would be good for %d seconds", ErrBadOffer, t.MaxTimeoutSeconds)
	}
	return nil
}
