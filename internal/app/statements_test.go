package app

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// maxStatements is how many statements a paid change of a zone may send to PostgreSQL,
// with the request for its offer (docs/growth.md).
const maxStatements = 14

// A paid change that is alone sends no more statements than that, besides those of the
// worker.
func TestStatementsOfAPaidChange(t *testing.T) {
	if os.Getenv("TEST_POSTGRES_URL") == "" {
		t.Skip("TEST_POSTGRES_URL is not set; make test sets it")
	}
	var sent atomic.Int64
	c := sandbox(t)
	c.DatabaseURL = deed.Secret(sqldbtest.MigratedPostgresURL(t))
	c.Database.Trace = sqldb.EachStatement(func(string) {
		if !inWorker() {
			sent.Add(1)
		}
	})
	_, buyer := serveSandbox(t, c)
	const name = "statements.com"
	if err := buyName(t, buyer, name); err != nil {
		t.Fatal(err)
	}
	// The first changes also prepare their statements, and one that has to wait, for the
	// chain or a busy machine, looks again: the one that waits least is counted.
	least := int64(1000)
	for i := 0; i < 12 || least > maxStatements && i < 200; i++ {
		before := sent.Load()
		if _, err := buyer.AddRecord(t.Context(), name, api.RecordRequest{Type: "A", Host: fmt.Sprint("host", i), Value: "192.0.2.1"}); err != nil {
			t.Fatal(err)
		}
		least = min(least, sent.Load()-before)
	}
	if least > maxStatements || least < 10 {
		t.Errorf("a paid change sends %d statements, want at most %d", least, maxStatements)
	}
}

// inWorker reports whether the worker calls this.
func inWorker() bool {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if strings.Contains(f.Function, "/internal/worker.") {
			return true
		}
		if !more {
			return false
		}
	}
}
