package sqldb_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// When the chain is ahead, the signer continues from there, and the audit accounts for the
// nonces in between.
func TestForeignNonces(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := sqldb.Settlements{DB: db, ChainID: 84532}
		sign := func(hash string, first uint64, purpose string) {
			t.Helper()
			in := settle.Intent{From: signer, First: first, Purposes: []string{purpose}, Attempt: 1}
			if _, err := s.Sign(t.Context(), in, signAs(hash)); err != nil {
				t.Fatal(err)
			}
		}
		sign("one", 7, "a")
		sign("two", 10, "b") // 8 and 9 are foreign
		sign("taken", 90, "b")
		sign("three", 4, "c") // a node that lags
		fill := settle.Transaction{From: signer, Nonce: 9, Hash: "fill", Raw: []byte("-"), SignedAt: noon}
		if err := s.StoreReplacement(t.Context(), fill); err != nil {
			t.Fatal(err)
		}
		all, err := s.Unmined(t.Context(), signer, 0)
		if got, want := fmt.Sprint(brief(all)), "[7/0 one 9/0 fill 10/0 two 11/0 three]"; err != nil || got != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
		findings, err := sqldb.Audit{DB: db}.Run(t.Context())
		for _, f := range findings {
			if f.Broken != 0 {
				t.Errorf("%s: got %d broken", f.Invariant, f.Broken)
			}
		}
		if err != nil {
			t.Error(err)
		}
		gap := settle.Transaction{From: signer, Nonce: 13, Hash: "gap", Raw: []byte("-"), SignedAt: noon}
		if err := s.StoreReplacement(t.Context(), gap); err != nil {
			t.Fatal(err)
		}
		findings, err = sqldb.Audit{DB: db}.Run(t.Context())
		broken := 0
		for _, f := range findings {
			broken += f.Broken
		}
		if err != nil || broken != 1 {
			t.Errorf("a real gap: got %d findings, %v, want one", broken, err)
		}
	})
}

// A purpose is abandoned, or its next attempt is signed, never both.
func TestAbandonRacesSign(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := sqldb.Settlements{DB: db, ChainID: 84532}
		const purposes = 40
		abandoned := make([]error, purposes)
		var wg sync.WaitGroup
		for i := range purposes {
			purpose := fmt.Sprint(i)
			wg.Go(func() { abandoned[i] = s.Abandon(t.Context(), purpose, 1) })
			wg.Go(func() {
				in := settle.Intent{From: signer, Purposes: []string{purpose}, Attempt: 1}
				if _, err := s.Sign(t.Context(), in, signAs(purpose)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		var wins int
		for i, err := range abandoned {
			sent, sentErr := s.Sent(t.Context(), signer, []string{fmt.Sprint(i)})
			all := sent.For[fmt.Sprint(i)]
			if sentErr != nil || len(all) != 1 || (all[0].Hash == "") != (err == nil) {
				t.Errorf("%d: got %v after %v, %v", i, brief(all), err, sentErr)
			}
			if err == nil {
				wins++
				again := s.Abandon(t.Context(), fmt.Sprint(i), 1)
				in := settle.Intent{From: signer, Purposes: []string{fmt.Sprint(i)}, Attempt: 1}
				_, signed := s.Sign(t.Context(), in, func(uint64, []string) (settle.Transaction, error) {
					return settle.Transaction{}, errors.New("it was signed after all")
				})
				if again != nil || signed != nil {
					t.Errorf("%d: got %v, %v", i, again, signed)
				}
			}
		}
		t.Logf("%d of %d abandoned", wins, purposes)
	})
}

func TestOwnWallets(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := sqldb.Settlements{DB: db, ChainID: 84532}
		const other = deed.Wallet("0x00000000000000000000000000000000000000bb")
		add := func(role string, w deed.Wallet, at time.Time) {
			t.Helper()
			if err := s.AddWallet(t.Context(), role, w, at); err != nil {
				t.Fatal(err)
			}
		}
		add("treasury", other, noon)
		add("treasury", signer, noon.Add(time.Hour))
		add("treasury", other, noon.Add(2*time.Hour)) // known
		add("gas", other, noon)
		got, err := s.Wallets(t.Context())
		want := map[string][]deed.Wallet{"treasury": {other, signer}, "gas": {other}}
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
		if err := s.AddWallet(t.Context(), "hot", signer, noon); err == nil {
			t.Error("an unknown role: got no error")
		}
	})
}
