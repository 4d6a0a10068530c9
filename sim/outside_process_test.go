package sim

import (
	"context"
	"log/slog"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/sqldb"
)

// outsideName is the name of the outside registry in the configuration.
const outsideName = "outside"

// useOutside makes the process buy names at the outside registry.
func (p *process) useOutside(now, registryNow func() time.Time) {
	sells, keeps := outsideCalls{p, p.w.outside}, outsideManager{manager{p: p, r: p.w.registry}, p.w.outside}
	p.names.Registrar, p.names.Manager, p.names.Route = sells, keeps, outsideRoute{}
	p.life.Manager = keeps
	p.heal = nil
	p.late = &registration.LateOrders{
		Store: lateStore{p, sqldb.LateOrders{DB: p.w.db, Now: now}}, Now: now, RegistryNow: registryNow, Log: slog.New(slog.DiscardHandler),
		Backend: func(name string) (registrar.Backend, error) {
			return registrar.Backend{Name: name, Registrar: sells, Manager: keeps, DeleteOrphans: p.w.outside.deletes}, nil
		},
	}
}

// outsideRoute sends every order to the outside registry, which may be down for hours.
type outsideRoute struct{}

func (outsideRoute) BackendOf(context.Context, deed.Name) (string, error) { return outsideName, nil }
func (outsideRoute) SellerOf(deed.TLD) (string, error)                    { return outsideName, nil }
func (outsideRoute) Affords(context.Context, deed.Name, deed.USDC) error  { return nil }
func (outsideRoute) Deadline(string) time.Duration                        { return 24 * time.Hour }
func (outsideRoute) CancelTerms(string) (none lifecycle.CancelTerms)      { return none }

// outsideManager is the outside registry that keeps our names.
type outsideManager struct {
	manager
	r *outsideModel
}

func (k outsideManager) Holding(_ context.Context, name deed.Name) (lifecycle.Holding, error) {
	return call(k.p, "Holding", func() (lifecycle.Holding, error) { return k.r.holding(name) })
}

// Delete implements registrar.Deleter.
func (k outsideManager) Delete(_ context.Context, name deed.Name) error {
	return act(k.p, "Delete "+string(name), func() error {
		if err := k.p.w.mayDelete(name); err != nil && k.p.w.broken == nil {
			k.p.w.broken = err
		}
		return k.r.delete(name)
	})
}

// lateStore is the late orders, as one process meets them.
type lateStore struct {
	p *process
	s sqldb.LateOrders
}

func (s lateStore) DueLateOrders(ctx context.Context, limit int) ([]string, error) {
	return call(s.p, "DueLateOrders", func() ([]string, error) { return s.s.DueLateOrders(ctx, limit) })
}

func (s lateStore) LateOrder(ctx context.Context, jobID string) (order.LateOrder, error) {
	return call(s.p, "LateOrder", func() (order.LateOrder, error) { return s.s.LateOrder(ctx, jobID) })
}

func (s lateStore) MoveLateOrder(ctx context.Context, l order.LateOrder, to order.LateOrderState, next time.Time) (bool, error) {
	return call(s.p, "MoveLateOrder "+string(to), func() (bool, error) {
		moved, err := s.s.MoveLateOrder(ctx, l, to, next)
		if moved && l.State != to {
			s.p.w.ends["late order "+string(to)]++
		}
		return moved, err
	})
}

func (s lateStore) Owned(ctx context.Context, l order.LateOrder) (bool, error) {
	return call(s.p, "Owned", func() (bool, error) { return s.s.Owned(ctx, l) })
}
