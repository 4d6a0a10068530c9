package e2e_test

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// The first purchase, from the offer to the account.
func TestRegister(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.buyer(t)
		unpaid := s.register(t, "first.com", "")
		unpaid.expect(t, 402, deed.CodePaymentRequired)
		var offer api.PaymentOffer
		raw, err := base64.StdEncoding.DecodeString(unpaid.header.Get("PAYMENT-REQUIRED"))
		if err == nil {
			err = json.Unmarshal(raw, &offer)
		}
		if err != nil || len(offer.Accepts) != 1 || offer.Accepts[0].Amount != "13060000" || offer.Accepts[0].PayTo != s.payTo.Hex() || offer.Resource.URL != "https://deed.example/domains/register" {
			t.Fatalf("got %s, %v", raw, err)
		}
		before := s.balance(t, common.HexToAddress(string(a.wallet)))
		header := s.promise(a, comPrice).header(t)
		got := s.register(t, "first.com", header)
		var bought api.Registration
		if err := json.Unmarshal([]byte(got.body), &bought); err != nil || got.status != 201 {
			t.Fatalf("got %d %s", got.status, got.body)
		}
		if bought.Domain != "first.com" || bought.WalletAddress != string(a.wallet) || bought.Price != "13.06" || !bought.Payment.Settled || bought.Years != 1 ||
			!bought.ExpiresAt.Equal(bought.RegisteredAt.AddDate(1, 0, 0)) {
			t.Errorf("got %+v", bought)
		}
		var receipt api.SettleResponse
		raw, err = base64.StdEncoding.DecodeString(got.header.Get("PAYMENT-RESPONSE"))
		if err == nil {
			err = json.Unmarshal(raw, &receipt)
		}
		if err != nil || !receipt.Success || receipt.Transaction != *bought.Payment.TxHash || receipt.Network != "eip155:84532" {
			t.Errorf("receipt: got %s, %v", raw, err)
		}
		for range 3 { // repeated requests
			again := s.register(t, "first.com", header)
			if again.status != 201 || again.body != got.body {
				t.Errorf("got %d %s, want the same again", again.status, again.body)
			}
		}
		if paid := before - s.balance(t, common.HexToAddress(string(a.wallet))); paid != comPrice || s.balance(t, s.payTo) != 1_000_000_000_000+comPrice {
			t.Errorf("paid %s", paid)
		}
		if j := job(t, s.service, bought.JobID); !j.Completed || j.Result == nil || j.Result.Domain != "first.com" || len(j.Steps) != 4 {
			t.Errorf("got %+v", j)
		}
		s.register(t, "first.com", s.promise(s.buyer(t), comPrice).header(t)).expect(t, 409, deed.CodeDomainUnavailable)
		// A stock client whose answer was lost asks for an offer again.
		if lost := s.register(t, "first.com", ""); lost.status != 409 || !strings.Contains(lost.body, "registered here, by "+string(a.wallet)) {
			t.Errorf("got %d %s, want the owner", lost.status, lost.body)
		}
		token := "Bearer " + s.tokens(t, a).Access
		if acc := read[api.Account](t, s.get(t, "/account", "Authorization", token)); acc.TotalSpent != "13.06" || acc.TotalSpentCents != 1306 || acc.ActiveDomains != 1 {
			t.Errorf("got %+v", acc)
		}
		if txs := read[api.Transactions](t, s.get(t, "/account/transactions", "Authorization", token)); txs.Total != 1 || txs.Transactions[0].Status != "settled" || txs.Transactions[0].JobID != bought.JobID {
			t.Errorf("got %+v", txs)
		}
		s.audit(t)
	})
}

func TestRegisterWithVersion1(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		got := s.do(t, "POST", "/domains/register", `{"domain":"first.com"}`, "X-PAYMENT", s.promise(s.buyer(t), comPrice).headerV1(t))
		if got.status != 201 || got.header.Get("X-PAYMENT-RESPONSE") == "" || got.header.Get("PAYMENT-RESPONSE") != "" {
			t.Errorf("got %d %s %v", got.status, got.body, got.header)
		}
	})
}

// Every kind of invalid payment: nothing is stored, no money moves.
func TestPaymentRefusals(t *testing.T) {
	eachEnv(t, testPaymentRefusals)
}

func testPaymentRefusals(t *testing.T, s *env) {
	a := s.buyer(t)
	good := s.promise(a, comPrice).header(t)
	for name, tt := range s.badPayments(t, a, comPrice) {
		t.Run(name, func(t *testing.T) {
			got := s.register(t, "first.com", tt.header)
			got.expect(t, 402, tt.code)
			if got.header.Get("PAYMENT-REQUIRED") == "" || !strings.Contains(got.body, `"maxAmountRequired":"13060000"`) || !strings.Contains(got.body, `"reason":"`) {
				t.Errorf("the offer is not repeated: %s", got.body)
			}
		})
	}
	got := s.do(t, "POST", "/domains/register", `{"domain":"first.com"}`, "PAYMENT-SIGNATURE", good, "X-PAYMENT", good)
	got.expect(t, 402, deed.CodePaymentInvalid)
	if s.balance(t, s.payTo) != 1_000_000_000_000 || s.open(t) != 0 {
		t.Error("something moved")
	}
	if got := s.register(t, "first.com", good); got.status != 201 { // the valid payment is still usable
		t.Errorf("got %d %s", got.status, got.body)
	}
}

// reencode changes the JSON inside a payment header.
func reencode(t *testing.T, header, old, new string) string {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(header)
	if err != nil || !strings.Contains(string(raw), old) {
		t.Fatalf("%q is not in %s", old, raw)
	}
	return base64.StdEncoding.EncodeToString([]byte(strings.Replace(string(raw), old, new, 1)))
}

func TestOrderRefusals(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		pay := s.promise(s.buyer(t), comPrice).header(t)
		for body, want := range map[string]struct {
			status int
			code   deed.Code
		}{
			`{}`:                                             {400, deed.CodeValidation},
			`{"domain":"-a.com"}`:                            {400, deed.CodeValidation},
			`{"domain":"first.com","years":11}`:              {400, deed.CodeValidation},
			`{"domain":"first.com","years":-1}`:              {400, deed.CodeValidation},
			`{"domain":"first.com","maxPriceUsd":"1"}`:       {400, deed.CodeValidation},
			`{"domain":"first.com","maxPriceUsd":"much"}`:    {400, deed.CodeValidation},
			`{"domain":"first.com","nameservers":["a","b"]}`: {400, deed.CodeValidation},
			`{"domain":"first.com","unknown":1}`:             {400, deed.CodeValidation},
			`{"domain":"first.ai","years":1}`:                {400, deed.CodeValidation},
			`{"domain":"first.nope"}`:                        {400, deed.CodeTLDNotSupported},
			`{"domain":"first.sexy"}`:                        {400, deed.CodeTooExpensive},
			`{"domain":"nic.com"}`:                           {409, deed.CodeDomainUnavailable},
		} {
			s.do(t, "POST", "/domains/register", body, "PAYMENT-SIGNATURE", pay).expect(t, want.status, want.code)
		}
		if s.balance(t, s.payTo) != 1_000_000_000_000 {
			t.Error("something was paid")
		}
	})
}

func TestDryRunAndIndicativeOffer(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		got := read[api.Quote](t, s.do(t, "POST", "/domains/register", `{"domain":"First.COM.","years":2,"dryRun":true}`))
		if got.Domain != "first.com" || got.Years != 2 || got.Price != "26.12" || !got.DryRun {
			t.Errorf("got %+v", got)
		}
		s.do(t, "POST", "/domains/register", "").expect(t, 402, deed.CodePaymentRequired)
		s.do(t, "POST", "/domains/register", "", "PAYMENT-SIGNATURE", s.promise(s.buyer(t), comPrice).header(t), "Content-Type", "application/json").expect(t, 400, deed.CodeValidation)
	})
}

// A malformed job id is not found, on every database.
func TestUnknownJobs(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		for _, id := range []string{"x", "job_%00", "job_" + strings.Repeat("0", 32), strings.Repeat("a", 3000), "job_%27%20or%201=1", "%F0%9F"} {
			s.get(t, "/domains/status/"+id).expect(t, 404, deed.CodeNotFound)
		}
	})
}

// A token of a wallet other than the payer is rejected before money moves.
func TestPayerAndTokenDiffer(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a, other := s.buyer(t), newAccount(t)
		pay := s.promise(a, comPrice).header(t)
		order := func(token string) answer {
			return s.do(t, "POST", "/domains/register", `{"domain":"first.com"}`, "PAYMENT-SIGNATURE", pay, "Authorization", "Bearer "+token)
		}
		order(s.tokens(t, other).Access).expect(t, 403, deed.CodeOwnershipDenied)
		if got := order("nonsense"); got.status != 201 {
			t.Errorf("a bad token: got %d %s", got.status, got.body)
		}
	})
}

func TestOnePaymentRaced(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		header := s.promise(s.buyer(t), comPrice).header(t)
		var mu sync.Mutex
		jobs := map[string]bool{}
		count := race(100, func() int {
			got := s.register(t, "first.com", header)
			var out struct {
				JobID string `json:"jobId"`
			}
			if err := json.Unmarshal([]byte(got.body), &out); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			jobs[out.JobID] = true
			return got.status
		})
		if count[201]+count[202] != 100 || len(jobs) != 1 {
			t.Errorf("got %v in %d jobs", count, len(jobs))
		}
		s.runWorker(t)
		if got := s.register(t, "first.com", header); got.status != 201 {
			t.Errorf("at last: got %d %s", got.status, got.body)
		}
		if s.balance(t, s.payTo) != 1_000_000_000_000+comPrice {
			t.Error("it was paid more than once")
		}
		s.audit(t)
	})
}

func TestManyPaymentsRaced(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		const buyers = 100
		headers := make([]string, buyers)
		for i := range headers {
			headers[i] = s.promise(s.buyer(t), comPrice).header(t)
		}
		var wg sync.WaitGroup
		for i, header := range headers {
			wg.Go(func() {
				if got := s.register(t, fmt.Sprintf("name%d.com", i), header); got.status != 201 && got.status != 202 {
					t.Errorf("buyer %d: got %d %s", i, got.status, got.body)
				}
			})
		}
		wg.Wait()
		s.runWorker(t)
		for i, header := range headers {
			if got := s.register(t, fmt.Sprintf("name%d.com", i), header); got.status != 201 {
				t.Errorf("buyer %d at last: got %d %s", i, got.status, got.body)
			}
		}
		if got, want := s.balance(t, s.payTo), 1_000_000_000_000+buyers*comPrice; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		s.audit(t)
	})
}

// Two wallets pay for one name concurrently: one gets it, and the other's money
// does not move.
func TestTwoBuyersOfOneName(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		for round := range 5 {
			name := fmt.Sprintf("name%d.com", round)
			before := s.balance(t, s.payTo)
			headers := make(chan string, 8)
			for range cap(headers) {
				headers <- s.promise(s.buyer(t), comPrice).header(t)
			}
			count := race(cap(headers), func() int { return s.register(t, name, <-headers).status })
			s.runWorker(t)
			if count[201]+count[202] != 1 || count[409] != 7 || s.balance(t, s.payTo)-before != comPrice {
				t.Errorf("got %v, and %s were paid", count, s.balance(t, s.payTo)-before)
			}
		}
		s.audit(t)
	})
}

// One payment is for one request.
func TestPaymentForAnotherRequest(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		header := s.promise(s.buyer(t), comPrice).header(t)
		first := s.register(t, "first.com", header)
		got := s.register(t, "second.com", header)
		got.expect(t, 402, deed.CodePaymentInvalid)
		if first.status != 201 || !strings.Contains(got.body, `"accepts":[]`) || !strings.Contains(got.body, `"jobId":"job_`) {
			t.Errorf("got %d, then %s", first.status, got.body)
		}
	})
}

// The response to a void payment says so, with a new offer, and its job has ended.
// If its money arrives later, it is refunded.
func TestVoidPayment(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.buyer(t)
		before := s.balance(t, common.HexToAddress(string(a.wallet)))
		header := s.promise(a, comPrice).header(t)
		s.chain.Pause()
		var pending api.PendingOrder
		if err := json.Unmarshal([]byte(s.pending(t, "first.com", header).body), &pending); err != nil {
			t.Fatal(err)
		}
		s.waits(time.Minute)
		j, err := s.api.Payments.PublicJob(t.Context(), pending.JobID)
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.api.Payments.Find(t.Context(), j.PaymentID)
		if err == nil {
			_, err = s.api.Payments.Store.MovePayment(t.Context(), p, order.PaymentVoid, "")
		}
		if err != nil {
			t.Fatal(err)
		}
		got := s.register(t, "first.com", header)
		got.expect(t, 402, deed.CodePaymentInvalid)
		if !strings.Contains(got.body, `"maxAmountRequired":"13060000"`) {
			t.Errorf("paying anew is right, and not offered: %s", got.body)
		}
		if r := receiptOf(t, got.header.Get("PAYMENT-RESPONSE")); r.Success || r.ErrorReason != "invalid_transaction_state" || r.Payer != string(a.wallet) || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("got the receipt %+v and %v", r, got.header)
		}
		if j := job(t, s.service, pending.JobID); j.Status != "failed" || j.Code != string(deed.CodePaymentInvalid) {
			t.Errorf("got %+v", j)
		}
		s.chain.Resume() // mines its pending transaction
		if got := s.register(t, "first.com", s.promise(s.buyer(t), comPrice).header(t)); got.status != 201 {
			t.Errorf("the name is not free again: got %d %s", got.status, got.body)
		}
		s.runWorker(t)
		if got := s.balance(t, common.HexToAddress(string(a.wallet))); got != before {
			t.Errorf("got %s back of %s", got, before)
		}
		s.audit(t)
	})
}

// The same payment in another encoding is the same payment.
func TestReencodedPayment(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		header := s.promise(s.buyer(t), comPrice).header(t)
		first := s.register(t, "first.com", header)
		again := s.register(t, "first.com", reencode(t, header, `{"x402Version":2,`, `{ "extra": 1, "x402Version": 2 ,`))
		if first.status != 201 || again.status != 201 || again.body != first.body || s.balance(t, s.payTo) != 1_000_000_000_000+comPrice {
			t.Errorf("got %d, then %d %s", first.status, again.status, again.body)
		}
	})
}

// Empty wallets cannot block names.
func TestEmptyWalletsClaimNothing(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		for i := range 1000 {
			s.register(t, fmt.Sprintf("name%d.com", i), s.promise(newAccount(t), comPrice).header(t)).expect(t, 402, deed.CodePaymentInsufficient)
		}
		if s.open(t) != 0 {
			t.Error("something was written")
		}
		if got := s.register(t, "name7.com", s.promise(s.buyer(t), comPrice).header(t)); got.status != 201 {
			t.Errorf("got %d %s", got.status, got.body)
		}
	})
}

// A third party sends the authorization concurrently, and one of the two
// transactions fails: the payment counts, once.
func TestThirdPartySendsAuthorization(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		p := s.promise(s.buyer(t), comPrice)
		s.chain.Pause()
		s.pending(t, "first.com", p.header(t))
		s.chain.Resume()
		s.broadcastIfFirst(t, p)
		s.waits(time.Minute)
		s.runWorker(t)
		if got := s.register(t, "first.com", p.header(t)); got.status != 201 || s.balance(t, s.payTo) != 1_000_000_000_000+comPrice {
			t.Errorf("got %d %s", got.status, got.body)
		}
		s.audit(t)
	})
}

// Two nodes on one database: concurrent callers with one payment, and with their
// own, through both nodes.
func TestTwoNodesSell(t *testing.T) {
	s := openEnv(t, options{db: sqldbtest.Postgres(t)})
	other := s.secondNode(t)
	nodes := []*env{s, other}
	one := s.promise(s.buyer(t), comPrice).header(t)
	var turn atomic.Int64
	node := func() *env { return nodes[turn.Add(1)%2] }
	if count := race(100, func() int { return node().register(t, "first.com", one).status }); count[201]+count[202] != 100 {
		t.Errorf("one payment: got %v", count)
	}
	headers := make(chan string, 100)
	for range cap(headers) {
		headers <- s.promise(s.buyer(t), comPrice).header(t)
	}
	var name atomic.Int64
	if count := race(cap(headers), func() int { return node().register(t, fmt.Sprintf("name%d.com", name.Add(1)), <-headers).status }); count[201]+count[202] != 100 {
		t.Errorf("many payments: got %v", count)
	}
	rivals := make(chan string, 8)
	for range cap(rivals) {
		rivals <- s.promise(s.buyer(t), comPrice).header(t)
	}
	if count := race(cap(rivals), func() int { return node().register(t, "wanted.com", <-rivals).status }); count[201]+count[202] != 1 || count[409] != 7 {
		t.Errorf("one name: got %v", count)
	}
	s.runWorker(t)
	if got, want := s.balance(t, s.payTo), 1_000_000_000_000+102*comPrice; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	s.audit(t)
}

// A client that lost the response signs a new payment: it gets what it paid for
// before, and pays once.
func TestSignedAgain(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.buyer(t)
		s.chain.Pause()
		first := s.pending(t, "first.com", s.promise(a, comPrice).header(t))
		second := s.promise(a, comPrice).header(t)
		s.pending(t, "first.com", second)
		receipt, err := base64.StdEncoding.DecodeString(first.header.Get("PAYMENT-RESPONSE"))
		if err != nil || !strings.Contains(string(receipt), "settlement_pending") {
			t.Errorf("the receipt is %s, %v", receipt, err)
		}
		s.chain.Resume()
		s.waits(time.Minute)
		s.runWorker(t)
		if got := s.register(t, "first.com", second); got.status != 201 {
			t.Errorf("got %d %s", got.status, got.body)
		}
		if s.balance(t, s.payTo) != 1_000_000_000_000+comPrice {
			t.Error("it was paid more than once")
		}
		s.audit(t)
	})
}

// A wallet that signs several payments for one name concurrently pays once.
func TestSignedAgainRaced(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.buyer(t)
		headers := make(chan string, 20)
		for range cap(headers) {
			headers <- s.promise(a, comPrice).header(t)
		}
		count := race(cap(headers), func() int { return s.register(t, "first.com", <-headers).status })
		s.runWorker(t)
		// Requests after the purchase get 409: the name is taken.
		if count[201]+count[202]+count[409] != 20 || count[201]+count[202] == 0 || s.balance(t, s.payTo) != 1_000_000_000_000+comPrice {
			t.Errorf("got %v, and %s were paid", count, s.balance(t, s.payTo)-1_000_000_000_000)
		}
		s.audit(t)
	})
}

// Whatever the registry does, the buyer gets the name or a refund.
func TestRegistryFaults(t *testing.T) {
	for fault, delivered := range map[local.Fault]bool{
		local.FaultRefuse: false, local.FaultTaken: false, local.FaultWrongAccount: false, local.FaultParked: false,
		local.FaultLostReply: true, local.FaultLate: true, local.FaultSlow: true,
	} {
		t.Run(string(fault), func(t *testing.T) {
			eachEnv(t, func(t *testing.T, s *env) {
				a := s.buyer(t)
				wallet := common.HexToAddress(string(a.wallet))
				before := s.balance(t, wallet)
				s.faults.Set(fault, 1)
				header := s.promise(a, comPrice).header(t)
				first := s.register(t, "first.com", header)
				s.faults.Set(local.FaultNone, 0)
				s.runWorker(t)
				last := s.register(t, "first.com", header)
				got := before - s.balance(t, wallet)
				if delivered && (last.status != 201 || got != comPrice) {
					t.Errorf("got %d, then %d %s for %s", first.status, last.status, last.body, got)
				}
				if !delivered && (last.status != 500 || got != 0 || !strings.Contains(last.body, `"confirmed"`)) {
					t.Errorf("got %d, then %d %s, and paid %s", first.status, last.status, last.body, got)
				}
				if !delivered {
					s.wantSameCode(t, last)
				}
				if s.open(t) != 0 {
					t.Error("something is open")
				}
				s.audit(t)
			})
		})
	}
}

// wantSameCode fails unless a failed order and its job have the same code and message.
func (s *env) wantSameCode(t *testing.T, got answer) {
	t.Helper()
	var failed api.FailedOrder
	if err := json.Unmarshal([]byte(got.body), &failed); err != nil || failed.Code != string(deed.CodeRegistrationFailed) {
		t.Errorf("got %s, %v", got.body, err)
	}
	if j := job(t, s.service, failed.JobID); j.Code != failed.Code || j.Message != failed.Message {
		t.Errorf("the job says %s, %q; the answer was %s", j.Code, j.Message, got.body)
	}
}

// While the registry is down, nothing is charged.
func TestRegistryDown(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.faults.Set(local.FaultDown, 0)
		s.register(t, "first.com", s.promise(s.buyer(t), comPrice).header(t)).expect(t, 503, deed.CodeUnavailable)
		if s.balance(t, s.payTo) != 1_000_000_000_000 || s.open(t) != 0 {
			t.Error("something moved")
		}
	})
}

// The payer of a rejected order sends the authorization to the chain directly: the
// transfer is found and refunded.
func TestUnclaimedTransferIsRefunded(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.buyer(t)
		wallet := common.HexToAddress(string(a.wallet))
		before := s.balance(t, wallet)
		p := s.promise(a, comPrice)
		s.register(t, "nic.com", p.header(t)).expect(t, 409, deed.CodeDomainUnavailable)
		s.broadcast(t, p)
		if got := before - s.balance(t, wallet); got != comPrice {
			t.Fatalf("the promise moved %s", got)
		}
		s.runWorker(t)
		if got := s.balance(t, wallet); got != before {
			t.Errorf("got %s back of %s", got, before)
		}
		txs := read[api.Transactions](t, s.get(t, "/account/transactions", "Authorization", "Bearer "+s.tokens(t, a).Access))
		if txs.Total != 1 || txs.Transactions[0].Type != "refund" || txs.Transactions[0].Status != "refunded" {
			t.Errorf("got %+v", txs)
		}
		s.audit(t)
	})
}

// broadcastIfFirst sends a promise to the chain, unless the service was faster.
func (s *env) broadcastIfFirst(t *testing.T, p *promise) {
	t.Helper()
	if _, _, err := s.chain.SendFromFaucet(t.Context(), s.api.Terms.Asset, p.call(t)); err != nil && !strings.Contains(err.Error(), "used") && !strings.Contains(err.Error(), "reverted") {
		t.Fatal(err)
	}
}

// broadcast sends a promise to the chain directly.
func (s *env) broadcast(t *testing.T, p *promise) {
	t.Helper()
	if _, _, err := s.chain.SendFromFaucet(t.Context(), s.api.Terms.Asset, p.call(t)); err != nil {
		t.Fatal(err)
	}
}

// call returns the call data that executes a promise.
func (p *promise) call(t *testing.T) []byte {
	t.Helper()
	word := func(b []byte) []byte { return common.LeftPadBytes(b, 32) }
	sig := p.sign()
	data := append([]byte{0xcf, 0x09, 0x29, 0x95}, word(p.from.Bytes())...)
	for _, w := range [][]byte{p.to.Bytes(), p.value.Bytes(), p.after.Bytes(), p.before.Bytes(), p.nonce[:], big.NewInt(7 * 32).Bytes(), big.NewInt(65).Bytes()} {
		data = append(data, word(w)...)
	}
	return append(data, common.RightPadBytes(sig, 96)...)
}
