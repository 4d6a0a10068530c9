package registration_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/sqldb"
)

var ada = lifecycle.Contact{
	Name: "Ada Example", Street: []string{"1 Any Street"}, City: "London", PostalCode: "N1 1AA", Country: "GB", Phone: "+44.2079460000", Email: "ada@example.com",
}

const heir deed.Wallet = "0x0000000000000000000000000000000000000009"

// registrants is the embedded registry with a record of what was sent to it, and a
// function that is called while it executes a call.
type registrants struct {
	*local.Registry
	sent      []string // e-mail addresses, "" for a reset
	deleted   []string // handles
	meanwhile func()
}

func (r *registrants) SetRegistrant(ctx context.Context, name deed.Name, c lifecycle.Contact) (string, error) {
	r.busy()
	handle, err := r.Registry.SetRegistrant(ctx, name, c)
	if err == nil {
		r.sent = append(r.sent, c.Email)
	}
	return handle, err
}

func (r *registrants) ResetRegistrant(ctx context.Context, name deed.Name) error {
	r.busy()
	err := r.Registry.ResetRegistrant(ctx, name)
	if err == nil {
		r.sent = append(r.sent, "")
	}
	return err
}

func (r *registrants) DeleteContact(ctx context.Context, handle string) error {
	r.deleted = append(r.deleted, handle)
	return r.Registry.DeleteContact(ctx, handle)
}

func (r *registrants) busy() {
	if f := r.meanwhile; f != nil {
		r.meanwhile = nil
		f()
	}
}

// registrantEnv returns an env whose registrar lets owners be registrants, with first.com.
func registrantEnv(t *testing.T, policy lifecycle.RegistrantPolicy) (*env, *registrants) {
	t.Helper()
	e := newEnv(t)
	r := &registrants{Registry: e.registry}
	e.Registrants = sqldb.Registrants{DB: e.names.DB, Now: e.Now, RegistryNow: e.Now}
	e.Backend = func(string) (registrar.Backend, error) {
		return registrar.Backend{Name: "local", Registrar: r, Manager: r, Registrant: policy}, nil
	}
	if _, _, err := e.register("first.com", "1"); err != nil {
		t.Fatal(err)
	}
	return e, r
}

// advance takes all steps that are due.
func (e *env) advance() (err error) {
	e.t.Helper()
	due, dueErr := e.Registrants.DueRegistrants(e.t.Context(), 10)
	if dueErr != nil {
		e.t.Fatal(dueErr)
	}
	for _, reference := range due {
		err = e.AdvanceRegistrant(e.t.Context(), reference)
	}
	return err
}

// wantRegistrant fails unless the registrant of first.com has this state, "" for none,
// and the registry has a contact of its owner or not.
func (e *env) wantRegistrant(state lifecycle.RegistrantState, atRegistry bool) lifecycle.Registrant {
	e.t.Helper()
	r, err := e.Names.Registration(e.t.Context(), "first.com")
	if err != nil {
		e.t.Fatal(err)
	}
	v, err := e.Registrant(e.t.Context(), r.Owner, "first.com")
	if err != nil {
		e.t.Fatal(err)
	}
	var g lifecycle.Registrant
	if v.Given != nil {
		g = *v.Given
	}
	entry, err := e.registry.Store.Entry(e.t.Context(), "first.com", e.now)
	if err != nil || g.State != state || (entry.Registrant != "") != atRegistry || atRegistry && state == lifecycle.RegistrantSent && entry.Registrant != g.Handle {
		e.t.Fatalf("got %+v and %q at the registry, %v; want %q, %t", g, entry.Registrant, err, state, atRegistry)
	}
	return g
}

func TestRegistrantIsSentAndReset(t *testing.T) {
	e, r := registrantEnv(t, lifecycle.RegistrantOptional)
	e.wantRegistrant("", false)
	if _, err := e.SetRegistrant(t.Context(), heir, "first.com", ada); deed.CodeOf(err) != deed.CodeOwnershipDenied {
		t.Errorf("a stranger: got %v", err)
	}
	if _, err := e.SetRegistrant(t.Context(), payer, "first.com", lifecycle.Contact{}); deed.CodeOf(err) != deed.CodeValidation {
		t.Errorf("nothing: got %v", err)
	}
	if _, err := e.SetRegistrant(t.Context(), payer, "first.com", ada); err != nil {
		t.Fatal(err)
	}
	if g := e.wantRegistrant(lifecycle.RegistrantPending, false); g.Contact.Email != ada.Email {
		t.Errorf("got %+v", g)
	}
	if _, err := e.Registrant(t.Context(), heir, "first.com"); deed.CodeOf(err) != deed.CodeOwnershipDenied {
		t.Errorf("a stranger: got %v", err)
	}
	if err := e.advance(); err != nil {
		t.Fatal(err)
	}
	first := e.wantRegistrant(lifecycle.RegistrantSent, true)
	other := ada
	other.Email = "other@example.com"
	if _, err := e.SetRegistrant(t.Context(), payer, "first.com", other); err != nil {
		t.Fatal(err)
	}
	if err := e.advance(); err != nil {
		t.Fatal(err)
	}
	e.wantRegistrant(lifecycle.RegistrantSent, true)
	if !slices.Equal(r.deleted, []string{first.Handle}) {
		t.Errorf("deleted %q, want %q", r.deleted, first.Handle)
	}
	if _, err := e.ResetRegistrant(t.Context(), payer, "first.com"); err != nil {
		t.Fatal(err)
	}
	if g := e.wantRegistrant(lifecycle.RegistrantResetting, true); g.Contact.Email != "" {
		t.Errorf("got %+v", g)
	}
	if err := e.advance(); err != nil {
		t.Fatal(err)
	}
	e.wantRegistrant("", false)
	if got := strings.Join(r.sent, " "); got != "ada@example.com other@example.com " {
		t.Errorf("sent %q", got)
	}
	events, err := e.Names.Events(t.Context(), lifecycle.Registration{Name: first.Name, Reference: first.Reference})
	n := 0
	for _, event := range events {
		if event.Type == lifecycle.EventRegistrantSent {
			n++
		}
	}
	if err != nil || n == 0 {
		t.Errorf("got %v, %v", events, err)
	}
}

func TestRegistrantPolicies(t *testing.T) {
	e, _ := registrantEnv(t, lifecycle.RegistrantProxy)
	if _, err := e.SetRegistrant(t.Context(), payer, "first.com", ada); deed.CodeOf(err) != deed.CodeValidation {
		t.Errorf("proxy: got %v", err)
	}
	e, _ = registrantEnv(t, lifecycle.RegistrantRequired)
	if _, err := e.SetRegistrant(t.Context(), payer, "first.com", ada); err != nil {
		t.Error(err)
	}
	if _, err := e.ResetRegistrant(t.Context(), payer, "first.com"); deed.CodeOf(err) != deed.CodeValidation {
		t.Errorf("required: got %v", err)
	}
}

// What the registry refuses stays refused until the owner gives something else.
func TestRegistrantIsRefused(t *testing.T) {
	e, _ := registrantEnv(t, lifecycle.RegistrantOptional)
	if err := e.registry.Faults.Set(local.FaultRefuse, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := e.SetRegistrant(t.Context(), payer, "first.com", ada); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := e.advance(); err != nil {
			t.Fatal(err)
		}
	}
	if g := e.wantRegistrant(lifecycle.RegistrantRefused, false); !strings.Contains(g.Reason, "does not accept") {
		t.Errorf("got %+v", g)
	}
	if _, err := e.SetRegistrant(t.Context(), payer, "first.com", ada); err != nil {
		t.Fatal(err)
	}
	if err := e.advance(); err != nil {
		t.Fatal(err)
	}
	e.wantRegistrant(lifecycle.RegistrantSent, true)
}

// What changes while the registry executes a call wins in the end, whoever changed it.
func TestRegistrantChangesWhileItIsSent(t *testing.T) {
	other := ada
	other.Email = "other@example.com"
	for title, c := range map[string]struct {
		meanwhile func(e *env) error
		sent      string
		state     lifecycle.RegistrantState
	}{
		"other data": {func(e *env) error {
			_, err := e.SetRegistrant(e.t.Context(), payer, "first.com", other)
			return err
		}, "ada@example.com other@example.com", lifecycle.RegistrantSent},
		"taken back": {func(e *env) error {
			_, err := e.ResetRegistrant(e.t.Context(), payer, "first.com")
			return err
		}, "ada@example.com ", ""},
		"handed over": {func(e *env) error { return e.HandOver(e.t.Context(), payer, "first.com", heir) }, "ada@example.com ", ""},
	} {
		t.Run(title, func(t *testing.T) {
			e, r := registrantEnv(t, lifecycle.RegistrantOptional)
			if _, err := e.SetRegistrant(t.Context(), payer, "first.com", ada); err != nil {
				t.Fatal(err)
			}
			var failed error
			r.meanwhile = func() { failed = c.meanwhile(e) }
			for range 3 {
				if err := e.advance(); err != nil || failed != nil {
					t.Fatal(err, failed)
				}
			}
			if got := strings.Join(r.sent, " "); got != c.sent {
				t.Errorf("sent %q, want %q", got, c.sent)
			}
			e.wantRegistrant(c.state, c.state == lifecycle.RegistrantSent)
			if len(r.deleted) == 0 {
				t.Error("the first contact was not deleted")
			}
		})
	}
}

// A process that dies between two steps leaves nothing undone; the lease keeps others
// from a second call while the first may still be executed.
func TestRegistrantSurvivesACrash(t *testing.T) {
	for _, at := range []string{"leased", "sent", "deleted"} {
		t.Run(at, func(t *testing.T) {
			e, _ := registrantEnv(t, lifecycle.RegistrantOptional)
			if _, err := e.SetRegistrant(t.Context(), payer, "first.com", ada); err != nil {
				t.Fatal(err)
			}
			if at == "deleted" {
				if err := e.advance(); err != nil {
					t.Fatal(err)
				}
				if _, err := e.ResetRegistrant(t.Context(), payer, "first.com"); err != nil {
					t.Fatal(err)
				}
			}
			e.Step = func(step string) {
				if step == "registrant: "+at {
					e.Step = nil
					panic(step)
				}
			}
			func() {
				defer func() { _ = recover() }()
				_ = e.advance()
			}()
			if e.Step != nil {
				t.Fatal("it did not crash")
			}
			if err := e.HandOver(t.Context(), payer, "first.com", heir); err != nil && at != "deleted" {
				t.Fatal(err)
			}
			if err := e.advance(); err != nil { // the lease has not ended
				t.Fatal(err)
			}
			e.now = e.now.Add(2 * time.Minute)
			if err := e.advance(); err != nil {
				t.Fatal(err)
			}
			e.wantRegistrant("", false)
		})
	}
}

// A registry that does not answer is asked again, less and less often, and nothing that
// it says is in the error.
func TestRegistrantWaitsForTheRegistry(t *testing.T) {
	e, _ := registrantEnv(t, lifecycle.RegistrantOptional)
	if _, err := e.SetRegistrant(t.Context(), payer, "first.com", ada); err != nil {
		t.Fatal(err)
	}
	if err := e.registry.Faults.Set(local.FaultDown, 0); err != nil {
		t.Fatal(err)
	}
	tries := 0
	for range 200 {
		if err := e.advance(); err != nil {
			if tries++; strings.Contains(err.Error(), "the registry is down") || !strings.Contains(err.Error(), "does not answer") {
				t.Fatalf("got %v", err)
			}
		}
		e.now = e.now.Add(time.Minute)
	}
	if tries < 5 || tries > 15 {
		t.Errorf("asked %d times in 200 minutes", tries)
	}
	if err := e.registry.Faults.Set(local.FaultNone, 0); err != nil {
		t.Fatal(err)
	}
	e.now = e.now.Add(2 * time.Hour)
	if err := e.advance(); err != nil {
		t.Fatal(err)
	}
	e.wantRegistrant(lifecycle.RegistrantSent, true)
}
