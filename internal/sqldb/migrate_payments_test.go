package sqldb_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"deed.example/deed/internal/order"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// A database of version 11 keeps every payment and job under the ids that callers
// know, and loses the auth codes of transfers that have ended.
func TestMigratePayments(t *testing.T) { eachMigrated(t, 11, migratePayments) }

func migratePayments(t *testing.T, openOld, open func(context.Context) (*sqldb.DB, error)) {
	t.Helper()
	old, err := openOld(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	insert := func(id, kind, state, txHash, refundTx, purchase string, next any) {
		err := old.Exec(t.Context(), `
			INSERT INTO payments (id, chain_id, asset, payer, nonce, pay_to, amount, valid_after, valid_before, signature, kind, domain, years,
			                      fingerprint, state, tx_hash, refund_tx, created_at, changed_at, next_at, purchase)
			VALUES ($1, 1, '', '0x01', $2, '0x02', 10, 0, 9, 'aa', $3, $4, 1, $5, $6, $7, $8, 100, 100, $9, $10)`,
			"pay_"+id, id, kind, id+".com", "print "+id, state, txHash, refundTx, next, purchase)
		if err != nil {
			t.Fatal(err)
		}
	}
	insert("a", "transfer", "consumed", "0xa", "", `{"Kind":"transfer","Name":"a.com","Years":1,"AuthCode":"Secret-A"}`, nil)
	insert("b", "transfer", "settled", "0xb", "", `{"Kind":"transfer","Name":"b.com","Years":1,"AuthCode":"Secret-B"}`, nil)
	insert("c", "registration", "refunded", "0xc", "0xd", "", nil)
	insert("d", "registration", "settling", "", "", "", int64(100))
	for id, state := range map[string]string{"a": "completed", "b": "queued", "c": "failed", "d": "awaiting_payment"} {
		next, failure := any(nil), ""
		if state == "queued" {
			next = int64(100)
		}
		if state == "failed" {
			failure = "refused"
		}
		err := old.Exec(t.Context(), `
			INSERT INTO jobs (id, payment_id, kind, domain, owner, state, reference, attempts, submitted_at, lease_until, refusal, failure,
			                  created_at, updated_at, deadline_at, next_at)
			VALUES ($1, $2, 'registration', $3, '0x01', $4, '', 0, 0, 0, '', $5, 100, 100, 200, $6)`,
			"job_"+id, "pay_"+id, id+".com", state, failure, next)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // closed after the test
	rows, jobs := sqldb.Payments{DB: db, ChainID: 1, Now: time.Now}, sqldb.Jobs{DB: db, Now: time.Now}
	for id, code := range map[string]string{"a": "", "b": "Secret-B", "c": "", "d": ""} {
		p, err := rows.Payment(t.Context(), "pay_"+id)
		if err != nil || p.PublicID != "pay_"+id || p.Fingerprint != "print "+id || p.Purchase.AuthCode.Reveal() != code {
			t.Errorf("got %+v, %v", p, err)
		}
		if j, err := jobs.PublicJob(t.Context(), "job_"+id); err != nil || !j.Legacy() {
			t.Errorf("got %+v, %v", j, err)
		}
	}
	if all := textOf(t, db, `SELECT purchase FROM payments WHERE id = 'pay_a'`); strings.Contains(all, "Secret") {
		t.Errorf("the row of a transfer that has ended has %s", all)
	}
	if p, err := rows.Payment(t.Context(), "pay_c"); err != nil || p.RefundID == "" {
		t.Errorf("the refund has no id: %+v, %v", p, err)
	}
	// The rules of the new table hold.
	for _, broken := range []string{
		`UPDATE payments SET state = 'released' WHERE id = 'pay_a'`, `UPDATE payments SET amount = 0`, `UPDATE payments SET state = 'none'`,
		`DELETE FROM payments WHERE id = 'pay_a'`,
	} {
		if err := db.Exec(t.Context(), broken); err == nil {
			t.Errorf("the database let %q pass", broken)
		}
	}
	d, err := rows.Payment(t.Context(), "pay_d")
	if err == nil {
		_, err = rows.MovePayment(t.Context(), d, order.PaymentReleased, "")
	}
	if err != nil {
		t.Errorf("release an old payment: %v", err)
	}
	fresh, err := rows.AuthorizePayment(t.Context(), openRegistration("0x05", 7, 10), sqldbtest.AdmitAll)
	if err != nil {
		t.Fatal(err)
	}
	if j, err := jobs.JobOf(t.Context(), fresh); err != nil || j.Legacy() || fresh.PublicID == fresh.ID {
		t.Errorf("a new payment has the ids %s, %s, %v: anybody can compute them", fresh.PublicID, fmt.Sprint(j.PublicID), err)
	}
}
