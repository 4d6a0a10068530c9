package e2e_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"deed.example/deed/api"
	"deed.example/deed/internal/event"
)

// The server of an owner is down for a day, in which a mandate renews the name. Then it
// gets what it missed, each message once and in order, and the list of events after the
// last cursor that it knows has the same.
func TestWebhookConsumerCatchesUp(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.config.WebhooksAllowLocal = true
		s.wire(t)
		a, r := s.bought(t, "first.com"), newHookReceiver(t)
		s.mandate(t, a, "first.com", 1)
		hook := made[api.Webhook](t, s.do(t, "POST", "/account/webhooks", `{"url":"`+r.URL+`"}`, "Authorization", s.bearer(t, a)))
		r.set(hook.Secret, http.StatusServiceUnavailable)
		last := s.events(t, a, "?limit=100").Cursor

		s.passAll(t, 336*day)
		s.runWorker(t)
		for range 24 {
			s.deliver(t)
			s.clock.advance(time.Hour)
		}
		if tried := r.take(); len(tried) < 3 {
			t.Fatalf("in a day it was tried %d times", len(tried))
		}
		r.set(hook.Secret, http.StatusNoContent)
		missed := s.events(t, a, "?limit=100&after="+last)
		var got []cloudEvent
		for range 48 { // a pause between two attempts is below a day
			s.deliver(t)
			got = append(got, r.take()...)
			s.clock.advance(time.Hour)
		}
		if g, want := messageTypes(got), types(missed); !slices.Equal(g, want) || !slices.Contains(want, event.MandateUsed) || !slices.Contains(want, event.DomainRenewed) {
			t.Fatalf("got %v, want %v", g, want)
		}
		for i, m := range got {
			if m.Cursor != missed.Events[i].Cursor || m.ID != missed.Events[i].ID {
				t.Errorf("message %d: got %s, want %s", i, m.Cursor, missed.Events[i].Cursor)
			}
		}
	})
}
