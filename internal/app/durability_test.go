package app

import (
	"strings"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// An operator who takes real money is warned of a database that may lose it.
func TestWarnsOfLossyDatabase(t *testing.T) {
	url := sqldbtest.MigratedPostgresURL(t)
	separator := "?"
	if strings.Contains(url, "?") {
		separator = "&"
	}
	db, err := sqldb.OpenPostgres(t.Context(), url+separator+"synchronous_commit=off")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // the database is dropped after the test
	for chain, want := range map[uint64]bool{network.EmbeddedChainID: false, 8453: true} {
		a := App{DB: db, config: Config{ChainID: chain, DatabaseURL: deed.Secret(url)}}
		if err := a.warnOfLoss(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(a.warnings, "\n"), "synchronous_commit of PostgreSQL is off"); got != want {
			t.Errorf("chain %d: warned: %v, want %v", chain, got, want)
		}
	}
}
