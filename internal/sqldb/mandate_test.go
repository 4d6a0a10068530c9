package sqldb_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/seal"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// mandates returns the mandates of a name that a wallet has just bought, and its
// registration.
func mandates(t *testing.T, db *sqldb.DB) (sqldb.Mandates, order.Mandate) {
	t.Helper()
	_, p := consumed(t, db)
	box, err := seal.New("a secret of the service that all nodes share")
	if err != nil {
		t.Fatal(err)
	}
	db.Sealer = box
	s := sqldb.Mandates{DB: db, Asset: network.Asset{ChainID: 84532, Token: "0x036cbd53842c5426634e7929541ec2318f3dcf7e"}, Now: func() time.Time { return noon }}
	return s, order.Mandate{
		Name: "name1.com", Owner: wallet, Reference: order.JobID(p.ID) + "-1", Expires: noon.AddDate(1, 0, 0), State: order.MandateActive,
		Auth: settle.Authorization{Payer: wallet, PayTo: wallet, Amount: 1500, ValidAfter: 1, ValidBefore: 2, Nonce: "0xa", Signature: []byte("a signature that nobody should see")},
	}
}

// The signature of a mandate is stored encrypted, and is gone when it has ended.
func TestMandateIsEncrypted(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, m := mandates(t, db)
		made, err := s.Create(t.Context(), m.Name, []order.Mandate{m})
		if err != nil {
			t.Fatal(err)
		}
		stored := func() string {
			text, err := db.Text(t.Context(), `SELECT signature FROM mandates`)
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		if text := stored(); len(text) < 50 || strings.Contains(text, "7369676e617475726520") || strings.Contains(text, "signature") {
			t.Errorf("it is stored as %q", text)
		}
		got, err := s.Mandate(t.Context(), made[0].ID)
		if err != nil || string(got.Auth.Signature) != string(m.Auth.Signature) || got.Auth.Asset != s.Asset || got.Auth.Payer != wallet {
			t.Errorf("got %+v, %v", got, err)
		}
		if list, err := s.List(t.Context(), wallet, m.Name); err != nil || len(list) != 1 || list[0].Auth.Signature != nil {
			t.Errorf("got %+v, %v", list, err)
		}
		if ended, err := s.Revoke(t.Context(), wallet, m.Name, ""); err != nil || len(ended) != 1 || stored() != "" {
			t.Errorf("got %+v, %v, and %q is left", ended, err, stored())
		}
	})
}

// Signing mandates and revoking them costs nothing: as many are kept as are listed.
func TestRevokedMandatesAreLimited(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, m := mandates(t, db)
		var last string
		for i := range 120 {
			at := noon.Add(time.Duration(i) * time.Second)
			s.Now = func() time.Time { return at }
			m.Auth.Nonce = fmt.Sprint("0x", i)
			made, err := s.Create(t.Context(), m.Name, []order.Mandate{m})
			if err != nil {
				t.Fatal(err)
			}
			last = made[0].ID
			if i == 119 {
				break
			}
			if _, err := s.Revoke(t.Context(), wallet, m.Name, ""); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := db.Text(t.Context(), `SELECT count(*) FROM mandates`); err != nil || n != "101" {
			t.Errorf("%s are kept, %v, want 101", n, err)
		}
		if list, err := s.List(t.Context(), wallet, m.Name); err != nil || len(list) != 100 || list[0].ID != last {
			t.Errorf("got %d, %v", len(list), err)
		}
	})
}

// The owner is told of each reason once, whichever node finds it.
func TestReasonIsToldOnce(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, m := mandates(t, db)
		made, err := s.Create(t.Context(), m.Name, []order.Mandate{m})
		if err != nil {
			t.Fatal(err)
		}
		m = made[0]
		m.ToldPrice = true
		for i, reason := range []string{"it is prohibited", "it is prohibited", "it costs more"} {
			m.Reason = reason
			if err := s.Delay(t.Context(), m, noon.AddDate(0, 0, i), true); err != nil {
				t.Fatal(err)
			}
		}
		n, err := db.Text(t.Context(), `SELECT count(*) FROM owner_events WHERE type = 'mandate.at_risk'`)
		if got, readErr := s.Mandate(t.Context(), m.ID); err != nil || readErr != nil || n != "2" || got.Reason != "it costs more" {
			t.Errorf("told %s times, %q, %v, %v", n, got.Reason, err, readErr)
		}
	})
}

// One mandate is used by one payment, whoever tries at the same time, and not while
// another renewal is open, for another owner, or for another expiry.
func TestMandateIsTakenOnce(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, m := mandates(t, db)
		payments := sqldb.Payments{DB: db, ChainID: 84532, Asset: s.Asset.Token, Now: s.Now}
		made, err := s.Create(t.Context(), m.Name, []order.Mandate{m})
		if err != nil {
			t.Fatal(err)
		}
		m = made[0]
		pay := func(nonce string, change func(p *order.Payment)) error {
			auth := m.Auth
			auth.Nonce = nonce
			p := order.Payment{
				ID: auth.PaymentID(84532, s.Asset.Token), Source: order.SourceMandate, Auth: auth, MandateID: m.ID,
				Purchase: order.Purchase{Kind: order.PurchaseRenewal, Name: m.Name, Years: 1, From: m.Expires, Facts: order.PurchaseFacts{Price: 1000}},
			}
			change(&p)
			_, err := payments.AuthorizePayment(t.Context(), p, sqldbtest.AdmitAll)
			return err
		}
		for what, change := range map[string]func(p *order.Payment){
			"another owner":  func(p *order.Payment) { p.Auth.Payer = "0x0000000000000000000000000000000000000009" },
			"another expiry": func(p *order.Payment) { p.Purchase.From = m.Expires.Add(time.Second) },
			"another name":   func(p *order.Payment) { p.Purchase.Name = "name2.com" },
			"no mandate":     func(p *order.Payment) { p.MandateID = "man_0" },
		} {
			if err := pay("0xa", change); !errors.Is(err, order.ErrMandateIdle) {
				t.Errorf("%s: got %v", what, err)
			}
		}
		var mu sync.Mutex
		var wg sync.WaitGroup
		var taken int
		for _, nonce := range []string{"0xa", "0xb", "0xc", "0xd", "0xe", "0xf"} {
			wg.Go(func() {
				err := pay(nonce, func(*order.Payment) {})
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					taken++
				} else if !errors.Is(err, order.ErrMandateIdle) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got, err := s.Mandate(t.Context(), m.ID); err != nil || taken != 1 || got.State != order.MandatePaying || got.PaymentID == "" {
			t.Errorf("it was taken %d times: %+v, %v", taken, got, err)
		}
		if ended, err := s.Revoke(t.Context(), wallet, m.Name, ""); err != nil || len(ended) != 0 {
			t.Errorf("it was revoked while it pays: %+v, %v", ended, err)
		}
	})
}

// A renewal that somebody else has promised to pay, and perhaps never will, does not keep a
// mandate from being used. One that the owner has promised does, and one that is paid.
func TestMandateBesideAPromiseOfAnother(t *testing.T) {
	const stranger deed.Wallet = "0x0000000000000000000000000000000000000009"
	for what, tt := range map[string]struct {
		by   deed.Wallet
		paid bool
		idle bool
	}{
		"promised by another": {stranger, false, false}, "paid by another": {stranger, true, true}, "promised by the owner": {wallet, false, true},
	} {
		t.Run(what, func(t *testing.T) {
			sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				s, m := mandates(t, db)
				payments := sqldb.Payments{DB: db, ChainID: 84532, Asset: s.Asset.Token, Now: s.Now}
				made, err := s.Create(t.Context(), m.Name, []order.Mandate{m})
				if err != nil {
					t.Fatal(err)
				}
				pay := func(by deed.Wallet, nonce, mandate string, source order.Source) (order.Payment, error) {
					auth := m.Auth
					auth.Payer, auth.Nonce = by, nonce
					return payments.AuthorizePayment(t.Context(), order.Payment{
						ID: auth.PaymentID(84532, s.Asset.Token), Source: source, Auth: auth, MandateID: mandate, State: order.PaymentSettling,
						Purchase: order.Purchase{Kind: order.PurchaseRenewal, Name: m.Name, Years: 1, From: m.Expires, Facts: order.PurchaseFacts{Price: 1000}},
					}, sqldbtest.AdmitAll)
				}
				other, err := pay(tt.by, "0x0b", "", order.SourceX402Exact)
				if err == nil && tt.paid {
					_, err = payments.MovePayment(t.Context(), other, order.PaymentSettled, "0xpaid")
				}
				if err != nil {
					t.Fatal(err)
				}
				if _, err := pay(wallet, "0xa", made[0].ID, order.SourceMandate); errors.Is(err, order.ErrMandateIdle) != tt.idle || err != nil && !tt.idle {
					t.Errorf("got %v, want idle %t", err, tt.idle)
				}
			})
		})
	}
}

// A name has at most ten mandates, one for each expiry, also when many are given at
// once.
func TestMandatesAreBounded(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, m := mandates(t, db)
		several := func(from, to int) (all []order.Mandate) {
			for n := from; n < to; n++ {
				one := m
				one.Expires, one.Auth.Nonce = m.Expires.AddDate(n, 0, 0), "0x"+strings.Repeat("a", n+1)
				all = append(all, one)
			}
			return all
		}
		if _, err := s.Create(t.Context(), m.Name, several(0, order.MaxMandates+1)); deed.CodeOf(err) != deed.CodeValidation {
			t.Errorf("eleven: got %v", err)
		}
		if list, err := s.List(t.Context(), wallet, m.Name); err != nil || len(list) != 0 {
			t.Errorf("something was stored: %+v, %v", list, err)
		}
		if _, err := s.Create(t.Context(), m.Name, several(0, order.MaxMandates)); err != nil {
			t.Error(err)
		}
		again := several(0, 1)
		again[0].Auth.Nonce = "0xnew"
		if _, err := s.Create(t.Context(), m.Name, again); deed.CodeOf(err) != deed.CodeValidation {
			t.Errorf("the same expiry: got %v", err)
		}
		m.Owner = "0x0000000000000000000000000000000000000009"
		if _, err := s.Create(t.Context(), m.Name, several(20, 21)); deed.CodeOf(err) != deed.CodeOwnershipDenied {
			t.Errorf("another owner: got %v", err)
		}
	})
}
