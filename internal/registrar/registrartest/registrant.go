package registrartest

import (
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
)

var (
	ada = lifecycle.Contact{
		Name: "Ada Example", Organization: "Engines Ltd", Street: []string{"1 Any Street", "Floor 2"}, City: "London", Region: "Greater London",
		PostalCode: "N1 1AA", Country: "GB", Phone: "+44.2079460000", Email: "ada@example.com",
	}
	grace = lifecycle.Contact{
		Name: "Grace <&> Müller", Street: []string{"Straße 5"}, City: "Köln", PostalCode: "50667", Country: "DE", Phone: "+49.2210000000", Email: "grace@example.org",
	}
)

// managerRegistrant makes owners the registrants of a name, and the operator again.
func managerRegistrant(t *testing.T, b Env) {
	m, ok := registrar.RegistrantsOf(b.Manager)
	if !ok {
		t.Skip("the registry has no registrants")
	}
	b.registered(t, ref, name)
	set := func(c lifecycle.Contact) (handle string) {
		t.Helper()
		for range 2 { // twice is like once
			var err error
			if handle, err = m.SetRegistrant(t.Context(), name, c); err != nil || handle == "" {
				t.Fatalf("got %q, %v", handle, err)
			}
		}
		return handle
	}
	first := set(ada)
	second := set(grace)
	if first == second {
		t.Errorf("two contacts have the handle %q", first)
	}
	erase := func(handle string) {
		t.Helper()
		for range 2 {
			if err := m.DeleteContact(t.Context(), handle); err != nil {
				t.Errorf("delete %s: %v", handle, err)
			}
		}
	}
	erase(first)
	for range 2 {
		if err := m.ResetRegistrant(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	erase(second)
	_, err := m.SetRegistrant(t.Context(), "never-bought.com", ada)
	wantCode(t, err, deed.CodeNotFound)
	wantCode(t, m.ResetRegistrant(t.Context(), "never-bought.com"), deed.CodeNotFound)
	b.Break(t, Down, 5)
	if _, err := m.SetRegistrant(t.Context(), name, ada); deed.CodeOf(err) != deed.CodeUnavailable {
		t.Errorf("while the registry is down: got %v", err)
	}
}
