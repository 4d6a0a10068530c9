package e2e_test

import (
	"math/big"
	"strings"
	"testing"
	"time"
)

// The reason of a payment that is not accepted is x402's own word (x402 version 2, section
// 9), so that a client knows what to sign otherwise.
func TestReasonsOfX402(t *testing.T) {
	const exact = "invalid_exact_evm_payload_"
	s := openEnv(t, options{})
	a := s.buyer(t)
	in := func(d time.Duration) *big.Int { return big.NewInt(time.Now().Add(d).Unix()) }
	for reason, changes := range map[string][]func(*promise){
		exact + "authorization_valid_before": {
			func(p *promise) { p.before = in(-time.Second) }, func(p *promise) { p.before = in(5 * time.Second) }, func(p *promise) { p.before = in(2 * time.Hour) },
		},
		exact + "authorization_valid_after":    {func(p *promise) { p.after = in(4 * time.Minute) }},
		exact + "authorization_value_mismatch": {func(p *promise) { p.value.Add(p.value, big.NewInt(1)) }},
		exact + "signature":                    {func(p *promise) { p.key = newAccount(t).key }},
		exact + "recipient_mismatch":           {func(p *promise) { p.to = p.from }},
		"invalid_network":                      {func(p *promise) { p.network = "eip155:1" }},
		"insufficient_funds":                   {func(p *promise) { *p = *s.promise(newAccount(t), comPrice) }},
	} {
		for i, change := range changes {
			p := s.promise(a, comPrice)
			change(p)
			if got := s.register(t, "first.com", p.header(t)); got.status != 402 || !strings.Contains(got.body, `"reason":"`+reason+`"`) {
				t.Errorf("%s, %d: got %d %s", reason, i, got.status, got.body)
			}
		}
	}
}
