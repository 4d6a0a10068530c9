package app

import (
	"fmt"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/sqldb"
)

// backends is the table of registrars. A new one is a package below
// internal/registrar and a row here.
var backends = []struct {
	name string
	open func(a *App) (registrar.Backend, error)
}{
	{"local", openLocal},
}

// openRegistrars opens the registrars of the table, and the router that sends each
// call to the one that the name belongs to.
func (a *App) openRegistrars() error {
	var all []registrar.Backend
	for _, row := range backends {
		b, err := row.open(a)
		if err != nil {
			return fmt.Errorf("open the registrar %s: %w", row.name, err)
		}
		b.Name = row.name
		all = append(all, b)
	}
	var err error
	a.registrar, err = registrar.NewRouter(sqldb.Registrations{DB: a.DB}, all...)
	return err
}

// openLocal opens the embedded registry, and in a sandbox the controls that simulate
// time, faults and other registrars.
func openLocal(a *App) (registrar.Backend, error) {
	faults := a.config.Hooks.Faults
	if faults == nil {
		faults = &local.Faults{Store: sqldb.Faults{DB: a.DB}}
	}
	a.Registry = &local.Registry{Store: sqldb.Registry{DB: a.DB}, Now: a.calendar.Now, Faults: faults, Rules: a.localRules}
	if a.chain.sandbox != nil {
		a.sandbox = &sandboxRegistry{Registry: a.Registry, calendar: a.calendar}
		a.chain.sandbox.Faults, a.chain.sandbox.Registry = sandboxFaults{faults}, a.sandbox
	}
	return registrar.Backend{Rest: true, Registrar: a.Registry, Manager: a.Registry, Ping: a.Registry.Ping}, nil
}

// localRules returns the rules of the embedded registry for a TLD: those of the
// price list.
func (a *App) localRules(tld deed.TLD) local.Rules {
	l, err := a.prices.Listing(tld)
	if err != nil {
		return local.Rules{} // not sold, so never used
	}
	return local.Rules{MinYears: l.MinYears, MaxYears: l.MaxYears, GraceDays: l.GraceDays}
}
