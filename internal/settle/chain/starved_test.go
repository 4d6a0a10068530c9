package chain_test

import (
	"bytes"
	"errors"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/settle"
)

// A payer who borrows code (EIP-7702) just before the transaction that is shared with others
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
