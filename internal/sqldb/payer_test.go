package sqldb_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// openRegistration is a payment of a wallet for a name.
func openRegistration(payer deed.Wallet, n int, amount deed.USDC) order.Payment {
	auth := settle.Authorization{Payer: payer, PayTo: "0x02", Amount: amount, Nonce: fmt.Sprintf("%s-%d", payer, n), Signature: []byte{byte(n)}}
	return order.Payment{ID: auth.PaymentID(1, ""), Source: order.SourceX402Exact, Auth: auth, Purchase: order.Purchase{Kind: order.PurchaseRegistration, Name: deed.Name(fmt.Sprintf("name%d.com", n)), Years: 1}}
}

// Of forty concurrent orders of a wallet that can pay for one, one is admitted: admission
// is serialized per wallet.
func TestOneBalanceOpensOnePayment(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		db.Timeout = time.Minute
		rows := sqldb.Payments{DB: db, ChainID: 1, Now: time.Now}
		funds := settle.Funds{Balance: 10}
		errs := make([]error, 40)
		var wg sync.WaitGroup
		for n := range errs {
			wg.Go(func() {
				_, errs[n] = rows.AuthorizePayment(t.Context(), openRegistration("0x01", n, 10), func(p order.Payer) error {
					return p.Admit(funds, "0x01", 10, 5, time.Now())
				})
			})
		}
		wg.Wait()
		opened := 0
		for _, err := range errs {
			switch {
			case err == nil:
				opened++
			case deed.CodeOf(err) != deed.CodePaymentInsufficient:
				t.Errorf("got %v", err)
			}
		}
		if open, err := rows.OpenNonces(t.Context(), "0x01"); opened != 1 || len(open) != 1 || err != nil {
			t.Errorf("opened %d, and %v are open, %v", opened, open, err)
		}
	})
}

// A wallet that has promised all its money signs again for the same purchase: the first
// payment is delivered, and the second moves no money.
func TestAnAliasNeedsNoMoney(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		rows := sqldb.Payments{DB: db, ChainID: 1, Now: time.Now}
		renewal := func(n int) order.Payment {
			p := openRegistration("0x01", n, 10)
			p.Purchase = order.Purchase{Kind: order.PurchaseRenewal, Name: "name1.com", Years: 1}
			return p
		}
		first, err := rows.AuthorizePayment(t.Context(), renewal(1), sqldbtest.AdmitAll)
		if err != nil {
			t.Fatal(err)
		}
		admit := func(p order.Payer) error { return p.Admit(settle.Funds{Balance: 10}, "0x01", 10, 5, time.Now()) }
		if second, err := rows.AuthorizePayment(t.Context(), renewal(2), admit); err != nil || second.AliasOf != first.ID {
			t.Errorf("got an alias of %q, %v, want one of %s", second.AliasOf, err, first.ID)
		}
		if _, err := rows.AuthorizePayment(t.Context(), openRegistration("0x01", 3, 10), admit); deed.CodeOf(err) != deed.CodePaymentInsufficient {
			t.Errorf("another purchase: got %v", err)
		}
	})
}

// A wallet has at most five open payments, and one whose nonce was used in the meantime
// no longer counts.
func TestAWalletHasFivePaymentsOpen(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		rows := sqldb.Payments{DB: db, ChainID: 1, Now: time.Now}
		funds := settle.Funds{Balance: 1000, Used: map[string]bool{}}
		open := func(n int) error {
			_, err := rows.AuthorizePayment(t.Context(), openRegistration("0x01", n, 10), func(p order.Payer) error {
				return p.Admit(funds, "0x01", 10, 5, time.Now())
			})
			return err
		}
		for n := range 5 {
			if err := open(n); err != nil {
				t.Fatal(err)
			}
		}
		if err := open(5); deed.CodeOf(err) != deed.CodeRateLimited {
			t.Errorf("got %v", err)
		}
		funds.Used[openRegistration("0x01", 0, 10).Auth.Nonce] = true
		if err := open(6); err != nil {
			t.Error(err)
		}
	})
}

// A client may sign an open payment again, but not without limit.
func TestAliasesAreBounded(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		rows := sqldb.Payments{DB: db, ChainID: 1, Now: time.Now}
		var last error
		written := 0
		for n := range 40 {
			p := openRegistration("0x01", n, 10)
			p.Purchase.Name = "same.com"
			_, last = rows.AuthorizePayment(t.Context(), p, func(p order.Payer) error {
				return p.Admit(settle.Funds{Balance: 1000}, "0x01", 10, 5, time.Now())
			})
			if last == nil {
				written++
			}
		}
		if deed.CodeOf(last) != deed.CodeRateLimited || written > 25 {
			t.Errorf("%d were written, the last says %v", written, last)
		}
	})
}

// A wallet with many due payments does not starve one with a single payment.
func TestWalletsAreServedRoundRobin(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		now := noon
		rows := sqldb.Payments{DB: db, ChainID: 1, Now: func() time.Time { return now }}
		for n := range 30 {
			if _, err := rows.AuthorizePayment(t.Context(), openRegistration("0x01", n, 1), sqldbtest.AdmitAll); err != nil {
				t.Fatal(err)
			}
		}
		now = now.Add(time.Minute)
		late, err := rows.AuthorizePayment(t.Context(), openRegistration("0x02", 99, 1), sqldbtest.AdmitAll)
		if err != nil {
			t.Fatal(err)
		}
		due, err := rows.DuePayments(t.Context(), 2)
		if err != nil || len(due) != 2 || due[0] != late.ID && due[1] != late.ID {
			t.Errorf("got %v, %v, want %s among them", due, err, late.ID)
		}
	})
}

// Refunds have a separate queue.
func TestRefundsHaveASeparateQueue(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		rows := sqldb.Payments{DB: db, ChainID: 1, Now: func() time.Time { return noon }}
		for n := range 20 {
			if _, err := rows.AuthorizePayment(t.Context(), openRegistration("0x01", n, 1), sqldbtest.AdmitAll); err != nil {
				t.Fatal(err)
			}
		}
		transfer := settle.Transfer{Payer: "0x03", PayTo: "0x02", Nonce: "0x0a", Amount: 10, TxHash: "0xabc"}
		if err := rows.Adopt(t.Context(), transfer, order.Unsolicited{State: order.PaymentUnclaimed, Next: noon}); err != nil {
			t.Fatal(err)
		}
		due, err := rows.DueRefunds(t.Context(), 10)
		if err != nil || len(due) != 1 {
			t.Errorf("got %v, %v", due, err)
		}
	})
}

// Transfers that nobody asked for do not delay refunds: those of purchases come first, and
// those of one wallet do not come before the first of another.
func TestUnaskedTransfersDelayNoRefund(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		now := noon
		rows := sqldb.Payments{DB: db, ChainID: 1, Now: func() time.Time { return now }}
		unasked := func(payer deed.Wallet, nonce string) string {
			transfer := settle.Transfer{Payer: payer, PayTo: "0x02", Nonce: nonce, Amount: 10, TxHash: "0xabc"}
			if err := rows.Adopt(t.Context(), transfer, order.Unsolicited{State: order.PaymentUnclaimed, Next: now}); err != nil {
				t.Fatal(err)
			}
			return settle.Authorization{Payer: payer, Nonce: nonce}.PaymentID(1, "")
		}
		for n := range 30 {
			unasked("0x03", fmt.Sprint("0x", n))
		}
		now = now.Add(time.Minute)
		other := unasked("0x04", "0x0a")
		now = now.Add(time.Minute)
		p, err := rows.AuthorizePayment(t.Context(), openRegistration("0x01", 1, 10), sqldbtest.AdmitAll)
		for _, to := range []order.PaymentState{order.PaymentSettling, order.PaymentSettled, order.PaymentRefundDue} {
			if err == nil {
				p, err = rows.MovePayment(t.Context(), p, to, "0xpaid")
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		due, err := rows.DueRefunds(t.Context(), 3)
		if err != nil || len(due) != 3 || due[0] != p.ID || !slices.Contains(due, other) {
			t.Errorf("got %v, %v, want %s first and %s among them", due, err, p.ID, other)
		}
	})
}

// After three reverts within a day the payer is refused for a day; three within a week
// are allowed.
func TestThreeRevertsInADay(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		now := noon
		rows := sqldb.Payments{DB: db, ChainID: 1, Now: func() time.Time { return now }}
		refused := func(w deed.Wallet, n int) (until time.Time) {
			_, err := rows.AuthorizePayment(t.Context(), openRegistration(w, n, 1), func(p order.Payer) error {
				until = p.RefusedUntil
				return errStop
			})
			if !errors.Is(err, errStop) {
				t.Fatal(err)
			}
			return until
		}
		revert := func(w deed.Wallet, n int) {
			p, err := rows.AuthorizePayment(t.Context(), openRegistration(w, n, 1), sqldbtest.AdmitAll)
			for range 2 { // once is as good as twice
				if err == nil {
					err = rows.RecordRevert(t.Context(), p)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for n := range 2 {
			revert("0x01", n)
		}
		if until := refused("0x01", 10); !until.IsZero() {
			t.Errorf("refused after two, until %s", until)
		}
		revert("0x01", 2)
		if until := refused("0x01", 11); !until.Equal(noon.Add(24 * time.Hour)) {
			t.Errorf("refused until %s", until)
		}
		for n := range 3 {
			revert("0x02", 20+n)
			now = now.AddDate(0, 0, 2)
		}
		if until := refused("0x02", 30); !until.IsZero() {
			t.Errorf("three within a week: refused until %s", until)
		}
	})
}

var errStop = errors.New("looked enough")

// Payments that deploy their wallet are limited over all wallets while they are open and
// for a day after they reverted: a new address costs a stranger nothing.
func TestDeploymentsAreLimitedOverAllWallets(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		now := noon
		rows := sqldb.Payments{DB: db, ChainID: 1, Now: func() time.Time { return now }}
		undeployed := func(n int) order.Payment {
			p := openRegistration(deed.Wallet(fmt.Sprintf("0x%02x", n)), n, 1)
			p.Auth.Signature = append(p.Auth.Signature, settle.WrapperSuffix...)
			return p
		}
		open := func(p order.Payment, deploys bool) (order.Payment, error) {
			return rows.AuthorizePayment(t.Context(), p, func(who order.Payer) error {
				return who.Admit(settle.Funds{Balance: 1, Deploys: deploys}, p.Auth.Payer, 1, 5, now)
			})
		}
		for n := range order.MaxDeployments {
			p, err := open(undeployed(n), true)
			if err == nil && n%2 == 0 { // half of them fail on the chain
				err = rows.RecordRevert(t.Context(), p)
				if err == nil {
					p, err = rows.MovePayment(t.Context(), p, order.PaymentSettling, "")
				}
				if err == nil {
					_, err = rows.MovePayment(t.Context(), p, order.PaymentReleased, "")
				}
			}
			if err != nil {
				t.Fatal(n, err)
			}
		}
		if _, err := open(undeployed(1000), true); deed.CodeOf(err) != deed.CodePaymentInvalid {
			t.Errorf("one more: got %v, want %s", err, deed.CodePaymentInvalid)
		}
		if _, err := open(undeployed(1001), false); err != nil {
			t.Errorf("a wallet that is deployed by now: %v", err)
		}
		if _, err := open(openRegistration("0x99", 1002, 1), false); err != nil {
			t.Errorf("a plain wallet: %v", err)
		}
		now = now.Add(order.RevertWindow + time.Second)
		if _, err := open(undeployed(1003), true); err != nil {
			t.Errorf("a day later: %v", err)
		}
	})
}
