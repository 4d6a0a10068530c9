package chain_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"deed.example/deed/internal/network"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// lie makes the endpoint return something else for the newest block.
func (env *testEnv) lie(object string) {
	env.proxy.refusing(func(method string, params []json.RawMessage) *refusal {
		if method == "eth_getBlockByNumber" && string(params[0]) == `"latest"` {
			return &refusal{object: object}
		}
		return nil
	})
}

// A block that the chain cannot have made yet is not believed: what was read up to it
// would be stored, and no transfer before it would ever be looked for. Another endpoint is
// asked.
func TestImplausibleBlock(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		env.cfg.Network.Embedded = false
		honest := httptest.NewServer(env.Handler())
		defer honest.Close()
		hash := `"hash":"0x` + strings.Repeat("ab", 32) + `","baseFeePerGas":"0x1"`
		soon, years := time.Now().Unix(), time.Now().AddDate(50, 0, 0).Unix()
		for name, block := range map[string]string{
			"far ahead":         fmt.Sprintf(`{"number":"0xffffffff","timestamp":"%s",%s}`, hexutil.EncodeUint64(uint64(soon)), hash),
			"years ahead":       fmt.Sprintf(`{"number":"0xffffffff","timestamp":"%s",%s}`, hexutil.EncodeUint64(uint64(years)), hash),
			"the largest block": fmt.Sprintf(`{"number":"0xffffffffffffffff","timestamp":"0xffffffffffffffff",%s}`, hash),
		} {
			t.Run(name, func(t *testing.T) {
				env.proxy.refusing(nil)
				env.cfg.Client = patient(env.url)
				alone := env.settler()
				before, err := alone.Incoming(t.Context(), 0)
				if err != nil {
					t.Fatal(err)
				}
				env.cfg.Client = patient(env.url, honest.URL)
				two := env.settler()
				if _, err := two.Incoming(t.Context(), 0); err != nil {
					t.Fatal(err)
				}
				env.lie(block)
				if got, err := alone.Incoming(t.Context(), before.Next); err == nil {
					t.Errorf("got %+v, want an error", got)
				}
				got, err := two.Incoming(t.Context(), 0)
				if err != nil || got.Final != before.Final || got.Next != before.Next {
					t.Errorf("of two endpoints: got final block %d, next %d, %v, want those of %+v", got.Final, got.Next, err, before)
				}
				env.proxy.refusing(nil)
				if got, err := alone.Incoming(t.Context(), 0); err != nil || got.Final != before.Final {
					t.Errorf("afterwards: got final block %d, %v, want %d", got.Final, err, before.Final)
				}
			})
		}
	})
}

// A block that the chain could have made, and has not, may be believed. Then transfers are
// still found in the blocks up to it.
func TestBlockThatDoesNotExist(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		before, err := s.Incoming(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		env.lie(fmt.Sprintf(`{"number":"%s","timestamp":"0x1","hash":"0x%s"}`, hexutil.EncodeUint64(before.Final+500), strings.Repeat("ab", 32)))
		got, err := s.Incoming(t.Context(), before.Next)
		if err != nil || got.Next != before.Final+501 {
			t.Fatalf("got %+v, %v", got, err)
		}
		env.proxy.refusing(nil)
		a := env.pay("1")
		env.thirdParty(a)
		after, err := s.Incoming(t.Context(), got.Next)
		if err != nil || len(after.Transfers) != 1 || after.Transfers[0].Nonce != a.Nonce || after.Next != after.Final+1 {
			t.Errorf("got %+v, %v, want the transfer", after, err)
		}
	})
}

// A count of our transactions that is far too large is not believed either: no transaction
// with such a nonce would ever be mined.
func TestImplausibleCount(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		env.settled(env.settleLater(s, env.pay("1")))
		env.proxy.refusing(func(method string, params []json.RawMessage) *refusal {
			if method == "eth_getTransactionCount" {
				return &refusal{result: "0x100000"}
			}
			return nil
		})
		waiting := env.settleLater(s, env.pay("2"))
		env.rounds()
		env.proxy.refusing(nil)
		env.settled(waiting)
		if n := env.nonceOf(env.gasKey); n != 2 {
			t.Errorf("got %d transactions, want 2", n)
		}
		env.noGap(env.gasKey)
	})
}

// After a while without a transaction a larger count is plausible. Then it is believed only
// if no other endpoint has counted less.
func TestCountOfOneEndpoint(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		honest := httptest.NewServer(env.Handler())
		defer honest.Close()
		env.cfg.Client = patient(env.url, honest.URL)
		s := env.settler()
		env.settled(env.settleLater(s, env.pay("1")))
		env.pass(10 * time.Minute)
		env.proxy.refusing(func(method string, params []json.RawMessage) *refusal {
			if method == "eth_getTransactionCount" {
				return &refusal{result: "0x1388"}
			}
			return nil
		})
		waiting := env.settleLater(s, env.pay("2"))
		env.wait(func() bool { return len(env.signedBy(env.gasKey)) == 2 })
		env.proxy.refusing(nil)
		env.settled(waiting)
		if n := env.nonceOf(env.gasKey); n != 2 {
			t.Errorf("got %d transactions, want 2", n)
		}
		env.noGap(env.gasKey)
	})
}

// Nor does a gap that a wrong count has left before cost gas for each nonce in it.
func TestLargeGapIsNotFilled(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		env := newEnv(t, db)
		env.proxy.refusing(func(method string, params []json.RawMessage) *refusal {
			if method == "eth_getTransactionCount" {
				return &refusal{result: "0x100000"}
			}
			return nil
		})
		s := env.settler()
		waiting := env.settleLater(s, env.pay("1"))
		env.wait(func() bool { return len(env.signedBy(env.gasKey)) == 1 })
		env.proxy.refusing(nil)
		var tick error
		env.wait(func() bool {
			tick = s.Tick(t.Context())
			return tick != nil && strings.Contains(tick.Error(), "use another wallet")
		})
		if n := env.nonceOf(env.gasKey); n != 0 {
			t.Errorf("got %d transactions, want none", n)
		}
		_ = waiting // it is never mined
	})
}

// Neither does a process stop sending for good what an endpoint has once counted as final.
func TestWrongCountOfFinalTransactions(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		env.cfg.Network.Finality = network.Blocks(2)
		s := env.settler()
		waiting := env.settleLater(s, env.pay("1"))
		env.wait(func() bool { return env.moved() == 1 })
		env.Pause()
		env.proxy.refusing(func(method string, params []json.RawMessage) *refusal {
			if method == "eth_getTransactionCount" {
				return &refusal{result: "0x64"}
			}
			return nil
		})
		if err := s.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
		env.proxy.refusing(nil)
		if _, err := env.Rewind(1); err != nil { // nobody but us has the transaction now
			t.Fatal(err)
		}
		env.Resume()
		env.pass(10 * time.Minute)
		env.wait(func() bool {
			if err := s.Tick(t.Context()); err != nil {
				t.Fatal(err)
			}
			return env.moved() == 1
		})
		env.mine(1)
		env.settled(waiting)
	})
}

// A suggested tip is not offered whatever it is.
func TestImplausibleTip(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		env.proxy.refusing(func(method string, params []json.RawMessage) *refusal {
			if method == "eth_maxPriorityFeePerGas" {
				return &refusal{result: "0xffffffffffff"}
			}
			return nil
		})
		s := env.settler()
		env.settled(env.settleLater(s, env.pay("1")))
		for _, sent := range env.signedBy(env.gasKey) {
			tx := new(types.Transaction)
			if err := tx.UnmarshalBinary(sent.Raw); err != nil {
				t.Fatal(err)
			}
			if tip := tx.GasTipCap(); tip.Cmp(big.NewInt(10_000_000_000)) > 0 {
				t.Errorf("got a tip of %s wei", tip)
			}
		}
	})
}
