package app

import (
	"context"
	"errors"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/httpapi"
	"deed.example/deed/internal/mandate"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/zone"
)

var _ httpapi.SandboxRegistry = (*sandboxRegistry)(nil)

// sandboxFaults injects faults into the embedded registry.
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
		return "unknown" // the database does not respond; the next call will report it
	}
	return string(kind)
}

// sandboxRegistry moves the clock and simulates other registrars. Its methods
// return when all resulting work is done.
type sandboxRegistry struct {
	*local.Registry
	calendar  *sqldb.Calendar
	setAhead  func(time.Duration) // of the chain's clock
	mandates  *mandate.Service    // nil if no payments are taken
	jobs      *fulfil.Service
	names     *registration.Service
	lifecycle *registration.Lifecycle
	zones     sqldb.Zones
	keys      *zone.KeyRoller
}

func (r *sandboxRegistry) Now() time.Time { return r.calendar.Now() }

// ChainNow returns the time of the chain.
func (r *sandboxRegistry) ChainNow() time.Time { return time.Now().Add(r.calendar.ChainAhead()) }

func (r *sandboxRegistry) AdvanceAll(ctx context.Context, d time.Duration) (time.Time, error) {
	now, err := r.calendar.AdvanceAll(ctx, d)
	if err != nil {
		return now, err
	}
	r.setAhead(r.calendar.ChainAhead())
	return now, r.catchUp(ctx)
}

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
	return errors.Join(r.lifecycle.Advance(ctx, string(name)), r.catchUp(ctx))
}

func (r *sandboxRegistry) Decide(ctx context.Context, name deed.Name, approve bool) error {
	if err := r.Registry.Decide(ctx, name, approve); err != nil {
		return asMistake(err)
	}
	return errors.Join(r.lifecycle.Advance(ctx, string(name)), r.catchUp(ctx))
}

// asMistake turns an error of the registry into a validation error: there is no
// order that could fail.
func asMistake(err error) error {
	if e, ok := errors.AsType[*deed.Error](err); ok && e.Code == deed.CodeRegistrationFailed {
		return deed.Errorf(deed.CodeValidation, "%s", e.Message)
	}
	return err
}

// catchUp advances every job and every name that is due, without waiting for the
// worker.
func (r *sandboxRegistry) catchUp(ctx context.Context) error {
	if err := r.jobs.WakeJobs(ctx); err != nil {
		return err
	}
	err := advanceAll(ctx, r.jobs.DueJobs, r.jobs.AdvanceJob)
	if r.mandates != nil {
		err = errors.Join(err, advanceAll(ctx, r.mandates.Due, r.mandates.Advance)) // before the names expire
	}
	resign := func(ctx context.Context, id string) error { return r.zones.Resign(ctx, deed.Name(id)) }
	return errors.Join(err,
		advanceAll(ctx, r.names.Moves.DueMoves, r.names.AdvanceMove),
		advanceAll(ctx, r.lifecycle.Due, r.lifecycle.Advance),
		advanceAll(ctx, r.zones.DueZones, resign),
		advanceAll(ctx, r.keys.Due, r.keys.Advance))
}

// maxCatchUp is how many rows one call advances; the worker does the rest.
const maxCatchUp = 10_000

func advanceAll(ctx context.Context, due func(ctx context.Context, limit int) ([]string, error), advance func(ctx context.Context, id string) error) error {
	ids, err := due(sqldb.Undivided(ctx), maxCatchUp)
	for _, id := range ids {
		err = errors.Join(err, advance(ctx, id))
	}
	return err
}
