package settletest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/settle"
)

// funds tests that the payer's balance and nonces are read at one block.
func funds(t *testing.T, b Fixture) {
	good, second, third := b.Pay("1"), b.Pay("2"), b.Pay("3")
	b.Cancel(second)
	funds, err := b.Verifier.Check(t.Context(), good, []string{second.Nonce, third.Nonce})
	if err != nil || funds.Balance != b.Balance(good.Payer) || !funds.Used[second.Nonce] || funds.Used[third.Nonce] {
		t.Errorf("got %+v, %v", funds, err)
	}
}

// nonce returns a well-formed nonce.
func nonce(n int) string { return fmt.Sprintf("0x%064x", n) }

func refundedOnce(t *testing.T, b Fixture) {
	var wg sync.WaitGroup
	hashes := make([]string, 8)
	for i := range hashes {
		wg.Go(func() { hashes[i] = b.refund(t, "1", nonce(1), 70_000) })
	}
	wg.Wait()
	// The payer's nonce identifies a refund, not our ID.
	for _, got := range append(hashes, b.refund(t, "1", nonce(1), 70_000), b.refund(t, "another id", nonce(1), 70_000)) {
		if got != hashes[0] {
			t.Errorf("got %s and %s for one refund", hashes[0], got)
		}
	}
	if got := b.Balance(payee); got != 70_000 {
		t.Errorf("got %s back, want 0.07", got)
	}
	if b.refund(t, "1", nonce(2), 1); b.Balance(payee) != 70_001 {
		t.Errorf("another refund: got %s back", b.Balance(payee))
	}
	part := settle.Refund{PaymentID: "1", Payer: payee, Nonce: nonce(3), Amount: 20, Label: "change"}
	for range 2 {
		if txHash, err := b.Chain.Refund(t.Context(), part); err != nil || txHash == "" || b.Balance(payee) != 70_021 {
			t.Errorf("the refund of a part: got %q, %v, %s back", txHash, err, b.Balance(payee))
		}
	}
	for _, label := range []string{"", "undo", "nonsense"} {
		part.Label = label
		if txHash, err := b.Chain.Refund(t.Context(), part); err == nil || b.Balance(payee) != 70_021 {
			t.Errorf("a second refund as %q: got %q, %v, %s back", label, txHash, err, b.Balance(payee))
		}
	}
}

func failedRefund(t *testing.T, b Fixture, done bool) {
	r := settle.Refund{PaymentID: "1", Payer: payee, Nonce: nonce(1), Amount: 70_000}
	b.cut(t, done, func(ctx context.Context) (string, error) { return b.Chain.Refund(ctx, r) })
	b.refund(t, "1", nonce(1), 70_000)
	if got := b.Balance(payee); got != 70_000 {
		t.Errorf("got %s back, want 0.07", got)
	}
}

func incoming(t *testing.T, b Fixture) {
	want := map[string]string{} // transaction by nonce
	ours := b.Pay("1")
	want[ours.Nonce] = b.settled(t, ours)
	thirdParties := []settle.Authorization{b.Pay("2"), b.Pay("3")}
	txHash := b.ThirdParty(thirdParties...)
	for _, a := range thirdParties {
		want[a.Nonce] = txHash
	}
	b.Cancel(b.Pay("4"))
	var from uint64
	for {
		got, err := b.Chain.Incoming(t.Context(), from)
		if err != nil || got.Next < from || got.Next == from && from <= got.Final || len(got.Unread) != 0 {
			t.Fatalf("got %+v, %v, from %d", got, err, from)
		}
		for _, tr := range got.Transfers {
			if tr.TxHash != want[tr.Nonce] || tr.Payer != ours.Payer || tr.PayTo != ours.PayTo || tr.Amount != ours.Amount || tr.Block < from || tr.At.IsZero() {
				t.Errorf("got %+v, want transaction %s", tr, want[tr.Nonce])
			}
			delete(want, tr.Nonce)
		}
		if from = got.Next; from > got.Final {
			break
		}
	}
	if len(want) > 0 {
		t.Errorf("not seen: %v", want)
	}
}

func (b Fixture) refund(t *testing.T, id, nonce string, amount deed.USDC) string {
	t.Helper()
	txHash, err := b.Chain.Refund(t.Context(), settle.Refund{PaymentID: id, Payer: payee, Nonce: nonce, Amount: amount})
	if err != nil || txHash == "" {
		t.Errorf("refund %s: got %q, %v, want a transaction", id, txHash, err)
	}
	return txHash
}
