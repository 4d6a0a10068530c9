package e2e_test

import (
	"bufio"
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/event"
	"deed.example/deed/internal/registrar/local"
)

// events returns the wallet's events after the cursor.
func (s *env) events(t *testing.T, a *account, query string) api.Events {
	t.Helper()
	return read[api.Events](t, s.get(t, "/account/events"+query, "Authorization", s.bearer(t, a)))
}

// types returns the types of events, in order.
func types(list api.Events) (all []event.Type) {
	for _, e := range list.Events {
		all = append(all, event.Type(e.Type))
	}
	return all
}

// Everything that happens to a wallet's payments, jobs, names and zones is told once,
// in order, to that wallet only.
func TestOwnerEvents(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a, other := s.buyer(t), s.buyer(t)
		s.register(t, "told.com", s.promise(a, comPrice).header(t)).expect(t, 201, "")
		s.faults.Set(local.FaultRefuse, 1)
		s.register(t, "refused.com", s.promise(a, comPrice).header(t)).expect(t, 500, deed.CodeRegistrationFailed)
		s.runWorker(t)
		list := s.events(t, a, "")
		want := []event.Type{
			event.PaymentSettled, event.JobCompleted, event.DomainRegistered,
			event.PaymentSettled, event.JobFailed, event.RefundDue, event.RefundSent,
		}
		if got := types(list); !slices.Equal(got, want) || list.HasMore || list.Cursor != "7" {
			t.Fatalf("got %v, cursor %s, want %v", got, list.Cursor, want)
		}
		refund := list.Events[6].Data
		if refund.Domain != "refused.com" || refund.Amount != comPrice.String() || refund.TxHash == "" || refund.RefundID == "" {
			t.Errorf("got %+v", refund)
		}
		if name := list.Events[2].Data; name.Domain != "told.com" || name.ExpiresAt.IsZero() {
			t.Errorf("got %+v", name)
		}
		page := s.events(t, a, "?after=2&limit=2")
		if got := types(page); !slices.Equal(got, want[2:4]) || !page.HasMore || page.Cursor != "4" {
			t.Errorf("the second page: got %v, %+v", got, page)
		}
		if mine := s.events(t, other, ""); len(mine.Events) != 0 || mine.Cursor != "0" {
			t.Errorf("another wallet got %+v", mine)
		}
		for _, bad := range []string{"?after=-1", "?after=x", "?limit=0", "?after=99999999999999999999"} {
			s.get(t, "/account/events"+bad, "Authorization", s.bearer(t, a)).expect(t, 400, deed.CodeValidation)
		}
		s.get(t, "/account/events").expect(t, 401, deed.CodeAuthRequired)
	})
}

// A stream sends what was missed since Last-Event-ID, then what happens.
func TestEventStream(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.buyer(t)
		s.register(t, "first.com", s.promise(a, comPrice).header(t)).expect(t, 201, "")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, "GET", "http://"+s.addr+"/account/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", s.bearer(t, a))
		r.Header.Set("Accept", "text/event-stream")
		r.Header.Set("Last-Event-ID", "2")
		res, err := s.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close() // the request is cancelled anyway
		if got := res.Header.Get("Content-Type"); got != "text/event-stream" {
			t.Fatalf("got %d %s", res.StatusCode, got)
		}
		lines := bufio.NewScanner(res.Body)
		next := func() (e api.Event) {
			t.Helper()
			for lines.Scan() {
				if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
					if err := json.Unmarshal([]byte(data), &e); err != nil {
						t.Fatal(err)
					}
					return e
				}
			}
			t.Fatalf("the stream has ended: %v", lines.Err())
			return e
		}
		if e := next(); e.Cursor != "3" || e.Type != string(event.DomainRegistered) {
			t.Errorf("missed: got %+v", e)
		}
		s.register(t, "second.com", s.promise(a, comPrice).header(t)).expect(t, 201, "")
		if e := next(); e.Cursor != "4" || e.Type != string(event.PaymentSettled) || e.Data.Domain != "second.com" {
			t.Errorf("new: got %+v", e)
		}
	})
}

// A stream of a session that was ended sends nothing more.
func TestStreamEndsWithSession(t *testing.T) {
	s := openEnv(t, options{})
	a := s.buyer(t)
	s.register(t, "first.com", s.promise(a, comPrice).header(t)).expect(t, 201, "")
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+s.addr+"/account/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	token := s.bearer(t, a)
	r.Header.Set("Authorization", token)
	r.Header.Set("Accept", "text/event-stream")
	res, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() // the stream has ended
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() && lines.Text() != "id: 3" { // of the events of first.com
	}
	if got := s.do(t, "POST", "/auth/revoke", "", "Authorization", token); got.status != 200 {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	s.register(t, "second.com", s.promise(a, comPrice).header(t)).expect(t, 201, "")
	for lines.Scan() {
		if strings.Contains(lines.Text(), "second.com") {
			t.Fatalf("a stream without a session sent %s", lines.Text())
		}
	}
}
