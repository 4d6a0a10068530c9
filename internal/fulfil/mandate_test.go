package fulfil_test

import (
	"context"
	"errors"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// mandateChain is a chain that accepts mandates.
type mandateChain struct{ *scripted }

func (mandateChain) CheckSigned(context.Context, settle.Authorization) error { return nil }

func (c mandateChain) CheckDue(ctx context.Context, a settle.Authorization, open []string) (settle.Funds, error) {
	return c.Check(ctx, a, open)
}

// While operators sell nothing, or nothing to this wallet, no mandate is used either: it
// moves money that nobody has asked to move now.
func TestMandateIsNotUsedWhilePurchasesAreStopped(t *testing.T) {
	e := newEnv(t)
	e.Verifier = mandateChain{e.chain}
	var asked deed.Wallet
	e.Admit = func(_ context.Context, payer deed.Wallet) error {
		asked = payer
		return deed.Errorf(deed.CodeUnavailable, "nothing is sold at the moment")
	}
	m := order.Mandate{ID: "man_1", Name: "name1.com", Owner: payer, Auth: *authorization("1")}
	err := e.UseMandate(t.Context(), m, name(1))
	if deed.CodeOf(err) != deed.CodeUnavailable || asked != payer || len(e.chain.checked) != 0 {
		t.Errorf("got %v, asked about %q, checked %v", err, asked, e.chain.checked)
	}
}

// A mandate may cost all that it allows, and no more: then the chain is not even asked.
func TestMandateAllowsItsAmount(t *testing.T) {
	for amount, allowed := range map[deed.USDC]bool{price: true, price - 1: false} {
		e := newEnv(t)
		e.Verifier = mandateChain{e.chain}
		a := authorization("1")
		a.Amount = amount
		err := e.UseMandate(t.Context(), order.Mandate{ID: "man_1", Name: "name1.com", Owner: payer, Auth: *a}, name(1)) // which is not stored
		if low, ok := errors.AsType[*order.CapTooLow](err); ok == allowed || ok && low.Price != price || (len(e.chain.checked) == 1) != allowed {
			t.Errorf("%s for a price of %s: got %v, checked %d times", amount, deed.USDC(price), err, len(e.chain.checked))
		}
	}
}
