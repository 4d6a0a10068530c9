package seal_test

import (
	"strings"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/seal"
)

func newBox(t *testing.T, secrets ...deed.Secret) *seal.Box {
	t.Helper()
	b, err := seal.New(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A sealed text can be opened with any of the keys and the same context only, and
// does not reveal the text.
func TestSealAndOpen(t *testing.T) {
	old, now := newBox(t, "first secret"), newBox(t, "second secret", "first secret")
	sealed, err := old.Seal("pay_1", "Secret-Code")
	if err != nil || strings.Contains(sealed, "Secret") {
		t.Fatalf("got %q, %v", sealed, err)
	}
	if plain, err := now.Open("pay_1", sealed); err != nil || plain != "Secret-Code" {
		t.Errorf("got %q, %v", plain, err)
	}
	again, err := old.Seal("pay_1", "Secret-Code")
	if err != nil || again == sealed {
		t.Errorf("got the same bytes twice, %v", err)
	}
	for name, open := range map[string]func() (string, error){
		"another context": func() (string, error) { return now.Open("pay_2", sealed) },
		"another key":     func() (string, error) { return newBox(t, "third secret").Open("pay_1", sealed) },
		"changed":         func() (string, error) { return now.Open("pay_1", "A"+sealed[1:]+"A") },
		"cut":             func() (string, error) { return now.Open("pay_1", sealed[:8]) },
		"nothing":         func() (string, error) { return now.Open("pay_1", "") },
		"not even base64": func() (string, error) { return now.Open("pay_1", "\x00") },
	} {
		if plain, err := open(); err == nil {
			t.Errorf("%s: opened %q", name, plain)
		}
	}
}

func TestSealRefusesEmptyInput(t *testing.T) {
	if _, err := seal.New(); err == nil {
		t.Error("created a box without a key")
	}
	if _, err := newBox(t, "secret").Seal("pay_1", ""); err == nil {
		t.Error("sealed an empty text")
	}
}
