package e2e_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"deed.example/deed"
	"deed.example/deed/api"
)

// From an offer to a name, with the payment beside the data part or with the task
// id alone; repeating it is free.
func TestPayOverA2A(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		p, a := s.peer(t), s.buyer(t)
		const order = `{"domain":"first.com"}`
		offer := p.task(t, ask("register_domain", order, nil))
		meta := offer.Status.Message.Metadata
		if offer.Status.State != a2a.TaskStateInputRequired || meta["x402.payment.status"] != "payment-required" || offer.ContextID == "" {
			t.Fatalf("got %+v", offer)
		}
		required, _ := meta["x402.payment.required"].(map[string]any)
		accepts, _ := required["accepts"].([]any)
		if len(accepts) != 1 || required["x402Version"] != 1.0 || accepts[0].(map[string]any)["maxAmountRequired"] != "13060000" {
			t.Fatalf("got %s", encoded(t, required))
		}
		same, err := p.GetTask(t.Context(), &a2a.GetTaskRequest{ID: offer.ID})
		if err != nil || same.ID != offer.ID || same.Status.State != a2a.TaskStateInputRequired {
			t.Errorf("got %+v, %v", same, err)
		}
		payment := object(t, s.promise(a, comPrice).header(t))
		alone := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("here is the payment"))
		alone.TaskID, alone.ContextID = offer.ID, offer.ContextID
		done := p.task(t, paying(alone, payment))
		bought := answerBody[api.Registration](t, done)
		if done.Status.State != a2a.TaskStateCompleted || string(done.ID) != bought.JobID || bought.Domain != "first.com" || bought.WalletAddress != string(a.wallet) || done.ContextID != offer.ContextID {
			t.Fatalf("got %+v %+v", done, bought)
		}
		if r := receipts(t, done); len(r) != 1 || !r[0].Success || r[0].Transaction != *bought.Payment.TxHash || done.Status.Message.Metadata["x402.payment.status"] != "payment-completed" {
			t.Errorf("got %+v", r)
		}
		again := p.task(t, ask("register_domain", order, payment))
		if again.ID != done.ID || answerBody[api.Registration](t, again).TransactionID != bought.TransactionID {
			t.Errorf("got %+v", again)
		}
		later, err := p.GetTask(t.Context(), &a2a.GetTaskRequest{ID: done.ID})
		if err != nil || later.Status.State != a2a.TaskStateCompleted || answerBody[api.Registration](t, later).Domain != "first.com" || len(receipts(t, later)) != 1 {
			t.Errorf("got %+v, %v", later, err)
		}
		s.audit(t)
	})
}

// A payment of version 1 works, too.
func TestPayOverA2AInVersionOne(t *testing.T) {
	s := openEnv(t, options{})
	done := s.peer(t).task(t, ask("register_domain", `{"domain":"first.com"}`, object(t, s.promise(s.buyer(t), comPrice).headerV1(t))))
	if done.Status.State != a2a.TaskStateCompleted || len(receipts(t, done)) != 1 || receipts(t, done)[0].Network != "base-sepolia" {
		t.Errorf("got %+v", done)
	}
}

// A payment that is invalid over HTTP is invalid over A2A, and no money moves.
func TestBadPaymentsOverA2A(t *testing.T) {
	s := openEnv(t, options{})
	p, a := s.peer(t), s.buyer(t)
	before := s.balance(t, s.payTo)
	for name, spoil := range map[string]func(*promise){
		"too little":      func(p *promise) { p.value.SetInt64(int64(comPrice) - 1) },
		"too much":        func(p *promise) { p.value.SetInt64(int64(comPrice) + 1) },
		"another payee":   func(p *promise) { p.to = s.promise(a, 1).from },
		"another network": func(p *promise) { p.network = "eip155:8453" },
		"another key":     func(p *promise) { p.key = newAccount(t).key },
		"expired":         func(p *promise) { p.before.SetInt64(time.Now().Add(-time.Minute).Unix()) },
	} {
		bad := s.promise(a, comPrice)
		spoil(bad)
		got := p.task(t, ask("register_domain", `{"domain":"first.com"}`, object(t, bad.header(t))))
		meta := got.Status.Message.Metadata
		if got.Status.State != a2a.TaskStateFailed || meta["x402.payment.status"] != "payment-failed" || meta["x402.payment.error"] != string(deed.CodePaymentInvalid) || meta["x402.payment.required"] == nil {
			t.Errorf("%s: got %+v %v", name, got, meta)
		}
	}
	for _, junk := range []any{"AAAA", 1, []any{}, map[string]any{}} {
		if out, err := p.SendMessage(t.Context(), ask("register_domain", `{"domain":"first.com"}`, junk)); err == nil {
			if task, ok := out.(*a2a.Task); !ok || task.Status.State != a2a.TaskStateFailed {
				t.Errorf("%v: got %+v", junk, out)
			}
		}
	}
	if after := s.balance(t, s.payTo); after != before {
		t.Errorf("the treasury went from %s to %s", before, after)
	}
}

// A payment for one name buys no other, and the error has no offer.
func TestPaymentForAnotherNameOverA2A(t *testing.T) {
	s := openEnv(t, options{})
	p, payment := s.peer(t), object(t, s.promise(s.buyer(t), comPrice).header(t))
	first := p.task(t, ask("register_domain", `{"domain":"first.com"}`, payment))
	got := p.task(t, ask("register_domain", `{"domain":"second.com"}`, payment))
	if got.Status.State != a2a.TaskStateFailed || got.Status.Message.Metadata["x402.payment.required"] != nil || answerBody[api.PaymentRequired](t, got).JobID != string(first.ID) {
		t.Errorf("got %+v %v", got, got.Status.Message.Metadata)
	}
	s.audit(t)
}

// One payment in many concurrent messages buys one name, once.
func TestOnePaymentRacedOverA2A(t *testing.T) {
	s := openEnv(t, options{})
	p, a := s.peer(t), s.buyer(t)
	payment := object(t, s.promise(a, comPrice).header(t))
	before := s.balance(t, s.payTo)
	ids := make([]a2a.TaskID, 20)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			out, err := p.SendMessage(t.Context(), ask("register_domain", `{"domain":"first.com"}`, payment))
			if task, ok := out.(*a2a.Task); err == nil && ok {
				ids[i] = task.ID
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id != ids[0] || !strings.HasPrefix(string(id), "job_") {
			t.Errorf("got tasks %v", ids)
			break
		}
	}
	s.runWorker(t)
	if got := s.balance(t, s.payTo) - before; got != comPrice {
		t.Errorf("%s were paid, want %s", got, comPrice)
	}
	s.audit(t)
}

// Only the owner can change the records of a name, whoever pays.
func TestOwnershipOverA2A(t *testing.T) {
	s := openEnv(t, options{})
	owner, stranger := s.bought(t, "first.com"), s.buyer(t)
	const record = `{"domain":"first.com","type":"A","host":"www","value":"192.0.2.10"}`
	s.peer(t).expect(t, ask("list_dns_records", `{"domain":"first.com"}`, nil), 401, deed.CodeAuthRequired)
	s.peer(t, "Authorization", "Bearer nonsense").expect(t, ask("list_dns_records", `{"domain":"first.com"}`, nil), 401, deed.CodeTokenInvalid)
	thief := s.peer(t, "Authorization", s.bearer(t, stranger))
	before := s.balance(t, s.payTo)
	thief.expect(t, ask("list_dns_records", `{"domain":"first.com"}`, nil), 403, deed.CodeOwnershipDenied)
	thief.expect(t, ask("add_dns_record", record, object(t, s.promise(stranger, change).header(t))), 403, deed.CodeOwnershipDenied)
	if after := s.balance(t, s.payTo); after != before {
		t.Errorf("the treasury went from %s to %s", before, after)
	}
	mine := s.peer(t, "Authorization", s.bearer(t, owner))
	added := answerBody[api.Record](t, mine.send(t, ask("add_dns_record", record, object(t, s.promise(stranger, change).header(t)))))
	if list := answerBody[api.RecordList](t, mine.send(t, ask("list_dns_records", `{"domain":"first.com"}`, nil))); len(list.Records) != 1 || list.Records[0].ID != added.ID {
		t.Errorf("got %+v", list)
	}
	s.audit(t)
}
