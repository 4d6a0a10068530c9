package fulfil_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// contracts is a scripted chain that knows which wallets have code.
type contracts struct {
	*scripted
	code  []deed.Wallet
	asked int
	err   error
}

func (c *contracts) HasCode(_ context.Context, w deed.Wallet) (bool, error) {
	c.asked++
	return slices.Contains(c.code, w), c.err
}

// from is a payment of another wallet.
func from(w deed.Wallet, nonce string) *settle.Authorization {
	a := authorization(nonce)
	a.Payer = w
	return a
}

// Transfers that revert cost gas, and a stranger can make any number of contract wallets
// whose code lets the simulation succeed. After some of them in a day, contract wallets
// that have never paid are refused before anything is stored; all others go on paying.
func TestRevertsOfManyWalletsAreLimited(t *testing.T) {
	e := newEnv(t)
	wallet := func(n int) deed.Wallet { return deed.Wallet(fmt.Sprintf("0x%040x", 0x1000+n)) }
	known, stranger, plain := wallet(100), wallet(101), wallet(102)
	on := &contracts{scripted: e.chain, code: []deed.Wallet{known, stranger}}
	var warned []bool
	e.Verifier = on
	e.Reverts = &fulfil.RevertLimit{Store: e.rows, Max: 3, Now: e.Now, OnRefresh: func(int) {}, Warn: func(reached bool) { warned = append(warned, reached) }}
	refresh := func() {
		t.Helper()
		if err := e.Reverts.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	e.kind.advance = func(ctx context.Context, j order.Job) error {
		return e.jobs.CompleteJob(ctx, j, lifecycle.Registration{Name: j.Purchase.Name, Owner: j.Owner, Status: lifecycle.StatusActive,
			Reference: j.ID, PaymentID: j.PaymentID, Created: e.now, Expires: e.now.AddDate(1, 0, 0), Updated: e.now})
	}
	if p, err := e.buy(from(known, "0"), "", name(0)); err != nil || p.State != order.PaymentConsumed {
		t.Fatalf("got %s, %v", p.State, err)
	}
	e.chain.settle = settle.ErrReverted
	for n := range 3 {
		refresh()
		on.code = append(on.code, wallet(n))
		if _, err := e.buy(from(wallet(n), "0"), "", name(n+1)); deed.CodeOf(err) != deed.CodePaymentInvalid {
			t.Fatalf("wallet %d: got %v", n, err)
		}
	}
	e.chain.settle = nil
	if refresh(); on.asked != 0 || e.Reverts.Reached() == nil {
		t.Errorf("asked for code %d times, reached: %v", on.asked, e.Reverts.Reached())
	}
	if _, err := e.buy(from(stranger, "0"), "", name(10)); deed.CodeOf(err) != deed.CodeRateLimited {
		t.Errorf("a contract wallet that has never paid: got %v", err)
	}
	if _, err := e.rows.Payment(t.Context(), from(stranger, "0").PaymentID(chainID, "")); deed.CodeOf(err) != deed.CodeNotFound {
		t.Errorf("its payment was stored: %v", err)
	}
	for n, w := range []deed.Wallet{known, plain} {
		if _, err := e.buy(from(w, "1"), "", name(11+n)); err != nil {
			t.Errorf("%s: got %v", w, err)
		}
	}
	on.err = errors.New("the endpoint answered 503")
	if _, err := e.buy(from(stranger, "1"), "", name(13)); deed.CodeOf(err) != deed.CodeUnavailable {
		t.Errorf("without an answer of the chain: got %v", err)
	}
	on.err, on.check = nil, settle.ErrAlreadyPaid
	if _, err := e.buy(from(stranger, "2"), "", name(15)); !errors.Is(err, settle.ErrAlreadyPaid) {
		t.Errorf("a payment that is on the chain already: got %v", err)
	}
	if p, err := e.buy(from(stranger, "3"), stranger, name(16)); err != nil || p.State != order.PaymentConsumed {
		t.Errorf("one that its payer claims: got %s, %v", p.State, err)
	}
	stranger = wallet(103) // has never paid either
	on.code = append(on.code, stranger)
	on.check, e.now = nil, e.now.Add(25*time.Hour)
	refresh()
	if _, err := e.buy(from(stranger, "0"), "", name(14)); err != nil || e.Reverts.Reached() != nil {
		t.Errorf("a day later: got %v", err)
	}
	if !slices.Equal(warned, []bool{true, false}) {
		t.Errorf("warned %v", warned)
	}
}
