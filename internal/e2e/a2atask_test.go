package e2e_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"deed.example/deed"
	"deed.example/deed/internal/registrar/local"
)

// A stream follows an order until it has ended, and so does a later subscription.
func TestStreamOverA2A(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		var turn sync.Mutex
		s.enableA2A(func() { turn.Lock(); defer turn.Unlock(); s.step(t) })
		s.faults.Set(local.FaultLate, 1)
		p := s.peer(t)
		var id a2a.TaskID
		states := []a2a.TaskState{}
		var result *a2a.Artifact
		for e, err := range p.SendStreamingMessage(t.Context(), ask("register_domain", `{"domain":"first.com"}`, object(t, s.promise(s.buyer(t), comPrice).header(t)))) {
			if err != nil {
				t.Fatal(err)
			}
			switch e := e.(type) {
			case *a2a.Task:
				id = e.ID
				states = append(states, e.Status.State)
			case *a2a.TaskStatusUpdateEvent:
				states = append(states, e.Status.State)
			case *a2a.TaskArtifactUpdateEvent:
				result = e.Artifact
			}
		}
		if len(states) < 2 || states[0] != a2a.TaskStateWorking || states[len(states)-1] != a2a.TaskStateCompleted || result == nil || !strings.HasPrefix(string(id), "job_") {
			t.Errorf("got %v, then %+v", states, result)
		}
		for _, err := range p.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: id}) {
			if err == nil {
				t.Error("a task that has ended is told of")
			}
		}
		s.audit(t)
	})
}

// An offer that cannot be quoted now is not said to be gone: without a token of the owner,
// and while the registry is down. One that does not stand any more says why.
func TestOffersThatCannotBeQuotedOverA2A(t *testing.T) {
	s := openEnv(t, options{})
	p := s.peer(t, "Authorization", s.bearer(t, s.bought(t, "first.com")))
	change := p.task(t, ask("add_dns_record", `{"domain":"first.com","type":"A","host":"www","value":"192.0.2.1"}`, nil))
	order := p.task(t, ask("register_domain", `{"domain":"second.com"}`, nil))
	refused := func(p peer, id a2a.TaskID, want error, says deed.Code) {
		t.Helper()
		if got, err := p.GetTask(t.Context(), &a2a.GetTaskRequest{ID: id}); !errors.Is(err, want) || !strings.Contains(err.Error(), string(says)) {
			t.Errorf("got %+v, %v, want %v with %s", got, err, want, says)
		}
	}
	refused(s.peer(t), change.ID, a2a.ErrUnauthenticated, deed.CodeAuthRequired)
	refused(s.peer(t, "Authorization", s.bearer(t, s.bought(t, "second.com"))), change.ID, a2a.ErrUnauthorized, deed.CodeOwnershipDenied)
	third := p.task(t, ask("register_domain", `{"domain":"third.com"}`, nil))
	s.faults.Set(local.FaultDown, 0)
	refused(p, third.ID, a2a.ErrServerError, deed.CodeUnavailable)
	s.faults.Set(local.FaultNone, 0)
	if got, err := p.GetTask(t.Context(), &a2a.GetTaskRequest{ID: third.ID}); err != nil || got.Status.State != a2a.TaskStateInputRequired {
		t.Errorf("got %+v, %v", got, err)
	}
	refused(p, order.ID, a2a.ErrTaskNotFound, deed.CodeDomainUnavailable)
}

// Unknown tasks, and unsupported operations on existing ones.
func TestTasksOverA2A(t *testing.T) {
	s := openEnv(t, options{})
	p := s.peer(t)
	for _, id := range []a2a.TaskID{"job_1", "offer_", "offer_AAAA", "../health", a2a.TaskID(strings.Repeat("a", 5000))} {
		if got, err := p.GetTask(t.Context(), &a2a.GetTaskRequest{ID: id}); err == nil {
			t.Errorf("%.20s: got %+v", id, got)
		}
	}
	offer := p.task(t, ask("register_domain", `{"domain":"first.com"}`, nil))
	var streamed []a2a.Event
	for e, err := range p.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: offer.ID}) {
		if err != nil {
			t.Fatal(err)
		}
		streamed = append(streamed, e)
	}
	if task, ok := streamed[0].(*a2a.Task); len(streamed) != 1 || !ok || task.Status.State != a2a.TaskStateInputRequired {
		t.Errorf("a subscription to an offer: got %+v", streamed)
	}
	gone, err := p.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: offer.ID})
	if err != nil || gone.Status.State != a2a.TaskStateCanceled {
		t.Errorf("got %+v, %v", gone, err)
	}
	secret := p.task(t, ask("transfer_domain", fmt.Sprintf(`{"domain":"moving.com","auth_code":%q}`, s.elsewhere(t, "moving.com")), nil))
	if len(secret.ID) > 60 {
		t.Errorf("an offer carries a secret: %s", secret.ID)
	}
	done := p.task(t, ask("register_domain", `{"domain":"first.com"}`, object(t, s.promise(s.buyer(t), comPrice).header(t))))
	if _, err := p.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: done.ID}); err == nil {
		t.Error("an order that was paid for is given up")
	}
	late := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("how far are you?"))
	late.TaskID = done.ID
	if _, err := p.SendMessage(t.Context(), &a2a.SendMessageRequest{Message: late}); !errors.Is(err, a2a.ErrUnsupportedOperation) {
		t.Errorf("a message to an order: got %v", err)
	}
	no := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("no"))
	no.TaskID, no.Metadata = offer.ID, map[string]any{"x402.payment.status": "payment-rejected"}
	got := p.task(t, &a2a.SendMessageRequest{Message: no})
	if got.Status.State != a2a.TaskStateCanceled {
		t.Errorf("got %+v", got)
	}
	if text := got.Status.Message.Parts[0].Text(); !strings.Contains(text, "that order goes on") { // the name was bought since the offer
		t.Errorf("an offer that was paid for: got %q", text)
	}
}

// elsewhere registers a name at another registrar, and returns its auth code.
func (s *env) elsewhere(t *testing.T, domain deed.Name) string {
	t.Helper()
	code, err := s.registry.Elsewhere(t.Context(), domain)
	if err != nil {
		t.Fatal(err)
	}
	return code.Reveal()
}

// A stream ends when the node is about to stop; the order continues.
func TestStreamEndsWithNodeOverA2A(t *testing.T) {
	s := openEnv(t, options{})
	s.enableA2A(s.api.Drain)
	s.faults.Set(local.FaultLate, 1)
	var last a2a.Event
	for e, err := range s.peer(t).SendStreamingMessage(t.Context(), ask("register_domain", `{"domain":"first.com"}`, object(t, s.promise(s.buyer(t), comPrice).header(t)))) {
		if err != nil {
			t.Fatal(err)
		}
		last = e
	}
	task, ok := last.(*a2a.Task)
	if !ok || task.Status.State != a2a.TaskStateWorking {
		t.Fatalf("got %+v", last)
	}
	s.runWorker(t)
	done, err := s.peer(t).GetTask(t.Context(), &a2a.GetTaskRequest{ID: task.ID})
	if err != nil || done.Status.State != a2a.TaskStateCompleted {
		t.Errorf("got %+v, %v", done, err)
	}
}
