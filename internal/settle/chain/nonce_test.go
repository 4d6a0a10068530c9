package chain_test

import (
	"crypto/ecdsa"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"deed.example/deed"
	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// elsewhere sends a transaction of one of our keys that the store knows nothing
// of.
func (env *testEnv) elsewhere(key *ecdsa.PrivateKey, nonce uint64, tip int64) common.Hash {
	env.t.Helper()
	to := common.HexToAddress("0x00000000000000000000000000000000000000ee")
	tx := types.MustSignNewTx(key, types.LatestSignerForChainID(big.NewInt(devchain.ChainID)), &types.DynamicFeeTx{
		ChainID: big.NewInt(devchain.ChainID), Nonce: nonce, GasTipCap: big.NewInt(tip), GasFeeCap: big.NewInt(tip + 1e9), Gas: 21_000, To: &to, Value: big.NewInt(1),
	})
	raw, err := tx.MarshalBinary()
	if err != nil {
		env.t.Fatal(err)
	}
	var hash common.Hash
	env.rpc(&hash, "eth_sendRawTransaction", hexutil.Encode(raw))
	return hash
}

// clean fails unless the audit of the nonces is clean.
func clean(t *testing.T, db *sqldb.DB) {
	t.Helper()
	findings, err := sqldb.Audit{DB: db}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if f.Broken != 0 {
			t.Errorf("%s: %d times", f.Invariant, f.Broken)
		}
	}
}

const nonceBB = deed.Wallet("0x00000000000000000000000000000000000000bb")

// A transaction from elsewhere, before or while something of ours is open, takes
// a nonce of our wallets and nothing else.
func TestForeignTransactions(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		env := newEnv(t, db)
		s := env.settler()
		env.settled(env.settleLater(s, env.pay("1")))
		env.settled(env.refundLater(s, refundOf(nonceBB, 1, 7)))
		for n := range uint64(3) {
			env.elsewhere(env.gasKey, 1+n, 1e9)
			env.elsewhere(env.refundKey, 1+n, 1e9)
		}
		env.settled(env.settleLater(s, env.pay("2")))
		env.settled(env.refundLater(s, refundOf(nonceBB, 2, 7)))
		clean(t, db)

		// Now at the very nonce that ours has, and for a better fee.
		env.Pause()
		paid, back := env.settleLater(s, env.pay("3")), env.refundLater(s, refundOf(nonceBB, 3, 7))
		env.inPool(2)
		env.elsewhere(env.gasKey, 5, 1e10)
		env.elsewhere(env.refundKey, 5, 1e10)
		env.Resume()
		env.wait(func() bool { return env.nonceOf(env.gasKey) == 6 && env.nonceOf(env.refundKey) == 6 })
		env.pass(pauseOver)
		env.settled(paid)
		env.settled(back)
		if env.moved() != 3 || env.usdc(nonceBB) != 21 {
			t.Errorf("got %d transfers and %s back, want 3 and 0.000021", env.moved(), env.usdc(nonceBB))
		}
		clean(t, db)
	})
}

// When the foreign transaction vanishes, its nonce is filled: ours above it could
// not be mined.
func TestForeignTransactionVanishes(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		env := newEnv(t, db)
		env.cfg.Network.Finality = network.Blocks(2)
		s := env.settler()
		c := env.settleLater(s, env.pay("1"))
		env.wait(func() bool { return env.moved() == 1 })
		env.mine(1)
		env.settled(c)
		env.elsewhere(env.gasKey, 1, 1e9)
		env.wait(func() bool { return env.nonceOf(env.gasKey) == 2 })
		c = env.settleLater(s, env.pay("2"))
		env.wait(func() bool { return env.moved() == 2 })
		env.Pause()
		if _, err := env.Rewind(2); err != nil { // ours and the foreign one
			t.Fatal(err)
		}
		env.Resume()
		env.wait(func() bool { return env.moved() == 2 })
		env.mine(1)
		env.settled(c)
		if n := env.nonceOf(env.gasKey); n != 3 {
			t.Errorf("got %d transactions, want 3", n)
		}
		clean(t, db)
	})
}

// restored returns a store as it was before anything of the given kind happened:
// another database with the same wallets, which knows of none of it.
func (env *testEnv) restored(db *sqldb.DB) {
	env.cfg.Store = sqldb.Settlements{DB: db, ChainID: env.cfg.Network.ChainID}
}

// A database that was restored to before the last payments and refunds goes on
// from the chain, and refunds nothing twice.
func TestRestoredDatabase(t *testing.T) {
	for name, open := range map[string]func(testing.TB) *sqldb.DB{"sqlite": sqldbtest.SQLite, "postgres": sqldbtest.Postgres} {
		t.Run(name, func(t *testing.T) {
			now, backup := open(t), open(t)
			env := newEnv(t, backup)
			s := env.settler()
			env.settled(env.settleLater(s, env.pay("1"))) // is in the backup
			env.settled(env.refundLater(s, refundOf(nonceBB, 1, 7)))
			env.restored(now)
			s = env.settler() // begins at the chain's count
			var paid, back []string
			for i := range 3 {
				paid = append(paid, env.settled(env.settleLater(s, env.pay("later"+string(rune('a'+i))))))
				back = append(back, env.settled(env.refundLater(s, refundOf(nonceBB, 10+i, 7))))
			}
			env.restored(backup)
			s = env.settler()
			for i := range 3 {
				r := refundOf(nonceBB, 10+i, 7)
				r.PaymentID = "another id"
				if got := env.settled(env.refundLater(s, r)); got != back[i] {
					t.Errorf("got %s, want the first refund %s", got, back[i])
				}
				if got := env.settled(env.settleLater(s, env.pay("later"+string(rune('a'+i))))); got != paid[i] {
					t.Errorf("got %s, want %s", got, paid[i])
				}
			}
			if env.usdc(nonceBB) != 28 {
				t.Errorf("got %s back, want 0.000028", env.usdc(nonceBB))
			}
			env.settled(env.settleLater(s, env.pay("new")))
			env.settled(env.refundLater(s, refundOf(nonceBB, 20, 7)))
			clean(t, backup)
		})
	}
}

// The refund was made by an earlier wallet of ours.
func TestRefundedByAnEarlierWallet(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		env := newEnv(t, db)
		env.cfg.Network.Finality = network.Blocks(3)
		key, w := newKey(t)
		env.give(w, 1_000_000)
		first := env.settler()
		c := env.refundLater(first, refundOf(nonceBB, 1, 7))
		env.wait(func() bool { return env.usdc(nonceBB) == 7 })
		other := sqldbtest.SQLite(t) // forgot all but the wallets
		env.restored(other)
		env.settler() // it notes the wallet
		env.signWith(env.gasKey, key)
		again := env.refundLater(env.settler(), refundOf(nonceBB, 1, 7))
		env.rounds()
		env.mine(2)
		hash := env.settled(c)
		if got := env.settled(again); got != hash || env.usdc(nonceBB) != 7 {
			t.Errorf("got %s and %s back, want %s and 0.000007", got, env.usdc(nonceBB), hash)
		}
	})
}

// Refunds that were signed as plain transfers finish as such, and one that
// cannot any more is made by authorization.
func TestRefundSignedAsATransfer(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		env := newEnv(t, db)
		store := sqldb.Settlements{DB: db, ChainID: env.cfg.Network.ChainID}
		sign := func(id string, nonce uint64, gas uint64) {
			t.Helper()
			purpose := "refund " + common.Bytes2Hex(env.token[:]) + " " + id
			in := settle.Intent{From: walletAt(addressOfKey(env.refundKey)), First: nonce, Purposes: []string{purpose}, Attempt: 1}
			_, err := store.Sign(t.Context(), in, func(nonce uint64, _ []string) (settle.Transaction, error) {
				tx := types.MustSignNewTx(env.refundKey, types.LatestSignerForChainID(big.NewInt(devchain.ChainID)), &types.DynamicFeeTx{
					ChainID: big.NewInt(devchain.ChainID), Nonce: nonce, GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(2e9), Gas: gas, To: &env.token, Data: transferOf(addressOf(nonceBB), 7),
				})
				raw, err := tx.MarshalBinary()
				return settle.Transaction{From: in.From, Nonce: nonce, Hash: tx.Hash().Hex(), Raw: raw, SignedAt: env.now()}, err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		one, two := refundOf(nonceBB, 1, 7), refundOf(nonceBB, 2, 7)
		sign(one.PaymentID, 0, 100_000)
		sign(two.PaymentID, 0, 25_000) // too little gas: it fails
		s := env.settler()
		hash := env.settled(env.refundLater(s, one))
		sent, err := store.Sent(t.Context(), walletAt(addressOfKey(env.refundKey)), []string{"refund " + common.Bytes2Hex(env.token[:]) + " " + one.PaymentID})
		if err != nil {
			t.Fatal(err)
		}
		for _, all := range sent.For {
			if len(all) != 1 || all[0].Hash != hash {
				t.Errorf("got %s, want the transfer %v", hash, all)
			}
		}
		c := env.refundLater(s, two)
		env.wait(func() bool { return env.nonceOf(env.refundKey) == 2 })
		env.pass(pauseOver)
		env.settled(c)
		if env.usdc(nonceBB) != 14 || env.nonceOf(env.refundKey) != 3 {
			t.Errorf("got %s back in %d transactions, want 0.000014 in 3", env.usdc(nonceBB), env.nonceOf(env.refundKey))
		}
	})
}

// A payment to the treasury of before is settled, expires and is seen, also by a
// node that still has the old configuration.
func TestChangedTreasury(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		old := env.settler()
		open, expires := env.pay("open"), env.pay("expires")
		_, treasury := newKey(t)
		env.cfg.PayTo = addressOf(treasury)
		s := env.settler()
		fresh := env.pay("fresh")
		if _, err := s.Check(t.Context(), open, nil); deed.CodeOf(err) != deed.CodePaymentInvalid {
			t.Errorf("a new payment to the old treasury: got %v", err)
		}
		env.settled(env.settleLater(s, open))
		env.settled(env.settleLater(old, fresh))
		for _, node := range []*chain.Settler{s, old} {
			env.seen(node, open, fresh)
		}
		got := env.arrivals(s)
		for _, tr := range got.Transfers {
			if want := map[string]deed.Wallet{open.Nonce: open.PayTo, fresh.Nonce: fresh.PayTo}[tr.Nonce]; tr.PayTo != want {
				t.Errorf("got %s, want %s", tr.PayTo, want)
			}
		}
		if ours, err := s.SentByUs(t.Context(), got.Transfers[0].TxHash); err != nil || !ours {
			t.Errorf("got %v, %v, want ours", ours, err)
		}
		env.pass(2 * time.Hour)
		env.mine(1)
		env.refused(env.settleLater(s, expires))
	})
}
