package deed_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"deed.example/deed"
)

func TestSecretIsRedacted(t *testing.T) {
	const text = "hunter2"
	s := deed.Secret(text)
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("start", "password", s, "config", struct{ Password deed.Secret }{s})
	encoded, err := json.Marshal(map[string]any{"password": s})
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%s", "%v", "%+v", "%#v", "%q", "%x", "%d"} {
		fmt.Fprintf(&log, verb, s)
		fmt.Fprintf(&log, verb, struct{ Password deed.Secret }{s})
	}
	if out := log.String() + string(encoded); strings.Contains(out, text) || strings.Contains(out, "68756e746572") {
		t.Errorf("the secret is exposed: %s", out)
	}
	if s.Reveal() != text {
		t.Errorf("got %s, want %s", s.Reveal(), text)
	}
}
