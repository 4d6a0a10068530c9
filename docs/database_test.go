package docs_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/url"
	"os"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
)

// database returns the address of a new database on the test's PostgreSQL, which
// goes away with the test; "" where there is none. It is no schema, as other
// tests have: pg_dump takes databases.
func database(t *testing.T) string {
	t.Helper()
	server := os.Getenv("TEST_POSTGRES_URL")
	if server == "" {
		return ""
	}
	exec := func(query string) {
		db, err := sql.Open("pgx", server)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close() // only closes idle connections
		if _, err := db.ExecContext(context.Background(), query); err != nil {
			t.Error(err)
		}
	}
	name := "paper_" + strings.ToLower(rand.Text())
	exec("CREATE DATABASE " + name)
	t.Cleanup(func() { exec("DROP DATABASE " + name + " WITH (FORCE)") })
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}
