// Package settletest is the suite of the contracts of package settle: Run for what
// settles on a chain with wallets of our own, RunFacilitator for what only verifies
// and settles, such as a remote facilitator.
//
// It tests the four outcomes of the contract, breaks the connection to the chain in
// both ways (not done; done, but the response is lost), lets third parties and
// payers interfere, and races callers. In all of it one authorization moves money at
// most once, and so does one refund.
package settletest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/settle"
)

// A Fixture is a new settler with its chain, and the functions that control them.
type Fixture struct {
	Verifier   settle.Verifier
	Settler    settle.Settler
	Chain      Chain                                    // what only a chain can do; nil for a facilitator
	Pay        func(nonce string) settle.Authorization  // signs a valid payment
	Cancel     func(a settle.Authorization)             // cancels the authorization on the chain
	Expire     func()                                   // moves the chain's time past the end of every authorization
	ThirdParty func(all ...settle.Authorization) string // settles them in one transaction of a third party
	Break      func(done bool) (broken <-chan struct{}) // loses what is sent, or the response to it; closed when that happened
	Repair     func()                                   // repairs the connection
	Moved      func() int                               // transfers made to us
	Drain      func()                                   // empties the payer's wallet
	Fill       func()                                   // fills it again
	Balance    func(w deed.Wallet) deed.USDC
}

// Chain is what only a chain can do, with wallets of our own on it.
type Chain interface {
	settle.Abandoner
	settle.Refunder
	settle.Watcher
}

// Run runs the whole suite. open returns a new fixture for each case.
func Run(t *testing.T, open func(t *testing.T) Fixture) {
	RunFacilitator(t, open)
	for name, f := range map[string]func(*testing.T, Fixture){
		"funds are read":         funds,
		"stuck without money":    stuck,
		"abandoned":              abandoned,
		"carried, not abandoned": carried,
		"abandon raced":          abandonRaced,
		"refunded once":          refundedOnce,
		"refund fails, not done": func(t *testing.T, b Fixture) { failedRefund(t, b, false) },
		"refund fails, but done": func(t *testing.T, b Fixture) { failedRefund(t, b, true) },
		"incoming sees all":      incoming,
	} {
		t.Run(name, func(t *testing.T) { f(t, open(t)) })
	}
}

// RunFacilitator runs the part of the suite for a Verifier and a Settler. It uses
// neither Chain nor Fill.
func RunFacilitator(t *testing.T, open func(t *testing.T) Fixture) {
	for name, f := range map[string]func(*testing.T, Fixture){
		"settled once":             settledOnce,
		"good ones pass":           checked,
		"another network":          anotherNetwork,
		"refused when cancelled":   cancelled,
		"refused when expired":     expired,
		"failed, not done":         func(t *testing.T, b Fixture) { failed(t, b, false) },
		"failed, but done":         func(t *testing.T, b Fixture) { failed(t, b, true) },
		"raced":                    raced,
		"a third party was faster": thirdParty,
	} {
		t.Run(name, func(t *testing.T) { f(t, open(t)) })
	}
}

func settledOnce(t *testing.T, b Fixture) {
	first := b.settled(t, b.Pay("1"))
	if again := b.settled(t, b.Pay("1")); again != first || b.Moved() != 1 {
		t.Errorf("got %s then %s with %d transfers, want one", first, again, b.Moved())
	}
	if other := b.settled(t, b.Pay("2")); other == first || b.Moved() != 2 {
		t.Errorf("another payment: got %s after %s with %d transfers, want two", other, first, b.Moved())
	}
	b.Expire()
	if late := b.settled(t, b.Pay("1")); late != first || b.Moved() != 2 {
		t.Errorf("after its end: got %s, want %s", late, first)
	}
}

func checked(t *testing.T, b Fixture) {
	good, second, third := b.Pay("1"), b.Pay("2"), b.Pay("3")
	b.Cancel(second)
	funds, err := b.Verifier.Check(t.Context(), good, nil)
	if err != nil || b.Moved() != 0 || funds.Balance < good.Amount {
		t.Errorf("got %+v, %v and %d transfers, want none", funds, err, b.Moved())
	}
	other := good
	other.Amount++
	if _, err := b.Verifier.Check(t.Context(), other, nil); deed.CodeOf(err) != deed.CodePaymentInvalid {
		t.Errorf("another amount than signed: got %v, want %s", err, deed.CodePaymentInvalid)
	}
	if _, err := b.Verifier.Check(t.Context(), second, nil); deed.CodeOf(err) != deed.CodePaymentInvalid {
		t.Errorf("a cancelled one: got %v, want %s", err, deed.CodePaymentInvalid)
	}
	b.settled(t, good)
	b.ThirdParty(third)
	for _, a := range []settle.Authorization{good, third} {
		if _, err := b.Verifier.Check(t.Context(), a, nil); !errors.Is(err, settle.ErrAlreadyPaid) {
			t.Errorf("one that is paid: got %v, want %v", err, settle.ErrAlreadyPaid)
		}
	}
	if _, err := b.Verifier.Check(t.Context(), other, nil); deed.CodeOf(err) != deed.CodePaymentInvalid {
		t.Errorf("another amount than paid: got %v, want %s", err, deed.CodePaymentInvalid)
	}
	b.Drain()
	if _, err := b.Verifier.Check(t.Context(), b.Pay("4"), nil); deed.CodeOf(err) != deed.CodePaymentInsufficient {
		t.Errorf("an empty wallet: got %v, want %s", err, deed.CodePaymentInsufficient)
	}
}

// An authorization carries its network. For another one it is not accepted, and it is
// neither settled nor refused.
func anotherNetwork(t *testing.T, b Fixture) {
	a := b.Pay("1")
	elsewhere, otherToken := a, a
	elsewhere.Asset.ChainID++
	otherToken.Asset.Token = payee
	for _, other := range []settle.Authorization{elsewhere, otherToken} {
		if _, err := b.Verifier.Check(t.Context(), other, nil); deed.CodeOf(err) != deed.CodePaymentInvalid {
			t.Errorf("got %v, want %s", err, deed.CodePaymentInvalid)
		}
		if txHash, err := b.Settler.Settle(t.Context(), other); err == nil || settle.Refused(err) || b.Moved() != 0 {
			t.Errorf("got %q, %v and %d transfers, want an error that is not a refusal", txHash, err, b.Moved())
		}
	}
	b.settled(t, a)
}

func cancelled(t *testing.T, b Fixture) {
	b.Cancel(b.Pay("1"))
	b.refused(t, b.Pay("1"))
	b.refused(t, b.Pay("1"))
}

func expired(t *testing.T, b Fixture) {
	a := b.Pay("1")
	b.Expire()
	b.refused(t, a)
	b.refused(t, a)
}

// cut calls f with a context that ends when the connection to the chain breaks.
func (b Fixture) cut(t *testing.T, done bool, f func(context.Context) (string, error)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	broken := b.Break(done)
	go func() {
		select {
		case <-broken:
			cancel()
		case <-ctx.Done():
		}
	}()
	if txHash, err := f(ctx); err == nil || settle.Refused(err) {
		t.Fatalf("got %q, %v, want an error that is not a refusal", txHash, err)
	}
	b.Repair()
}

func failed(t *testing.T, b Fixture, done bool) {
	want := 0
	if done {
		want = 1
	}
	a := b.Pay("1")
	b.cut(t, done, func(ctx context.Context) (string, error) { return b.Settler.Settle(ctx, a) })
	if b.Moved() != want {
		t.Fatalf("got %d transfers, want %d", b.Moved(), want)
	}
	if b.settled(t, a); b.Moved() != 1 {
		t.Errorf("after the second try: got %d transfers, want 1", b.Moved())
	}
}

func raced(t *testing.T, b Fixture) {
	var wg sync.WaitGroup
	var all []settle.Authorization
	for i := range 4 {
		all = append(all, b.Pay(fmt.Sprint(i)))
	}
	hashes := make([]string, 32) // of four payments, eight callers each
	for i := range hashes {
		wg.Go(func() {
			txHash, err := b.Settler.Settle(t.Context(), all[i%4])
			if err != nil {
				t.Errorf("caller %d: %v", i, err)
			}
			hashes[i] = txHash
		})
	}
	wg.Wait()
	for i, got := range hashes {
		if want := hashes[i%4]; got != want {
			t.Errorf("caller %d: got %s, want %s", i, got, want)
		}
	}
	if b.Moved() != 4 {
		t.Errorf("got %d transfers, want 4", b.Moved())
	}
}

func thirdParty(t *testing.T, b Fixture) {
	var all []settle.Authorization
	for i := range 4 {
		all = append(all, b.Pay(fmt.Sprint(i)))
	}
	want := b.ThirdParty(all...)
	for _, a := range all {
		if got := b.settled(t, a); got != want {
			t.Errorf("got %s, want the third party's %s", got, want)
		}
		twin := a // the payer did not sign this, and the nonce is used
		twin.Amount++
		b.refused(t, twin)
	}
	if b.Moved() != 4 {
		t.Errorf("got %d transfers, want 4", b.Moved())
	}
}

const payee = deed.Wallet("0x00000000000000000000000000000000000000bb")

func (b Fixture) settled(t *testing.T, a settle.Authorization) string {
	t.Helper()
	txHash, err := b.Settler.Settle(t.Context(), a)
	if err != nil || txHash == "" {
		t.Fatalf("settle %s: got %q, %v, want a transaction", a.Nonce, txHash, err)
	}
	return txHash
}

func (b Fixture) refused(t *testing.T, a settle.Authorization) {
	t.Helper()
	moved := b.Moved()
	if txHash, err := b.Settler.Settle(t.Context(), a); !settle.Refused(err) || b.Moved() != moved {
		t.Errorf("got %q, %v and %d more transfers, want a refusal", txHash, err, b.Moved()-moved)
	}
}
