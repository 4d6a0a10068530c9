package registrar_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
)

var errNoReply = errors.New("no reply")

// silent is a backend with the capabilities that the router uses. It never replies.
type silent struct{}

func (silent) Available(context.Context, deed.Name) (registrar.Availability, error) {
	return registrar.Availability{}, errNoReply
}
func (silent) Transferable(context.Context, deed.Name, deed.Secret) error { return errNoReply }
func (silent) Place(context.Context, registrar.Order) error               { return errNoReply }
func (silent) Order(context.Context, registrar.Order) (registrar.OrderStatus, error) {
	return registrar.OrderStatus{}, errNoReply
}
func (silent) Cancel(context.Context, registrar.Order) error { return errNoReply }
func (silent) FindOrder(context.Context, string) (registrar.Order, error) {
	return registrar.Order{}, errNoReply
}
func (silent) Holding(context.Context, deed.Name) (lifecycle.Holding, error) {
	return lifecycle.Holding{}, errNoReply
}
func (silent) SetNameservers(context.Context, deed.Name, []string) error { return errNoReply }
func (silent) SetDelegation(context.Context, deed.Name, []string, lifecycle.Glue) error {
	return errNoReply
}
func (silent) SetLock(context.Context, deed.Name, bool) error { return errNoReply }
func (silent) AuthCode(context.Context, deed.Name) (deed.Secret, error) {
	return "", errNoReply
}
func (silent) SetDS(context.Context, deed.Name, []dnssec.DS) error { return errNoReply }
func (silent) Delete(context.Context, deed.Name) error             { return errNoReply }
func (silent) Holdings(context.Context, deed.Name, int) ([]lifecycle.Holding, error) {
	return nil, errNoReply
}
func (silent) Balance(context.Context) (registrar.Balance, error) {
	return registrar.Balance{}, errNoReply
}
func (silent) Price(context.Context, registrar.Order) (registrar.Price, error) {
	return registrar.Price{}, errNoReply
}
func (silent) Ping(context.Context) error { return errNoReply }

// Every call of a backend is observed once, with its error.
func TestEveryCallIsObserved(t *testing.T) {
	var b silent
	r, err := registrar.NewRouter(rows{}, registrar.Backend{Name: "a", Rest: true, Registrar: b, Manager: b, Ping: b.Ping})
	if err != nil {
		t.Fatal(err)
	}
	ctx, name := t.Context(), deed.Name("a.com")
	for call, do := range map[string]func() error{
		"available":       func() error { _, err := r.Available(ctx, name); return err },
		"transferable":    func() error { return r.Transferable(ctx, name, "") },
		"place":           func() error { return r.Place(ctx, registrar.Order{Name: name}) },
		"order":           func() error { _, err := r.Order(ctx, registrar.Order{Name: name}); return err },
		"price":           func() error { _, err := r.Price(ctx, registrar.Order{Name: name}); return err },
		"cancel":          func() error { return r.Cancel(ctx, registrar.Order{Name: name}) },
		"find_order":      func() error { _, err := r.FindOrder(ctx, "job_1"); return err },
		"holding":         func() error { _, err := r.Holding(ctx, name); return err },
		"set_nameservers": func() error { return r.SetNameservers(ctx, name, nil) },
		"set_delegation":  func() error { return r.SetDelegation(ctx, name, nil, nil) },
		"set_lock":        func() error { return r.SetLock(ctx, name, true) },
		"auth_code":       func() error { _, err := r.AuthCode(ctx, name); return err },
		"set_ds":          func() error { return r.SetDS(ctx, name, nil) },
		"delete":          func() error { return r.Delete(ctx, name) },
		"holdings":        func() error { _, err := r.Holdings(ctx, "", 1); return err },
		"balance":         func() error { return r.ReadBalances(ctx) },
		"ping":            func() error { return r.Ping(ctx) },
	} {
		var observed []string
		r.Observe = func(ctx context.Context, backend, call string) (context.Context, func(error)) {
			return ctx, func(err error) {
				if backend != "a" || !errors.Is(err, errNoReply) {
					t.Errorf("%s: observed %s with %v", call, backend, err)
				}
				observed = append(observed, call)
			}
		}
		if err := do(); !errors.Is(err, errNoReply) {
			t.Errorf("%s: got %v", call, err)
		}
		if !slices.Equal(observed, []string{call}) {
			t.Errorf("%s: observed %v", call, observed)
		}
	}
}
