package registrar

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
)

// A Holder knows which backend holds a name.
type Holder interface {
	// BackendOf returns the backend that holds the name, or that the open order of
	// the name was placed at; "" if there is neither.
	BackendOf(ctx context.Context, name deed.Name) (string, error)
}

// A Router sends each call to the backend that the name belongs to: the one that
// holds it, or for a new name the one that sells its TLD. A change of the
// configuration therefore affects new names only, and a backend that is down affects
// only its own names. Make it with NewRouter.
type Router struct {
	backends []Backend
	holder   Holder
	sells    map[deed.TLD]int // index in backends
	rest     int              // index in backends, or -1

	// Observe is called before each call of a backend by a method of the router, which
	// gets the context that it returns, and end after it. It may be nil. Set it before the
	// first call only.
	Observe func(ctx context.Context, backend, call string) (_ context.Context, end func(error))

	mu       sync.Mutex // guards balances
	balances map[string]deed.USDC
}

// NewRouter returns a router over the backends. It fails when two of them have the
// same name, list the same TLD, or claim the rest.
func NewRouter(holder Holder, backends ...Backend) (*Router, error) {
	r := &Router{backends: backends, holder: holder, sells: map[deed.TLD]int{}, rest: -1, balances: map[string]deed.USDC{}}
	for i, b := range backends {
		if b.Name == "" || r.index(b.Name) != i {
			return nil, fmt.Errorf("registrar %q: every backend needs a name of its own", b.Name)
		}
		for _, tld := range b.TLDs {
			if other, ok := r.sells[tld]; ok {
				return nil, fmt.Errorf("registrar %s: .%s is already sold by %s", b.Name, tld, backends[other].Name)
			}
			r.sells[tld] = i
		}
		if b.Rest {
			if r.rest >= 0 {
				return nil, fmt.Errorf("registrar %s: all other TLDs are already sold by %s", b.Name, backends[r.rest].Name)
			}
			r.rest = i
		}
	}
	return r, nil
}

// Backends returns all backends.
func (r *Router) Backends() []Backend { return r.backends }

// Seller returns the backend that sells new names of the TLD, or
// CodeTLDNotSupported.
func (r *Router) Seller(tld deed.TLD) (Backend, error) {
	i, ok := r.sells[tld]
	if !ok {
		i = r.rest
	}
	if i < 0 {
		return Backend{}, deed.Errorf(deed.CodeTLDNotSupported, "no registrar of this service sells .%s", tld)
	}
	return r.backends[i], nil
}

// SellerOf returns the name of the backend that sells new names of the TLD.
func (r *Router) SellerOf(tld deed.TLD) (string, error) {
	b, err := r.Seller(tld)
	return b.Name, err
}

// BackendOf returns the name of the backend that holds the name, or that would sell
// it.
func (r *Router) BackendOf(ctx context.Context, name deed.Name) (string, error) {
	b, err := r.of(ctx, name)
	return b.Name, err
}

// Deadline returns how long an order at the backend may take; zero for the usual
// time.
func (r *Router) Deadline(backend string) time.Duration {
	if i := r.index(backend); i >= 0 {
		return r.backends[i].Deadline
	}
	return 0
}

// of returns the backend that holds the name, or that would sell it.
func (r *Router) of(ctx context.Context, name deed.Name) (Backend, error) {
	holds, err := r.holder.BackendOf(ctx, name)
	if err != nil {
		return Backend{}, fmt.Errorf("find the registrar of %s: %w", name, err)
	}
	if holds == "" {
		return r.Seller(name.TLD())
	}
	return r.named(holds)
}

// named returns a backend by its name. The error has no code: the operator has
// removed the backend, and nothing is known about its names.
func (r *Router) named(name string) (Backend, error) {
	if i := r.index(name); i >= 0 {
		return r.backends[i], nil
	}
	return Backend{}, fmt.Errorf("registrar %s is not configured", name)
}

// Backend returns the backend with the name. The error has no code: see named.
func (r *Router) Backend(name string) (Backend, error) { return r.named(name) }

func (r *Router) index(name string) int {
	return slices.IndexFunc(r.backends, func(b Backend) bool { return b.Name == name })
}

// ordered returns the backend of an order.
func (r *Router) ordered(ctx context.Context, o Order) (Backend, error) {
	if o.Backend != "" {
		return r.named(o.Backend)
	}
	return r.of(ctx, o.Name)
}

// Available implements Registrar.
func (r *Router) Available(ctx context.Context, name deed.Name) (Availability, error) {
	b, err := r.Seller(name.TLD())
	if err != nil {
		return Availability{}, err
	}
	return observed(ctx, r, b, "available", func(ctx context.Context) (Availability, error) { return b.Registrar.Available(ctx, name) })
}

// Transferable implements Registrar.
func (r *Router) Transferable(ctx context.Context, name deed.Name, code deed.Secret) error {
	b, err := r.Seller(name.TLD())
	if err != nil {
		return err
	}
	return r.observe(ctx, b, "transferable", func(ctx context.Context) error { return b.Registrar.Transferable(ctx, name, code) })
}

// Place implements Registrar.
func (r *Router) Place(ctx context.Context, o Order) error {
	b, err := r.ordered(ctx, o)
	if err != nil {
		return err
	}
	return r.observe(ctx, b, "place", func(ctx context.Context) error { return b.Registrar.Place(ctx, o) })
}

// Order implements Registrar.
func (r *Router) Order(ctx context.Context, o Order) (OrderStatus, error) {
	b, err := r.ordered(ctx, o)
	if err != nil {
		return OrderStatus{}, err
	}
	return observed(ctx, r, b, "order", func(ctx context.Context) (OrderStatus, error) { return b.Registrar.Order(ctx, o) })
}

// Price implements PriceLister with the backend that the name belongs to.
func (r *Router) Price(ctx context.Context, o Order) (Price, error) {
	b, err := r.ordered(ctx, o)
	if err != nil {
		return Price{}, err
	}
	lister, ok := b.Registrar.(PriceLister)
	if !ok {
		return Price{}, deed.Errorf(deed.CodeNotFound, "the registrar of %s does not tell prices", o.Name)
	}
	return observed(ctx, r, b, "price", func(ctx context.Context) (Price, error) { return lister.Price(ctx, o) })
}

// Cancel implements Registrar.
func (r *Router) Cancel(ctx context.Context, o Order) error {
	b, err := r.ordered(ctx, o)
	if err != nil {
		return err
	}
	return r.observe(ctx, b, "cancel", func(ctx context.Context) error { return b.Registrar.Cancel(ctx, o) })
}

// Holding implements Manager.
func (r *Router) Holding(ctx context.Context, name deed.Name) (lifecycle.Holding, error) {
	b, err := r.of(ctx, name)
	if err != nil {
		return lifecycle.Holding{}, err
	}
	return observed(ctx, r, b, "holding", func(ctx context.Context) (lifecycle.Holding, error) { return b.Manager.Holding(ctx, name) })
}

// SetNameservers implements Manager.
func (r *Router) SetNameservers(ctx context.Context, name deed.Name, hosts []string) error {
	b, err := r.of(ctx, name)
	if err != nil {
		return err
	}
	return r.observe(ctx, b, "set_nameservers", func(ctx context.Context) error { return b.Manager.SetNameservers(ctx, name, hosts) })
}

// SetLock implements Manager.
func (r *Router) SetLock(ctx context.Context, name deed.Name, locked bool) error {
	b, err := r.of(ctx, name)
	if err != nil {
		return err
	}
	return r.observe(ctx, b, "set_lock", func(ctx context.Context) error { return b.Manager.SetLock(ctx, name, locked) })
}

// AuthCode implements Manager.
func (r *Router) AuthCode(ctx context.Context, name deed.Name) (deed.Secret, error) {
	b, err := r.of(ctx, name)
	if err != nil {
		return "", err
	}
	return observed(ctx, r, b, "auth_code", func(ctx context.Context) (deed.Secret, error) { return b.Manager.AuthCode(ctx, name) })
}

// SetDS implements Manager.
func (r *Router) SetDS(ctx context.Context, name deed.Name, ds []dnssec.DS) error {
	b, err := r.of(ctx, name)
	if err != nil {
		return err
	}
	return r.observe(ctx, b, "set_ds", func(ctx context.Context) error { return b.Manager.SetDS(ctx, name, ds) })
}

// Delete implements Deleter with the backends that can delete names.
func (r *Router) Delete(ctx context.Context, name deed.Name) error {
	b, err := r.of(ctx, name)
	if err != nil {
		return err
	}
	deleter, ok := b.Manager.(Deleter)
	if !ok {
		return deed.Invalid("domain", "the registry of %s does not delete names", name)
	}
	return r.observe(ctx, b, "delete", func(ctx context.Context) error { return deleter.Delete(ctx, name) })
}

// CancelTerms returns the conditions for cancellations of the backend's names; none are
// allowed when it cannot delete names.
func (r *Router) CancelTerms(backend string) lifecycle.CancelTerms {
	i := r.index(backend)
	if i < 0 {
		return lifecycle.CancelTerms{}
	}
	if _, ok := r.backends[i].Manager.(Deleter); !ok {
		return lifecycle.CancelTerms{}
	}
	return r.backends[i].Cancel
}

// Holdings implements Inventory over the backends that have one.
func (r *Router) Holdings(ctx context.Context, after deed.Name, limit int) (all []lifecycle.Holding, err error) {
	for _, b := range r.backends {
		inventory, ok := b.Registrar.(Inventory)
		if !ok {
			continue
		}
		some, err := observed(ctx, r, b, "holdings", func(ctx context.Context) ([]lifecycle.Holding, error) { return inventory.Holdings(ctx, after, limit) })
		if err != nil {
			return nil, fmt.Errorf("list the names at registrar %s: %w", b.Name, err)
		}
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b lifecycle.Holding) int { return strings.Compare(string(a.Name), string(b.Name)) })
	return all[:min(len(all), limit)], nil
}

// Ping checks all backends at once. Its error names those that do not respond.
func (r *Router) Ping(ctx context.Context) error {
	down := make([]error, len(r.backends))
	var all sync.WaitGroup
	for i, b := range r.backends {
		all.Go(func() {
			if err := r.observe(ctx, b, "ping", func(ctx context.Context) error { return b.Ping(ctx) }); err != nil {
				down[i] = fmt.Errorf("registrar %s: %w", b.Name, err)
			}
		})
	}
	all.Wait()
	return errors.Join(down...)
}
