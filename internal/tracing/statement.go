package tracing

import (
	"context"
	"regexp"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// Statements returns what sqldb calls with each statement before it is executed. Call end with
// the outcome. Statements have placeholders, so no data of an owner is in a span.
func Statements(system attribute.KeyValue) func(ctx context.Context, sql string) (end func(error)) {
	return func(ctx context.Context, sql string) func(error) {
		if !recorded(ctx) {
			return func(error) {}
		}
		sql = strings.Join(strings.Fields(sql), " ")
		_, end := Start(ctx, summary(sql), system, semconv.DBQueryText(text(sql)))
		return end
	}
}

// PostgreSQL and SQLite are what Statements may be for.
var (
	PostgreSQL = semconv.DBSystemNamePostgreSQL
	SQLite     = semconv.DBSystemNameSQLite
)

var tables = regexp.MustCompile(`(?i)\b(?:INTO|FROM|UPDATE) ([a-z_]+)`)

// summary returns the first word of a statement, and the first table that it names.
func summary(sql string) string {
	verb, _, _ := strings.Cut(sql, " ")
	verb = strings.ToUpper(verb)
	if m := tables.FindStringSubmatch(sql); m != nil {
		return verb + " " + m[1]
	}
	return verb
}
