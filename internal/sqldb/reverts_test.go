package sqldb_test

import (
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// Reverts of all wallets are counted, and a wallet has paid when something was delivered.
func TestRevertsOfAllWallets(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		rows, p := consumed(t, db)
		for n, w := range []deed.Wallet{"0x01", "0x02"} {
			open, err := rows.AuthorizePayment(t.Context(), openRegistration(w, n+2, 10), sqldbtest.AdmitAll)
			if err == nil {
				err = rows.RecordRevert(t.Context(), open)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for since, want := range map[time.Time]int{noon.Add(-time.Second): 2, noon: 0} {
			if n, err := rows.CountReverts(t.Context(), since); err != nil || n != want {
				t.Errorf("since %s: got %d, %v, want %d", since, n, err, want)
			}
		}
		for w, want := range map[deed.Wallet]bool{p.Auth.Payer: true, "0x01": false} {
			if paid, err := rows.HasPaid(t.Context(), w); err != nil || paid != want {
				t.Errorf("%s has paid: %t, %v, want %t", w, paid, err, want)
			}
		}
	})
}
