package registrar_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
)

// recorder is a backend that records the names it is asked about.
type recorder struct {
	registrar.Registrar
	registrar.Manager
	asked []deed.Name
	holds []lifecycle.Holding
}

func (r *recorder) Available(_ context.Context, name deed.Name) (registrar.Availability, error) {
	r.asked = append(r.asked, name)
	return registrar.Availability{Available: true}, nil
}

func (r *recorder) Holding(_ context.Context, name deed.Name) (lifecycle.Holding, error) {
	r.asked = append(r.asked, name)
	return lifecycle.Holding{Name: name}, nil
}

func (r *recorder) Place(_ context.Context, o registrar.Order) error {
	r.asked = append(r.asked, o.Name)
	return nil
}

func (r *recorder) Holdings(context.Context, deed.Name, int) ([]lifecycle.Holding, error) {
	return r.holds, nil
}

// rows is a Holder.
type rows map[deed.Name]string

func (r rows) BackendOf(_ context.Context, name deed.Name) (string, error) { return r[name], nil }

func up(context.Context) error { return nil }

// Each call goes to the backend that holds the name; only a name that nobody holds
// goes to the one that sells its TLD.
func TestRoute(t *testing.T) {
	first, second := &recorder{}, &recorder{}
	held := rows{"old.com": "second", "removed.com": "third"}
	r, err := registrar.NewRouter(held,
		registrar.Backend{Name: "first", TLDs: []deed.TLD{"com"}, Registrar: first, Manager: first, Ping: up},
		registrar.Backend{Name: "second", TLDs: []deed.TLD{"net"}, Registrar: second, Manager: second, Ping: up})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		call func() error
		want *recorder
		code deed.Code
	}{
		{func() error { _, err := r.Available(t.Context(), "new.com"); return err }, first, ""},
		{func() error { _, err := r.Available(t.Context(), "new.net"); return err }, second, ""},
		{func() error { _, err := r.Available(t.Context(), "new.org"); return err }, nil, deed.CodeTLDNotSupported},
		{func() error { _, err := r.Holding(t.Context(), "new.com"); return err }, first, ""},
		{func() error { _, err := r.Holding(t.Context(), "old.com"); return err }, second, ""},
		{func() error { return r.Place(t.Context(), registrar.Order{Name: "old.com"}) }, second, ""},
		{func() error { return r.Place(t.Context(), registrar.Order{Name: "new.com", Backend: "second"}) }, second, ""},
	} {
		first.asked, second.asked = nil, nil
		if err := c.call(); deed.CodeOf(err) != c.code && (err != nil || c.code != "") {
			t.Errorf("got %v, want %q", err, c.code)
		}
		if (len(first.asked) > 0) != (c.want == first) || (len(second.asked) > 0) != (c.want == second) {
			t.Errorf("asked %v and %v", first.asked, second.asked)
		}
	}
	// Nothing is known about a name whose backend was removed: that is no refusal.
	_, err = r.Holding(t.Context(), "removed.com")
	if _, coded := errors.AsType[*deed.Error](err); err == nil || coded {
		t.Errorf("a removed backend: got %v, want an error without a code", err)
	}
}

// bulkRecorder is a recorder that checks many names with one call.
type bulkRecorder struct {
	recorder
	calls int
	err   error
}

func (b *bulkRecorder) AvailableAll(_ context.Context, names []deed.Name) (map[deed.Name]registrar.Availability, error) {
	b.calls++
	out := map[deed.Name]registrar.Availability{"never-asked.com": {Available: true}}
	for _, name := range names {
		out[name] = registrar.Availability{Reason: "taken"}
	}
	return out, b.err
}

// Names of a backend that can check many at once are checked with one call, those of
// others one by one, and a backend that fails leaves only its own names unknown.
func TestBulkChecks(t *testing.T) {
	many, single := &bulkRecorder{}, &recorder{}
	r, err := registrar.NewRouter(rows{},
		registrar.Backend{Name: "many", TLDs: []deed.TLD{"com", "net"}, Registrar: many},
		registrar.Backend{Name: "single", TLDs: []deed.TLD{"org", "dev"}, Registrar: single})
	if err != nil {
		t.Fatal(err)
	}
	names := []deed.Name{"a.com", "a.org", "a.net", "a.dev", "a.io"}
	if got := fmt.Sprint(r.Batches(names)); got != "[[a.com a.net] [a.org] [a.dev] [a.io]]" {
		t.Errorf("got %s", got)
	}
	all, err := r.AvailableAll(t.Context(), names)
	if err != nil || len(all) != 4 || all["a.net"].Reason != "taken" || !all["a.dev"].Available {
		t.Errorf("got %v, %v", all, err)
	}
	if many.calls != 1 || len(single.asked) != 2 {
		t.Errorf("%d calls for many names, and %v one by one", many.calls, single.asked)
	}
	many.err = errors.New("no reply")
	if all, err := r.AvailableAll(t.Context(), names); err != nil || len(all) != 2 {
		t.Errorf("one is down: got %v, %v", all, err)
	}
	if all, err := r.AvailableAll(t.Context(), names[:1:1]); err != nil || !all["a.com"].Available {
		t.Errorf("a single name: got %v, %v", all, err)
	}
	if _, err := r.AvailableAll(t.Context(), []deed.Name{"a.com", "a.net"}); !errors.Is(err, many.err) {
		t.Errorf("nothing is known: got %v", err)
	}
	lots := make([]deed.Name, 120)
	for i := range lots {
		lots[i] = deed.Name(fmt.Sprintf("n%d.com", i))
	}
	if got := r.Batches(lots); len(got) != 3 || len(got[0]) != 50 || len(got[2]) != 20 {
		t.Errorf("got batches of %d, %d and %d", len(got[0]), len(got[1]), len(got[2]))
	}
}

func TestRouterRefusesAmbiguity(t *testing.T) {
	b := func(name string, rest bool, tlds ...deed.TLD) registrar.Backend {
		return registrar.Backend{Name: name, TLDs: tlds, Rest: rest}
	}
	for title, all := range map[string][]registrar.Backend{
		"one name twice":  {b("a", false, "com"), b("a", false, "net")},
		"no name":         {b("", true)},
		"one TLD twice":   {b("a", false, "com"), b("b", false, "com")},
		"the rest, twice": {b("a", true), b("b", true)},
	} {
		if _, err := registrar.NewRouter(rows{}, all...); err == nil {
			t.Errorf("%s: no error", title)
		}
	}
}

// The inventories are merged in order, and a backend that is down is named.
func TestRouterMerges(t *testing.T) {
	first := &recorder{holds: []lifecycle.Holding{{Name: "a.com"}, {Name: "c.com"}}}
	second := &recorder{holds: []lifecycle.Holding{{Name: "b.net"}, {Name: "d.net"}}}
	down := errors.New("no route to host")
	r, err := registrar.NewRouter(rows{},
		registrar.Backend{Name: "first", Rest: true, Registrar: first, Ping: up},
		registrar.Backend{Name: "second", Registrar: second, Ping: func(context.Context) error { return down }})
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Holdings(t.Context(), "", 3)
	if err != nil || len(got) != 3 || got[0].Name != "a.com" || got[1].Name != "b.net" || got[2].Name != "c.com" {
		t.Errorf("got %v, %v", got, err)
	}
	if err := r.Ping(t.Context()); !errors.Is(err, down) || err.Error() != "registrar second: no route to host" {
		t.Errorf("got %v", err)
	}
}

// finder is a backend that finds orders by their reference.
type finder struct {
	recorder
	orders map[string]registrar.Order
}

func (f *finder) FindOrder(_ context.Context, reference string) (registrar.Order, error) {
	o, ok := f.orders[reference]
	if !ok {
		return o, deed.Errorf(deed.CodeNotFound, "no order %s", reference)
	}
	return o, nil
}

// An order that was not found is known to be absent only if every backend can search.
func TestRouterFindsOrders(t *testing.T) {
	able := &finder{orders: map[string]registrar.Order{"job_1-1": {Name: "a.com"}}}
	first := registrar.Backend{Name: "first", Rest: true, Registrar: able, Ping: up}
	second := registrar.Backend{Name: "second", TLDs: []deed.TLD{"net"}, Registrar: &recorder{}, Ping: up}
	for _, c := range []struct {
		backends  []registrar.Backend
		reference string
		name      deed.Name
		code      deed.Code
		unable    bool
	}{
		{[]registrar.Backend{first}, "job_1-1", "a.com", "", false},
		{[]registrar.Backend{first}, "job_2-1", "", deed.CodeNotFound, false},
		{[]registrar.Backend{second, first}, "job_1-1", "a.com", "", false},
		{[]registrar.Backend{first, second}, "job_2-1", "", "", true},
	} {
		r, err := registrar.NewRouter(rows{}, c.backends...)
		if err != nil {
			t.Fatal(err)
		}
		o, err := r.FindOrder(t.Context(), c.reference)
		if o.Name != c.name || o.Name != "" && o.Backend != "first" {
			t.Errorf("%s: got %+v", c.reference, o)
		}
		if unable := errors.Is(err, registrar.ErrOrdersNotSearchable); unable != c.unable || c.code != "" && deed.CodeOf(err) != c.code {
			t.Errorf("%s: got %v", c.reference, err)
		}
		if c.unable && err.Error() != "registrar second: orders cannot be found by their reference" {
			t.Errorf("got %v", err)
		}
	}
}

// poor is a backend with a balance.
type poor struct {
	recorder
	left deed.USDC
	err  error
}

func (p *poor) Balance(context.Context) (registrar.Balance, error) {
	return registrar.Balance{Available: p.left}, p.err
}

// An order must leave the reserve in the account. A balance that is not known, or
// cannot be read any more, changes nothing.
func TestAffords(t *testing.T) {
	b := &poor{left: 30_000_000}
	r, err := registrar.NewRouter(rows{}, registrar.Backend{Name: "a", Rest: true, Registrar: b, Manager: b, Reserve: 10_000_000})
	if err != nil {
		t.Fatal(err)
	}
	check := func(price deed.USDC, want deed.Code) {
		t.Helper()
		err := r.Affords(t.Context(), "new.com", price)
		if got := deed.CodeOf(err); err == nil && want != "" || err != nil && got != want {
			t.Errorf("%s: got %v, want %q", price, err, want)
		}
	}
	check(1_000_000_000, "") // not known yet
	if err := r.ReadBalances(t.Context()); err != nil {
		t.Error(err)
	}
	check(20_000_000, "")
	check(20_000_001, deed.CodeUnavailable)
	b.left = 9_000_000
	if err := r.ReadBalances(t.Context()); !errors.Is(err, registrar.ErrFunds) {
		t.Errorf("got %v, want the operator to be told", err)
	}
	check(1, deed.CodeUnavailable)
	b.err = errors.New("no answer")
	if err := r.ReadBalances(t.Context()); err == nil {
		t.Error("a balance that cannot be read is not reported")
	}
	check(1, deed.CodeUnavailable)
	b.err = deed.Errorf(deed.CodeNotFound, "not reported")
	if err := r.ReadBalances(t.Context()); err != nil {
		t.Error(err)
	}
}

// A backend that does not respond takes no time from the others.
func TestPingAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hangs := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	last := func(ctx context.Context) error {
		defer cancel()
		return ctx.Err()
	}
	r, err := registrar.NewRouter(rows{}, registrar.Backend{Name: "first", Ping: hangs}, registrar.Backend{Name: "second", Ping: last})
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(5*time.Second, cancel) // ends a broken run
	if err := r.Ping(ctx); err == nil || err.Error() != "registrar first: context canceled" {
		t.Errorf("got %v", err)
	}
}

// A hanging backend has a balance that cannot be read before the test ends.
type hanging struct{ recorder }

func (*hanging) Balance(ctx context.Context) (registrar.Balance, error) {
	<-ctx.Done()
	return registrar.Balance{}, ctx.Err()
}

// A backend that does not respond does not keep the balances of others from being read.
func TestBalancesAtOnce(t *testing.T) {
	first, second := &hanging{}, &poor{left: 30_000_000}
	r, err := registrar.NewRouter(rows{}, registrar.Backend{Name: "first", Registrar: first, Manager: first}, registrar.Backend{Name: "second", Registrar: second, Manager: second})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- r.ReadBalances(ctx) }()
	for deadline := time.Now().Add(30 * time.Second); r.Balances()["second"] != 30_000_000; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Error("the balance of the second backend was not read")
			break
		}
	}
	cancel()
	if err := <-ended; err == nil || err.Error() != "read the balance at registrar first: context canceled" {
		t.Errorf("got %v", err)
	}
}
