package chain_test

import (
	"bytes"
	"crypto/ecdsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"deed.example/deed/contracts"
	"deed.example/deed/internal/devchain"
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

// A payer who borrows code (EIP-7702) just before the transaction that he shares with others
// can use up its gas. The others are settled nevertheless, alone, and are not blamed.
func TestGasUsedUpInABlock(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		const each = 10 // so many that none of the others comes before all of the greedy ones by chance
		burner := common.HexToAddress(string((&testChain{Chain: env.Chain}).deploy(t, "5b600056")))
		var payments []settle.Authorization
		var borrow []types.SetCodeAuthorization
		for i, key := range env.payers(2 * each) {
			payments = append(payments, env.payFrom(key, "1"))
			if i < each {
				continue
			}
			auth, err := types.SignSetCode(key, types.SetCodeAuthorization{ChainID: *uint256.NewInt(devchain.ChainID), Address: burner})
			if err != nil {
				t.Fatal(err)
			}
			borrow = append(borrow, auth)
		}
		s, first := env.settler(), env.payFrom(env.payers(1)[0], "1")
		env.Pause()
		env.borrowCode(borrow...)
		env.inPool(1) // it comes before ours
		alone, all := env.together(s, first, payments...)
		env.inPool(3)
		env.Resume()
		env.settled(alone)
		for _, c := range all[:each] {
			env.settled(c)
		}
		for _, c := range all[each:] {
			if got := <-c; !errors.Is(got.err, settle.ErrReverted) {
				t.Errorf("one that uses all gas: got %q, %v, want %v", got.txHash, got.err, settle.ErrReverted)
			}
		}
		env.noGap(env.gasKey)
	})
}

// Anybody can make many wallets of code. Their payments are simulated at the same time, after
// those of plain wallets were signed, so that they delay nobody for long.
func TestManyWalletsOfCode(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		const wallets = 3
		b := &testChain{Chain: env.Chain}
		var payments []settle.Authorization
		for range wallets {
			w := b.deploy(t, "60006000fd") // it refuses every signature
			env.give(w, int64(price))
			a := env.pay("1")
			a.Payer = w
			payments = append(payments, a)
		}
		var mu sync.Mutex
		waiting, signed, all := 0, -1, make(chan struct{})
		slow := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			ofCode := slices.ContainsFunc(payments, func(a settle.Authorization) bool { return bytes.Contains(body, []byte(a.Payer[2:])) })
			if ofCode && bytes.Contains(body, []byte(env.cfg.Network.Multicall[2:])) {
				mu.Lock()
				if signed < 0 {
					signed = len(env.signedBy(env.gasKey))
				}
				if waiting++; waiting == wallets {
					close(all)
				}
				mu.Unlock()
				<-all
			}
			env.proxy.ServeHTTP(rw, r)
		}))
		defer slow.Close()
		env.cfg.Client = patient(slow.URL)
		first := env.payFrom(env.payers(1)[0], "1")
		alone, answers := env.together(env.settler(), first, append(payments, env.payFrom(env.payers(1)[0], "2"))...)
		env.settled(alone)
		env.settled(answers[wallets])
		for _, c := range answers[:wallets] {
			if got := <-c; !errors.Is(got.err, settle.ErrUnsettleable) {
				t.Errorf("a wallet of code: got %q, %v, want %v", got.txHash, got.err, settle.ErrUnsettleable)
			}
		}
		if signed < 2 {
			t.Error("the plain wallets were signed for last")
		}
	})
}

// borrowCode sends the authorizations of other wallets that borrow code.
func (env *testEnv) borrowCode(all ...types.SetCodeAuthorization) {
	env.t.Helper()
	tx := types.MustSignNewTx(env.payer, types.LatestSignerForChainID(big.NewInt(devchain.ChainID)), &types.SetCodeTx{
		ChainID: uint256.NewInt(devchain.ChainID), Nonce: env.nonceOf(env.payer), GasTipCap: uint256.NewInt(1e9), GasFeeCap: uint256.NewInt(2e9),
		Gas: 100_000 + 50_000*uint64(len(all)), AuthList: all,
	})
	raw, err := tx.MarshalBinary()
	if err != nil {
		env.t.Fatal(err)
	}
	var hash common.Hash
	env.rpc(&hash, "eth_sendRawTransaction", hexutil.Encode(raw))
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
