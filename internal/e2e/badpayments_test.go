package e2e_test

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
)

// A badPayment is an invalid payment and the expected error.
type badPayment struct {
	header string
	code   deed.Code
}

// badPayments returns all kinds of invalid payments of a wallet. They are tested
// over HTTP, MCP and A2A.
func (s *env) badPayments(t *testing.T, a *account, price deed.USDC) map[string]badPayment {
	t.Helper()
	poor := newAccount(t)
	change := func(f func(*promise)) string { p := s.promise(a, price); f(p); return p.header(t) }
	good := s.promise(a, price).header(t)
	outlaw := s.buyer(t)
	if err := s.chain.Blacklist(t.Context(), string(outlaw.wallet), true); err != nil {
		t.Fatal(err)
	}
	barred := s.promise(outlaw, price).header(t)
	value := fmt.Sprintf(`"value":"%d"`, price)
	accepted := fmt.Sprintf(`"amount":"%d"`, price)
	return map[string]badPayment{
		"a millionth less":    {change(func(p *promise) { p.value.Sub(p.value, big.NewInt(1)) }), deed.CodePaymentInvalid},
		"a millionth more":    {change(func(p *promise) { p.value.Add(p.value, big.NewInt(1)) }), deed.CodePaymentInvalid},
		"beyond 256 bits":     {change(func(p *promise) { p.value.Lsh(big.NewInt(1), 256) }), deed.CodePaymentInvalid},
		"another payee":       {change(func(p *promise) { p.to = common.HexToAddress("0x01") }), deed.CodePaymentInvalid},
		"another payee in it": {change(func(p *promise) { p.payTo = common.HexToAddress("0x01").Hex() }), deed.CodePaymentInvalid},
		"another token":       {change(func(p *promise) { p.asset = common.HexToAddress("0x01").Hex() }), deed.CodePaymentInvalid},
		"another network":     {change(func(p *promise) { p.network = "eip155:8453" }), deed.CodePaymentInvalid},
		"another domain":      {change(func(p *promise) { p.token = "USD Coin" }), deed.CodePaymentInvalid},
		"another chain":       {change(func(p *promise) { p.chainID = 8453 }), deed.CodePaymentInvalid},
		"expired":             {change(func(p *promise) { p.before.SetInt64(time.Now().Unix() - 1) }), deed.CodePaymentInvalid},
		"about to expire":     {change(func(p *promise) { p.before.SetInt64(time.Now().Unix() + 5) }), deed.CodePaymentInvalid},
		"not yet valid":       {change(func(p *promise) { p.after.SetInt64(time.Now().Unix() + 600) }), deed.CodePaymentInvalid},
		"good until 2100":     {change(func(p *promise) { p.before.SetInt64(4102444800) }), deed.CodePaymentInvalid},
		"another's signature": {change(func(p *promise) { p.key = poor.key }), deed.CodePaymentInvalid},
		"an empty wallet":     {s.promise(poor, price).header(t), deed.CodePaymentInsufficient},
		"a malleated twin":    {change(func(p *promise) { p.malleate = true }), deed.CodePaymentInvalid},
		"a barred payer":      {barred, deed.CodePaymentInvalid},
		"not base64":          {"!!!", deed.CodePaymentInvalid},
		"not JSON":            {base64.StdEncoding.EncodeToString([]byte("hello")), deed.CodePaymentInvalid},
		"an exponent":         {reencode(t, good, value, fmt.Sprintf(`"value":"%de4"`, price/10_000)), deed.CodePaymentInvalid},
		"a leading zero":      {reencode(t, good, value, fmt.Sprintf(`"value":"0%d"`, price)), deed.CodePaymentInvalid},
		"the other version":   {reencode(t, good, `"x402Version":2`, `"x402Version":1`), deed.CodePaymentInvalid},
		"another scheme":      {reencode(t, good, `"scheme":"exact"`, `"scheme":"upto"`), deed.CodePaymentInvalid},
		"less accepted":       {reencode(t, good, accepted, `"amount":"1"`), deed.CodePaymentInvalid},
		"nothing accepted":    {reencode(t, good, accepted+",", ""), deed.CodePaymentInvalid},
		"no authorization":    {reencode(t, good, `"authorization":`, `"permit2":`), deed.CodePaymentInvalid},
		"larger than 8 KiB":   {base64.StdEncoding.EncodeToString([]byte(`{"x402Version":2,"a":"` + strings.Repeat("a", 8<<10) + `"}`)), deed.CodePaymentInvalid},
	}
}
