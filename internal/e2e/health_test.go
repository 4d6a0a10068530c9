package e2e_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/health"
)

func TestHealth(t *testing.T) {
	up := func(context.Context) error { return nil }
	down := func(context.Context) error { return errors.New("connect to hunter2@db: refused") }
	tests := []struct {
		name            string
		database, cache func(context.Context) error
		status          int
		want            string
		ready           int
	}{
		{"all well", up, up, 200, "ok", 200},
		{"cache down", up, down, 200, "degraded", 200},
		{"database down", down, up, 503, "down", 503},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, _, _ := openSandbox(t, options{checks: []health.Check{
				{Name: "database", Essential: true, Ping: tt.database}, {Name: "cache", Ping: tt.cache}, {Name: "registrar"}, {Name: "chain"}, {Name: "dns"},
			}})
			got := h.get(t, "/health")
			var out api.Unhealthy
			if err := json.Unmarshal([]byte(got.body), &out); err != nil {
				t.Fatal(err)
			}
			if got.status != tt.status || out.Status != tt.want || len(out.Checks) != 5 || out.Checks["chain"].Status != "off" {
				t.Errorf("got %d %s", got.status, got.body)
			}
			if tt.status == 503 {
				got.expect(t, 503, deed.CodeUnavailable)
			}
			if got := h.get(t, "/readyz"); got.status != tt.ready {
				t.Errorf("readyz: got %d, want %d", got.status, tt.ready)
			}
			if got := h.get(t, "/livez"); got.status != 200 {
				t.Errorf("livez: got %d", got.status)
			}
		})
	}
}

func TestHealthQueriesDatabase(t *testing.T) {
	eachStore(t, func(t *testing.T, o options) {
		h := open(t, o)
		if err := h.db.Close(); err != nil {
			t.Fatal(err)
		}
		h.get(t, "/health").expect(t, 503, deed.CodeUnavailable)
	})
}

func TestDrainingNodeIsNotReady(t *testing.T) {
	h := open(t, options{})
	h.api.Drain()
	h.get(t, "/readyz").expect(t, 503, deed.CodeUnavailable)
	if got := h.get(t, "/domains/pricing/com"); got.status != 200 {
		t.Errorf("it stopped answering: got %d", got.status)
	}
}
