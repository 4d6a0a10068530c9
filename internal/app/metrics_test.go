package app

import (
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"deed.example/deed/api"
)

// scrape returns the metrics of a node.
func scrape(t *testing.T, a *App) string {
	t.Helper()
	w := httptest.NewRecorder()
	a.metrics.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

// has reports whether a metric has a value above zero.
func has(metrics, series string) bool {
	return regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` [1-9]`).MatchString(metrics)
}

// After a purchase, a refund and some queries, the metrics tell of all of them, and
// follow the conventions of Prometheus.
func TestMetrics(t *testing.T) {
	a, buyer := serveSandbox(t, sandbox(t))
	if _, err := buyer.Register(t.Context(), api.RegisterRequest{Domain: "counted.com"}); err != nil {
		t.Fatal(err)
	}
	if _, err := buyer.SetFaults(t.Context(), api.FaultsRequest{Registrar: "refuse", Times: new(1)}); err != nil {
		t.Fatal(err)
	}
	if _, err := buyer.Register(t.Context(), api.RegisterRequest{Domain: "refused.com"}); err == nil {
		t.Fatal("it was sold")
	}
	for _, series := range []string{
		`deed_payment_moves_total{kind="registration",state="authorized"}`, `deed_payment_moves_total{kind="registration",state="consumed"}`,
		`deed_payment_moves_total{kind="registration",state="refunded"}`, `deed_settlement_seconds_count`, `deed_refund_seconds_count`,
		`deed_events_total{type="domain.registered"}`, `deed_registrar_call_seconds_count{backend="local",call="place",outcome="ok"}`,
		`deed_rpc_calls_total`, `deed_chain_head_block`, `deed_rpc_endpoint_up{endpoint="1"}`, `deed_dns_zones`, `deed_nodes`,
		`deed_database_connections{pool="write"}`, `deed_dependency_up{name="database"}`,
	} {
		waitFor(t, func() bool { return has(scrape(t, a), series) })
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed: scripts/need.sh promtool")
	}
	check := exec.Command(promtool, "check", "metrics")
	check.Stdin = strings.NewReader(scrape(t, a))
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("promtool: %v: %s", err, out)
	}
}
