package chain_test

import (
	"bytes"
	"crypto/ecdsa"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"deed.example/deed/contracts"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// payers returns new wallets that can pay once.
func (env *testEnv) payers(n int) (keys []*ecdsa.PrivateKey) {
	env.t.Helper()
	for range n {
		key, w := newKey(env.t)
		env.give(w, int64(price))
		keys = append(keys, key)
	}
	return keys
}

func (env *testEnv) gasUsed(txHash string) uint64 {
	env.t.Helper()
	var r struct{ GasUsed hexutil.Uint64 }
	env.rpc(&r, "eth_getTransactionReceipt", txHash)
	return uint64(r.GasUsed)
}

// together starts settling one payment and, while the chain thinks about it,
// all the others: they wait together.
func (env *testEnv) together(s *chain.Settler, first settle.Authorization, others ...settle.Authorization) (<-chan answer, []<-chan answer) {
	env.t.Helper()
	asked := env.proxy.hold()
	alone := env.settleLater(s, first)
	<-asked
	var all []<-chan answer
	for _, a := range others {
		all = append(all, env.settleLater(s, a))
	}
	env.wait(func() bool { return s.Waiting() == 1+len(others) })
	env.proxy.repair()
	return alone, all
}

func TestPaymentsThatWaitTogetherShareATransaction(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		env.settled(env.settleLater(env.settler(), env.pay("the treasury's first"))) // which costs more
		var others []settle.Authorization
		for _, key := range env.payers(64) {
			others = append(others, env.payFrom(key, "1"))
		}
		alone, all := env.together(env.settler(), env.payFrom(env.payers(1)[0], "1"), others...)
		hash := env.settled(alone)
		batch := env.settled(all[0])
		for _, c := range all[1:] {
			if got := env.settled(c); got != batch {
				t.Errorf("got %s, want %s for all", got, batch)
			}
		}
		if env.moved() != 66 {
			t.Errorf("got %d transfers, want 66", env.moved())
		}
		env.noGap(env.gasKey)
		t.Logf("gas: %d alone, %d each in a batch of 64", env.gasUsed(hash), env.gasUsed(batch)/64)
	})
}

// Payers without code whose signatures are long, as those of wallets that had code when
// they paid, do not use up the gas of the others.
func TestLongSignaturesOfABatch(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		keys := env.payers(14)
		others := []settle.Authorization{env.payFrom(keys[1], "1")}
		for _, key := range keys[2:] {
			long := env.payFrom(key, "1")
			long.Signature = bytes.Repeat([]byte{0xab}, 4000)
			others = append(others, long)
		}
		alone, all := env.together(env.settler(), env.payFrom(keys[0], "1"), others...)
		env.settled(alone)
		env.settled(all[0])
		for _, c := range all[1:] {
			if got := <-c; !errors.Is(got.err, settle.ErrUnsettleable) {
				t.Errorf("a long signature: got %q, %v, want %v", got.txHash, got.err, settle.ErrUnsettleable)
			}
		}
	})
}

// A payer who gets code between the look at it and the simulation may use up the gas of
// the others. They are settled alone then.
func TestGasUsedUpInABatch(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		const each = 10 // so many that none of the others comes before all of the greedy ones by chance
		var others, greedy []settle.Authorization
		for _, key := range env.payers(each) {
			others = append(others, env.payFrom(key, "1"))
			burner := env.payFrom(key, "2")
			burner.Payer = (&testChain{Chain: env.Chain}).deploy(t, "5b600056")
			env.give(burner.Payer, int64(price))
			greedy = append(greedy, burner)
		}
		env.proxy.refusing(func(method string, params []json.RawMessage) *refusal {
			var question struct{ To, Data string }
			if method != "eth_call" || json.Unmarshal(params[0], &question) != nil || question.To != "" {
				return nil
			}
			accounts := (len(question.Data)/2-len(contracts.Compiled("CodeCheck").Create))/32 - 2
			return &refusal{result: "0x" + strings.Repeat("00", accounts)} // none has code
		})
		alone, all := env.together(env.settler(), env.payFrom(env.payers(1)[0], "1"), append(others, greedy...)...)
		env.settled(alone)
		for _, c := range all[:each] {
			env.settled(c)
		}
		for _, c := range all[each:] {
			if got := <-c; !errors.Is(got.err, settle.ErrUnsettleable) {
				t.Errorf("one that uses all gas: got %q, %v, want %v", got.txHash, got.err, settle.ErrUnsettleable)
			}
		}
	})
}

// One who drained the wallet meanwhile does not spoil the others. The payment is
// not refused, and it is not sent again either: we pay its gas once.
func TestOneOfABatchFails(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		keys := env.payers(3)
		poor, rich := env.payFrom(keys[0], "1"), env.payFrom(keys[1], "1")
		drain := env.payFrom(keys[0], "drain")
		drain.PayTo = "0x00000000000000000000000000000000000000cc"
		drain = env.signed(keys[0], drain)

		env.Pause()
		drained := make(chan struct{})
		go func() {
			defer close(drained)
			env.thirdParty(drain)
		}()
		env.inPool(1) // it comes before ours
		alone, both := env.together(s, env.payFrom(keys[2], "1"), poor, rich)
		env.inPool(3)
		env.Resume()
		<-drained
		env.settled(alone)
		env.settled(both[1])
		if env.moved() != 2 {
			t.Errorf("got %d transfers, want 2", env.moved())
		}
		if got := <-both[0]; !errors.Is(got.err, settle.ErrReverted) {
			t.Errorf("the drained wallet: got %q, %v, want %v", got.txHash, got.err, settle.ErrReverted)
		}
		env.give(poor.Payer, int64(price))
		env.pass(time.Hour / 2)
		if got := <-env.settleLater(env.settler(), poor); !errors.Is(got.err, settle.ErrReverted) || env.moved() != 2 {
			t.Errorf("the drained wallet, filled: got %q, %v, want %v", got.txHash, got.err, settle.ErrReverted)
		}
		if err := s.Abandon(t.Context(), poor); err != nil {
			t.Error(err)
		}
		if got := <-env.settleLater(env.settler(), poor); !errors.Is(got.err, settle.ErrUnsettleable) {
			t.Errorf("abandoned: got %q, %v, want %v", got.txHash, got.err, settle.ErrUnsettleable)
		}
		env.noGap(env.gasKey)
	})
}

// Two nodes with one database and one gas wallet are asked for the same hundred
// payments at once.
func TestTwoNodes(t *testing.T) {
	url := sqldbtest.MigratedPostgresURL(t)
	var env *testEnv
	var nodes []*chain.Settler
	for range 2 {
		db, err := sqldb.OpenPostgres(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		db.Timeout = time.Minute         // 200 calls wait for one row
		t.Cleanup(func() { db.Close() }) // the schema goes away with the test
		if env == nil {
			env = newEnv(t, db)
		}
		env.cfg.Store = sqldb.Settlements{DB: db, ChainID: env.cfg.Network.ChainID}
		env.cfg.Client = patient(env.url)
		nodes = append(nodes, env.settler())
	}
	var wg sync.WaitGroup
	var hashes [2][100]string
	for i := range 100 {
		a := env.pay(fmt.Sprint(i))
		for n, s := range nodes {
			wg.Go(func() {
				var err error
				if hashes[n][i], err = s.Settle(t.Context(), a); err != nil {
					t.Errorf("node %d, payment %d: %v", n, i, err)
				}
			})
		}
	}
	var refunds [2]string
	for n, s := range nodes {
		wg.Go(func() {
			var err error
			if refunds[n], err = s.Refund(t.Context(), refundOf("0x00000000000000000000000000000000000000dd", 1, 5)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if hashes[0] != hashes[1] || refunds[0] != refunds[1] {
		t.Errorf("the nodes differ: %v and %v, %v", hashes[0], hashes[1], refunds)
	}
	if got := env.usdc("0x00000000000000000000000000000000000000dd"); env.moved() != 100 || got != 5 {
		t.Errorf("got %d transfers and %s back, want 100 and 0.000005", env.moved(), got)
	}
	env.noGap(env.gasKey)
	env.noGap(env.refundKey)
	t.Logf("100 payments on two nodes in %d transactions", env.nonceOf(env.gasKey))
}
