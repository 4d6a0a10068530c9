package app

import (
	"log/slog"
	"os"
	"strings"
	"testing"

	"deed.example/deed/internal/logtest"
)

// A node that cannot read its changed token keys goes on with those that it has, and says so:
// one that was removed because it leaked would still be accepted.
func TestUnreadableTokenKeysAreLogged(t *testing.T) {
	var logged logtest.Buffer
	c := sandbox(t)
	c.Log = slog.New(slog.NewTextHandler(&logged, nil))
	a, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := os.WriteFile(c.SigninKeysFile(), []byte("a hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		a.API.SignIn.Nonce()
		return strings.Contains(logged.String(), "the keys that it had before are still in use")
	})
	if strings.Contains(logged.String(), "hunter2") {
		t.Errorf("a secret is logged: %s", logged.String())
	}
}
