package registrar_test

import (
	"context"
	"errors"
	"testing"

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
