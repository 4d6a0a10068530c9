package local_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// A random walk of orders, transfers, clock jumps and lost replies over years. The
// registry always agrees with the model, and a repeated order changes nothing.
func TestWalk(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			db, err := sqldb.OpenMemory(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			db.Timeout = time.Minute // a busy machine must not fail a test
			defer db.Close()         // it goes away with the walk
			walk(t, db)
		})
	})
	t.Run("postgres", func(t *testing.T) {
		db := sqldbtest.Postgres(t)
		rapid.Check(t, func(t *rapid.T) { walk(t, db) })
	})
}

// walks numbers the walks, so that walks on one database use different names.
var walks atomic.Int64

// A walker performs random operations on one registry and its model.
type walker struct {
	*local.Registry
	clock  *clock
	prefix string
	names  []deed.Name
	models map[deed.Name]*model
	orders []placed
}

// placed is a placed order and its first result.
type placed struct {
	registrar.Order
	code deed.Code // "" for success
	lost bool      // the reply was lost
}

func walk(t *rapid.T, db *sqldb.DB) {
	r, c := open(db)
	w := &walker{Registry: r, clock: c, prefix: fmt.Sprintf("walk-%06d-", walks.Add(1)), models: map[deed.Name]*model{}}
	for _, last := range []string{"a", "b", "c"} {
		n := deed.Name(w.prefix + last + ".com")
		w.names = append(w.names, n)
		w.models[n] = &model{}
	}
	t.Repeat(map[string]func(*rapid.T){
		"":          w.check,
		"register":  w.register,
		"renew":     w.renew,
		"renew2":    w.renew, // more often than the others
		"transfer":  w.transfer,
		"elsewhere": w.elsewhere,
		"unlock":    w.unlock,
		"leave":     w.leave,
		"decide":    w.decide,
		"cancel":    w.cancel,
		"repeat":    w.repeat,
		"manage":    w.manage,
		"wait":      w.wait,
		"wait long": w.waitLong,
	})
}

// at is the time in the resolution of the registry.
func (w *walker) at() time.Time { return w.clock.Now().UTC().Truncate(time.Second) }

// pick draws a name; its model is up to date.
func (w *walker) pick(t *rapid.T) (deed.Name, *model) {
	n := rapid.SampledFrom(w.names).Draw(t, "name")
	w.models[n].advance(w.at())
	return n, w.models[n]
}

func want(t *rapid.T, err error, code deed.Code) {
	t.Helper()
	if got := deed.CodeOf(err); got != code {
		t.Fatalf("got %v, want %q", err, code)
	}
}

// place places an order with a known result, and sometimes loses the reply.
func (w *walker) place(t *rapid.T, o registrar.Order, code deed.Code) string {
	t.Helper()
	o.Reference = fmt.Sprintf("%s%d", w.prefix, len(w.orders))
	p := placed{Order: o, code: code, lost: rapid.IntRange(0, 9).Draw(t, "lost") == 0}
	w.orders = append(w.orders, p)
	if !p.lost {
		want(t, w.Place(context.Background(), o), code)
		return o.Reference
	}
	if err := w.Faults.Set(local.FaultLostReply, 1); err != nil {
		t.Fatal(err)
	}
	want(t, w.Place(context.Background(), o), deed.CodeUnavailable)
	return o.Reference
}

func (w *walker) register(t *rapid.T) {
	n, m := w.pick(t)
	years := rapid.IntRange(1, 10).Draw(t, "years")
	w.place(t, registrar.Order{Kind: registrar.OrderRegister, Name: n, Years: years}, m.register(us, years, w.at()))
}

func (w *walker) renew(t *rapid.T) {
	n, m := w.pick(t)
	o := registrar.Order{Kind: registrar.OrderRenew, Name: n, Years: rapid.IntRange(1, 10).Draw(t, "years"), From: m.expires}
	o.Restore = w.at().Sub(m.expires) >= modelGrace
	if rapid.IntRange(0, 4).Draw(t, "wrong restore") == 0 {
		o.Restore = !o.Restore
	}
	if rapid.IntRange(0, 4).Draw(t, "wrong from") == 0 {
		o.From = o.From.AddDate(1, 0, 0)
	}
	w.place(t, o, m.renew(o.From, o.Years, o.Restore, w.at()))
}

// drawCode returns the name's code, or sometimes a wrong one.
func (m *model) drawCode(t *rapid.T) deed.Secret {
	if m.code == "" || rapid.IntRange(0, 4).Draw(t, "wrong code") == 0 {
		return "wrong"
	}
	return m.code
}

func (w *walker) transfer(t *rapid.T) {
	n, m := w.pick(t)
	code := m.drawCode(t)
	answer := m.transfer(us, code, w.at())
	reference := w.place(t, registrar.Order{Kind: registrar.OrderTransfer, Name: n, Years: 1, AuthCode: code}, answer)
	if answer == "" {
		m.order = reference
	}
}

func (w *walker) elsewhere(t *rapid.T) {
	n, m := w.pick(t)
	answer := m.register(them, 1, w.at())
	code, err := w.Elsewhere(context.Background(), n)
	want(t, err, answer)
	if answer == "" {
		m.created, m.locked, m.code = m.created.AddDate(0, 0, -90), false, code
	}
}

func (w *walker) unlock(t *rapid.T) {
	n, m := w.pick(t)
	answer := m.manage(w.at())
	want(t, w.SetLock(context.Background(), n, false), answer)
	code, err := w.AuthCode(context.Background(), n)
	want(t, err, answer)
	if answer == "" {
		m.locked, m.code = false, code
	}
}

func (w *walker) leave(t *rapid.T) {
	n, m := w.pick(t)
	code := m.drawCode(t)
	want(t, w.Leave(context.Background(), n, code), m.transfer(them, code, w.at()))
}

func (w *walker) decide(t *rapid.T) {
	n, m := w.pick(t)
	approve := rapid.Bool().Draw(t, "approve")
	answer := deed.CodeNotFound
	if m.to != "" {
		answer = ""
	}
	want(t, w.Decide(context.Background(), n, approve), answer)
	if m.to != "" && approve {
		m.completeTransfer(w.at())
	}
	m.to, m.order = "", ""
}

// cancel cancels an order, which works for a pending transfer only, and for an order
// that was cancelled before.
func (w *walker) cancel(t *rapid.T) {
	if len(w.orders) == 0 {
		t.Skip("nothing to cancel")
	}
	i := rapid.IntRange(0, len(w.orders)-1).Draw(t, "order")
	o := &w.orders[i]
	m := w.models[o.Name]
	m.advance(w.at())
	err := w.Cancel(context.Background(), o.Order)
	switch {
	case m.order == o.Reference:
		want(t, err, "")
		m.to, m.order, o.code = "", "", deed.CodeRegistrationFailed
	case err != nil:
		want(t, err, deed.CodeNotFound)
	case o.code != deed.CodeRegistrationFailed || o.Kind != registrar.OrderTransfer:
		t.Fatalf("order %+v was cancelled", o)
	}
}

// repeat places an order once more. A refused order is refused again, and nothing
// changes.
func (w *walker) repeat(t *rapid.T) {
	if len(w.orders) == 0 {
		t.Skip("nothing to repeat")
	}
	o := rapid.SampledFrom(w.orders).Draw(t, "order")
	before := w.visible(t)
	err := w.Place(context.Background(), o.Order)
	switch {
	case o.code != "":
		want(t, err, o.code)
	case o.Kind == registrar.OrderRenew:
		want(t, err, "")
	case err != nil && deed.CodeOf(err) == deed.CodeUnavailable:
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, w.visible(t)); diff != "" {
		t.Fatalf("order %+v had its effect twice: %s", o, diff)
	}
}

func (w *walker) manage(t *rapid.T) {
	n, m := w.pick(t)
	hosts := []string{"ns1.example.com", fmt.Sprintf("ns%d.example.com", rapid.IntRange(2, 9).Draw(t, "host"))}
	answer := m.manage(w.at())
	want(t, w.SetNameservers(context.Background(), n, hosts), answer)
	if answer == "" && m.to != "" {
		answer = deed.CodeValidation
	}
	want(t, w.SetLock(context.Background(), n, true), answer)
	if answer != "" {
		return
	}
	m.locked = true
	if h, err := w.Holding(context.Background(), n); err != nil || !slices.Equal(h.Nameservers, hosts) {
		t.Fatalf("got %+v, %v, want %v", h, err, hosts)
	}
}

func (w *walker) wait(t *rapid.T) {
	w.clock.Advance(time.Duration(rapid.IntRange(1, 100*24).Draw(t, "hours")) * time.Hour)
}

func (w *walker) waitLong(t *rapid.T) {
	w.clock.Advance(time.Duration(rapid.IntRange(1, 4*365).Draw(t, "days")) * 24 * time.Hour)
}
