package chain_test

import (
	"testing"

	"deed.example/deed/internal/settle/settletest"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

func TestSettler(t *testing.T) {
	for name, open := range map[string]func(testing.TB) *sqldb.DB{"sqlite": sqldbtest.SQLite, "postgres": sqldbtest.Postgres} {
		t.Run(name, func(t *testing.T) {
			settletest.Run(t, func(t *testing.T) settletest.Fixture { return newEnv(t, open(t)).fixture() })
		})
	}
}
