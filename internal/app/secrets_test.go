package app

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deed.example/deed/api"
	"deed.example/deed/internal/logtest"
)

// secretsIn returns the words of the small files in the folder: keys, and what they are
// derived from.
func secretsIn(t *testing.T, dir string) (words []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, f os.DirEntry, err error) error {
		if err != nil || f.IsDir() {
			return err
		}
		info, err := f.Info()
		if err != nil || info.Size() > 4096 {
			return err
		}
		raw, err := os.ReadFile(path)
		for word := range strings.FieldsSeq(string(raw)) {
			if len(word) >= 32 {
				words = append(words, strings.TrimPrefix(word, "0x"))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return words
}

// No secret is in the log, whatever its level: neither the keys of the node nor what
// callers are given or give.
func TestDebugLogHasNoSecrets(t *testing.T) {
	var logged logtest.Buffer
	c := sandbox(t)
	c.Log, c.AccessLog, c.WebhooksAllowLocal = slog.New(slog.NewJSONHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})), true, true
	a, buyer := serveSandbox(t, c)
	secrets := map[string]string{}
	fatal := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	tokens, err := buyer.SignIn(t.Context())
	fatal(err)
	secrets["access token"], secrets["refresh token"] = tokens.Access, tokens.Refresh
	fatal(buyName(t, buyer, "secret.com"))
	_, err = buyer.AddRecord(t.Context(), "secret.com", api.RecordRequest{Type: "A", Host: "www", Value: "192.0.2.7"})
	fatal(err)
	_, err = buyer.SetFaults(t.Context(), api.FaultsRequest{Registrar: "refuse", Times: new(1)})
	fatal(err)
	if err := buyName(t, buyer, "refused.com"); err == nil {
		t.Fatal("it was sold")
	}
	code, err := buyer.AuthCode(t.Context(), "secret.com")
	fatal(err)
	secrets["auth code"] = code.AuthCode
	hook, err := buyer.CreateWebhook(t.Context(), "http://127.0.0.1:1/path-with-a-secret")
	fatal(err)
	secrets["webhook secret"], secrets["path of the webhook"] = hook.Secret, "path-with-a-secret"
	calendar, err := buyer.CreateCalendar(t.Context())
	fatal(err)
	secrets["calendar"], secrets["token of a message"] = filepath.Base(calendar.URL), "token-of-a-message"
	for _, path := range []string{"/calendar/" + secrets["calendar"], "/email/unsubscribe/" + secrets["token of a message"]} {
		w := httptest.NewRecorder()
		if a.API.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil)); w.Code != http.StatusOK {
			t.Errorf("%s: got %d", path, w.Code)
		}
	}
	waitFor(t, func() bool { return strings.Contains(logged.String(), "refund.sent") })
	for i, word := range secretsIn(t, c.Data) {
		secrets[c.Data+string(rune('a'+i))] = word
	}
	if len(secrets) < 9 {
		t.Fatalf("found only %d secrets", len(secrets))
	}
	for what, secret := range secrets {
		if secret == "" {
			t.Errorf("there is no %s", what)
		} else if strings.Contains(logged.String(), secret) {
			t.Errorf("the log has the %s", what)
		}
	}
	t.Log(len(secrets), "secrets,", strings.Count(logged.String(), "\n"), "lines")
}
