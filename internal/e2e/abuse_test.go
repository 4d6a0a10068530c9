package e2e_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/contracts"
	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/settle/signtest"
)

// A gate forwards requests to the chain while it is open; while it is closed they
// hang.
type gate struct {
	next http.Handler
	mu   sync.Mutex    // guards shut
	shut chan struct{} // closed when the gate opens; nil while it is open
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = make(chan struct{})
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut != nil {
		close(g.shut)
	}
	g.shut = nil
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	shut := g.shut
	g.mu.Unlock()
	if shut != nil {
		<-shut
	}
	g.next.ServeHTTP(w, r)
}

// behindGate makes the env use the chain through a gate.
func (s *env) behindGate(t *testing.T) *gate {
	t.Helper()
	g := &gate{next: s.chain.Handler()}
	server := httptest.NewServer(g)
	t.Cleanup(func() { g.open(); server.Close() })
	s.rpc = server.URL
	s.wire(t)
	return g
}

// waits sets how long a request waits for its job.
func (s *env) waits(d time.Duration) { s.api.Payments.Wait = d }

// pending repeats an order with a growing wait until it is accepted and pending,
// and returns that response. A busy machine may take longer to accept it than the
// request waits: that is 503, and free.
func (s *env) pending(t *testing.T, domain, header string) answer {
	t.Helper()
	for wait := 50 * time.Millisecond; ; wait *= 2 {
		s.waits(wait)
		got := s.register(t, domain, header)
		if got.status == 202 && strings.Contains(got.body, "do not pay again") {
			return got
		}
		if got.status != 503 || wait > time.Minute {
			t.Fatalf("got %d %s, want 202", got.status, got.body)
		}
	}
}

// pooled waits until n transactions are in the mempool.
func (s *env) pooled(t *testing.T, n int) {
	t.Helper()
	for {
		var pending struct {
			Result struct {
				Transactions []string `json:"transactions"`
			} `json:"result"`
		}
		res, err := http.Post(s.rpc, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["pending",false]}`))
		if err != nil {
			t.Fatal(err)
		}
		err = json.UnmarshalRead(res.Body, &pending)
		res.Body.Close() // it was read to its end, or err says why not
		if err != nil {
			t.Fatal(err)
		}
		if len(pending.Result.Transactions) == n {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal("they never came")
		case <-time.After(time.Millisecond):
		}
	}
}

// If the chain hangs before the payment is stored, the response is 503, and the
// payment stays usable. After that the response is "pending", never "pay again".
func TestChainHangs(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		g := s.behindGate(t)
		header := s.promise(s.buyer(t), comPrice).header(t)
		s.waits(50 * time.Millisecond)
		g.close()
		s.register(t, "first.com", header).expect(t, 503, deed.CodeUnavailable)
		g.open()
		if s.balance(t, s.payTo) != 1_000_000_000_000 || s.open(t) != 0 {
			t.Error("something moved")
		}
		s.chain.Pause()
		s.pending(t, "first.com", header)
		g.close()
		for range 3 {
			s.pending(t, "first.com", header)
		}
		g.open()
		s.chain.Resume()
		s.waits(time.Minute)
		s.runWorker(t)
		if got := s.register(t, "first.com", header); got.status != 201 || s.balance(t, s.payTo) != 1_000_000_000_000+comPrice {
			t.Errorf("got %d %s", got.status, got.body)
		}
		s.audit(t)
	})
}

// Without the database the response is 503, and the payment is not sent to the
// chain.
func TestPaymentWithoutDatabase(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		p := s.promise(s.buyer(t), comPrice)
		if err := s.db.Close(); err != nil {
			t.Fatal(err)
		}
		s.register(t, "first.com", p.header(t)).expect(t, 503, deed.CodeUnavailable)
		if s.balance(t, s.payTo) != 1_000_000_000_000 {
			t.Error("something moved")
		}
		if _, err := s.settler.Check(t.Context(), settle.Authorization{
			Asset: network.Embedded().Asset(),
			Payer: deed.Wallet(strings.ToLower(p.from.Hex())), PayTo: deed.Wallet(strings.ToLower(p.to.Hex())), Amount: comPrice,
			ValidBefore: p.before.Int64(), Nonce: "0x" + hex.EncodeToString(p.nonce[:]), Signature: p.sign(),
		}, nil); err != nil {
			t.Errorf("the payment is not good any more: %v", err)
		}
	})
}

// The payer cancels the authorization before our transaction is mined: nothing is
// charged, the name is available again, and a new payment is accepted.
func TestPayerCancelsDuringSettlement(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.buyer(t)
		p := s.promise(a, comPrice)
		s.chain.Pause()
		cancelled := make(chan error, 1)
		go func() {
			_, _, err := s.chain.SendFromFaucet(t.Context(), devchain.USDC, p.cancelCall())
			cancelled <- err
		}()
		s.pooled(t, 1)
		s.pending(t, "first.com", p.header(t))
		s.chain.Resume()
		if err := <-cancelled; err != nil {
			t.Fatal(err)
		}
		s.waits(time.Minute)
		s.runWorker(t)
		got := s.register(t, "first.com", p.header(t))
		got.expect(t, 402, deed.CodePaymentInvalid)
		if !strings.Contains(got.body, `"maxAmountRequired":"13060000"`) || s.balance(t, s.payTo) != 1_000_000_000_000 {
			t.Errorf("got %s", got.body)
		}
		if got := s.register(t, "first.com", s.promise(a, comPrice).header(t)); got.status != 201 {
			t.Errorf("the name is not free again: got %d %s", got.status, got.body)
		}
		s.audit(t)
	})
}

// cancelCall returns the call data that cancels a promise.
func (p *promise) cancelCall() []byte {
	word := func(b []byte) []byte { return common.LeftPadBytes(b, 32) }
	sig := p.coin().Sign(p.key, signtest.Cancel, p.from, p.nonce)
	return slices.Concat(crypto.Keccak256([]byte("cancelAuthorization(address,bytes32,bytes)"))[:4], word(p.from.Bytes()), p.nonce[:],
		word([]byte{96}), word([]byte{65}), common.RightPadBytes(sig, 96))
}

// A third party sends four promises in one transaction, before ours: each pays for
// its own order, once.
func TestFourPaymentsInForeignTransaction(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		promises := make([]*promise, 4)
		for i := range promises {
			promises[i] = s.promise(s.buyer(t), comPrice)
		}
		s.chain.Pause()
		sent := make(chan error, 1)
		go func() {
			_, _, err := s.chain.SendFromFaucet(t.Context(), devchain.Multicall, together(t, promises...))
			sent <- err
		}()
		s.pooled(t, 1)
		for i, p := range promises {
			s.pending(t, fmt.Sprintf("name%d.com", i), p.header(t))
		}
		s.chain.Resume()
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
		s.waits(time.Minute)
		s.runWorker(t)
		for i := range promises {
			if got := s.register(t, fmt.Sprintf("name%d.com", i), promises[i].header(t)); got.status != 201 {
				t.Errorf("%d: got %d %s, want 201", i, got.status, got.body)
			}
		}
		if got := s.balance(t, s.payTo); got != 1_000_000_000_000+4*comPrice {
			t.Errorf("got %s", got)
		}
		s.audit(t)
	})
}

// together returns the call data that executes several promises.
func together(t *testing.T, all ...*promise) []byte {
	t.Helper()
	type call struct {
		Target       common.Address
		AllowFailure bool
		CallData     []byte
	}
	var calls []call
	for _, p := range all {
		calls = append(calls, call{common.HexToAddress(devchain.USDC), false, p.call(t)})
	}
	multicall, err := abi.JSON(bytes.NewReader(contracts.Compiled("Multicall").ABI))
	if err != nil {
		t.Fatal(err)
	}
	data, err := multicall.Pack("aggregate3", calls)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
