package e2e_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
)

// drain moves all money of a wallet to another address.
func (s *env) drain(t *testing.T, a *account) {
	t.Helper()
	p := s.promise(a, s.balance(t, common.HexToAddress(string(a.wallet))))
	p.to = common.HexToAddress("0x00000000000000000000000000000000000000dd")
	s.broadcast(t, p)
}

// fundedWallet returns a wallet with the amount.
func (s *env) fundedWallet(t *testing.T, amount deed.USDC) *account {
	t.Helper()
	a := newAccount(t)
	if _, _, err := s.chain.Faucet(t.Context(), string(a.wallet), int64(amount)); err != nil {
		t.Fatal(err)
	}
	return a
}

// A zero-value transfer to the treasury does not stop the watcher: a transfer
// after it is refunded.
func TestZeroValueDoesNotStopTheWatcher(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a, b := s.buyer(t), s.buyer(t)
		before := s.balance(t, common.HexToAddress(string(b.wallet)))
		s.broadcast(t, s.promise(a, 0))
		s.readChain(t)
		s.broadcast(t, s.promise(b, comPrice))
		s.readChain(t)
		s.clock.advance(10 * time.Minute)
		s.runWorker(t)
		if got := s.balance(t, common.HexToAddress(string(b.wallet))); got != before {
			t.Errorf("got %s back of %s", got, before)
		}
		if c := s.compare(t); !c.Sound() {
			t.Errorf("got %v", c.Differences())
		}
		s.audit(t)
	})
}

// The treasury changes while a payment is open. The payment is settled to the
// former treasury, other transfers to it are refunded, and the books match the
// chain.
func TestTreasuryChangesWithOpenPayment(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a, late := s.buyer(t), s.buyer(t)
		p, unsolicited := s.promise(a, comPrice), s.promise(late, comPrice)
		old := s.payTo
		s.chain.Pause()
		s.pending(t, "first.com", p.header(t))
		s.payTo = common.HexToAddress("0x00000000000000000000000000000000000000aa")
		s.wire(t)
		s.chain.Resume()
		s.broadcast(t, unsolicited)
		got := s.register(t, "first.com", p.header(t))
		if got.status != 201 {
			t.Errorf("the replay: got %d %s", got.status, got.body)
		}
		s.clock.advance(10 * time.Minute)
		s.runWorker(t)
		if got := s.balance(t, common.HexToAddress(string(late.wallet))); got != 1_000_000_000 {
			t.Errorf("what came to the old treasury: %s are back", got)
		}
		if got := s.balance(t, old); got != 1_000_000_000_000+2*comPrice {
			t.Errorf("the old treasury has %s", got)
		}
		if got := s.register(t, "second.com", s.promise(s.buyer(t), comPrice).header(t)); got.status != 201 || s.balance(t, s.payTo) != comPrice {
			t.Errorf("the new treasury: got %d %s", got.status, got.body)
		}
		if c := s.compare(t); !c.Sound() || c.Transfers != 3 {
			t.Errorf("got %+v", c)
		}
		s.audit(t)
	})
}

// A wallet with the price of one name can claim one name, however many it requests
// concurrently.
func TestWalletClaimsWhatItCanPay(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		thief := s.fundedWallet(t, comPrice)
		s.waits(time.Millisecond)
		s.chain.Pause()
		var wg sync.WaitGroup
		statuses := make([]int, 40)
		for i := range statuses {
			wg.Go(func() {
				statuses[i] = s.register(t, fmt.Sprintf("wanted%d.com", i), s.promise(thief, comPrice).header(t)).status
			})
		}
		wg.Wait()
		claimed := 0
		for _, status := range statuses {
			switch status {
			case 202:
				claimed++
			case 402, 503: // 503: its checks took longer than a millisecond
			default:
				t.Errorf("got %d", status)
			}
		}
		if claimed > 1 {
			t.Errorf("%d names were claimed with the price of one", claimed)
		}
		s.chain.Resume()
		s.waits(time.Minute)
		free := 0
		for i := range statuses {
			if got := s.register(t, fmt.Sprintf("wanted%d.com", i), s.promise(s.buyer(t), comPrice).header(t)); got.status == 201 {
				free++
			}
		}
		if free < len(statuses)-1 {
			t.Errorf("honest buyers got %d of %d names", free, len(statuses))
		}
	})
}

// A wallet that is emptied keeps its claim for a minute, not until its
// authorization expires. A later payment is refunded.
func TestEmptiedWalletLosesItsClaim(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		thief, honest := s.fundedWallet(t, comPrice), s.buyer(t)
		p := s.promise(thief, comPrice)
		s.chain.Pause()
		drained := make(chan struct{})
		go func() {
			defer close(drained)
			s.drain(t, thief)
		}()
		s.pooled(t, 1)
		s.pending(t, "wanted.com", p.header(t))
		s.chain.Resume()
		<-drained
		s.waits(time.Minute)
		s.register(t, "wanted.com", s.promise(honest, comPrice).header(t)).expect(t, 409, deed.CodeDomainUnavailable)
		for range 4 { // a minute, with several polls
			s.step(t)
			s.clock.advance(time.Minute)
		}
		if got := s.register(t, "wanted.com", s.promise(honest, comPrice).header(t)); got.status != 201 {
			t.Fatalf("the honest buyer: got %d %s", got.status, got.body)
		}
		got := s.register(t, "wanted.com", p.header(t))
		got.expect(t, 402, deed.CodePaymentInvalid)
		if _, _, err := s.chain.Faucet(t.Context(), string(thief.wallet), int64(comPrice)); err != nil {
			t.Fatal(err)
		}
		s.broadcast(t, p) // the late payment
		s.runWorker(t)
		if got := s.balance(t, common.HexToAddress(string(thief.wallet))); got != comPrice {
			t.Errorf("got %s back", got)
		}
		s.audit(t)
	})
}

// More than five open payments of a wallet are rejected without an offer, like a
// rate limit.
func TestTooManyOpenPayments(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.buyer(t)
		s.chain.Pause()
		for i := range 5 {
			s.pending(t, fmt.Sprintf("name%d.com", i), s.promise(a, comPrice).header(t))
		}
		s.waits(time.Minute)
		got := s.register(t, "sixth.com", s.promise(a, comPrice).header(t))
		got.expect(t, 429, deed.CodeRateLimited)
		if got.header.Get("X-RateLimit-Limit") != "5" || got.header.Get("Retry-After") == "" || got.header.Get("PAYMENT-REQUIRED") != "" {
			t.Errorf("got %v", got.header)
		}
		s.chain.Resume()
		s.runWorker(t)
		s.audit(t)
	})
}

// Two hundred payments that cannot be settled do not delay a refund.
func TestStuckPaymentsDoNotDelayRefunds(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.api.Payments.Terms.MaxOpen = 1000
		victim := s.buyer(t)
		stuckWallet := s.buyer(t)
		s.chain.Pause()
		drained := make(chan struct{})
		go func() {
			defer close(drained)
			s.drain(t, stuckWallet)
		}()
		s.pooled(t, 1)
		const stuck = 70
		for i := range stuck {
			s.pending(t, fmt.Sprintf("stuck%d.com", i), s.promise(stuckWallet, comPrice).header(t))
		}
		s.chain.Resume()
		<-drained
		s.waits(time.Minute)
		s.faults.Set(local.FaultRefuse, 1)
		s.register(t, "victim.com", s.promise(victim, comPrice).header(t)).expect(t, 500, deed.CodeRegistrationFailed)
		s.clock.advance(10 * time.Second)
		// Advance only the refund: it must not depend on anything else.
		refunds, err := s.api.Payments.DueRefunds(t.Context(), 10)
		if err != nil || len(refunds) != 1 {
			t.Fatalf("got %v, %v", refunds, err)
		}
		var wg sync.WaitGroup
		payments, err := s.api.Payments.Due(t.Context(), 1000)
		if err != nil || len(payments) == 0 {
			t.Fatalf("got %v, %v", payments, err)
		}
		for _, id := range payments {
			wg.Go(func() { _, _ = s.api.Payments.Advance(t.Context(), id) }) // they are stuck
		}
		p, err := s.api.Payments.Advance(t.Context(), refunds[0])
		if err != nil || p.State != order.PaymentRefunded {
			t.Errorf("got %s, %v", p.State, err)
		}
		wg.Wait()
		if got := s.balance(t, common.HexToAddress(string(victim.wallet))); got != 1_000_000_000 {
			t.Errorf("got %s back", got)
		}
	})
}

// Public ids cannot be computed from payer and nonce, which are visible on the
// chain. A job shows the initial records of the name only, not later changes.
func TestIDsAreUnpredictable(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.buyer(t)
		p := s.promise(a, comPrice)
		var bought api.Registration
		got := s.do(t, "POST", "/domains/register", `{"domain":"first.com","dns_records":[{"type":"A","host":"@","value":"192.0.2.1"}]}`, "PAYMENT-SIGNATURE", p.header(t))
		if err := json.Unmarshal([]byte(got.body), &bought); err != nil || got.status != 201 {
			t.Fatalf("got %d %s, %v", got.status, got.body, err)
		}
		auth := settle.Authorization{Payer: a.wallet, Nonce: fmt.Sprintf("0x%x", p.nonce)}
		computed := order.JobID(auth.PaymentID(devchain.ChainID, deed.Wallet(strings.ToLower(devchain.USDC))))
		s.get(t, "/domains/status/"+computed).expect(t, 404, deed.CodeNotFound)
		if bought.JobID == computed || strings.Contains(got.body, strings.TrimPrefix(computed, "job_")) {
			t.Errorf("the answer has an id that anybody can compute: %s", got.body)
		}
		secret := s.dnsCall(t, "POST", "/dns/first.com", `{"type":"TXT","host":"@","value":"a secret of mine"}`, s.bearer(t, a), s.promise(a, 10*deed.Cent).header(t))
		if secret.status != 201 {
			t.Fatalf("got %d %s", secret.status, secret.body)
		}
		told := s.get(t, "/domains/status/"+bought.JobID)
		if !strings.Contains(told.body, "192.0.2.1") || strings.Contains(told.body, "a secret of mine") {
			t.Errorf("the job tells %s", told.body)
		}
	})
}

// A replay with another signature gets no receipt, no job and no offer.
func TestReplayWithAnotherSignature(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		p := s.promise(s.buyer(t), comPrice)
		header := p.header(t)
		if got := s.register(t, "first.com", header); got.status != 201 {
			t.Fatalf("got %d %s", got.status, got.body)
		}
		raw, err := base64.StdEncoding.DecodeString(header)
		if err != nil {
			t.Fatal(err)
		}
		good := fmt.Sprintf("0x%x", p.sign())
		forged := base64.StdEncoding.EncodeToString([]byte(strings.Replace(string(raw), good, "0x00", 1)))
		got := s.register(t, "first.com", forged)
		got.expect(t, 409, deed.CodeDomainUnavailable) // as for any caller: the name is taken
		if got.header.Get("PAYMENT-RESPONSE") != "" || strings.Contains(got.body, "jobId") {
			t.Errorf("got %s", got.body)
		}
		if again := s.register(t, "first.com", header); again.status != 201 {
			t.Errorf("the same again: got %d %s", again.status, again.body)
		}
	})
}

// The response to an authorization that was mined before the request never has an
// offer. A payer who is signed in gets the purchase; otherwise the payment is
// refunded.
func TestAuthorizationMinedBeforeRequest(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a, b := s.buyer(t), s.buyer(t)
		p, q := s.promise(a, comPrice), s.promise(b, comPrice)
		s.broadcast(t, p)
		s.broadcast(t, q)
		for range 2 { // before and after the watcher has seen it
			got := s.register(t, "first.com", p.header(t))
			got.expect(t, 503, deed.CodeUnavailable)
			if got.header.Get("PAYMENT-REQUIRED") != "" || !strings.Contains(got.body, "do not pay again") {
				t.Errorf("got %s", got.body)
			}
			s.readChain(t)
		}
		signedIn := s.do(t, "POST", "/domains/register", `{"domain":"first.com"}`, "PAYMENT-SIGNATURE", p.header(t), "Authorization", s.bearer(t, a))
		if signedIn.status != 201 {
			t.Errorf("the payer, signed in: got %d %s", signedIn.status, signedIn.body)
		}
		if got := s.register(t, "first.com", p.header(t)); got.status != 201 {
			t.Errorf("the same again: got %d %s", got.status, got.body)
		}
		s.register(t, "second.com", q.header(t)).expect(t, 503, deed.CodeUnavailable)
		s.clock.advance(10 * time.Minute)
		s.runWorker(t)
		if got := s.balance(t, common.HexToAddress(string(b.wallet))); got != 1_000_000_000 {
			t.Errorf("got %s back", got)
		}
		s.audit(t)
	})
}

// A third party who saw the authorization on the chain cannot buy with it.
func TestThirdPartyCannotUseMinedPayment(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner := s.bought(t, "mine.com")
		victim := s.buyer(t)
		p := s.promise(victim, 10*deed.Cent)
		s.broadcast(t, p)
		s.readChain(t)
		got := s.dnsCall(t, "POST", "/dns/mine.com", `{"type":"A","host":"www","value":"192.0.2.1"}`, s.bearer(t, owner), p.header(t))
		got.expect(t, 503, deed.CodeUnavailable)
		s.clock.advance(10 * time.Minute)
		s.runWorker(t)
		if got := s.balance(t, common.HexToAddress(string(victim.wallet))); got != 1_000_000_000 {
			t.Errorf("got %s back", got)
		}
		s.audit(t)
	})
}

// Dust is not refunded automatically, because each refund costs gas; the audit
// lists it, and an operator refunds it in one transaction.
func TestDust(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.buyer(t)
		promises := make([]*promise, 20)
		for i := range promises {
			promises[i] = s.promise(a, deed.Cent)
		}
		if _, _, err := s.chain.SendFromFaucet(t.Context(), devchain.Multicall, together(t, promises...)); err != nil {
			t.Fatal(err)
		}
		s.readChain(t)
		s.clock.advance(time.Hour)
		s.runWorker(t)
		if got := s.balance(t, common.HexToAddress(string(a.wallet))); got != 1_000_000_000-20*deed.Cent {
			t.Errorf("dust went back: the wallet has %s", got)
		}
		notices, err := sqldb.Audit{DB: s.db}.Notices(t.Context())
		if err != nil || len(notices) != 1 || notices[0].Count != 20 || notices[0].Sum != 20*deed.Cent {
			t.Errorf("got %+v, %v", notices, err)
		}
		rows := s.api.Payments.Store.(sqldb.Payments)
		dust, err := rows.Dust(t.Context(), a.wallet)
		if err != nil || len(dust) != 20 {
			t.Fatalf("got %v, %v", dust, err)
		}
		for _, p := range dust {
			if _, err := rows.MovePayment(t.Context(), p, order.PaymentRefundDue, ""); err != nil {
				t.Fatal(err)
			}
		}
		var wg sync.WaitGroup
		for _, p := range dust {
			wg.Go(func() { _, _ = s.api.Payments.Advance(t.Context(), p.ID) }) // runWorker below finishes it
		}
		wg.Wait()
		s.runWorker(t)
		if got := s.balance(t, common.HexToAddress(string(a.wallet))); got != 1_000_000_000 {
			t.Errorf("the wallet has %s", got)
		}
		s.audit(t)
	})
}

// A request with a void payment counts against its limit.
func TestVoidPaymentIsCounted(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		p := s.promise(s.buyer(t), comPrice)
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
		s.register(t, "first.com", p.header(t)).expect(t, 402, deed.CodePaymentInvalid)
		s.api.Limits.Register.Max = 1 // the requests above have used it up
		statuses := map[int]int{}
		for range 8 {
			statuses[s.register(t, "first.com", p.header(t)).status]++
		}
		if statuses[http.StatusTooManyRequests] != 8 {
			t.Errorf("a void payment is asked about without end: %v", statuses)
		}
	})
}

// A wallet's transactions have no duplicates, a refund has its own id, and
// refunded amounts do not count as spent.
func TestAccountAfterRefund(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.buyer(t)
		s.faults.Set(local.FaultRefuse, 1)
		s.register(t, "first.com", s.promise(a, comPrice).header(t)).expect(t, 500, deed.CodeRegistrationFailed)
		s.runWorker(t)
		s.chain.Pause()
		s.pending(t, "second.com", s.promise(a, comPrice).header(t))
		s.pending(t, "second.com", s.promise(a, comPrice).header(t)) // its response was lost
		s.chain.Resume()
		s.waits(time.Minute)
		s.runWorker(t)
		var list api.Transactions
		got := s.get(t, "/account/transactions", "Authorization", s.bearer(t, a))
		if err := json.Unmarshal([]byte(got.body), &list); err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{}
		for _, tx := range list.Transactions {
			ids[tx.TransactionID] = true
			if tx.Status == "pending" {
				t.Errorf("pending for ever: %+v", tx)
			}
		}
		if len(ids) != 3 || list.Total != 3 {
			t.Errorf("got %d transactions, %d ids: %s", list.Total, len(ids), got.body)
		}
		var account api.Account
		got = s.get(t, "/account", "Authorization", s.bearer(t, a))
		if err := json.Unmarshal([]byte(got.body), &account); err != nil || account.TotalSpent != "13.06" || account.Refunded != "13.06" {
			t.Errorf("got %s, %v", got.body, err)
		}
	})
}
