package sim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
	"deed.example/deed/internal/zone"
)

// delegations is the world of TestDelegationSimulation: one signed name, its registry, and
// what resolvers may have in their caches.
type delegations struct {
	*world
	zones   sqldb.Zones
	names   sqldb.Registrations
	moves   sqldb.Moves
	service *registration.Service
	rows    []dueRow
	owner   deed.Wallet
	wanted  map[string]bool // where the owner may want the name; one place after an answer
	forced  time.Time       // until then resolvers may find the name bogus
	acts    int             // of owners
	acting  int             // owners that wait for an answer
	hosts   history         // at the registry
	parent  history         // the DS there
	keySets []keySet        // of the zone here
	locked  bool
	busy    map[string]bool   // tables whose row is advanced
	script  map[string][]fate // of the next calls of the registry, by method; only of scripted runs
	life    *life             // nil if the name does not expire, and nobody else has it
}

// A fate is what happens to a call of the registry.
type fate struct {
	before  func() // others act first
	notDone bool
	refused bool
	lost    bool // the answer
	dies    bool // the caller, when the call is done
}

// A dueRow is a table that the worker advances.
type dueRow struct {
	what    string
	due     func(ctx context.Context) ([]string, error)
	advance func(ctx context.Context, id string) error
}

// A published is what the parent zone had from a time on.
type published struct {
	at    time.Time
	hosts []string
	ds    []dnssec.DS
}

// A history is everything that was published, oldest first.
type history []published

func (h history) last() published { return h[len(h)-1] }

// recent returns what was published at any time since then.
func (h history) recent(since time.Time) history {
	for i := len(h) - 1; i > 0; i-- {
		if !h[i].at.After(since) {
			return h[i:]
		}
	}
	return h
}

// A keySet has the DS of the keys that our servers give out from a time on; the first key
// signs the records.
type keySet struct {
	at   time.Time
	keys [][]dnssec.DS
}

// bogus returns why a resolver finds the name bogus that has any DS, name servers, keys and
// signatures in its cache that are still valid, or nil.
func (d *delegations) bogus() error {
	if d.now.Before(d.forced) {
		return nil
	}
	servers := d.hosts.recent(d.now.Add(-parentNSTTL))
	for _, p := range d.parent.recent(d.now.Add(-parentDSTTL)) {
		if len(p.ds) == 0 {
			continue
		}
		for _, s := range servers {
			var err error
			if len(s.hosts) == 0 { // it was not published
				continue
			}
			if lifecycle.AnyServer(s.hosts, places["home"]) {
				err = d.bogusHere(p.ds)
			}
			if placeOf(s.hosts) != "home" && !dnssec.AnyDS(p.ds, []dnssec.DS{foreignDS}) {
				err = errors.New("these servers do not have its key")
			}
			if err != nil {
				return fmt.Errorf("with the DS %v of %s and the servers %s of %s: %w", p.ds, p.at.Format(time.DateTime), placeOf(s.hosts), s.at.Format(time.DateTime), err)
			}
		}
	}
	return nil
}

// bogusHere is bogus for a resolver that asks our servers.
func (d *delegations) bogusHere(ds []dnssec.DS) error {
	recent := func(ttl time.Duration) []keySet {
		for i := len(d.keySets) - 1; i > 0; i-- {
			if !d.keySets[i].at.After(d.now.Add(-ttl)) {
				return d.keySets[i:]
			}
		}
		return d.keySets
	}
	for _, set := range recent(dnssec.KeyTTL) {
		if len(set.keys) == 0 {
			continue // our servers did not answer
		}
		if !slices.ContainsFunc(set.keys, func(key []dnssec.DS) bool { return dnssec.AnyDS(ds, key) }) {
			return errors.New("no key has it")
		}
		for _, signed := range recent(sigTTL) {
			if len(signed.keys) > 0 && !slices.ContainsFunc(set.keys, func(key []dnssec.DS) bool { return dnssec.AnyDS(key, signed.keys[0]) }) {
				return errors.New("the keys did not sign the records")
			}
		}
	}
	return nil
}

func (d *delegations) check() {
	if err := d.bogus(); err != nil && d.broken == nil {
		d.broken = err
		d.tell("bogus: %v", err)
	}
}

// noteKeys notes the keys of the zone.
func (d *delegations) noteKeys() {
	ids, err := d.zones.ZoneKeys(context.Background(), signedName)
	if err == nil && d.life != nil && !d.served() {
		ids = nil
	}
	if err != nil && d.broken == nil && (d.life == nil || deed.CodeOf(err) != deed.CodeNotFound) {
		d.broken = err
		return
	}
	set := keySet{at: d.now}
	for _, id := range ids {
		ds, _, err := d.zones.Publishing.DSOf(signedName, []dnssec.KeyID{id})
		if err != nil {
			d.broken = err
			return
		}
		set.keys = append(set.keys, ds)
	}
	if n := len(d.keySets); n > 0 && slices.EqualFunc(d.keySets[n-1].keys, set.keys, dnssec.SameDS) {
		return
	}
	d.tell("the zone has %d keys: %v", len(set.keys), set.keys)
	d.keySets = append(d.keySets, set)
	d.check()
}

// served reports whether our servers answer for the name.
func (d *delegations) served() bool {
	r, err := d.names.Registration(context.Background(), signedName)
	return err == nil && r.Status.Resolves()
}

func (d *delegations) tell(format string, args ...any) {
	if d.loud {
		d.trace = append(d.trace, fmt.Sprintf("%s %*s", d.now.Format("01-02 15:04:05"), 2*d.nested, "")+fmt.Sprintf(format, args...))
	}
}

func (d *delegations) dsOf(ctx context.Context, name deed.Name) (current, old []dnssec.DS, err error) {
	keys, err := d.zones.ZoneKeys(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	return d.zones.Publishing.DSOf(name, keys)
}

// open makes the database with the name in it, and the services.
func (d *delegations) open() (err error) {
	if d.db, err = sqldb.OpenMemory(context.Background()); err != nil {
		return err
	}
	d.db.Timeout = time.Minute
	now := func() time.Time { return d.now }
	d.zones = sqldbtest.Zones(d.db, now)
	d.zones.Generation = 1
	d.names = sqldb.Registrations{DB: d.db, Now: now, Zones: d.zones}
	d.moves = sqldb.Moves{DB: d.db, Now: now}
	home := places["home"]
	d.service = &registration.Service{
		Names: d.names, Manager: d, Prices: prices{}, Nameservers: home, Now: now, RegistryNow: now, Moves: d.moves,
		ParentTTL: registration.ParentTTL{DS: parentDSTTL + time.Hour, NS: parentNSTTL + time.Hour},
	}
	life := &registration.Lifecycle{
		Names: d.names, Manager: d, Servers: home, Grace: prices{}.GraceDays, Now: now, Log: slog.New(slog.DiscardHandler), Arrived: d.service.Arrived, DS: d.dsOf,
	}
	ds := &zone.DSUpdater{
		Names: d.zones, Manager: d, Servers: home, Now: now,
		DS: func(ctx context.Context, name deed.Name) ([]dnssec.DS, error) {
			current, _, err := d.dsOf(ctx, name)
			return current, err
		},
		Ready: func(context.Context, deed.Name, time.Duration) (bool, error) { return true, nil },
	}
	keys := &zone.KeyRoller{
		Rolls: d.zones, Delegation: d.zones, Manager: d, Servers: home, DS: d.dsOf, Now: now, ParentTTL: parentDSTTL + time.Hour,
		Propagated: func(context.Context, lifecycle.KeyRoll) (bool, error) { return !d.fails(3), nil },
	}
	d.rows = []dueRow{
		{"compare the name", func(ctx context.Context) ([]string, error) { return life.Due(ctx, 1) }, life.Advance},
		{"publish the DS", func(ctx context.Context) ([]string, error) { return ds.Due(ctx, 1) }, ds.Advance},
		{"roll the key", func(ctx context.Context) ([]string, error) { return keys.Due(ctx, 1) }, keys.Advance},
		{advanceMoves, func(ctx context.Context) ([]string, error) { return d.moves.DueMoves(ctx, 1) }, d.service.AdvanceMove},
	}
	d.hosts, d.parent = history{{at: d.now, hosts: home}}, history{{at: d.now}}
	if err = d.sell(); err == nil {
		d.noteKeys()
		err = d.broken
	}
	return err
}

// sell registers the name.
func (d *delegations) sell() error {
	ctx, now := context.Background(), func() time.Time { return d.now }
	rows := sqldb.Payments{DB: d.db, ChainID: chainID, Asset: asset, Now: now}
	jobs := sqldb.Jobs{DB: d.db, Now: now, Zones: d.zones}
	auth := settle.Authorization{Payer: d.owner, PayTo: d.owner, Amount: deed.Cent, Nonce: "1"}
	p, err := rows.AuthorizePayment(ctx, order.Payment{
		ID: auth.PaymentID(chainID, asset), Source: order.SourceX402Exact, Auth: auth, Purchase: order.Purchase{Kind: order.PurchaseRegistration, Name: signedName, Years: 1},
	}, sqldbtest.AdmitAll)
	for _, to := range []order.PaymentState{order.PaymentSettling, order.PaymentSettled} {
		if err == nil {
			p, err = rows.MovePayment(ctx, p, to, "0xfeed")
		}
	}
	if err != nil {
		return err
	}
	j, err := jobs.JobOf(ctx, p)
	j.Attempts, j.Reference, j.Submitted, j.Lease = 1, signedOrder, d.now, d.now
	for _, to := range []order.JobState{order.JobSubmitting, order.JobVerifying} {
		if err == nil {
			_, err = jobs.MoveJob(ctx, j, to, d.now)
			j.State = to
		}
	}
	if err != nil {
		return err
	}
	return jobs.CompleteJob(ctx, j, lifecycle.Registration{
		Name: signedName, Owner: d.owner, Status: lifecycle.StatusActive, Reference: signedOrder, PaymentID: j.PaymentID,
		Created: d.now, Expires: time.Unix(1_800_000_000, 0).AddDate(9, 0, 0), Updated: d.now, Nameservers: places["home"],
	})
}
