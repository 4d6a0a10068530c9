package epp_test

import (
	"context"
	"errors"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/epp"
	"deed.example/deed/internal/registrar/epp/epptest"
)

// next reads the next message.
func (e env) next(t *testing.T) (m registrar.Message, ok bool) {
	t.Helper()
	ok, err := e.NextMessage(t.Context(), func(_ context.Context, got registrar.Message) error {
		m = got
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return m, ok
}

// A message is acknowledged when it has been stored, and not before.
func TestMessageIsStoredBeforeItIsAcknowledged(t *testing.T) {
	e := open(t)
	if _, ok := e.next(t); ok {
		t.Error("got a message of an empty queue")
	}
	e.server.Notify(epptest.ClientID, "Maintenance on Sunday.", "")
	full := errors.New("the disk is full")
	for range 2 {
		_, err := e.NextMessage(t.Context(), func(context.Context, registrar.Message) error { return full })
		if !errors.Is(err, full) || e.server.Queued(epptest.ClientID) != 1 {
			t.Errorf("got %v, %d messages left, want the message to stay", err, e.server.Queued(epptest.ClientID))
		}
	}
	for _, kind := range append(epptest.Cuts, epptest.Nonsense...) { // the acknowledgement is lost
		e.server.Notify(epptest.ClientID, "One more.", "")
		e.server.Break(epptest.Fault{Kind: kind, Times: 1, Only: []string{"poll ack"}})
		stored := 0
		_, err := e.NextMessage(t.Context(), func(context.Context, registrar.Message) error { stored++; return nil })
		uncoded(t, err)
		if stored != 1 {
			t.Errorf("%s: stored %d messages, want 1", kind, stored)
		}
	}
	for {
		m, ok := e.next(t)
		if !ok {
			break
		}
		if m.ID == "" || m.Text == "" || m.At.IsZero() || m.Kind != registrar.MessageOther || len(m.Raw) == 0 {
			t.Errorf("got %+v", m)
		}
	}
	if n := e.server.Queued(epptest.ClientID); n != 0 {
		t.Errorf("%d messages are left", n)
	}
}

// A message whose content is unknown or nonsense does not stop those behind it.
func TestPoisonedMessage(t *testing.T) {
	e := open(t)
	const ns = `xmlns:domain="urn:ietf:params:xml:ns:domain-1.0"`
	for _, data := range []string{
		`<x:unknown xmlns:x="urn:example:x">?</x:unknown>`,
		`<domain:trnData ` + ns + `><domain:name>not a name</domain:name></domain:trnData>`,
		`<domain:trnData ` + ns + `/>`,
		`<domain:panData ` + ns + `><domain:name paResult="maybe">-</domain:name></domain:panData>`,
		`<domain:infData ` + ns + `/>`,
		"<x>not XML \x01\xff</y>",
	} {
		e.server.Notify(epptest.ClientID, "Poison.", data)
		if m, ok := e.next(t); !ok || m.Kind != registrar.MessageOther || m.Name != "" {
			t.Errorf("%s: got %+v", data, m)
		}
	}
	e.server.NotifyWith(epptest.ClientID, "Changed.", `<h:infData xmlns:h="urn:ietf:params:xml:ns:host-1.0"><h:name>NS1.Example.net.</h:name></h:infData>`,
		`<c:changeData xmlns:c="urn:ietf:params:xml:ns:changePoll-1.0" state="after"><c:operation op="rename">custom</c:operation><c:who>registry</c:who><c:reason>the name above was deleted</c:reason></c:changeData>`)
	if m, ok := e.next(t); !ok || m.Kind != registrar.MessageHost || m.Host != "ns1.example.net" || m.Text != "Changed. (custom by registry the name above was deleted)" {
		t.Errorf("a host: got %+v", m)
	}
	for data, want := range map[string]registrar.Message{
		`<domain:panData ` + ns + `><domain:name paResult="1">HOSTILE.com</domain:name></domain:panData>`:                                     {Kind: registrar.MessagePending, Name: name, Done: true},
		`<domain:panData ` + ns + `><domain:name paResult="0">hostile.com</domain:name></domain:panData>`:                                     {Kind: registrar.MessagePending, Name: name},
		`<domain:renData ` + ns + `><domain:name>hostile.com</domain:name></domain:renData>`:                                                  {Kind: registrar.MessageRenewal, Name: name},
		`<domain:infData ` + ns + `><domain:name>hostile.com</domain:name><domain:status s="serverHold"/></domain:infData>`:                   {Kind: registrar.MessageName, Name: name},
		`<domain:trnData ` + ns + `><domain:name>hostile.com</domain:name><domain:trStatus>clientApproved</domain:trStatus></domain:trnData>`: {Kind: registrar.MessageTransfer, Name: name, Done: true, Status: "clientApproved"},
		`<domain:trnData ` + ns + `><domain:name>hostile.com</domain:name><domain:trStatus>clientRejected</domain:trStatus></domain:trnData>`: {Kind: registrar.MessageTransfer, Name: name, Status: "clientRejected"},
	} {
		e.server.Notify(epptest.ClientID, "News.", data)
		if m, ok := e.next(t); !ok || m.Kind != want.Kind || m.Name != want.Name || m.Done != want.Done || m.Status != want.Status {
			t.Errorf("%s: got %+v, want %+v", data, m, want)
		}
	}
}

// Another registrar asks for a name: the message says so, and we approve or reject.
// After a rejection its code is no longer valid.
func TestDecideTransfer(t *testing.T) {
	e := open(t)
	e.bought(t, name)
	other := e.as(t, epptest.OtherID)
	e.Advance(61 * day)
	if err := e.SetLock(t.Context(), name, false); err != nil {
		t.Fatal(err)
	}
	code, err := e.AuthCode(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, e.DecideTransfer(t.Context(), name, true), deed.CodeNotFound)
	wantCode(t, other.Transferable(t.Context(), name, "wrong"), deed.CodeValidation)
	if err := other.Transferable(t.Context(), name, code); err != nil {
		t.Error(err)
	}
	request := registrar.Order{Kind: registrar.OrderTransfer, Reference: "out", Name: name, AuthCode: code, Submitted: e.Now()}
	if err := other.Place(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if m, ok := e.next(t); !ok || m.Kind != registrar.MessageTransfer || m.Name != name || m.Status != "pending" || m.Done {
		t.Errorf("got %+v, want a pending transfer", m)
	}
	if err := e.DecideTransfer(t.Context(), name, false); err != nil {
		t.Error(err)
	}
	if st, err := other.Order(t.Context(), request); err != nil || st.State != registrar.OrderAbsent || st.Refusal != deed.CodeRegistrationFailed {
		t.Errorf("got %+v, %v, want a rejection", st, err)
	}
	wantCode(t, other.Place(t.Context(), request), deed.CodeValidation) // the code was replaced
	if request.AuthCode, err = e.AuthCode(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if err := other.Place(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if err := e.DecideTransfer(t.Context(), name, true); err != nil {
		t.Error(err)
	}
	if st, err := other.Order(t.Context(), request); err != nil || st.State != registrar.OrderDone {
		t.Errorf("got %+v, %v, want done", st, err)
	}
	_, err = e.Holding(t.Context(), name)
	wantCode(t, err, deed.CodeNotFound)
	wantCode(t, e.Transferable(t.Context(), name, request.AuthCode), deed.CodeValidation) // too young, and locked
	wantCode(t, other.Transferable(t.Context(), name, "any"), deed.CodeDomainUnavailable)
	wantCode(t, e.Transferable(t.Context(), "free.com", "any"), deed.CodeNotFound)
	wantCode(t, e.Transferable(t.Context(), "free.com", ""), deed.CodeValidation)
}

// as opens a backend for another registrar.
func (e env) as(t *testing.T, clientID string) *epp.Backend {
	t.Helper()
	e.config.ClientID = clientID
	return e.node(t)
}

// A registration that the registry has not decided yet is pending, and can be neither
// bought again nor lost.
func TestPendingCreate(t *testing.T) {
	e := open(t)
	e.server.HoldCreates(name)
	o := registrar.Order{Kind: registrar.OrderRegister, Reference: "a", Name: name, Years: 1, Submitted: e.Now()}
	if err := e.Place(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if st, err := e.Order(t.Context(), o); err != nil || st.State != registrar.OrderPending {
		t.Errorf("got %+v, %v, want pending", st, err)
	}
	e.server.DropCreate(name)
	if st, err := e.Order(t.Context(), o); err != nil || st.State != registrar.OrderAbsent {
		t.Errorf("got %+v, %v, want absent", st, err)
	}
	if err := e.Place(t.Context(), o); err != nil {
		t.Error(err)
	}
	if st, err := e.Order(t.Context(), o); err != nil || st.State != registrar.OrderDone {
		t.Errorf("got %+v, %v, want done", st, err)
	}
}
