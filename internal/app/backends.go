package app

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/epp"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/registrar/opusdns"
	"deed.example/deed/internal/sqldb"
)

// A RegistrarConfig is one [registrar.NAME] block of the configuration.
type RegistrarConfig struct {
	Name    string
	Type    string            // a row of the table of backends
	TLDs    []string          // that it sells; "*" for all that no other block lists
	Reserve deed.USDC         // that stays in the account; orders that would need it are refused before money moves
	Markup  *catalog.Markup   // of its TLDs, unless a TLD has one of its own; nil for the usual one
	Values  map[string]string // the settings of its type

	// DeleteOrphans allows names that belong to nobody to be deleted; see docs/registrars.md.
	DeleteOrphans bool
}

// backends is the table of the types of registrar. A new one is a package below
// internal/registrar and a row here.
var backends = map[string]func(registrar.Settings) (registrar.Backend, error){
	"epp":     epp.New,
	"opusdns": opusdns.New,
}

// localKind is the type of the embedded registry, which needs more of the service
// than its settings.
const localKind = "local"

// registrarTypes returns the types that a block can have.
func registrarTypes() []string {
	return append(slices.Sorted(maps.Keys(backends)), localKind)
}

// EffectiveRegistrars returns the configured registrars: by default the embedded registry,
// which sells everything, and lets owners be registrants.
func (c *Config) EffectiveRegistrars() []RegistrarConfig {
	if len(c.Registrars) > 0 {
		return c.Registrars
	}
	return []RegistrarConfig{{Name: localKind, Type: localKind, TLDs: []string{"*"}, Values: map[string]string{"registrant_mode": string(lifecycle.RegistrantOptional)}}}
}

// SellsEmbedded reports whether names come from the embedded registry.
func (c *Config) SellsEmbedded() bool {
	return slices.ContainsFunc(c.EffectiveRegistrars(), func(r RegistrarConfig) bool { return r.Type == localKind })
}

// openRegistrars opens the configured registrars, and the router that sends each call
// to the one that the name belongs to.
func (a *App) openRegistrars() error {
	var all []registrar.Backend
	for _, c := range a.config.EffectiveRegistrars() {
		b, err := a.openRegistrar(c)
		if err != nil {
			return fmt.Errorf("registrar.%s: %w", c.Name, err)
		}
		if b.Close != nil {
			a.closers = append(a.closers, b.Close)
		}
		all = append(all, b)
	}
	var err error
	if a.registrar, err = registrar.NewRouter(sqldb.Registrations{DB: a.DB}, all...); err == nil {
		a.pace = registrar.NewPace(all, time.Now)
	}
	return err
}

func (a *App) closeRegistrars() (err error) {
	for _, shut := range a.closers {
		err = errors.Join(err, shut())
	}
	return err
}

// openRegistrar opens one registrar. It does not connect: one that is down must not
// keep the others from selling.
func (a *App) openRegistrar(c RegistrarConfig) (b registrar.Backend, err error) {
	common, values, err := commonValues(c)
	if err != nil {
		return b, err
	}
	c.Values = values
	settings, err := a.registrarSettings(c)
	if err != nil {
		return b, err
	}
	open, known := backends[c.Type]
	switch {
	case c.Type == localKind:
		open = a.openLocal
	case c.Type == "":
		return b, fmt.Errorf("type must be set: one of %s", strings.Join(registrarTypes(), ", "))
	case !known:
		return b, fmt.Errorf("type %q: there are %s", c.Type, strings.Join(registrarTypes(), ", "))
	}
	if b, err = open(settings); err != nil {
		return b, err
	}
	b.Name, b.Reserve, b.Cancel, b.DeleteOrphans, b.LookupsPerSecond = c.Name, c.Reserve, common.terms, c.DeleteOrphans, common.lookups
	b.Registrant = common.registrant
	if _, ok := registrar.RegistrantsOf(b.Manager); !ok && b.Registrant.AllowsOwner() {
		return b, fmt.Errorf("registrant_mode is %s, and this registrar has no registrants: leave it out, or set contacts of an EPP registry", b.Registrant)
	}
	return b, setTLDs(&b, c.TLDs)
}

// setTLDs sets what the registrar sells.
func setTLDs(b *registrar.Backend, tlds []string) error {
	if len(tlds) == 0 {
		return fmt.Errorf(`tlds must be set: a list of TLDs, or "*" for all that no other registrar lists`)
	}
	for _, text := range tlds {
		if text == "*" {
			b.Rest = true
			continue
		}
		tld, err := deed.ParseTLD(text)
		if err != nil {
			return fmt.Errorf("tlds: %w", err)
		}
		b.TLDs = append(b.TLDs, tld)
	}
	return nil
}

// registrarSettings returns what a registrar is opened with.
func (a *App) registrarSettings(c RegistrarConfig) (registrar.Settings, error) {
	secret, err := hkdf.Key(sha256.New, []byte(a.master.Reveal()), nil, "deed registrar "+c.Name, 32)
	if err != nil {
		return registrar.Settings{}, fmt.Errorf("derive a key: %w", err)
	}
	return registrar.Settings{
		Name: c.Name, Values: c.Values, Secret: deed.Secret(hex.EncodeToString(secret)), Purchase: order.JobOfReference,
		PaidUntil: a.paidUntil, Now: a.calendar.Now, Log: a.log.With("registrar", c.Name),
	}, nil
}

// paidUntil returns until when the owner has paid for a name.
func (a *App) paidUntil(ctx context.Context, name deed.Name) (time.Time, error) {
	r, err := sqldb.Registrations{DB: a.DB}.Registration(ctx, name)
	if deed.CodeOf(err) == deed.CodeNotFound {
		return time.Time{}, nil
	}
	return r.Expires, err
}

// openLocal opens the embedded registry, and in a sandbox the controls that simulate
// time, faults and other registrars.
func (a *App) openLocal(s registrar.Settings) (registrar.Backend, error) {
	if err := s.Read().Err(); err != nil {
		return registrar.Backend{}, err
	}
	faults := a.config.Hooks.Faults
	if faults == nil {
		faults = &local.Faults{Store: sqldb.Faults{DB: a.DB}}
	}
	a.Registry = &local.Registry{Store: sqldb.Registry{DB: a.DB}, Now: a.calendar.Now, Faults: faults, Rules: a.localRules}
	if a.chain.sandbox != nil {
		a.sandbox = &sandboxRegistry{Registry: a.Registry, calendar: a.calendar, setAhead: a.chain.setAhead}
		a.chain.sandbox.Faults, a.chain.sandbox.Registry = sandboxFaults{faults}, a.sandbox
	}
	return registrar.Backend{Registrar: a.Registry, Manager: a.Registry, Ping: a.Registry.Ping}, nil
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
