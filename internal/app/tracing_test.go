package app

import (
	"os"
	"slices"
	"strings"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/sqldb/sqldbtest"
	"deed.example/deed/internal/tracing/tracingtest"
)

// A purchase is traced from the request, or the row of the worker, down to the database, the
// chain and the registrar.
func TestTraces(t *testing.T) {
	for _, database := range []string{"sqlite", "postgresql"} {
		t.Run(database, func(t *testing.T) {
			c, collector := sandbox(t), tracingtest.Start(t)
			if database == "postgresql" {
				if os.Getenv("TEST_POSTGRES_URL") == "" {
					t.Skip("TEST_POSTGRES_URL is not set; make test sets it")
				}
				c.DatabaseURL = deed.Secret(sqldbtest.MigratedPostgresURL(t))
			}
			c.Traces = collector.Config(t)
			_, buyer := serveSandbox(t, c)
			if err := buyName(t, buyer, "traced.com"); err != nil {
				t.Fatal(err)
			}
			for _, path := range [][]string{
				{"POST /domains/register", "transaction"},
				{"POST /domains/register", "eth_call"},
				{"registrar place"},
				{"registrar order"},
			} {
				waitFor(t, func() bool { return slices.ContainsFunc(collector.Spans(), ends(collector, path)) })
			}
			for _, s := range collector.Spans() {
				statement := s.Attribute("db.query.text")
				if statement != "" && s.Attribute("db.system.name") != database {
					t.Errorf("a statement of another database: %v", s)
				}
				if s.ParentSpanId == nil && (statement != "" || strings.HasPrefix(s.Name, "registrar")) {
					t.Errorf("a trace begins with what a request or a row makes: %v", s)
				}
				if strings.Contains(statement, "traced.com") || strings.Contains(s.String(), "Bearer") {
					t.Errorf("data of the caller is in a span: %v", s)
				}
			}
		})
	}
}

// ends returns what finds a span of the last name of the path, below those before it.
func ends(collector *tracingtest.Collector, path []string) func(tracingtest.Span) bool {
	return func(s tracingtest.Span) bool {
		for i := len(path) - 1; i >= 0; {
			if s.Name == path[i] {
				i--
			}
			if i < 0 {
				return true
			}
			above := slices.IndexFunc(collector.Spans(), func(a tracingtest.Span) bool { return string(a.SpanId) == string(s.ParentSpanId) })
			if above < 0 {
				return false
			}
			s = collector.Spans()[above]
		}
		return false
	}
}
