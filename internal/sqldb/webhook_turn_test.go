package sqldb_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
	"deed.example/deed/internal/webhook"
)

// turns returns the hosts whose turn it is, in order.
func (h *hooks) turns(t *testing.T, lane webhook.Lane) (hosts []string) {
	t.Helper()
	list, err := h.store.Turns(t.Context(), lane, 2, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, turn := range list {
		hosts = append(hosts, turn.Host)
	}
	return hosts
}

// An owner with many hosts that hang takes two slots, and other owners come before the
// rest of them.
func TestOwnersTakeTurns(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := openHooks(t, db)
		for i := range webhook.MaxPerWallet {
			h.create(t, "0xa", fmt.Sprintf("https://a%d.example/", i))
		}
		h.emit(t, "0xa", "a.com")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		begun := make(chan string, 100)
		d := h.dispatcher(t, &receivers{answer: func(_ context.Context, url, _ string) webhook.Outcome {
			begun <- url
			if strings.Contains(url, "//a") {
				<-ctx.Done() // until the end of the test
			}
			return webhook.OutcomeOf(200)
		}})
		poll := func() {
			t.Helper()
			if err := d.Poll(ctx); err != nil {
				t.Fatal(err)
			}
		}
		poll()
		<-begun
		<-begun
		poll() // it has its slots already
		h.advance(time.Second)
		h.create(t, "0xb", "https://z.example/")
		h.emit(t, "0xb", "b.com")
		if got := h.turns(t, webhook.LaneOther); len(got) != 3 || got[0] != "z.example" {
			t.Errorf("turns: got %v", got)
		}
		poll()
		if url := <-begun; url != "https://z.example/" {
			t.Errorf("began %s", url)
		}
		for h.waiting(t, "z.example") {
			poll()
		}
		if n := len(begun); n != 0 {
			t.Errorf("%d more hosts of the first owner are served", n)
		}
		cancel()
		d.Wait()
	})
}

// The webhooks of an owner take turns, too: those with many deliveries that are due do not
// keep the others from being served.
func TestWebhooksOfAnOwnerTakeTurns(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := openHooks(t, db)
		for i := range 6 {
			h.create(t, "0xa", fmt.Sprintf("https://a%d.example/", i))
		}
		for i := range 20 {
			h.emit(t, "0xa", deed.Name(fmt.Sprintf("n%d.com", i)))
		}
		r := &receivers{answer: func(context.Context, string, string) webhook.Outcome {
			h.advance(3 * time.Second) // so a turn is four deliveries
			return webhook.OutcomeOf(200)
		}}
		d := h.dispatcher(t, r)
		served := map[string]bool{}
		for range 3 { // two of the six each time
			deliver(t, d)
			for _, got := range r.take() {
				url, _, _ := strings.Cut(got, " ")
				served[url] = true
			}
		}
		if len(served) != 6 {
			t.Errorf("%d of 6 webhooks were served", len(served))
		}
	})
}

// A host that answers slowly is not in the lane of those that answer quickly.
func TestSlowHosts(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := openHooks(t, db)
		h.create(t, "0xa", hookURL)
		took := time.Duration(0)
		d := h.dispatcher(t, &receivers{answer: func(context.Context, string, string) webhook.Outcome {
			h.advance(took)
			return webhook.OutcomeOf(200)
		}})
		for _, step := range []struct {
			took time.Duration
			lane webhook.Lane // afterwards
		}{{time.Second, webhook.LaneAnswered}, {9 * time.Second, webhook.LaneOther}, {9 * time.Second, webhook.LaneOther}, {0, webhook.LaneAnswered}} {
			took = step.took
			h.emit(t, "0xa", "a.com")
			deliver(t, d)
			h.emit(t, "0xa", "a.com")
			if got := h.turns(t, step.lane); len(got) != 1 {
				t.Errorf("after %s: got %v in lane %d", took, got, step.lane)
			}
			took = 0
			if err := db.Exec(t.Context(), `UPDATE webhook_deliveries SET state = 'delivered'`); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Only webhooks that something is due to are read: neither those with nothing pending, nor
// those that wait for a retry, nor those whose host has a pause.
func TestOnlyDueWebhooksAreRead(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := openHooks(t, db)
		due := func(want string) {
			t.Helper()
			if n, err := db.Text(t.Context(), fmt.Sprintf(`SELECT count(*) FROM webhooks WHERE due_at <= %d`, h.now().Unix())); err != nil || n != want {
				t.Errorf("%s webhooks are due, %v, want %s", n, err, want)
			}
		}
		answers := map[string]webhook.Outcome{
			"https://ok.example/": webhook.OutcomeOf(200), "https://bad.example/": webhook.OutcomeOf(500), "https://dead.example/": {Failure: webhook.FailureTimeout},
		}
		d := h.dispatcher(t, &receivers{answer: func(_ context.Context, url, _ string) webhook.Outcome { return answers[url] }})
		for url := range answers {
			h.create(t, deed.Wallet("0x"+url[8:10]), url)
		}
		due("0")
		h.emit(t, "0xok", "a.com")
		h.emit(t, "0xba", "b.com", "b.com")
		h.emit(t, "0xde", "c.com")
		due("3")
		deliver(t, d)
		due("0")
		h.emit(t, "0xba", "b.com") // it waits for the first one
		deliver(t, d)
		due("0")
		h.advance(5 * time.Second)
		due("2")
		answers["https://bad.example/"] = webhook.OutcomeOf(200)
		deliver(t, d)
		due("0")
		if h.waiting(t, "bad") || !h.waiting(t, "dead") {
			t.Error("what is due was not delivered, or what is not due was")
		}
		h.emit(t, "0xok", "a.com")
		for _, left := range []string{"NULL", "2000000000"} { // as an earlier version leaves it, which does not know the column
			if err := db.Exec(t.Context(), `UPDATE webhooks SET due_at = `+left+` WHERE owner = '0xok'`); err != nil {
				t.Fatal(err)
			}
			due("0")
			if err := h.store.Prune(t.Context()); err != nil {
				t.Fatal(err)
			}
			due("1")
		}
	})
}

// With 10,000 due deliveries to a host that hangs, others get theirs while it hangs,
// and it has few requests at a time.
func TestDeadHostDelaysNobody(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := openHooks(t, db)
		dead := h.create(t, "0xd", "https://dead.example/")
		err := db.Exec(t.Context(), `
			WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10000)
			INSERT INTO webhook_deliveries (webhook, event, n, type, aggregate, host, state, created_at)
			SELECT $1, 'evt_' || n, n, 'domain.renewed', 'name' || n || '.com', 'dead.example', 'pending', 0 FROM numbers`, dead.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Exec(t.Context(), `UPDATE webhooks SET due_at = 0 WHERE id = $1`, dead.ID); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		hanging, most := 0, 0
		begun := make(chan struct{}, 10000)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r := &receivers{answer: func(_ context.Context, url, _ string) webhook.Outcome {
			if !strings.Contains(url, "dead") {
				return webhook.OutcomeOf(200)
			}
			mu.Lock()
			hanging++
			most = max(most, hanging)
			mu.Unlock()
			begun <- struct{}{}
			<-ctx.Done() // until the end of the test
			return webhook.Outcome{Failure: webhook.FailureTimeout}
		}}
		d := h.dispatcher(t, r)
		d.OnError = func(error) {} // the end of the test
		if err := d.Poll(ctx); err != nil {
			t.Fatal(err)
		}
		<-begun // it hangs
		for i := range 20 {
			owner := deed.Wallet(fmt.Sprint("0x", i))
			h.create(t, owner, fmt.Sprintf("https://alive%d.example/", i))
			h.emit(t, owner, "a.com")
		}
		for h.waiting(t, "alive") {
			if err := d.Poll(ctx); err != nil {
				t.Fatal(err)
			}
		}
		mu.Lock()
		if hanging == 0 || most > 4 {
			t.Errorf("the dead host had %d requests at a time, %d now", most, hanging)
		}
		mu.Unlock()
		cancel()
		d.Wait()
	})
}

// A host that does not answer gets pauses, and is in another lane than those that do;
// it comes back with its first answer.
func TestSilentHosts(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := openHooks(t, db)
		h.create(t, "0xa", hookURL)
		h.emit(t, "0xa", "a.com", "b.com", "c.com", "d.com", "e.com", "f.com")
		silent := true
		r := &receivers{answer: func(context.Context, string, string) webhook.Outcome {
			if silent {
				return webhook.Outcome{Failure: webhook.FailureTimeout}
			}
			return webhook.OutcomeOf(200)
		}}
		d := h.dispatcher(t, r)
		deliver(t, d)
		if got := r.take(); len(got) != 4 {
			t.Fatalf("the first turn of a silent host: got %v, want 4 attempts", got)
		}
		deliver(t, d)
		if got := r.take(); len(got) != 0 {
			t.Fatalf("during its pause: got %v", got)
		}
		silent = false
		h.advance(time.Minute)
		for lane, want := range map[webhook.Lane]int{webhook.LaneAnswered: 0, webhook.LaneOther: 1} {
			if hosts, err := h.store.Turns(t.Context(), lane, 2, 10); err != nil || len(hosts) != want {
				t.Errorf("lane %d: got %v, %v", lane, hosts, err)
			}
		}
		deliver(t, d)
		if got := r.take(); len(got) != 6 {
			t.Errorf("when it answers again: got %v", got)
		}
		h.emit(t, "0xa", "a.com")
		if hosts, err := h.store.Turns(t.Context(), webhook.LaneAnswered, 2, 10); err != nil || len(hosts) != 1 {
			t.Errorf("got %v, %v", hosts, err)
		}
	})
}
