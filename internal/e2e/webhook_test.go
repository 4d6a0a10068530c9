package e2e_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	ics "github.com/arran4/golang-ical"
	"github.com/go-json-experiment/json"
	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/event"
)

// hookReceiver is the server of an owner, which verifies each message.
type hookReceiver struct {
	*httptest.Server
	mu     sync.Mutex
	secret string
	status int
	got    []cloudEvent
}

// cloudEvent is the body of a message.
type cloudEvent struct {
	SpecVersion     string        `json:"specversion"`
	ID              string        `json:"id"`
	Source          string        `json:"source"`
	Type            string        `json:"type"`
	Subject         string        `json:"subject"`
	Time            time.Time     `json:"time"`
	DataContentType string        `json:"datacontenttype"`
	Cursor          string        `json:"cursor"`
	Data            api.EventData `json:"data"`
}

func newHookReceiver(t *testing.T) *hookReceiver {
	r := &hookReceiver{status: http.StatusNoContent}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		body, err := io.ReadAll(q.Body)
		if err != nil {
			t.Error(err)
		}
		v, err := standard.NewWebhook(r.secret)
		if err != nil {
			t.Error(err)
			return
		}
		// The clock of the test is not that of the library, which would refuse it.
		if err := v.VerifyIgnoringTimestamp(body, q.Header); err != nil || q.Method != "POST" || q.Header.Get("Content-Type") != "application/cloudevents+json; charset=utf-8" {
			t.Errorf("got %s %v, %v", q.Method, q.Header, err)
		}
		var m cloudEvent
		if err := json.Unmarshal(body, &m, json.RejectUnknownMembers(true)); err != nil {
			t.Errorf("got %s, %v", body, err)
		}
		if m.SpecVersion != "1.0" || m.ID != q.Header.Get("webhook-id") || m.Source != "https://deed.example/account/events" || m.Time.IsZero() || m.DataContentType != "application/json" {
			t.Errorf("got %+v", m)
		}
		r.got = append(r.got, m)
		w.WriteHeader(r.status)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *hookReceiver) set(secret string, status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secret, r.status = secret, status
}

func (r *hookReceiver) take() (got []cloudEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	got, r.got = r.got, nil
	return got
}

// deliver sends what is due.
func (s *env) deliver(t *testing.T) {
	t.Helper()
	if err := s.app.Webhooks.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.app.Webhooks.Wait()
}

// An owner's server gets each event once, signed, in order; a failure is tried again;
// tests, replays and rotations work over HTTP.
func TestWebhooks(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.config.WebhooksAllowLocal = true
		s.wire(t)
		a, other, r := s.bought(t, "first.com"), s.buyer(t), newHookReceiver(t)
		auth, stranger := []string{"Authorization", s.bearer(t, a)}, []string{"Authorization", s.bearer(t, other)}
		last := s.events(t, a, "").Cursor
		s.do(t, "POST", "/account/webhooks", `{"url":"`+r.URL+`/hook"}`, stranger...).expect(t, 400, deed.CodeValidation) // it has no name
		hook := made[api.Webhook](t, s.do(t, "POST", "/account/webhooks", `{"url":"`+r.URL+`/hook"}`, auth...))
		if !strings.HasPrefix(hook.Secret, "whsec_") || hook.Status != "active" {
			t.Fatalf("got %+v", hook)
		}
		r.set(hook.Secret, 500)
		s.register(t, "told.com", s.promise(a, comPrice).header(t)).expect(t, 201, "")
		s.register(t, "others.com", s.promise(other, comPrice).header(t)).expect(t, 201, "")
		s.deliver(t)
		if got := r.take(); len(got) != 1 || got[0].Type != string(event.PaymentSettled) {
			t.Fatalf("while it fails: got %+v", got)
		}
		r.set(hook.Secret, 200)
		s.clock.advance(time.Minute)
		s.deliver(t)
		got := r.take()
		want := []event.Type{event.PaymentSettled, event.JobCompleted, event.DomainRegistered}
		if types := messageTypes(got); !slices.Equal(types, want) {
			t.Fatalf("got %v, want %v", types, want)
		}
		for i, e := range s.events(t, a, "?after="+last).Events {
			if m := got[i]; m.ID != e.ID || m.Cursor != e.Cursor || m.Subject != "told.com" || m.Data != e.Data {
				t.Errorf("got %+v, want %+v", m, e)
			}
		}
		base := "/account/webhooks/" + hook.ID
		list := read[api.Deliveries](t, s.get(t, base+"/deliveries", auth...))
		if list.Total != 3 || list.Deliveries[2].Attempts != 2 || list.Deliveries[0].Status != "delivered" || list.Deliveries[0].HTTPStatus != 200 {
			t.Errorf("got %+v", list)
		}
		rotated := read[api.Webhook](t, s.do(t, "POST", base+"/rotate", "", auth...))
		r.set(rotated.Secret, 200)
		s.do(t, "POST", base+"/test", "", auth...).expect(t, 202, "")
		s.do(t, "POST", base+"/deliveries/"+got[2].ID+"/replay", "", auth...).expect(t, 202, "")
		s.deliver(t)
		if types := messageTypes(r.take()); len(types) != 2 || !slices.Contains(types, "webhook.test") || !slices.Contains(types, event.DomainRegistered) {
			t.Errorf("got %v", types)
		}
		for _, path := range []string{base + "/rotate", base + "/test", base + "/deliveries/" + got[2].ID + "/replay"} {
			s.do(t, "POST", path, "", stranger...).expect(t, 404, deed.CodeNotFound)
			s.do(t, "POST", path, "").expect(t, 401, deed.CodeAuthRequired)
		}
		s.do(t, "DELETE", base, "", stranger...).expect(t, 404, deed.CodeNotFound)
		if mine := read[api.Webhooks](t, s.get(t, "/account/webhooks", stranger...)); len(mine.Webhooks) != 0 {
			t.Errorf("another wallet got %+v", mine)
		}
		if mine := read[api.Webhooks](t, s.get(t, "/account/webhooks", auth...)); len(mine.Webhooks) != 1 || mine.Webhooks[0].Secret != "" {
			t.Errorf("got %+v", mine)
		}
		s.do(t, "DELETE", base, "", auth...).expect(t, 200, "")
		s.get(t, base+"/deliveries", auth...).expect(t, 404, deed.CodeNotFound)
	})
}

// made returns the body of a 201 answer.
func made[T any](t *testing.T, a answer) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), &v); err != nil || a.status != 201 {
		t.Fatalf("got %d %s, %v", a.status, a.body, err)
	}
	return v
}

func messageTypes(list []cloudEvent) (all []event.Type) {
	for _, m := range list {
		all = append(all, event.Type(m.Type))
	}
	return all
}

// Without the setting of a sandbox, a webhook can neither be made for an address of
// this machine, nor reach one through a name that resolves to it.
func TestWebhooksReachNothingLocal(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a, r := s.bought(t, "first.com"), newHookReceiver(t)
		auth := []string{"Authorization", s.bearer(t, a)}
		for _, url := range []string{r.URL, "https://127.0.0.1:8443/", "https://localhost/", "https://169.254.169.254/latest", "https://[::1]/", "https://user@example.com/", "gopher://example.com/", ""} {
			s.do(t, "POST", "/account/webhooks", `{"url":"`+url+`"}`, auth...).expect(t, 400, deed.CodeValidation)
		}
		// A database from a sandbox, or a name that resolves to this machine.
		open := s.secondNode(t)
		open.config.WebhooksAllowLocal = true
		open.wire(t)
		hook := made[api.Webhook](t, open.do(t, "POST", "/account/webhooks", `{"url":"`+r.URL+`"}`, auth...))
		s.do(t, "POST", "/account/webhooks/"+hook.ID+"/test", "", auth...).expect(t, 202, "")
		s.deliver(t)
		list := read[api.Deliveries](t, s.get(t, "/account/webhooks/"+hook.ID+"/deliveries", auth...))
		if got := r.take(); len(got) != 0 || list.Deliveries[0].Failure != "address not allowed" {
			t.Errorf("got %+v, %+v", got, list)
		}
	})
}

// The calendar feed is read without a token, by its address alone, until that ends.
func TestCalendarFeed(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.buyer(t)
		auth := []string{"Authorization", s.bearer(t, a)}
		s.get(t, "/account/calendar", auth...).expect(t, 404, deed.CodeNotFound)
		s.register(t, "feed.com", s.promise(a, comPrice).header(t)).expect(t, 201, "")
		create := func() string {
			feed := made[api.Calendar](t, s.do(t, "POST", "/account/calendar", "", auth...))
			path, ok := strings.CutPrefix(feed.URL, "https://deed.example")
			if !ok || len(path) < 50 {
				t.Fatalf("got %+v", feed)
			}
			return path
		}
		first := create()
		got := s.get(t, first)
		cal, err := ics.ParseCalendar(strings.NewReader(got.body))
		if err != nil || len(cal.Events()) != 1 || cal.Events()[0].GetProperty(ics.ComponentPropertySummary).Value != "feed.com expires" {
			t.Fatalf("got %s, %v", got.body, err)
		}
		at, err := cal.Events()[0].GetAllDayStartAt()
		if err != nil || !at.After(s.clock.Now().AddDate(0, 11, 0)) {
			t.Errorf("got %s, %v", at, err)
		}
		second := create()
		s.get(t, first).expect(t, 404, deed.CodeNotFound)
		if got := s.get(t, second); got.status != 200 || got.header.Get("Content-Type") != "text/calendar; charset=utf-8" {
			t.Errorf("got %d %v", got.status, got.header)
		}
		s.get(t, strings.TrimSuffix(second, ".ics")).expect(t, 404, deed.CodeNotFound)
		s.get(t, "/calendar/.ics").expect(t, 404, deed.CodeNotFound)
		if made := read[api.Calendar](t, s.get(t, "/account/calendar", auth...)); made.URL != "" || made.CreatedAt.IsZero() {
			t.Errorf("got %+v", made)
		}
		s.do(t, "DELETE", "/account/calendar", "", auth...).expect(t, 200, "")
		s.get(t, second).expect(t, 404, deed.CodeNotFound)
		s.do(t, "DELETE", "/account/calendar", "", auth...).expect(t, 404, deed.CodeNotFound)
	})
}

// A name that ends soon is in the warnings of the list, whatever it filters, and of the
// name.
func TestExpiryWarnings(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.buyer(t)
		s.register(t, "soon.com", s.promise(a, comPrice).header(t)).expect(t, 201, "")
		warnings := func() (list, one []string) {
			list = read[api.AccountDomains](t, s.get(t, "/account/domains?status=expired", "Authorization", s.bearer(t, a))).Warnings
			return list, read[api.Domain](t, s.get(t, "/domains/soon.com")).Warnings
		}
		if list, one := warnings(); len(list) != 0 || len(one) != 0 {
			t.Errorf("a year before: got %q, %q", list, one)
		}
		s.clock.advance(355 * 24 * time.Hour)
		list, one := warnings()
		if len(list) != 1 || !strings.Contains(list[0], "soon.com expires on ") || !strings.Contains(list[0], "in 10 days") && !strings.Contains(list[0], "in 9 days") || !slices.Equal(list, one) {
			t.Errorf("ten days before: got %q, %q", list, one)
		}
	})
}
