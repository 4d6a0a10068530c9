package sqldb_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/event"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
	"deed.example/deed/internal/webhook"
)

// A webhook that takes nothing for three days is turned off, and its owner is told. A
// test that is delivered turns it on, and then what it missed can be replayed.
func TestWebhookIsTurnedOff(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := openHooks(t, db)
		w := h.create(t, "0xa", hookURL)
		other := h.create(t, "0xa", "https://b.example/")
		h.emit(t, "0xa", "a.com", "a.com", "b.com")
		down := true
		r := &receivers{answer: func(_ context.Context, url, _ string) webhook.Outcome {
			if down && url == hookURL {
				return webhook.OutcomeOf(503)
			}
			return webhook.OutcomeOf(200)
		}}
		d := h.dispatcher(t, r)
		begin := h.now()
		for h.waiting(t, "a.example") {
			deliver(t, d)
			h.advance(time.Hour)
			if h.now().Sub(begin) > 100*time.Hour {
				t.Fatal("it is never turned off")
			}
		}
		if after := h.now().Sub(begin); after < 72*time.Hour || after > 74*time.Hour {
			t.Errorf("it was turned off after %s", after)
		}
		list, err := h.List(t.Context(), "0xa")
		if err != nil || len(list) != 2 {
			t.Fatal(list, err)
		}
		for _, got := range list {
			if off := !got.Disabled.IsZero(); off != (got.ID == w.ID) || got.Secret != "" {
				t.Errorf("got %+v", got)
			}
		}
		events, err := sqldb.Events{DB: db}.Events(t.Context(), "0xa", 3, 10)
		if err != nil || len(events) != 1 || events[0].Type != event.WebhookDisabled || events[0].Data.WebhookID != w.ID || events[0].Data.Reason == "" {
			t.Fatalf("got %+v, %v", events, err)
		}
		r.take()
		deliver(t, d)
		if got := r.take(); !slices.Equal(got, []string{other.URL + " " + w.ID + " 4"}) {
			t.Errorf("the other webhook is told: got %v", got)
		}
		h.emit(t, "0xa", "a.com")
		deliver(t, d)
		if got := r.take(); len(got) != 1 {
			t.Errorf("a webhook that is off got an event: %v", got)
		}
		missed := h.page(t, w)[0]
		if _, err := h.Replay(t.Context(), "0xa", w.ID, missed.EventID); deed.CodeOf(err) != deed.CodeValidation {
			t.Errorf("replay while it is off: got %v", err)
		}
		for _, try := range [][2]string{{w.ID, missed.EventID}, {w.ID, "evt_0"}, {"wh_0", missed.EventID}} {
			want := deed.CodeNotFound
			if try[0] == w.ID { // it is off
				want = deed.CodeValidation
			}
			if err := h.store.Replayable(t.Context(), try[0], try[1]); deed.CodeOf(err) != want {
				t.Errorf("replayable %v: got %v, want %v", try, err, want)
			}
		}
		down = false
		if test, err := h.Test(t.Context(), "0xa", w.ID); err != nil || test.Type != webhook.TestType {
			t.Fatalf("got %+v, %v", test, err)
		}
		h.advance(time.Hour)
		deliver(t, d)
		if got := r.take(); len(got) != 1 {
			t.Fatalf("the test: got %v", got)
		}
		if err := h.store.Replayable(t.Context(), w.ID, missed.EventID); err != nil {
			t.Errorf("replayable once it is on again: got %v", err)
		}
		if err := h.store.Replayable(t.Context(), w.ID, "evt_0"); deed.CodeOf(err) != deed.CodeNotFound {
			t.Errorf("replayable without such an event: got %v", err)
		}
		replayed, err := h.Replay(t.Context(), "0xa", w.ID, missed.EventID)
		if err != nil || replayed.State != webhook.Pending || replayed.EventID != missed.EventID {
			t.Fatalf("got %+v, %v", replayed, err)
		}
		deliver(t, d)
		if got := r.take(); len(got) != 1 || !strings.HasPrefix(got[0], hookURL) {
			t.Errorf("the replay: got %v", got)
		}
	})
}

// One event that the receiver cannot take does not turn off a webhook that takes
// others, and does not stop them.
func TestPoisonDeliveryIsGivenUp(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := openHooks(t, db)
		w := h.create(t, "0xa", hookURL)
		r := &receivers{answer: func(_ context.Context, _, body string) webhook.Outcome {
			if subject(body) == "a.com 1" {
				return webhook.OutcomeOf(500)
			}
			return webhook.OutcomeOf(200)
		}}
		d := h.dispatcher(t, r)
		h.emit(t, "0xa", "a.com", "a.com")
		for range 80 {
			h.emit(t, "0xa", "b.com")
			deliver(t, d)
			h.advance(time.Hour)
		}
		states := map[webhook.State]int{}
		for _, d := range h.page(t, w) {
			states[d.State]++
		}
		if states[webhook.Failed] != 1 || states[webhook.Delivered] != 81 {
			t.Errorf("got %v", states)
		}
		if list, err := h.List(t.Context(), "0xa"); err != nil || !list[0].Disabled.IsZero() {
			t.Errorf("got %+v, %v", list, err)
		}
	})
}

func TestGoneTurnsOffAtOnce(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := openHooks(t, db)
		h.create(t, "0xa", hookURL)
		h.emit(t, "0xa", "a.com", "b.com")
		deliver(t, h.dispatcher(t, &receivers{answer: func(context.Context, string, string) webhook.Outcome { return webhook.OutcomeOf(410) }}))
		if list, err := h.List(t.Context(), "0xa"); err != nil || list[0].Disabled.IsZero() || h.waiting(t, "a.example") {
			t.Errorf("got %+v, %v", list, err)
		}
	})
}

// A wallet with a name or a paid order has ten webhooks, also when it asks for many at
// once, and no others can be reached with its token.
func TestWebhooksOfAWallet(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := openHooks(t, db)
		if _, err := h.Create(t.Context(), "0xa", hookURL); deed.CodeOf(err) != deed.CodeValidation {
			t.Errorf("without a name: got %v", err)
		}
		h.sell(t, "0xa")
		paid, err := h.Create(t.Context(), wallet, hookURL) // it has paid, and has no name any more
		if err != nil {
			t.Fatalf("with a paid order: got %v", err)
		}
		if err := h.Delete(t.Context(), wallet, paid.ID); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		var made, refused atomic.Int64
		for range 25 {
			wg.Go(func() {
				switch _, err := h.Create(t.Context(), "0xa", hookURL); deed.CodeOf(err) {
				case "":
					made.Add(1)
				case deed.CodeValidation:
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if made.Load() != webhook.MaxPerWallet || refused.Load() != 15 {
			t.Errorf("got %d webhooks, %d refusals", made.Load(), refused.Load())
		}
		w := h.create(t, "0xb", hookURL)
		h.emit(t, "0xb", "b.com")
		missed := h.page(t, w)[0]
		for what, call := range map[string]func() error{
			"delete": func() error { return h.Delete(t.Context(), "0xa", w.ID) },
			"rotate": func() error { _, err := h.Rotate(t.Context(), "0xa", w.ID); return err },
			"page":   func() error { _, _, err := h.Page(t.Context(), "0xa", w.ID, 10, 0); return err },
			"test":   func() error { _, err := h.Test(t.Context(), "0xa", w.ID); return err },
			"replay": func() error { _, err := h.Replay(t.Context(), "0xa", w.ID, missed.EventID); return err },
			"event":  func() error { _, err := h.Replay(t.Context(), "0xb", w.ID, "evt_0"); return err },
		} {
			if err := call(); deed.CodeOf(err) != deed.CodeNotFound {
				t.Errorf("%s: got %v", what, err)
			}
		}
		if stored, err := db.Text(t.Context(), `SELECT secret FROM webhooks WHERE owner = '0xb'`); err != nil || strings.Contains(stored, "whsec") {
			t.Errorf("the secret is stored in plain text: %v", err)
		}
		if err := h.Delete(t.Context(), "0xb", w.ID); err != nil {
			t.Fatal(err)
		}
		r := &receivers{}
		deliver(t, h.dispatcher(t, r))
		if got := r.take(); len(got) != 0 {
			t.Errorf("a deleted webhook got %v", got)
		}
	})
}

// After a rotation both secrets sign for a day; a test that waits is not repeated; a
// webhook whose secrets cannot be decrypted does not stop the others of its host.
func TestRotationAndTests(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := openHooks(t, db)
		w := h.create(t, "0xa", hookURL)
		rotated, err := h.Rotate(t.Context(), "0xa", w.ID)
		if err != nil || rotated.Secret == w.Secret || rotated.URL != w.URL {
			t.Fatal(rotated, err)
		}
		first, err := h.Test(t.Context(), "0xa", w.ID)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := h.Test(t.Context(), "0xa", w.ID); err != nil || again.EventID != first.EventID {
			t.Errorf("got %+v, %v", again, err)
		}
		for at, want := range map[time.Duration][]deed.Secret{0: {rotated.Secret, w.Secret}, 25 * time.Hour: {rotated.Secret}} {
			later := h.store
			later.Now = func() time.Time { return h.now().Add(at) }
			if due, err := later.Due(t.Context(), "a.example", 10); err != nil || len(due) != 1 || !slices.Equal(due[0].Secrets, want) {
				t.Errorf("after %s: got %d, %v", at, len(due), err)
			}
		}
		lost := h.create(t, "0xa", hookURL)
		if err := db.Exec(t.Context(), `UPDATE webhooks SET secret = 'lost' WHERE id = $1`, lost.ID); err != nil {
			t.Fatal(err)
		}
		h.emit(t, "0xa", "a.com")
		r := &receivers{}
		deliver(t, h.dispatcher(t, r))
		if got := r.take(); len(got) != 2 {
			t.Errorf("got %v", got)
		}
		if list := h.page(t, lost); list[0].LastFailure != webhook.FailureSecret || list[0].State != webhook.Pending {
			t.Errorf("got %+v", list)
		}
		h.advance(31 * 24 * time.Hour)
		if err := h.store.Prune(t.Context()); err != nil {
			t.Fatal(err)
		}
		if list := h.page(t, w); len(list) != 0 {
			t.Errorf("after a month: got %+v", list)
		}
	})
}

// However many deliveries have ended, or belong to no webhook, they are deleted; what is
// pending stays.
func TestManyDeliveriesArePruned(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := openHooks(t, db)
		w := h.create(t, "0xa", hookURL)
		h.emit(t, "0xa", "a.com")
		for webhookID, state := range map[string]string{w.ID: "delivered", "wh_gone": "pending"} {
			err := db.Exec(t.Context(), `
				WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 12000)
				INSERT INTO webhook_deliveries (webhook, event, n, type, aggregate, host, state, created_at, last_at)
				SELECT '`+webhookID+`', 'evt_' || n, n, 'domain.renewed', 'name' || n || '.com', 'a.example', '`+state+`', 0, n FROM numbers`)
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := h.store.Prune(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n, err := db.Text(t.Context(), `SELECT count(*) FROM webhook_deliveries`); err != nil || n != "1" {
			t.Errorf("%s deliveries are left, %v, want 1", n, err)
		}
	})
}
