package sqldb_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// sample fills a database with a payment in each state.
func sample(t *testing.T, db *sqldb.DB) {
	t.Helper()
	now := func() time.Time { return noon }
	payments := sqldb.Payments{DB: db, ChainID: 84532, Asset: "0x036cbd53842c5426634e7929541ec2318f3dcf7e", Now: now}
	zones := sqldbtest.Zones(db, now)
	jobs := sqldb.Jobs{DB: db, Now: now, Zones: zones}
	buy := func(n int, what order.Purchase, to ...order.PaymentState) order.Payment {
		auth := settle.Authorization{Payer: deed.Wallet(fmt.Sprintf("0x%040d", n)), PayTo: wallet, Amount: deed.USDC(1000 + n), Nonce: fmt.Sprint(n)}
		p := order.Payment{ID: auth.PaymentID(84532, payments.Asset), Source: order.SourceX402Exact, Auth: auth, Purchase: what}
		p, err := payments.AuthorizePayment(t.Context(), p, sqldbtest.AdmitAll)
		for _, next := range to {
			if err == nil {
				p, err = payments.MovePayment(t.Context(), p, next, fmt.Sprintf("0xfeed%d", n))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	pay := func(n int, to ...order.PaymentState) order.Payment {
		return buy(n, order.Purchase{Kind: order.PurchaseRegistration, Name: deed.Name(fmt.Sprintf("name%d.com", n)), Years: 1}, to...)
	}
	settled := []order.PaymentState{order.PaymentSettling, order.PaymentSettled}
	advance := func(p order.Payment, end func(j order.Job) error) {
		j, err := jobs.Job(t.Context(), order.JobID(p.ID))
		if err != nil {
			t.Fatal(err)
		}
		j.Attempts, j.Reference, j.Submitted, j.Lease = 1, j.ID+"-1", noon, noon
		for _, to := range []order.JobState{order.JobSubmitting, order.JobVerifying} {
			if moved, err := jobs.MoveJob(t.Context(), j, to, noon); err != nil || !moved {
				t.Fatal(moved, err)
			}
			j.State = to
		}
		if err := end(j); err != nil {
			t.Fatal(err)
		}
	}
	pay(1)
	pay(2, order.PaymentSettling, order.PaymentVoid)
	pay(3, settled...)
	consumed := pay(4, settled...)
	advance(consumed, func(j order.Job) error {
		return jobs.CompleteJob(t.Context(), j, lifecycle.Registration{Name: j.Purchase.Name, Owner: j.Owner, Status: lifecycle.StatusActive, Reference: j.Reference, PaymentID: j.PaymentID, Created: noon, Expires: noon.AddDate(1, 0, 0), Updated: noon})
	})
	var change order.Payment
	for n := 6; n <= 7; n++ {
		add := dnszone.RecordOp{Op: dnszone.OpAdd, ID: dnszone.RecordID(fmt.Sprint("rec_", n)), Record: dnszone.Record{Type: "A", Host: "www", Value: fmt.Sprint("192.0.2.", n), TTL: 300}}
		change = buy(n, order.PurchaseOf(dnszone.Change{Kind: dnszone.ChangeAdd, Zone: "name4.com", By: consumed.Auth.Payer, Ops: []dnszone.RecordOp{add}}), settled...)
		j, err := jobs.Job(t.Context(), order.JobID(change.ID))
		if err != nil {
			t.Fatal(err)
		}
		if _, done, err := zones.ChangeZone(t.Context(), j); err != nil || !done {
			t.Fatal(done, err)
		}
	}
	if done, err := payments.RefundPart(t.Context(), change.ID, order.PartRefund{Label: order.RefundChange, Amount: 7, Reason: "the price was lower"}); err != nil || !done {
		t.Fatal(done, err)
	}
	refunded := pay(5, settled...)
	advance(refunded, func(j order.Job) error { j.Failure = "refused"; return jobs.FailJob(t.Context(), j) })
	p, err := payments.Payment(t.Context(), refunded.ID)
	for _, to := range []order.PaymentState{order.PaymentRefunding, order.PaymentRefunded} {
		if err == nil {
			p, err = payments.MovePayment(t.Context(), p, to, "0xback")
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	create(t, sqldb.NewSessions(db, now), "n1", "f1", "a0")
}

// mandateRow returns the statement that inserts a mandate.
func mandateRow(name, state, payment, signature, next string) string {
	return `INSERT INTO mandates (domain, reference, state, payment_id, signature, next_at, id, owner, expires_at, chain_id, asset, nonce, pay_to, amount, valid_after, valid_before, created_at, updated_at)
		VALUES (` + strings.Join([]string{name, state, payment, signature, next}, ", ") + `, 'man_1', '0x1', 0, 84532, '', 'n', '', 1, 0, 0, 0, 0)`
}

// A wrong row is reported as a violation of exactly its invariant.
func TestAuditFindsViolations(t *testing.T) {
	const where = ` WHERE payment_id = (SELECT id FROM payments WHERE domain = 'name%d.com' AND kind = 'registration')`
	job := func(set string, n int) string { return `UPDATE jobs SET ` + set + fmt.Sprintf(where, n) }
	corruptions := map[string][]string{
		// One whose registry does not hold the name: nobody knows when it expires.
		"a sound database": {`UPDATE jobs SET kind = 'renewal', until_at = until_at + 9, created_at = 2000000000 WHERE state = 'completed'`, `UPDATE registrations SET status = 'suspended'`},
		"a payment has at most one job": {`DROP INDEX jobs_payment`,
			`INSERT INTO jobs SELECT 'job_twin', payment_id, domain, owner, state, '', 0, 0, 0, '', '', 0, 0, 0, NULL, kind, 0, 0, 0, 'job_public', '', '', '' FROM jobs WHERE state = 'cancelled'`},
		"the payment of a job in progress is settled":                                             {job(`state = 'queued', next_at = 1`, 1)},
		"a job is completed if and only if its payment is consumed, or a part of it was refunded": {job(`state = 'verifying', next_at = 1`, 4), `INSERT INTO claims SELECT domain, id FROM jobs WHERE state = 'verifying'`},
		"a job is failed if and only if its payment is refunded":                                  {job(`state = 'failed', failure = 'x', next_at = NULL`, 3), `DELETE FROM claims WHERE domain = 'name3.com'`},
		"an unsolicited transfer buys nothing": {`INSERT INTO payments (id, public_id, chain_id, asset, payer, nonce, pay_to, amount, valid_after, valid_before, signature, kind, domain, years, fingerprint, state, tx_hash, refund_tx, created_at, changed_at)
			VALUES ('pay_x', 'pay_x', 1, '', '0x', '', '', 5, 0, 0, '', 'registration', '', 0, '', 'dust', '0xx', '', 0, 0)`,
			`INSERT INTO ledger VALUES ('pay_x', 'settled', 'treasury', 5, 0, ''), ('pay_x', 'settled', 'owed', -5, 0, '')`},
		"a job is cancelled if and only if its payment is void or released":            {job(`state = 'cancelled'`, 1), `DELETE FROM claims WHERE domain = 'name1.com'`},
		"a payment for a purchase has a job":                                           {`DELETE FROM claims WHERE domain = 'name3.com'`, `DELETE FROM jobs WHERE domain = 'name3.com'`},
		"the owner of a name is its payer, or the wallet it was handed over to":        {`UPDATE registrations SET owner = '0x1'`},
		"a consumed registration payment has a registration, current or former":        {`DELETE FROM registrations`},
		"a name does not expire before the end of its last renewal":                    {`UPDATE jobs SET kind = 'renewal', until_at = until_at + 9, created_at = 2000000000 WHERE state = 'completed'`},
		"an active mandate is of the owner of its name":                                {mandateRow("'nobody.com', 'x'", "'active'", "''", "'sealed'", "0")},
		"a mandate that pays or has paid is one payment of its owner, name and amount": {mandateRow("'name5.com', 'x'", "'failed'", "(SELECT id FROM payments WHERE domain = 'name5.com')", "''", "NULL")},
		"a mandate is used if and only if its payment is consumed": {`UPDATE payments SET source = 'mandate', kind = 'renewal' WHERE domain = 'name5.com'`,
			mandateRow("'name5.com', 'x'", "'used'", "(SELECT id FROM payments WHERE domain = 'name5.com')", "''", "NULL"),
			`UPDATE mandates SET owner = (SELECT payer FROM payments WHERE domain = 'name5.com'), amount = (SELECT amount FROM payments WHERE domain = 'name5.com')`},
		"every open order has a claim":                                                                  {`DELETE FROM claims WHERE domain = 'name3.com'`},
		"every claim has an open order, or a name to delete":                                            {`INSERT INTO claims SELECT 'other.com', id FROM jobs WHERE state = 'completed' AND kind = 'registration'`},
		"an order that failed after it was placed is looked up":                                         {`DELETE FROM late_orders`},
		"a name is being cancelled if and only if its cancellation is open, and has its claim":          {`UPDATE registrations SET cancelling_at = 1`},
		"a registration was cancelled if and only if it ended and its payer was refunded, less the fee": {`UPDATE payments SET refund_label = 'undo' WHERE refund_label <> ''`},
		"every ledger entry sums to zero":                                                               {`UPDATE ledger SET amount = amount - 1 WHERE account = 'revenue' AND entry = 'consumed'`},
		"a payment is in the ledger as settled if and only if it has a transaction":                     {`UPDATE payments SET amount = amount + 1 WHERE state = 'consumed'`},
		"consumed and refunded payments match the ledger":                                               {`DELETE FROM ledger WHERE entry = 'consumed' AND account = 'revenue'`, `DELETE FROM ledger WHERE entry = 'refunded' AND account = 'refunds'`, `UPDATE ledger SET entry = 'refunded' WHERE entry = 'consumed'`},
		"the owed balance equals the payments that are neither consumed nor refunded":                   {`UPDATE ledger SET amount = amount + 1 WHERE account = 'owed' AND entry = 'settled'`},
		"the attempts of a refund are consecutive":                                                      {`INSERT INTO attempts SELECT chain_id, 'refund ' || substr(asset, 3) || ' ' || id, 2, '0x', 0 FROM payments WHERE state = 'refunded'`},
		"only payments due for refund have refund attempts":                                             {`INSERT INTO attempts SELECT 84532, 'refund ' || substr(asset, 3) || ' ' || id, 1, '0x', 0 FROM payments WHERE state = 'consumed'`},
		"the nonces of our wallets have no gaps": {`INSERT INTO signers VALUES (84532, '0x', 3)`,
			`INSERT INTO transactions VALUES (84532, '0x', 0, 'a', '', 0), (84532, '0x', 2, 'b', '', 0)`},
		"no job is open an hour after its deadline": {job(`updated_at = deadline_at + 7200`, 3)},
		"every registered name has one zone, and every active zone a registered name": {`INSERT INTO zones (id, domain, serial, member, generation, renew_at, withdrawn_at, ended_at, changed_at, master) SELECT 'zone_orphan', 'orphan.com', 7, 'orphan', 0, 0, NULL, NULL, 0, '' FROM (SELECT 1) one`,
			`INSERT INTO served SELECT 'zone_orphan', owner, type, ttl, data, 7, NULL FROM served WHERE type = 6 AND removed_serial IS NULL`,
			`INSERT INTO revisions VALUES ('zone_orphan', 7, 0, 0, 0, 0)`},
		"a zone has exactly one SOA, with its serial, until it ends":     {`UPDATE served SET added_serial = added_serial - 1 WHERE type = 6 AND removed_serial IS NULL`},
		"a zone has as many records as its last revision, until it ends": {`UPDATE records SET removed_serial = added_serial + 1`, `UPDATE zones SET serial = serial + 1`, `UPDATE served SET added_serial = added_serial + 1 WHERE type = 6 AND removed_serial IS NULL`},
		"record ids are never reused within a zone":                      {`INSERT INTO records SELECT zone_id, id, type, host, value, ttl, distance, created_at - 9, updated_at, added_serial - 50, added_serial - 40 FROM records`},
		"nothing in a zone is newer than its serial":                     {`UPDATE records SET added_serial = added_serial + 1`},
		"the serials of a name never decrease, even across owners":       {`INSERT INTO zones (id, domain, serial, member, generation, renew_at, withdrawn_at, ended_at, changed_at, master) SELECT 'zone_old', domain, serial + 9, 'old', 0, 0, NULL, 1, 0, '' FROM zones`},
		"only a signed zone that has not ended has its key replaced":     {`INSERT INTO key_rolls (zone_id, step, master, generation, effective_at, next_at, created_at) SELECT id, 'requested', '', 0, 0, 0, 0 FROM zones`},
		"the outbox is never ahead of the zone":                          {`UPDATE outbox SET propagated_serial = serial + 1`},
		"every paid change is one revision":                              {`UPDATE jobs SET revision = revision + 1 WHERE kind LIKE 'dns%'`},
		"every revision but the first of its zone was paid for once":     {`INSERT INTO revisions SELECT zone_id, serial - 100, at, 0, 0, 0 FROM revisions WHERE records = 0`},
		"a session has at most one active refresh token":                 {`DROP INDEX refresh_tokens_active`, `INSERT INTO refresh_tokens SELECT 'twin', family, wallet, issued_at, expires_at, NULL, NULL FROM refresh_tokens`},
	}
	// Some rows violate a second invariant, because of the missing rows.
	also := map[string]string{
		"a job is completed if and only if its payment is consumed, or a part of it was refunded": "the payment of a job in progress is settled",
		"consumed and refunded payments match the ledger":                                         "every ledger entry sums to zero",
		"the owed balance equals the payments that are neither consumed nor refunded":             "every ledger entry sums to zero",
		"a consumed registration payment has a registration, current or former":                   "every registered name has one zone, and every active zone a registered name",
		"every paid change is one revision":                                                       "every revision but the first of its zone was paid for once",
	}
	for name, statements := range corruptions {
		t.Run(name, func(t *testing.T) {
			path := sqldbtest.SQLiteFile(t)
			db, err := sqldb.OpenSQLite(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close() // the file is deleted after the test
			sample(t, db)
			corrupt(t, path, statements)
			for since, seen := range map[time.Time]bool{{}: true, time.Unix(-700, 0): true, noon.AddDate(99, 0, 0): false} {
				findings, err := sqldb.Audit{DB: db}.RunSince(t.Context(), since)
				if err != nil || len(findings) != len(corruptions)-1 {
					t.Fatalf("got %d findings, %v: every invariant needs a row above", len(findings), err)
				}
				for _, f := range findings {
					want := f.Invariant == name || f.Invariant == also[name]
					if (f.Broken > 0) != want && (seen || !want) {
						t.Errorf("since %s: %s: broken %d times", since, f.Invariant, f.Broken)
					}
				}
			}
		})
	}
}

// corrupt changes rows in spite of all constraints.
func corrupt(t *testing.T, path string, statements []string) {
	t.Helper()
	raw, err := sql.Open("sqlite", "file:"+path+"?_pragma=foreign_keys(0)&_pragma=ignore_check_constraints(1)&_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close() // only a test's connection
	for _, s := range statements {
		res, err := raw.ExecContext(t.Context(), s)
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 && s[:4] != "DROP" {
			t.Fatalf("%s changed nothing: %v", s, err)
		}
	}
}
