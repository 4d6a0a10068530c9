package registrar_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"deed.example/deed/internal/registrar"
)

func TestSettings(t *testing.T) {
	r := registrar.Settings{Values: map[string]string{"address": "epp.example:700", "street": "1 Road, 2nd floor", "sessions": "4", "timeout": "15s", "auto_renew": "true"}}.Read()
	if r.Needed("address") != "epp.example:700" || len(r.List("street")) != 2 || r.Int("sessions", 1, 8) != 4 || r.Duration("timeout") != 15*time.Second ||
		!r.Bool("auto_renew") || r.Bool("report") || r.Choice("contacts", "none", "all") != "none" || r.Int("other", 1, 2) != 0 {
		t.Errorf("got other values")
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
}

// Everything that is wrong is reported at once, and an unknown key names the known
// ones.
func TestWrongSettings(t *testing.T) {
	r := registrar.Settings{Values: map[string]string{"sessions": "9", "timeout": "soon", "auto_renew": "yes", "adress": "x"}}.Read()
	r.Needed("address")
	r.Int("sessions", 1, 8)
	r.Duration("timeout")
	r.Bool("auto_renew")
	err := r.Err()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"address must be set", "sessions must be a number from 1 to 8", `timeout must be a time such as "15s"`, "auto_renew must be one of false, true",
		"there is no key adress; there are address, auto_renew, sessions, timeout",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want %q in it", err, want)
		}
	}
}

// A secret is read from its file without the line break at its end; one that cannot be
// read is reported with its key.
func TestSecretFile(t *testing.T) {
	read := func(path string) ([]byte, error) {
		switch path {
		case "empty":
			return []byte(" \n"), nil
		case "nothing":
			return nil, errors.New("is missing")
		}
		return []byte("hunter2\n"), nil
	}
	r := registrar.Settings{Values: map[string]string{"password_file": "password", "deadline": "3h"}}.Read()
	if got := r.SecretFile("password_file", read); got.Reveal() != "hunter2" || r.Deadline() != 3*time.Hour || r.Err() != nil {
		t.Errorf("got %q, %v", got.Reveal(), r.Err())
	}
	r = registrar.Settings{Values: map[string]string{"password_file": "nothing"}}.Read()
	r.SecretFile("password_file", read)
	r.SecretFile("key_file", read)
	if err := r.Err(); r.Deadline() != 24*time.Hour || err == nil || !strings.Contains(err.Error(), "password_file is missing") || !strings.Contains(err.Error(), "key_file must be set") {
		t.Errorf("got %v", err)
	}
	r = registrar.Settings{Values: map[string]string{"password_file": "empty"}}.Read()
	r.SecretFile("password_file", read)
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "password_file names an empty file: empty") {
		t.Errorf("got %v", err)
	}
}
