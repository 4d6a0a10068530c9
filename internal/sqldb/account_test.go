package sqldb_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/account"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// Pages contain every transaction once, newest first, for any page size, even with many
// transactions in the same second.
func TestTransactionPages(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const before, atOnce, refunded = 3, 40, 10
		now := noon
		payments := sqldb.Payments{DB: db, ChainID: 84532, Asset: "0x036cbd53842c5426634e7929541ec2318f3dcf7e", Now: func() time.Time { return now }}
		for n := range before + atOnce {
			if n == before {
				now = now.Add(time.Second)
			}
			auth := settle.Authorization{Payer: wallet, PayTo: wallet, Amount: deed.USDC(1000 + n), Nonce: fmt.Sprint(n)}
			what := order.Purchase{Kind: order.PurchaseRegistration, Name: deed.Name(fmt.Sprintf("name%d.com", n)), Years: 1}
			p, err := payments.AuthorizePayment(t.Context(), order.Payment{ID: auth.PaymentID(84532, payments.Asset), Source: order.SourceX402Exact, Auth: auth, Purchase: what}, sqldbtest.AdmitAll)
			if n < before+refunded && n >= before { // the money went back within the same second
				for _, to := range []order.PaymentState{order.PaymentSettling, order.PaymentSettled, order.PaymentRefundDue} {
					if err == nil {
						p, err = payments.MovePayment(t.Context(), p, to, "0xfeed")
					}
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		var want []order.Movement
		for _, size := range []int{100, 1, 7, 20} {
			got := inPages(t, sqldb.Accounts{DB: db}, size, before+atOnce+refunded)
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("in pages of %d: got another list", size)
			}
			if got := byPosition(t, sqldb.Accounts{DB: db}, size); !slices.Equal(got, want) {
				t.Errorf("in pages of %d after positions: got another list", size)
			}
		}
		wholeList(t, want, before+atOnce+refunded)
		if page, _, err := (sqldb.Accounts{DB: db}).Transactions(t.Context(), wallet, account.Page{Limit: 20, Offset: math.MaxInt}); err != nil || len(page) != 0 {
			t.Errorf("after the last page: got %v, %v", page, err)
		}
		later := session("nonce", "family", "hash")
		later.Refresh = refresh("hash", noon.Add(time.Hour))
		if _, err := sqldb.NewSessions(db, func() time.Time { return now }).CreateSession(t.Context(), later); err != nil {
			t.Fatal(err)
		}
		if a, err := (sqldb.Accounts{DB: db}).Wallet(t.Context(), wallet, now); err != nil || !a.Created.Equal(noon) || !a.LastActive.Equal(noon.Add(time.Hour)) {
			t.Errorf("an account that paid first and signed in later: got %s, %s, %v", a.Created, a.LastActive, err)
		}
	})
}

// inPages returns the list, read in pages of a size.
func inPages(t *testing.T, rows sqldb.Accounts, size, total int) (all []order.Movement) {
	t.Helper()
	for offset := 0; offset < total; offset += size {
		page, n, err := rows.Transactions(t.Context(), wallet, account.Page{Limit: size, Offset: offset})
		if err != nil || n != total {
			t.Fatalf("got a total of %d, %v", n, err)
		}
		all = append(all, page...)
	}
	return all
}

// byPosition returns the list, each page after the last entry of the one before.
func byPosition(t *testing.T, rows sqldb.Accounts, size int) (all []order.Movement) {
	t.Helper()
	for after := new(account.Position); ; {
		page, n, err := rows.Transactions(t.Context(), wallet, account.Page{Limit: size, After: after})
		if err != nil || n != 0 {
			t.Fatalf("got a total of %d, %v", n, err)
		}
		if len(page) == 0 {
			return all
		}
		all = append(all, page...)
		last := page[len(page)-1]
		after = &account.Position{At: last.At, Payment: last.PaymentID, Refund: last.Refund}
	}
}

// wholeList fails unless a list has every transaction once, the newest first.
func wholeList(t *testing.T, list []order.Movement, total int) {
	t.Helper()
	seen := map[string]bool{}
	for i, m := range list {
		seen[fmt.Sprint(m.PaymentID, m.Refund)] = true
		if i > 0 && m.At.After(list[i-1].At) {
			t.Errorf("%s is newer than the one before it", m.PaymentID)
		}
	}
	if len(list) != total || len(seen) != total {
		t.Errorf("got %d transactions, %d of them different, want %d", len(list), len(seen), total)
	}
}
