package event_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/event"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

var noon = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// A payer is told of the money that moved, with what identifies it; of a part that goes
// back, that part and why.
func TestOfPayment(t *testing.T) {
	p := order.Payment{
		PublicID: "pay_1", RefundID: "ref_1", TxHash: "0xin", RefundTx: "0xout",
		Auth: settle.Authorization{Payer: "0x1", Amount: 1306 * deed.Cent}, Purchase: order.Purchase{Kind: order.PurchaseRenewal, Name: "a.com"},
	}
	data := event.Data{Domain: "a.com", Kind: order.PurchaseRenewal, PaymentID: "pay_1", Amount: "13.06", TxHash: "0xin"}
	back := data
	back.RefundID, back.TxHash = "ref_1", "0xout"
	part := back
	part.Amount, part.Reason = "3.00", "the price was lower"
	for _, tt := range []struct {
		state order.PaymentState
		part  order.PartRefund
		want  event.Type
		data  event.Data
	}{
		{order.PaymentSettled, order.PartRefund{}, event.PaymentSettled, data},
		{order.PaymentRefundDue, order.PartRefund{}, event.RefundDue, back},
		{order.PaymentRefunded, order.PartRefund{}, event.RefundSent, back},
		{order.PaymentRefunded, order.PartRefund{Label: order.RefundChange, Amount: 300 * deed.Cent, Reason: "the price was lower"}, event.RefundSent, part},
	} {
		p.State, p.Part = tt.state, tt.part
		e, ok := event.OfPayment(p, noon)
		if !ok || e.Type != tt.want || e.Data != tt.data || e.Owner != "0x1" || !e.At.Equal(noon) {
			t.Errorf("%s: got %+v, %v", tt.state, e, ok)
		}
	}
	for _, silent := range []order.PaymentState{order.PaymentAuthorized, order.PaymentSettling, order.PaymentConsumed, order.PaymentRefunding, order.PaymentVoid, order.PaymentReleased, order.PaymentUnclaimed, order.PaymentDust} {
		p.State = silent
		if e, ok := event.OfPayment(p, noon); ok {
			t.Errorf("%s: got %+v", silent, e)
		}
	}
}

// An owner is told how an order ended, unless nothing was paid for it.
func TestOfJob(t *testing.T) {
	j := order.Job{PublicID: "job_1", Owner: "0x1", Purchase: order.Purchase{Kind: order.PurchaseRegistration, Name: "a.com"}, Until: noon, Failure: "refused"}
	for state, want := range map[order.JobState]event.Type{
		order.JobCompleted: event.JobCompleted, order.JobFailed: event.JobFailed,
		order.JobAwaitingPayment: "", order.JobQueued: "", order.JobSubmitting: "", order.JobVerifying: "", order.JobCancelled: "",
	} {
		j.State = state
		e, ok := event.OfJob(j, noon)
		if ok != (want != "") || ok && (e.Type != want || e.Owner != "0x1" || e.Data.JobID != "job_1" || (e.Data.Reason != "") != (want == event.JobFailed)) {
			t.Errorf("%s: got %+v, %v", state, e, ok)
		}
	}
}

// Notices of an expiry say when it is and how many days are left; others do not.
func TestOfRegistration(t *testing.T) {
	for kind, want := range map[lifecycle.EventType]event.Data{
		lifecycle.EventExpiresIn7: {Domain: "a.com", ExpiresAt: noon, DaysLeft: 7},
		lifecycle.EventExpired3:   {Domain: "a.com", ExpiresAt: noon, DaysLeft: -3},
		lifecycle.EventMissing:    {Domain: "a.com", ExpiresAt: noon},
		lifecycle.EventHandedOver: {Domain: "a.com"},
		lifecycle.EventCorrected:  {Domain: "a.com"}, // it refers to the time of the correction
	} {
		e := event.OfRegistration(lifecycle.Event{Type: kind, Name: "a.com", About: noon, At: noon.Add(time.Hour)}, "0x1")
		if e.Type == "" || e.Data != want || e.Owner != "0x1" || e.Aggregate() != "a.com" {
			t.Errorf("%s: got %+v", kind, e)
		}
	}
}

// Every event of a name has a type, and is in the docs.
func TestEventsOfNamesAreListed(t *testing.T) {
	source, err := os.ReadFile("../lifecycle/event.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/names.md")
	if err != nil {
		t.Fatal(err)
	}
	events := regexp.MustCompile(`EventType = "([a-z0-9_]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(events) < 29 {
		t.Errorf("got %d events", len(events))
	}
	for _, m := range events {
		if e := event.OfRegistration(lifecycle.Event{Type: lifecycle.EventType(m[1]), Name: "a.com"}, "0x1"); e.Type == "" {
			t.Errorf("%s has no row in domainEvents", m[1])
		}
		if !strings.Contains(string(page), "`"+m[1]+"`") {
			t.Errorf("docs/names.md does not list %s", m[1])
		}
	}
}

// Every type is in the API reference, in the docs and on the page.
func TestTypesAreListed(t *testing.T) {
	read := func(path string) string {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	types := regexp.MustCompile(`Type = "([a-z._]+)"`).FindAllStringSubmatch(read("event.go")+read("mandate.go"), -1)
	if len(types) < 39 {
		t.Errorf("got %d types", len(types))
	}
	for path, form := range map[string]string{"../../api/openapi.yaml": "- %s\n", "../../docs/events.md": "`%s`", "../../web/src/parts/Events.svelte": "'%s'"} {
		text := read(path)
		for _, m := range types {
			if !strings.Contains(text, fmt.Sprintf(form, m[1])) {
				t.Errorf("%s does not list %s", path, m[1])
			}
		}
	}
}

// An owner is told of a mandate in every state but one that needs no act.
func TestOfMandate(t *testing.T) {
	for state, want := range map[order.MandateState]event.Type{
		order.MandateActive: event.MandateAtRisk, order.MandatePaying: event.MandateDue, order.MandateUsed: event.MandateUsed,
		order.MandateFailed: event.MandateFailed, order.MandateRevoked: event.MandateRevoked, order.MandateUnneeded: "",
	} {
		e, ok := event.OfMandate(order.Mandate{ID: "man_1", Name: "a.com", Owner: "0x1", State: state, Reason: "why"}, noon)
		if e.Type != want || ok != (want != "") || e.Data.MandateID != "man_1" || e.Data.Reason != "why" {
			t.Errorf("%s: got %+v, %v", state, e, ok)
		}
	}
}

// numbered has events 1 to n.
type numbered struct{ n int64 }

func (s *numbered) Events(_ context.Context, _ deed.Wallet, after int64, limit int) (page []event.Event, err error) {
	for n := after + 1; n <= s.n && len(page) < limit; n++ {
		page = append(page, event.Event{N: n})
	}
	return page, nil
}

// A page says whether there are more.
func TestList(t *testing.T) {
	s := event.Service{Store: &numbered{5}}
	for _, tt := range []struct {
		after int64
		limit int
		want  int
		more  bool
	}{{0, 4, 4, true}, {0, 5, 5, false}, {0, 9, 5, false}, {5, 1, 0, false}} {
		page, more, err := s.List(t.Context(), "0x1", tt.after, tt.limit)
		if err != nil || len(page) != tt.want || more != tt.more {
			t.Errorf("%+v: got %d, %v, %v", tt, len(page), more, err)
		}
	}
}

// A stream has every event once, in order, also those that happen while it is read, and
// goes on without a pause while there are more than a page.
func TestFollow(t *testing.T) {
	store, pauses, ended := &numbered{2*event.MaxPage + 1}, 0, errors.New("ended")
	s := event.Service{Store: store, Pause: func(context.Context) error {
		if pauses++; pauses == 3 {
			return ended
		}
		store.n++
		return nil
	}}
	var got []int64
	err := s.Follow(t.Context(), "0x1", 1, func(e *event.Event) error {
		if e != nil {
			got = append(got, e.N)
		}
		return nil
	})
	want := make([]int64, 0, store.n)
	for n := int64(2); n <= store.n; n++ {
		want = append(want, n)
	}
	if !errors.Is(err, ended) || !slices.Equal(got, want) || store.n != 2*event.MaxPage+3 {
		t.Errorf("got %d events, %v", len(got), err)
	}
	gone := errors.New("the reader has gone")
	if err := s.Follow(t.Context(), "0x1", 0, func(*event.Event) error { return gone }); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}
