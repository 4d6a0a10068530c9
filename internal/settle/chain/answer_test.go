package chain_test

import (
	"crypto/ecdsa"
	"encoding/json"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
	"deed.example/deed/internal/settle/chain"
)

// An answer is what a call of the settler's returned.
type answer struct {
	txHash string
	err    error
}

// later makes a call of the settler's that a test does not wait for.
func later(call func() (string, error)) <-chan answer {
	c := make(chan answer, 1)
	go func() {
		txHash, err := call()
		c <- answer{txHash, err}
	}()
	return c
}

func (h *house) settleLater(s *chain.Settler, a deed.Authorization) <-chan answer {
	return later(func() (string, error) { return s.Settle(h.t.Context(), a) })
}

// settled waits for a settler that has settled.
func (h *house) settled(c <-chan answer) string {
	h.t.Helper()
	got := <-c
	if got.err != nil || got.txHash == "" {
		h.t.Fatalf("got %q, %v, want a transaction", got.txHash, got.err)
	}
	return got.txHash
}

func (h *house) refused(c <-chan answer) {
	h.t.Helper()
	if got := <-c; !deed.Refused(got.err) {
		h.t.Fatalf("got %q, %v, want a refusal", got.txHash, got.err)
	}
}

// wait waits until something is so.
func (h *house) wait(so func() bool) {
	h.t.Helper()
	for !so() {
		select {
		case <-h.t.Context().Done():
			h.t.Fatal("it never came")
		case <-time.After(time.Millisecond):
		}
	}
}

// inPool waits until so many transactions wait for a block.
func (h *house) inPool(n int) {
	h.t.Helper()
	h.wait(func() bool {
		var pending struct{ Transactions []json.RawMessage }
		h.rpc(&pending, "eth_getBlockByNumber", "pending", false)
		return len(pending.Transactions) == n
	})
}

// signedBy returns what an account of ours has signed so far.
func (h *house) signedBy(key *ecdsa.PrivateKey) []deed.Transaction {
	h.t.Helper()
	all, err := h.cfg.Store.Unmined(h.t.Context(), walletAt(crypto.PubkeyToAddress(key.PublicKey)), 0)
	if err != nil {
		h.t.Fatal(err)
	}
	return all
}

// noGap fails unless every nonce that was given out is mined, each once.
func (h *house) noGap(key *ecdsa.PrivateKey) {
	h.t.Helper()
	all, mined := h.signedBy(key), h.nonceOf(key)
	if len(all) != int(mined) {
		h.t.Errorf("signed %d transactions, and %d are mined", len(all), mined)
	}
	for i, tx := range all {
		if tx.Nonce != uint64(i) {
			h.t.Errorf("transaction %d has nonce %d", i, tx.Nonce)
		}
	}
}

// rounds waits until the settler has gone round twice, so that it has seen all
// that was there before.
func (h *house) rounds() {
	h.t.Helper()
	from := h.way.rounds()
	h.wait(func() bool { return h.way.rounds() >= from+2 })
}
