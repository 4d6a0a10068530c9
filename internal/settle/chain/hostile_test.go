package chain_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"deed.example/deed"
	"deed.example/deed/contracts"
	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/settle/chain"
)

// A call is a member of a stranger's transaction.
type call struct {
	Target       common.Address
	AllowFailure bool
	CallData     []byte
}

// multicall makes the calls in one transaction of a stranger's.
func (env *testEnv) multicall(calls ...call) (txHash string) {
	env.t.Helper()
	multicall, err := abi.JSON(bytes.NewReader(contracts.Compiled("Multicall").ABI))
	if err != nil {
		env.t.Fatal(err)
	}
	data, err := multicall.Pack("aggregate3", calls)
	if err != nil {
		env.t.Fatal(err)
	}
	return env.act(devchain.Multicall, data)
}

// emptyLogs is a call that writes many empty logs.
func (env *testEnv) emptyLogs(n int64) call {
	env.t.Helper()
	// PUSH1 0, CALLDATALOAD; JUMPDEST: PUSH1 0, PUSH1 0, LOG0; PUSH1 1, SWAP1, SUB, DUP1, PUSH1 3, JUMPI
	spammer := (&testChain{Chain: env.Chain}).deploy(env.t, "6000355b60006000a060019003806003"+"57")
	return call{addressOf(spammer), false, word(n)}
}

func transferOf(to common.Address, amount int64) []byte {
	return slices.Concat(selector("transfer(address,uint256)"), common.LeftPadBytes(to[:], 32), word(amount))
}

// arrivals reads all that came in, as a watcher does.
func (env *testEnv) arrivals(s *chain.Settler) (all settle.Arrivals) {
	env.t.Helper()
	for {
		got, err := s.Incoming(env.t.Context(), all.Next)
		if err != nil {
			env.t.Fatal(err)
		}
		all.Transfers, all.Unread = append(all.Transfers, got.Transfers...), append(all.Unread, got.Unread...)
		if got.Next == all.Next {
			return all
		}
		all.Next = got.Next
	}
}

// seen fails unless exactly these payments have arrived.
func (env *testEnv) seen(s *chain.Settler, want ...settle.Authorization) {
	env.t.Helper()
	got := env.arrivals(s)
	var nonces, wanted []string
	for _, tr := range got.Transfers {
		nonces = append(nonces, tr.Nonce)
	}
	for _, a := range want {
		wanted = append(wanted, a.Nonce)
	}
	slices.Sort(nonces)
	slices.Sort(wanted)
	if !slices.Equal(nonces, wanted) || len(got.Unread) != 0 {
		env.t.Errorf("got %d arrivals and %v unread, want %d", len(nonces), got.Unread, len(wanted))
	}
}

func TestZeroValueAuthorizationIsNothing(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		zero := env.pay("zero")
		zero.Amount = 0
		before, after := env.pay("before"), env.pay("after")
		env.thirdParty(before)
		env.thirdParty(env.signed(env.payer, zero))
		env.thirdParty(after)
		env.seen(s, before, after)
		if _, err := s.Check(t.Context(), zero, nil); deed.CodeOf(err) != deed.CodePaymentInvalid {
			t.Errorf("got %v, want %s", err, deed.CodePaymentInvalid)
		}
	})
}

// A transaction whose receipt is larger than any answer we take stops neither
// the watcher nor the audit nor the proof of a payment that is spent in it.
func TestReceiptOfFiveMegabytes(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		before, inside, after := env.pay("before"), env.pay("inside"), env.pay("after")
		env.thirdParty(before)
		env.settled(env.refundLater(s, refundOf("0x00000000000000000000000000000000000000bb", 1, 7)))
		fat := env.multicall(env.emptyLogs(12_000), call{env.token, false, transferOf(env.cfg.PayTo, 0)},
			call{env.token, false, transferCall(inside)})
		env.thirdParty(after)
		var receipt json.RawMessage
		env.rpc(&receipt, "eth_getTransactionReceipt", fat)
		if len(receipt) < 4<<20 {
			t.Fatalf("the receipt has %d bytes only", len(receipt))
		}
		env.seen(s, before, inside, after)
		payouts, unread, next, err := s.Outgoing(t.Context(), 0)
		if err != nil || len(payouts) != 1 || len(unread) != 0 || next == 0 {
			t.Errorf("got %d payouts, %v unread, next %d, %v", len(payouts), unread, next, err)
		}
		if got := env.settled(env.settleLater(s, inside)); got != fat {
			t.Errorf("got %s, want %s", got, fat)
		}
		if _, err := s.Check(t.Context(), inside, nil); !errors.Is(err, settle.ErrAlreadyPaid) {
			t.Errorf("got %v, want %v", err, settle.ErrAlreadyPaid)
		}
		if old, err := s.Since(t.Context(), fat, 0); err != nil || !old {
			t.Errorf("got %v, %v, want that it is there", old, err)
		}
		if ours, err := s.SentByUs(t.Context(), fat); err != nil || ours {
			t.Errorf("got %v, %v, want a stranger's", ours, err)
		}
	})
}

// The same for a payment that is cancelled, or spent elsewhere, in such a
// transaction.
func TestSpentElsewhereInALargeTransaction(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		a := env.pay("1")
		other := a
		other.PayTo = "0x00000000000000000000000000000000000000cc"
		env.multicall(env.emptyLogs(12_000), call{env.token, false, transferCall(env.signed(env.payer, other))})
		env.refused(env.settleLater(s, a))
		if _, err := s.Check(t.Context(), a, nil); deed.CodeOf(err) != deed.CodePaymentInvalid {
			t.Errorf("got %v, want %s", err, deed.CodePaymentInvalid)
		}
	})
}

// A block with more transfers to us than an answer may hold is read payer by
// payer; what one payer has too many of is put aside, and reading goes on. That the
// endpoint has no old logs any more changes nothing.
func TestCrowdedBlock(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		env.cfg.Client.MaxResponse = 20_000
		env.proxy.refusing(func(method string, params []json.RawMessage) *refusal {
			if method == "eth_getLogs" && bytes.Contains(params[0], []byte(`"toBlock":"0x0"`)) {
				return &refusal{code: 4444, message: "pruned history unavailable"}
			}
			return nil
		})
		s := env.settler()
		before, inside, after := env.pay("before"), env.pay("inside"), env.pay("after")
		env.thirdParty(before)
		spam := []call{{env.token, false, transferCall(inside)}}
		for range 60 { // about 600 bytes each in an answer
			spam = append(spam, call{env.token, false, transferOf(env.cfg.PayTo, 0)})
		}
		fat := env.multicall(spam...)
		env.thirdParty(after)
		env.seen(s, before, inside, after)
		if got := env.settled(env.settleLater(s, inside)); got != fat {
			t.Errorf("got %s, want %s", got, fat)
		}

		keys := env.payers(1)
		var many []call
		env.give(walletAt(addressOfKey(keys[0])), 100*int64(price))
		for i := range 60 {
			many = append(many, call{env.token, false, transferCall(env.payFrom(keys[0], fmt.Sprint(i)))})
		}
		env.multicall(many...)
		last := env.pay("last")
		env.thirdParty(last)
		got := env.arrivals(s)
		if len(got.Unread) == 0 || len(got.Transfers) != 4 || got.Transfers[3].Nonce != last.Nonce {
			t.Errorf("got %d arrivals and %v unread", len(got.Transfers), got.Unread)
		}
	})
}

// Anybody can make transfers of nothing out of our refund wallet.
func TestTransfersOfNothingFromOurRefundWallet(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		env.cfg.Client.MaxResponse = 20_000
		s := env.settler()
		const payee = deed.Wallet("0x00000000000000000000000000000000000000bb")
		env.settled(env.refundLater(s, refundOf(payee, 1, 7)))
		from := addressOfKey(env.refundKey)
		nothing := slices.Concat(selector("transferFrom(address,address,uint256)"), common.LeftPadBytes(from[:], 32), padded(payee), word(0))
		env.multicall(call{env.token, false, nothing})
		env.multicall(slices.Repeat([]call{{env.token, false, nothing}}, 60)...)
		env.settled(env.refundLater(s, refundOf(payee, 2, 8)))
		var payouts []settle.Payout
		var unread []settle.UnreadBlock
		for from := uint64(0); ; {
			some, aside, next, err := s.Outgoing(t.Context(), from)
			if err != nil {
				t.Fatal(err)
			}
			payouts, unread = append(payouts, some...), append(unread, aside...)
			if next == from {
				break
			}
			from = next
		}
		if len(payouts) != 2 || len(unread) != 1 {
			t.Errorf("got %+v, %v unread, want two payouts and a block", payouts, unread)
		}
	})
}

// An endpoint that returns fewer results than there were calls decides nothing: neither
// that a payment is good, nor that it was not refunded.
func TestTooFewResults(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		refunded, a := refundOf("0x00000000000000000000000000000000000000bb", 1, 7), env.pay("1")
		env.settled(env.refundLater(s, refunded))
		empty := hexutil.Encode(slices.Concat(word(32), word(0)))
		env.proxy.refusing(func(method string, _ []json.RawMessage) *refusal {
			if method == "eth_call" {
				return &refusal{result: empty}
			}
			return nil
		})
		if _, err := s.Check(t.Context(), a, nil); deed.CodeOf(err) != deed.CodeUnavailable {
			t.Errorf("Check: got %v, want that nothing is known", err)
		}
		if was, err := s.Refunded(t.Context(), refunded); err == nil {
			t.Errorf("Refunded: got %v, want an error", was)
		}
		waiting := env.settleLater(s, a)
		env.rounds()
		env.proxy.refusing(nil)
		env.settled(waiting)
	})
}
