package sqldb_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

func ptr[T any](v T) *T { return &v }

// storedPurchases returns purchases with every field, as they were stored before
// migration 17, and their fingerprints of that time.
func storedPurchases() []struct {
	p                   order.Purchase
	column, fingerprint string
} {
	at := time.Unix(1_800_000_000, 0).UTC()
	rec := dnszone.Record{ID: "r1", Type: "MX", Host: "@", Value: "mail.example.com", TTL: 300, Distance: ptr(10), Created: at, Updated: at}
	patch := dnszone.RecordPatch{Type: ptr("A"), Host: ptr("www"), Value: ptr("192.0.2.1"), TTL: ptr(60), Distance: ptr(1), Priority: ptr(2)}
	rollback := order.PurchaseOf(dnszone.Change{Kind: dnszone.ChangeBatch, Zone: "example.com", By: "0xaa", IfRevision: 7, Ops: []dnszone.RecordOp{
		{Op: dnszone.OpAdd, ID: "r1", Record: rec}, {Op: dnszone.OpUpdate, ID: "r2", Patch: patch}, {Op: dnszone.OpDelete, ID: "r3"},
	}})
	rollback.RequestKey = "rollback 3"
	const record = `{"ID":"r1","Type":"MX","Host":"@","Value":"mail.example.com","TTL":300,"Distance":10,"Created":"2027-01-15T08:00:00Z","Updated":"2027-01-15T08:00:00Z"}`
	return []struct {
		p                   order.Purchase
		column, fingerprint string
	}{
		{
			order.Purchase{
				Kind: order.PurchaseRegistration, Name: "example.com", Years: 2, Nameservers: []string{"ns1.example.net"}, Records: []dnszone.Record{rec},
				Facts: order.PurchaseFacts{PremiumRenewal: 5},
			},
			`{"Kind":"registration","Name":"example.com","Years":2,"Nameservers":["ns1.example.net"],"Records":[` + record + `],"Facts":{"PremiumRenewal":5}}`,
			"7cf17706b5e08173224d601991cb1d88bb0ed98897cf4dfaec57d79781045774",
		},
		{
			order.Purchase{Kind: order.PurchaseRenewal, Name: "example.com", Years: 1, From: at, Facts: order.PurchaseFacts{Restore: true}},
			`{"Kind":"renewal","Name":"example.com","Years":1,"From":"2027-01-15T08:00:00Z","Facts":{"Restore":true}}`,
			"adc6cdb868729caa23859d2d22e6a4aa638bf0b25ba5ce3c136d64f25ee641a5",
		},
		{
			order.Purchase{Kind: order.PurchaseTransfer, Name: "example.com", Years: 1, AuthCode: "a<b>"},
			`{"Kind":"transfer","Name":"example.com","Years":1,"AuthCode":"a\u003cb\u003e"}`,
			"c48f6c7de6bb0d19a7c42e4ab81fe42ba0971045a6543618f99c6f913930f1ab",
		},
		{
			rollback,
			`{"Kind":"dns_batch","Name":"example.com","Change":{"Kind":"batch","Zone":"example.com","By":"0xaa","Ops":[{"Op":"add","ID":"r1","Record":` + record +
				`},{"Op":"update","ID":"r2","Patch":{"Type":"A","Host":"www","Value":"192.0.2.1","TTL":60,"Distance":1,"Priority":2}},{"Op":"delete","ID":"r3"}],"IfRevision":7},"Asked":"rollback 3"}`,
			"687168cf08b8cf132b80de9a2540813e7310841d19f9f24c16e87ca4c3947d78",
		},
	}
}

// Migration 17 rewrites every purchase with explicit names and a version, keeps what it
// says and its fingerprint, and gives every payment a source.
func TestMigratePurchases(t *testing.T) { eachMigrated(t, 16, migratePurchases) }

func insertOldPayment(t *testing.T, db *sqldb.DB, id string, p order.Purchase, column string) {
	t.Helper()
	err := db.Exec(t.Context(), `
		INSERT INTO payments (id, public_id, chain_id, asset, payer, nonce, pay_to, amount, valid_after, valid_before, signature, kind, domain, years,
		                      fingerprint, state, tx_hash, refund_tx, created_at, changed_at, next_at, purchase)
		VALUES ($1, $1, 1, '', '0x01', $1, '0x02', 10, 0, 9, 'aa', $2, $3, $4, $1, 'settled', '0xa', '', 100, 100, NULL, $5)`,
		id, p.Kind, p.Name, p.Years, column)
	if err != nil {
		t.Fatal(err)
	}
}

func migratePurchases(t *testing.T, openOld, open func(context.Context) (*sqldb.DB, error)) {
	t.Helper()
	old, err := openOld(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := storedPurchases()
	const payments = 1203 // more than two batches
	for i := range payments {
		insertOldPayment(t, old, fmt.Sprintf("pay_%04d", i), all[i%4].p, all[i%4].column)
	}
	insertOldPayment(t, old, "pay_oldest", order.Purchase{Kind: order.PurchaseRegistration, Name: "oldest.com", Years: 3}, "")
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // closed after the test
	for query, want := range map[string]int{
		`SELECT count(*) FROM payments WHERE purchase LIKE '{"v":1,"kind":"%'`: payments,
		`SELECT count(*) FROM payments WHERE purchase LIKE '%"Asked"%'`:        0,
		`SELECT count(*) FROM payments WHERE source = 'x402_exact'`:            payments + 1,
	} {
		if got := textOf(t, db, query); got != fmt.Sprint(want) {
			t.Errorf("%s: got %s, want %d", query, got, want)
		}
	}
	if err := db.Exec(t.Context(), `UPDATE payments SET source = ''`); err == nil {
		t.Error("the database accepted a payment without a source")
	}
	// A node that was not upgraded yet writes another one.
	insertOldPayment(t, db, "pay_later", all[3].p, all[3].column)
	rows := sqldb.Payments{DB: db, ChainID: 1, Now: time.Now}
	for id, want := range map[string]order.Purchase{
		"pay_0000": all[0].p, "pay_0501": all[1].p, "pay_1202": all[2].p, "pay_0003": all[3].p, "pay_later": all[3].p,
		"pay_oldest": {Kind: order.PurchaseRegistration, Name: "oldest.com", Years: 3},
	} {
		p, err := rows.Payment(t.Context(), id)
		if err != nil || !reflect.DeepEqual(p.Purchase, want) || p.Source != order.SourceX402Exact || p.Fingerprint != id {
			t.Errorf("%s: got %+v, %v, want %+v", id, p, err, want)
		}
	}
}

// A purchase is stored under names of its own, and read back whole.
func TestStoredPurchase(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		rows := sqldb.Payments{DB: db, ChainID: 1, Now: time.Now}
		for i, tt := range storedPurchases() {
			if got := tt.p.Fingerprint(); got != tt.fingerprint {
				t.Errorf("%s has the fingerprint %s, want %s", tt.p.Kind, got, tt.fingerprint)
			}
			tt.p.Name = deed.Name(fmt.Sprintf("name%d.com", i)) // a name is claimed once
			auth := settle.Authorization{Payer: "0x01", PayTo: "0x02", Amount: 10, ValidBefore: 9, Nonce: fmt.Sprint(i), Signature: []byte{1}}
			p, err := rows.AuthorizePayment(t.Context(), order.Payment{ID: auth.PaymentID(1, ""), Source: order.SourceX402Exact, Auth: auth, Purchase: tt.p}, sqldbtest.AdmitAll)
			if err == nil {
				p, err = rows.Payment(t.Context(), p.ID)
			}
			if err != nil || !reflect.DeepEqual(p.Purchase, tt.p) || p.Source != order.SourceX402Exact {
				t.Errorf("got %+v, %v, want %+v", p.Purchase, err, tt.p)
			}
			column := textOf(t, db, `SELECT purchase FROM payments WHERE id = '`+p.ID+`'`)
			if !strings.HasPrefix(column, fmt.Sprintf(`{"v":1,"kind":%q,"name":%q`, tt.p.Kind, tt.p.Name)) || strings.Contains(column, `"Kind"`) || strings.Contains(column, `"ID"`) {
				t.Errorf("got %s", column)
			}
		}
	})
}
