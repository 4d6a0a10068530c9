package settletest_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/settle/settletest"
)

const (
	facilitatorPayer deed.Wallet = "0x00000000000000000000000000000000000000a1"
	facilitatorPayTo deed.Wallet = "0x00000000000000000000000000000000000000a2"
)

var facilitatorAsset = network.Asset{ChainID: 84532, Token: "0x00000000000000000000000000000000000000a3"}

// facilitator is a small x402 facilitator with the chain that it settles on. Like
// a real one it is idempotent: it answers for a settled authorization with the
// transaction that settled it, whoever sent that. It is also the transport of its
// clients, which loses calls.
type facilitator struct {
	*httptest.Server

	mu       sync.Mutex // guards what follows
	now      int64
	balance  deed.USDC
	used     map[string]string // transaction by nonce; "" when it was cancelled
	moved    int
	txs      int
	losing   chan struct{} // not nil while calls to /settle are lost
	loseDone bool          // after they were done
}

func newFacilitator(t *testing.T) *facilitator {
	f := &facilitator{now: 1_800_000_000, balance: 1_000_000_000, used: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /verify", f.verify)
	mux.HandleFunc("POST /settle", f.settle)
	f.Server = httptest.NewServer(mux)
	t.Cleanup(f.Close)
	return f
}

func (f *facilitator) verify(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var in facilitatorRequest
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	reason := f.check(in)
	respond(w, verifyResponse{IsValid: reason == "", InvalidReason: reason})
}

func (f *facilitator) settle(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var in facilitatorRequest
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a := in.PaymentPayload.Payload.Authorization
	reason := f.check(in)
	if reason == "" {
		f.transfer(f.newTransaction(), *a)
	}
	out := api.SettleResponse{Success: reason == "" || reason == reasonSettled, ErrorReason: reason, Payer: a.From, Network: in.PaymentRequirements.Network}
	if out.Success {
		out.ErrorReason, out.Transaction = "", f.used[a.Nonce]
	}
	respond(w, out)
}

// check returns why the payment is invalid, or "". The signature comes first: what
// the payer did not sign says nothing about what happened on the chain.
func (f *facilitator) check(in facilitatorRequest) string {
	a, req := in.PaymentPayload.Payload.Authorization, in.PaymentRequirements
	before, err := strconv.ParseInt(a.ValidBefore, 10, 64)
	value, errValue := strconv.ParseInt(a.Value, 10, 64)
	tx, used := f.used[a.Nonce]
	switch {
	case req.Network != caip2(facilitatorAsset) || req.Asset != string(facilitatorAsset.Token):
		return reasonNetwork
	case err != nil || errValue != nil || in.PaymentPayload.Payload.Signature != hex.EncodeToString(sign(req.Network, req.Asset, *a)):
		return reasonSignature
	case used && tx != "":
		return reasonSettled
	case used:
		return reasonCancelled
	case f.now >= before:
		return reasonExpired
	case f.balance < deed.USDC(value):
		return reasonFunds
	}
	return ""
}

func (f *facilitator) newTransaction() string {
	f.txs++
	return fmt.Sprintf("0x%064x", f.txs)
}

func (f *facilitator) transfer(tx string, a api.PaymentAuthorization) {
	value, _ := strconv.ParseInt(a.Value, 10, 64) // it was checked
	f.used[a.Nonce] = tx
	f.balance -= deed.USDC(value)
	f.moved++
}

func respond(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client notices a lost response
}

// RoundTrip implements http.RoundTripper.
func (f *facilitator) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	lost, done := f.losing, f.loseDone
	if r.URL.Path != "/settle" {
		lost = nil
	}
	f.mu.Unlock()
	if lost == nil {
		return http.DefaultTransport.RoundTrip(r)
	}
	if done {
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		res.Body.Close() // it is lost
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.losing != nil {
		close(f.losing)
		f.losing = nil
	}
	return nil, errors.New("the connection was lost")
}

func (f *facilitator) fixture(c facilitatorClient) settletest.Fixture {
	locked := func(do func()) { f.mu.Lock(); defer f.mu.Unlock(); do() }
	return settletest.Fixture{
		Verifier: c, Settler: c, Pay: pay,
		Cancel: func(a settle.Authorization) { locked(func() { f.used[a.Nonce] = "" }) },
		Expire: func() { locked(func() { f.now += 7200 }) },
		ThirdParty: func(all ...settle.Authorization) (tx string) {
			locked(func() {
				tx = f.newTransaction()
				for _, a := range all {
					f.transfer(tx, api.PaymentAuthorization{Value: strconv.FormatInt(int64(a.Amount), 10), Nonce: a.Nonce})
				}
			})
			return tx
		},
		Break: func(done bool) <-chan struct{} {
			broken := make(chan struct{})
			locked(func() { f.losing, f.loseDone = broken, done })
			return broken
		},
		Repair:  func() { locked(func() { f.losing = nil }) },
		Moved:   func() (n int) { locked(func() { n = f.moved }); return n },
		Drain:   func() { locked(func() { f.balance = 0 }) },
		Balance: func(deed.Wallet) (b deed.USDC) { locked(func() { b = f.balance }); return b },
	}
}

// pay signs a valid payment.
func pay(nonce string) settle.Authorization {
	a := settle.Authorization{Asset: facilitatorAsset, Payer: facilitatorPayer, PayTo: facilitatorPayTo, Amount: 130_000, ValidBefore: 1_800_003_600, Nonce: "0x" + nonce}
	a.Signature = sign(caip2(a.Asset), string(a.Asset.Token), api.PaymentAuthorization{
		From: string(a.Payer), To: string(a.PayTo), Value: "130000", ValidAfter: "0", ValidBefore: "1800003600", Nonce: a.Nonce,
	})
	return a
}
