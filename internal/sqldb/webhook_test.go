package sqldb_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/event"
	"deed.example/deed/internal/seal"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
	"deed.example/deed/internal/webhook"
)

// hooks is a webhook service on a database with a clock that the test moves.
type hooks struct {
	*webhook.Service
	db    *sqldb.DB
	store sqldb.Webhooks
	env   *testEnv
	names map[deed.Wallet]bool // owners that have a name

	mu   sync.Mutex
	time time.Time
}

func openHooks(t *testing.T, db *sqldb.DB) *hooks {
	t.Helper()
	h := &hooks{db: db, time: time.Unix(1_800_000_000, 0), env: newTestEnv(db), names: map[deed.Wallet]bool{}}
	var err error
	if db.Sealer, err = seal.New("a secret of this test, long enough for it"); err != nil {
		t.Fatal(err)
	}
	h.store = sqldb.Webhooks{DB: db, Now: h.now}
	h.Service = &webhook.Service{Store: h.store, Deliveries: h.store, Now: h.now}
	return h
}

func (h *hooks) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.time
}

func (h *hooks) advance(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.time = h.time.Add(d)
}

// sell gives the owner a name, once.
func (h *hooks) sell(t *testing.T, owner deed.Wallet) {
	t.Helper()
	if h.names[owner] {
		return
	}
	name := deed.Name(fmt.Sprintf("of-%s.com", owner))
	h.env.sell(t, name)
	if err := h.db.Exec(t.Context(), `UPDATE registrations SET owner = $1 WHERE domain = $2`, owner, name); err != nil {
		t.Fatal(err)
	}
	h.names[owner] = true
}

func (h *hooks) create(t *testing.T, owner deed.Wallet, url string) webhook.Webhook {
	t.Helper()
	h.sell(t, owner)
	w, err := h.Create(t.Context(), owner, url)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// emit emits an event about each name, in order.
func (h *hooks) emit(t *testing.T, owner deed.Wallet, names ...deed.Name) {
	t.Helper()
	for _, name := range names {
		e := event.Event{Owner: owner, Type: event.DomainRenewed, At: h.now(), Data: event.Data{Domain: name}}
		if err := sqldb.Emit(t.Context(), h.db, e); err != nil {
			t.Fatal(err)
		}
	}
}

// receivers answers requests, in place of the network.
type receivers struct {
	answer func(ctx context.Context, url, body string) webhook.Outcome

	mu  sync.Mutex
	got []string // URL, space, subject and cursor of what was answered
}

func (r *receivers) Send(ctx context.Context, url string, _ http.Header, body []byte) webhook.Outcome {
	o := webhook.OutcomeOf(200)
	if r.answer != nil {
		o = r.answer(ctx, url, string(body))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, url+" "+subject(string(body)))
	return o
}

func (r *receivers) take() (got []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	got, r.got = r.got, nil
	return got
}

// subject returns the subject and cursor of a body: "a.com 1".
func subject(body string) string {
	value := func(key string) string {
		_, rest, _ := strings.Cut(body, `"`+key+`":"`)
		text, _, _ := strings.Cut(rest, `"`)
		return text
	}
	return value("subject") + " " + value("cursor")
}

func (h *hooks) dispatcher(t *testing.T, s webhook.Sender) *webhook.Dispatcher {
	return &webhook.Dispatcher{Queue: h.store, Sender: s, Source: "https://deed.example", Now: h.now, OnError: func(err error) { t.Error(err) }}
}

// deliver polls once and waits for what it began.
func deliver(t *testing.T, d *webhook.Dispatcher) {
	t.Helper()
	if err := d.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.Wait()
}

func (h *hooks) page(t *testing.T, w webhook.Webhook) []webhook.Delivery {
	t.Helper()
	list, total, err := h.Page(t.Context(), w.Owner, w.ID, 100, 0)
	if err != nil || total < len(list) {
		t.Fatalf("got %d of %d, %v", len(list), total, err)
	}
	return list
}

const hookURL = "https://a.example/hook"

// While one event fails, later ones of the same name wait for it, and those of other
// names are delivered.
func TestDeliveriesKeepTheOrderOfAnAggregate(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := openHooks(t, db)
		w := h.create(t, "0xa", hookURL)
		h.emit(t, "0xa", "a.com", "b.com", "a.com", "b.com", "a.com")
		h.emit(t, "0xb", "other.com")
		down := true
		r := &receivers{answer: func(_ context.Context, _, body string) webhook.Outcome {
			if down && subject(body) == "a.com 1" {
				return webhook.OutcomeOf(500)
			}
			return webhook.OutcomeOf(200)
		}}
		d := h.dispatcher(t, r)
		deliver(t, d)
		got := r.take()
		slices.Sort(got)
		if want := []string{hookURL + " a.com 1", hookURL + " b.com 2", hookURL + " b.com 4"}; !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		h.emit(t, "0xa", "a.com")
		deliver(t, d)
		if got := r.take(); len(got) != 0 {
			t.Fatalf("before the retry: got %v", got)
		}
		down = false
		h.advance(5 * time.Second)
		deliver(t, d)
		if got, want := r.take(), []string{hookURL + " a.com 1", hookURL + " a.com 3", hookURL + " a.com 5", hookURL + " a.com 6"}; !slices.Equal(got, want) {
			t.Fatalf("after the retry: got %v, want %v", got, want)
		}
		for _, d := range h.page(t, w) {
			if d.State != webhook.Delivered || d.Status != 200 {
				t.Errorf("got %+v", d)
			}
		}
	})
}

// A node that dies between sending and recording leaves the delivery pending: another
// one sends it again, with the same id, when the lease has ended.
func TestDeliveriesSurviveADeadNode(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := openHooks(t, db)
		h.create(t, "0xa", hookURL)
		h.emit(t, "0xa", "a.com")
		// What a node does before it is killed: it has the lease, and has sent.
		if free, err := h.store.Lease(t.Context(), webhook.Turn{Host: "a.example"}, h.now().Add(time.Minute)); err != nil || !free {
			t.Fatal(free, err)
		}
		due, err := h.store.Due(t.Context(), "a.example", 10)
		if err != nil || len(due) != 1 {
			t.Fatal(due, err)
		}
		r := &receivers{}
		d := h.dispatcher(t, r)
		deliver(t, d)
		if got := r.take(); len(got) != 0 {
			t.Fatalf("while the lease holds: got %v", got)
		}
		if free, err := h.store.Lease(t.Context(), webhook.Turn{Host: "a.example"}, h.now().Add(time.Minute)); err != nil || free {
			t.Fatalf("a second lease: %v, %v", free, err)
		}
		h.advance(time.Minute)
		deliver(t, d)
		if got, want := r.take(), []string{hookURL + " a.com 1"}; !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		// The dead node wakes up and records a failure: what was delivered stays so.
		if err := h.store.Record(t.Context(), due[0], webhook.OutcomeOf(500)); err != nil {
			t.Fatal(err)
		}
		deliver(t, d)
		if got := r.take(); len(got) != 0 {
			t.Errorf("it was sent again: %v", got)
		}
	})
}

// A dispatcher that is stopped does not count the attempts that it abandons, and
// leaves the host to the next one at once.
func TestStoppedDispatcherAbandonsAttempts(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := openHooks(t, db)
		w := h.create(t, "0xa", hookURL)
		h.emit(t, "0xa", "a.com")
		ctx, stop := context.WithCancel(t.Context())
		d := h.dispatcher(t, &receivers{answer: func(ctx context.Context, _, _ string) webhook.Outcome {
			stop()
			<-ctx.Done()
			return webhook.Outcome{Failure: webhook.FailureConnection}
		}})
		if err := d.Run(ctx); err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
		if list := h.page(t, w); list[0].State != webhook.Pending || list[0].Attempts != 0 {
			t.Errorf("got %+v", list)
		}
		r := &receivers{}
		deliver(t, h.dispatcher(t, r))
		if got := r.take(); len(got) != 1 {
			t.Errorf("got %v", got)
		}
	})
}

// waiting reports whether a delivery to hosts with the prefix is pending.
func (h *hooks) waiting(t *testing.T, prefix string) bool {
	t.Helper()
	n, err := h.db.Text(t.Context(), `SELECT count(*) FROM webhook_deliveries WHERE state = 'pending' AND host LIKE '`+prefix+`%'`)
	if err != nil {
		t.Fatal(err)
	}
	return n != "0"
}
