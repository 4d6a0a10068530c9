package chain_test

import (
	"crypto/ecdsa"
	"encoding/json"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed/internal/settle"
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

func (env *testEnv) settleLater(s *chain.Settler, a settle.Authorization) <-chan answer {
	return later(func() (string, error) { return s.Settle(env.t.Context(), a) })
}

// settled waits for a settler that has settled.
func (env *testEnv) settled(c <-chan answer) string {
	env.t.Helper()
	got := <-c
	if got.err != nil || got.txHash == "" {
		env.t.Fatalf("got %q, %v, want a transaction", got.txHash, got.err)
	}
	return got.txHash
}

func (env *testEnv) refused(c <-chan answer) {
	env.t.Helper()
	if got := <-c; !settle.Refused(got.err) {
		env.t.Fatalf("got %q, %v, want a refusal", got.txHash, got.err)
	}
}

// wait waits until something is so.
func (env *testEnv) wait(so func() bool) {
	env.t.Helper()
	for !so() {
		select {
		case <-env.t.Context().Done():
			env.t.Fatal("it never came")
		case <-time.After(time.Millisecond):
		}
	}
}

// inPool waits until so many transactions wait for a block.
func (env *testEnv) inPool(n int) {
	env.t.Helper()
	env.wait(func() bool {
		var pending struct{ Transactions []json.RawMessage }
		env.rpc(&pending, "eth_getBlockByNumber", "pending", false)
		return len(pending.Transactions) == n
	})
}

// signedBy returns what an account of ours has signed so far.
func (env *testEnv) signedBy(key *ecdsa.PrivateKey) []settle.Transaction {
	env.t.Helper()
	all, err := env.cfg.Store.Unmined(env.t.Context(), walletAt(crypto.PubkeyToAddress(key.PublicKey)), 0)
	if err != nil {
		env.t.Fatal(err)
	}
	return all
}

// noGap fails unless every nonce that was given out is mined, each once.
func (env *testEnv) noGap(key *ecdsa.PrivateKey) {
	env.t.Helper()
	all, mined := env.signedBy(key), env.nonceOf(key)
	if len(all) != int(mined) {
		env.t.Errorf("signed %d transactions, and %d are mined", len(all), mined)
	}
	for i, tx := range all {
		if tx.Nonce != uint64(i) {
			env.t.Errorf("transaction %d has nonce %d", i, tx.Nonce)
		}
	}
}

// rounds waits until the settler has gone round twice, so that it has seen all
// that was there before.
func (env *testEnv) rounds() {
	env.t.Helper()
	from := env.proxy.rounds()
	env.wait(func() bool { return env.proxy.rounds() >= from+2 })
}
