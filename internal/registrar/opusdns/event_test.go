package opusdns_test

import (
	"context"
	"errors"
	"testing"

	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/opusdns/opusdnstest"
)

// Events are acknowledged when they were stored, and not before.
func TestMessages(t *testing.T) {
	e := open(t)
	e.register(t, "news.com")
	id := e.vendor.DomainID("news.com")
	for _, ev := range []opusdnstest.Event{
		{Object: id, ObjectType: "DOMAIN", Type: "INBOUND_TRANSFER", Subtype: "SUCCESS", Message: "transferred"},
		{Raw: map[string]any{"event_id": "event_zzz", "created_on": "now"}}, // cannot be acknowledged, ever
		{Raw: map[string]any{"type": 7, "event_data": []any{}}},             // not as documented
		{ObjectType: "ACCOUNT", Type: "BALANCE", Subtype: "NOTIFICATION", Message: "low \x1b[31m"},
		{Object: "domain_01h45ytscbebyvny4gc8cr8ma2", ObjectType: "DOMAIN", Type: "DELETION", Subtype: "FAILURE", Message: "gone"},
	} {
		e.vendor.AddEvent(ev)
	}
	failure := errors.New("the database is down")
	none := func(context.Context, registrar.Message) error { return failure }
	if ok, err := e.NextMessage(t.Context(), none); ok || !errors.Is(err, failure) || e.vendor.Unacknowledged() != 5 {
		t.Errorf("got %t, %v, and %d not acknowledged", ok, err, e.vendor.Unacknowledged())
	}
	var got []registrar.Message
	store := func(_ context.Context, m registrar.Message) error { got = append(got, m); return nil }
	for {
		ok, err := e.NextMessage(t.Context(), store)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
	}
	if len(got) != 4 || e.vendor.Unacknowledged() != 1 {
		t.Fatalf("got %d messages, and %d not acknowledged, want 4 and 1", len(got), e.vendor.Unacknowledged())
	}
	for i, want := range []registrar.Message{
		{Kind: registrar.MessageTransfer, Name: "news.com", Status: "INBOUND_TRANSFER SUCCESS", Done: true, Text: "INBOUND_TRANSFER SUCCESS transferred"},
		{Kind: registrar.MessageOther, Text: "an event that is not as documented"},
		{Kind: registrar.MessageOther, Text: "BALANCE NOTIFICATION low ?[31m"},
		{Kind: registrar.MessageName, Text: "DELETION FAILURE gone"},
	} {
		m := got[i]
		if m.Kind != want.Kind || m.Name != want.Name || m.Status != want.Status || m.Done != want.Done || m.Text != want.Text || m.ID == "" || len(m.Raw) == 0 {
			t.Errorf("message %d: got %+v, want %+v", i, m, want)
		}
	}
}

// The reply to an acknowledgement is lost: the message is passed again.
func TestMessageIsRepeated(t *testing.T) {
	e := open(t)
	e.vendor.AddEvent(opusdnstest.Event{ObjectType: "ACCOUNT", Type: "BALANCE", Subtype: "NOTIFICATION", Message: "low"})
	stored := 0
	store := func(context.Context, registrar.Message) error {
		if stored++; stored == 1 {
			e.vendor.Break(opusdnstest.Unavailable, 1)
		}
		return nil
	}
	if ok, err := e.NextMessage(t.Context(), store); ok || !isUnknown(err) {
		t.Errorf("got %t, %v, want an error without a code", ok, err)
	}
	if ok, err := e.NextMessage(t.Context(), store); !ok || err != nil || stored != 2 || e.vendor.Unacknowledged() != 0 {
		t.Errorf("got %t, %v, stored %d times", ok, err, stored)
	}
	if ok, err := e.NextMessage(t.Context(), store); ok || err != nil {
		t.Errorf("got %t, %v, want none", ok, err)
	}
	e.conforms(t)
}
