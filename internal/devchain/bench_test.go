package devchain_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/core/types"

	"deed.example/deed/internal/devchain"
)

const payers = 64 // in one batch

// payments signs n payments to one payee, from as many payers as fit into a batch.
func (b *env) payments(tb testing.TB, n int) []call3 {
	tb.Helper()
	payee := newWallet(tb)
	all := make([]wallet, payers)
	for i := range all {
		all[i] = b.fundedWallet(tb, int64(n)+1)
	}
	calls := make([]call3, n)
	for i := range calls {
		payer := all[i%payers]
		a := newTransfer(payer.addr, payee.addr, 1, fmt.Sprint("payment ", i))
		calls[i] = call3{usdc, true, a.data(tb, b, "transferWithAuthorization", a.sign(tb, payer, transferType))}
	}
	// The payee has a balance and each payer keeps some, so that no payment creates
	// or clears a balance: all cost the same gas.
	if _, _, err := b.Faucet(tb.Context(), payee.hex(), 1); err != nil {
		tb.Fatal(err)
	}
	return calls
}

// settle sends all transactions concurrently and waits until they are mined.
func settle(tb testing.TB, b *env, txs []*types.Transaction) (gas uint64) {
	tb.Helper()
	b.Pause()
	for _, tx := range txs {
		if err := b.post(tb, tx); err != nil {
			tb.Fatal(err)
		}
	}
	b.Resume()
	for _, tx := range txs {
		r := b.receipt(tb, tx.Hash())
		for ; r == nil; r = b.receipt(tb, tx.Hash()) {
			if err := b.Mine(); err != nil {
				tb.Fatal(err)
			}
		}
		if r.Status != 1 {
			tb.Fatalf("payment %s failed", tx.Hash())
		}
		gas += uint64(r.GasUsed)
	}
	return gas
}

// BenchmarkSettle settles EIP-3009 payments through the JSON-RPC, synced to the
// disk, one in a transaction and 64 in one.
func BenchmarkSettle(bm *testing.B) {
	for _, size := range []int{1, payers} {
		bm.Run(fmt.Sprintf("%d_in_a_transaction", size), func(bm *testing.B) {
			b := open(bm)
			carrier := b.fundedWallet(bm, 1)
			calls := b.payments(bm, bm.N*size)
			var txs []*types.Transaction
			for i := range bm.N {
				to, data := &usdc, calls[i].CallData
				if size > 1 {
					to, data = &batch, pack(bm, b.multicall, "aggregate3", calls[i*size:(i+1)*size])
				}
				txs = append(txs, carrier.sign(bm, uint64(i), to, data))
			}
			var gas uint64
			bm.ResetTimer()
			for len(txs) > 0 { // as many as the pool takes of one sender
				n := min(len(txs), 1000)
				gas += settle(bm, b, txs[:n])
				txs = txs[n:]
			}
			paid := float64(bm.N * size)
			bm.ReportMetric(paid/bm.Elapsed().Seconds(), "payments/s")
			bm.ReportMetric(float64(gas)/paid, "gas/payment")
		})
	}
}

// BenchmarkOpen opens a chain with a thousand payments in it.
func BenchmarkOpen(bm *testing.B) {
	dir := bm.TempDir()
	b := openAt(bm, dir, time.Now)
	carrier := b.fundedWallet(bm, 1)
	var txs []*types.Transaction
	for i, c := range b.payments(bm, 1000) {
		txs = append(txs, carrier.sign(bm, uint64(i), &usdc, c.CallData))
	}
	settle(bm, b, txs)
	if err := b.Close(); err != nil {
		bm.Fatal(err)
	}
	for bm.Loop() {
		c, err := devchain.Open(devchain.Config{Dir: dir, Now: time.Now})
		if err != nil {
			bm.Fatal(err)
		}
		if err := c.Close(); err != nil {
			bm.Fatal(err)
		}
	}
}

// BenchmarkCheck checks with eth_call whether a payment would succeed.
func BenchmarkCheck(bm *testing.B) {
	b := open(bm)
	data := b.payments(bm, 1)[0].CallData
	for bm.Loop() {
		if _, err := b.call(usdc, data); err != nil {
			bm.Fatal(err)
		}
	}
}

// A payment in a batch costs less than one alone. The settler's choice of batches is
// based on these figures.
func TestGasOfPayments(t *testing.T) {
	b := open(t)
	carrier := b.fundedWallet(t, 1)
	calls := b.payments(t, payers+1)
	together := b.send(t, carrier, &batch, pack(t, b.multicall, "aggregate3", calls[:payers]))
	alone := b.send(t, carrier, &usdc, calls[payers].CallData)
	each := uint64(together.GasUsed) / payers
	t.Logf("gas of one payment: %d alone, %d in a batch of %d", alone.GasUsed, each, payers)
	if alone.Status != 1 || together.Status != 1 || len(together.Logs) != 2*payers || each*5 > uint64(alone.GasUsed)*4 {
		t.Errorf("got %d alone and %d in a batch, want a fifth less", alone.GasUsed, each)
	}
}

// The most expensive payment: the payer empties its account and the payee is new.
func TestGasOfFirstPayment(t *testing.T) {
	b := open(t)
	payer, carrier := b.fundedWallet(t, 10), b.fundedWallet(t, 1)
	a := newTransfer(payer.addr, newWallet(t).addr, 5, "first")
	r := b.send(t, carrier, &usdc, a.data(t, b, "transferWithAuthorization", a.sign(t, payer, transferType)))
	t.Logf("gas of a first payment to a new payee: %d", r.GasUsed)
	if r.Status != 1 || r.GasUsed > 110_000 {
		t.Errorf("got status %d and %d gas, want at most 110000", r.Status, r.GasUsed)
	}
}
