package main

import (
	"bytes"
	"strings"
	"testing"

	"deed.example/deed"
)

func TestLogHidesSecrets(t *testing.T) {
	for _, format := range []string{"json", "text", "auto"} {
		c := defaultConfig()
		c.LogFormat = format
		var out bytes.Buffer
		log := newLogger(c, &out)
		log.Info("event", "accessToken", "hunter2", "Authorization", "Bearer hunter2", "PAYMENT-SIGNATURE", "hunter2", "database.url", "hunter2", "any", deed.Secret("hunter2"), "route", "GET /health")
		if got := out.String(); strings.Contains(got, "hunter2") || !strings.Contains(got, "GET /health") || strings.Count(got, "\n") != 1 {
			t.Errorf("%s: got %s", format, got)
		}
		if format == "auto" && !strings.HasPrefix(out.String(), "{") {
			t.Errorf("not a terminal, and not JSON: %s", out.String())
		}
	}
}
