package chain_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// A wallet made of code that is valid only while gas costs nothing is refused
// before it costs us any.
func TestWalletThatIsValidForFreeGasOnly(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		// GASPRICE, PUSH1 0x14, JUMPI, return the magic value; JUMPDEST, return 0
		cheat := (&testChain{Chain: env.Chain}).deploy(t, "3a601457631626ba7e60e01b60005260206000f35b60206000f3")
		env.give(cheat, int64(price))
		key, _ := newKey(t)
		a := env.payFrom(key, "1")
		a.Payer = cheat
		a = env.signed(key, a)
		if _, err := s.Check(t.Context(), a, nil); deed.CodeOf(err) != deed.CodePaymentInvalid {
			t.Errorf("got %v, want %s", err, deed.CodePaymentInvalid)
		}
		for range 5 {
			if got := <-env.settleLater(s, a); !errors.Is(got.err, settle.ErrUnsettleable) {
				t.Errorf("got %q, %v, want %v", got.txHash, got.err, settle.ErrUnsettleable)
			}
		}
		if n := env.nonceOf(env.gasKey); n != 0 {
			t.Errorf("it cost us %d transactions, want none", n)
		}
	})
}

// Contract wallets whose signatures take long to check, as anybody can make many, keep no
// payment waiting, nor the check of one.
func TestPaymentsBesideSlowSignatures(t *testing.T) {
	t.Run("of sign-ins", func(t *testing.T) {
		testPaymentsBeside(t, func(ctx context.Context, s *chain.Settler, of settle.Authorization) {
			_, _ = s.Client.Signed(ctx, of.Payer, [32]byte{}, make([]byte, 65)) // whatever it says
		})
	})
	t.Run("of mandates", func(t *testing.T) {
		testPaymentsBeside(t, func(ctx context.Context, s *chain.Settler, of settle.Authorization) {
			_ = s.CheckSigned(ctx, of) // likewise
		})
	})
}

// testPaymentsBeside settles a payment while many signatures of a wallet of code are checked.
func testPaymentsBeside(t *testing.T, check func(ctx context.Context, s *chain.Settler, of settle.Authorization)) {
	env := newEnv(t, sqldbtest.SQLite(t))
	var checking atomic.Int64
	end := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client is gone
		}
		if bytes.Contains(body, []byte(`"gas":"0x4c4b40"`)) { // of a check
			checking.Add(1)
			<-end
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		env.proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(slow.Close)
	env.cfg.Client = patient(slow.URL)
	s := env.settler()
	of := env.pay("slow")
	of.Payer = (&testChain{Chain: env.Chain}).deploy(t, "00")
	var callers sync.WaitGroup
	for range 20 {
		callers.Go(func() { check(t.Context(), s, of) })
	}
	t.Cleanup(func() { close(end); callers.Wait() })
	env.wait(func() bool { return checking.Load() >= 4 })
	a := env.pay("1")
	if _, err := s.Check(t.Context(), a, nil); err != nil {
		t.Error(err)
	}
	env.settled(env.settleLater(s, a))
	if n := checking.Load(); n > 4 {
		t.Errorf("%d checks at once", n)
	}
}

// Refunds that are due together share a transaction; one whose payee is barred
// spoils none.
func TestSixtyFourRefundsAtOnce(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		const barred = deed.Wallet("0x00000000000000000000000000000000000000ba")
		if err := env.Blacklist(t.Context(), string(barred), true); err != nil {
			t.Fatal(err)
		}
		payee := func(i int) deed.Wallet { return deed.Wallet(fmt.Sprintf("0x%040x", 0xabc000+i)) }
		var alone uint64
		for i := range 4 {
			alone += env.gasUsed(env.settled(env.refundLater(s, refundOf(payee(1000+i), 1000+i, 7))))
		}
		asked := env.proxy.hold()
		first := env.refundLater(s, refundOf(payee(2000), 2000, 7))
		<-asked
		var all []<-chan answer
		for i := range 64 {
			all = append(all, env.refundLater(s, refundOf(payee(i), i, 7)))
		}
		bad := env.refundLater(s, refundOf(barred, 3000, 7))
		env.wait(func() bool { return s.Waiting() == 66 })
		env.proxy.repair()
		env.settled(first)
		if got := <-bad; got.err == nil || settle.Refused(got.err) {
			t.Errorf("the barred payee: got %q, %v, want an error", got.txHash, got.err)
		}
		gas := map[string]uint64{}
		for i, c := range all {
			hash := env.settled(c)
			gas[hash] = env.gasUsed(hash)
			if env.usdc(payee(i)) != 7 {
				t.Errorf("%d: got %s back", i, env.usdc(payee(i)))
			}
		}
		if len(gas) > 2 {
			t.Errorf("got %d transactions for 64 refunds, want two at most", len(gas))
		}
		var sum uint64
		for _, g := range gas {
			sum += g
		}
		t.Logf("gas of 64 refunds: %d in %d transactions, %d alone", sum, len(gas), alone/4*64)
		env.noGap(env.refundKey)
	})
}

// A thousand payments that cannot be settled delay no refund, and are answered.
func TestRefundsBesideAThousandStuckPayments(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		poor, _ := newKey(t)
		var wg sync.WaitGroup
		asked := env.proxy.hold()
		for i := range 1000 {
			a := env.payFrom(poor, fmt.Sprint(i))
			wg.Go(func() {
				if _, err := s.Settle(t.Context(), a); !errors.Is(err, settle.ErrUnsettleable) {
					t.Errorf("got %v, want %v", err, settle.ErrUnsettleable)
				}
			})
		}
		<-asked
		env.wait(func() bool { return s.Waiting() == 1000 })
		begun := time.Now()
		c := env.refundLater(s, refundOf("0x00000000000000000000000000000000000000bb", 1, 7))
		env.proxy.repair()
		env.settled(c)
		took := time.Since(begun)
		wg.Wait()
		t.Logf("a refund beside 1,000 stuck payments: %s; all were answered after %s", took.Round(time.Millisecond), time.Since(begun).Round(time.Millisecond))
		if env.nonceOf(env.gasKey) != 0 {
			t.Error("stuck payments were sent")
		}
	})
}

// Two nodes: one gives up what the other settles. One of them wins, each time.
func TestAbandonRacesSettleOnTwoNodes(t *testing.T) {
	url := sqldbtest.MigratedPostgresURL(t)
	var env *testEnv
	var nodes []*chain.Settler
	signing, once := make(chan struct{}), new(sync.Once)
	for range 2 {
		db, err := sqldb.OpenPostgres(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		db.Timeout = time.Minute
		t.Cleanup(func() { db.Close() }) // the schema goes away with the test
		if env == nil {
			env = newEnv(t, db)
		}
		env.cfg.Store = sqldb.Settlements{DB: db, ChainID: env.cfg.Network.ChainID}
		env.cfg.Client = patient(env.url)
		nodes = append(nodes, env.settler())
		env.cfg.Step = func(name string) { // of the second node, which settles
			if name == "before store" {
				once.Do(func() { close(signing) })
			}
		}
	}
	const rounds = 100
	var wg sync.WaitGroup
	var gone, settled [rounds]bool
	all := make([]settle.Authorization, rounds)
	for i := range all {
		all[i] = env.pay(fmt.Sprint(i))
		wg.Go(func() {
			_, err := nodes[1].Settle(t.Context(), all[i])
			if settled[i] = err == nil; err != nil && !errors.Is(err, settle.ErrUnsettleable) {
				t.Errorf("payment %d: %v", i, err)
			}
		})
		wg.Go(func() {
			if i > 4 {
				<-signing // most come at the last moment
			}
			gone[i] = nodes[0].Abandon(t.Context(), all[i]) == nil
		})
	}
	wg.Wait()
	wins := 0
	for i := range all {
		if gone[i] {
			wins++
		}
		if _, err := nodes[0].Settle(t.Context(), all[i]); (err == nil) != settled[i] || gone[i] && settled[i] {
			t.Errorf("payment %d: abandoned is %v, settled is %v, then %v", i, gone[i], settled[i], err)
		}
	}
	if env.moved() != rounds-wins {
		t.Errorf("got %d transfers, want %d", env.moved(), rounds-wins)
	}
	t.Logf("%d of %d abandoned", wins, rounds)
}
