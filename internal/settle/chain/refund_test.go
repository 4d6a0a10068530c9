package chain_test

import (
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"deed.example/deed"
	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// A refund is believed at its depth, survives a reorganisation, and pays once.
func TestRefundDepth(t *testing.T) {
	const payee = deed.Wallet("0x00000000000000000000000000000000000000bb")
	eachEnv(t, func(t *testing.T, env *testEnv) {
		env.cfg.Network.Finality = network.Blocks(3)
		s := env.settler()
		c := env.refundLater(s, refundOf(payee, 1, 7))
		env.wait(func() bool { return env.usdc(payee) == 7 })
		env.Pause()
		if _, err := env.Rewind(1); err != nil {
			t.Fatal(err)
		}
		env.inPool(1) // sent again
		env.pass(pauseOver)
		env.Resume()
		env.wait(func() bool { return env.usdc(payee) == 7 })
		for depth := 1; depth < 3; depth++ {
			env.rounds()
			select {
			case got := <-c:
				t.Fatalf("got %q, %v at depth %d, want no answer", got.txHash, got.err, depth)
			default:
			}
			env.mine(1)
		}
		env.settled(c)
		if env.usdc(payee) != 7 || len(env.signedBy(env.refundKey)) != 1 {
			t.Errorf("got %s back by %d transactions, want 0.000007 by one", env.usdc(payee), len(env.signedBy(env.refundKey)))
		}
	})
}

// What was refunded with a label is read from the chain, also by a database that does not
// know of it, once it is final.
func TestRefundedAmount(t *testing.T) {
	const payee = deed.Wallet("0x00000000000000000000000000000000000000bb")
	eachEnv(t, func(t *testing.T, env *testEnv) {
		env.cfg.Network.Finality = network.Blocks(3)
		s, change := env.settler(), refundOf(payee, 1, 7)
		change.Label = "change"
		if got, err := s.RefundedAmount(t.Context(), change); err != nil || got != 0 {
			t.Errorf("before: got %s, %v", got, err)
		}
		c := env.refundLater(s, change)
		env.wait(func() bool { return env.usdc(payee) == 7 })
		env.restored(sqldbtest.SQLite(t))
		again := env.settler()
		if got, err := again.RefundedAmount(t.Context(), change); err == nil {
			t.Errorf("not final: got %s, want an error", got)
		}
		env.mine(3)
		env.settled(c)
		change.Amount = 8
		if got, err := again.RefundedAmount(t.Context(), change); err != nil || got != 7 {
			t.Errorf("got %s, %v, want 0.000007", got, err)
		}
		var many []settle.Refund
		for n := range 70 { // more than fit into one call
			r := refundOf(payee, n, 7)
			r.Label = "change"
			many = append(many, r)
		}
		if got, err := again.RefundedAll(t.Context(), many); err != nil || len(got) != 70 || !got[1] || slices.Contains(append(got[:1:1], got[2:]...), true) {
			t.Errorf("of many: got %v, %v", got, err)
		}
		change.Label = ""
		if got, err := again.RefundedAmount(t.Context(), change); err != nil || got != 0 {
			t.Errorf("without the label: got %s, %v", got, err)
		}
	})
}

// The same refund with other particulars is neither made nor called made.
func TestRefundOfAnotherAmount(t *testing.T) {
	const payee = deed.Wallet("0x00000000000000000000000000000000000000bb")
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		env.settled(env.refundLater(s, refundOf(payee, 1, 7)))
		got := <-env.refundLater(s, refundOf(payee, 1, 8))
		if got.err == nil || settle.Refused(got.err) || env.usdc(payee) != 7 {
			t.Errorf("got %q, %v and %s back, want an error and 0.000007", got.txHash, got.err, env.usdc(payee))
		}
	})
}

// What left the refund wallet is seen when it is final; until then its
// transaction is known to be a young one.
func TestOutgoing(t *testing.T) {
	const payee = deed.Wallet("0x00000000000000000000000000000000000000bb")
	eachEnv(t, func(t *testing.T, env *testEnv) {
		hash := env.settled(env.refundLater(env.settler(), refundOf(payee, 1, 7)))
		env.settled(env.settleLater(env.settler(), env.pay("1"))) // what comes in is no payout
		env.cfg.Network.Finality = network.Blocks(3)
		s := env.settler()
		got, _, next, err := s.Outgoing(t.Context(), 0)
		young, sinceErr := s.Since(t.Context(), hash, next)
		if err != nil || sinceErr != nil || len(got) != 0 || !young {
			t.Errorf("at depth 2: got %+v, young is %v, %v, %v", got, young, err, sinceErr)
		}
		env.mine(1)
		got, _, next, err = s.Outgoing(t.Context(), next)
		if err != nil || len(got) != 1 || got[0].To != payee || got[0].Amount != 7 || got[0].TxHash != hash {
			t.Errorf("at depth 3: got %+v, %v", got, err)
		}
		if young, err := s.Since(t.Context(), hash, next); err != nil || young {
			t.Errorf("at depth 3: young is %v, %v", young, err)
		}
		if young, err := s.Since(t.Context(), common.Hash{1}.Hex(), 0); err != nil || young {
			t.Errorf("one that nobody knows: young is %v, %v", young, err)
		}
	})
}

// A transaction that was reverted moved nothing, in whatever block it is.
func TestSinceOfARevertedTransaction(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s, a := env.settler(), env.pay("1")
		done := env.thirdParty(a)
		tx := types.MustSignNewTx(env.gasKey, types.LatestSignerForChainID(big.NewInt(devchain.ChainID)), &types.DynamicFeeTx{
			ChainID: big.NewInt(devchain.ChainID), GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e10), Gas: 200_000, To: &env.token, Data: transferCall(a),
		})
		raw, err := tx.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		reverted := ""
		env.rpc(&reverted, "eth_sendRawTransaction", hexutil.Encode(raw)) // the nonce of the payment is used
		env.mine(1)
		for hash, want := range map[string]bool{done: true, reverted: false} {
			if got, err := s.Since(t.Context(), hash, 0); err != nil || got != want {
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
		}
	})
}

// Our wallets are asked for, not believed.
func TestReserves(t *testing.T) {
	env := newEnv(t, sqldbtest.SQLite(t))
	got, err := env.settler().Reserves(t.Context())
	if err != nil || got.Gas.Cmp(big.NewInt(1e18)) != 0 || got.USDC != 1_000_000_000 || got.Batches < 1 || got.Settlements < 30*got.Batches || got.Refunds < got.Settlements {
		t.Errorf("got %+v, %v", got, err)
	}
	gasKey, _ := newKey(t)
	refundKey, _ := newKey(t)
	env.signWith(gasKey, refundKey)
	s := env.settler()
	got, err = s.Reserves(t.Context())
	if err != nil || got.Gas.Sign() != 0 || got.Settlements+got.Batches+got.Refunds+int64(got.USDC) != 0 {
		t.Errorf("empty wallets: got %+v, %v", got, err)
	}
	// A chain that takes a million gwei for each byte that it publishes.
	fees := (&testChain{Chain: env.Chain}).deploy(t, "60043566038d7ea4c680000260005260206000f3")
	env.cfg.Network.FeeOracle = fees
	env.give(walletAt(addressOfKey(env.gasKey)), 1)
	dear, err := env.settler().Reserves(t.Context())
	if err != nil || dear.Settlements != 1 || dear.Batches != 0 {
		t.Errorf("with a fee for data: got %+v, %v, want one settlement and no batch", dear, err)
	}
	env.proxy.cut()
	if _, err := s.Reserves(t.Context()); err == nil {
		t.Error("no chain: got an answer")
	}
}
