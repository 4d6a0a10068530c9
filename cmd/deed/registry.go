package main

import (
	"context"
	"errors"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/httpapi"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/sqldb"
)

var (
	_ registration.Store          = sqldb.Jobs{}
	_ registration.Queue          = sqldb.Jobs{}
	_ registration.Names          = sqldb.Registrations{}
	_ registration.LifecycleStore = sqldb.Registrations{}

	_ httpapi.SandboxRegistry = (*sandboxRegistry)(nil)
)

// openRegistry opens the embedded registry, and in the sandbox gives callers on
// this machine the hands to play the rest of the world.
func (b *backends) openRegistry() {
	faults := &local.Faults{Store: sqldb.Faults{DB: b.db}}
	registry := &local.Registry{Store: sqldb.Registry{DB: b.db}, Now: b.calendar.Now, Faults: faults, Rules: func(tld deed.TLD) local.Rules {
		l, err := b.prices.Listing(tld)
		if err != nil {
			return local.Rules{} // we do not sell it, so nobody asks
		}
		return local.Rules{MinYears: l.MinYears, MaxYears: l.MaxYears, GraceDays: l.GraceDays}
	}}
	b.registrar = registry
	if b.chain.sandbox != nil {
		b.chain.sandbox.Faults = sandboxFaults{faults}
		b.sandbox = &sandboxRegistry{Registry: registry, calendar: b.calendar}
		b.chain.sandbox.Registry = b.sandbox
	}
}

// sandboxFaults lets a caller on this machine break the embedded registry.
type sandboxFaults struct{ *local.Faults }

func (f sandboxFaults) Set(kind string, times int) error {
	fault, err := local.ParseFault(kind)
	if err != nil {
		return err
	}
	return f.Faults.Set(fault, times)
}

func (f sandboxFaults) On() string {
	kind, _, err := f.Faults.On(context.Background())
	if err != nil {
		return "unknown" // the database does not say, and the next call will
	}
	return string(kind)
}

// sandboxRegistry lets a caller on this machine move the calendar and play other
// registrars. What that sets going has happened when it returns.
type sandboxRegistry struct {
	*local.Registry
	calendar *sqldb.Calendar
	names    *registration.Service
	lives    *registration.Lifecycle
}

func (r *sandboxRegistry) Now() time.Time { return r.calendar.Now() }

func (r *sandboxRegistry) Advance(ctx context.Context, d time.Duration) (time.Time, error) {
	now, err := r.calendar.Advance(ctx, d)
	if err != nil {
		return now, err
	}
	return now, r.catchUp(ctx)
}

func (r *sandboxRegistry) Leave(ctx context.Context, name deed.Name, code deed.Secret) error {
	if err := r.Registry.Leave(ctx, name, code); err != nil {
		return asMistake(err)
	}
	return errors.Join(r.lives.Advance(ctx, string(name)), r.catchUp(ctx))
}

func (r *sandboxRegistry) Decide(ctx context.Context, name deed.Name, approve bool) error {
	if err := r.Registry.Decide(ctx, name, approve); err != nil {
		return asMistake(err)
	}
	return errors.Join(r.lives.Advance(ctx, string(name)), r.catchUp(ctx))
}

// asMistake makes the registry's refusal the caller's mistake: there is no order
// here that could fail.
func asMistake(err error) error {
	if e, ok := errors.AsType[*deed.Error](err); ok && e.Code == deed.CodeRegistrationFailed {
		return deed.Errorf(deed.CodeValidation, "%s", e.Message)
	}
	return err
}

// catchUp advances every job and every name that is due, as the worker would in
// a moment.
func (r *sandboxRegistry) catchUp(ctx context.Context) error {
	if err := r.names.Queue.WakeJobs(ctx); err != nil {
		return err
	}
	err := advanceAll(ctx, r.names.Due, r.names.Advance)
	return errors.Join(err, advanceAll(ctx, r.lives.Due, r.lives.Advance))
}

// mostCaughtUp is how many rows one call catches up with; the worker does the
// rest.
const mostCaughtUp = 10_000

func advanceAll(ctx context.Context, due func(ctx context.Context, most int) ([]string, error), advance func(ctx context.Context, id string) error) error {
	ids, err := due(ctx, mostCaughtUp)
	for _, id := range ids {
		err = errors.Join(err, advance(ctx, id))
	}
	return err
}
