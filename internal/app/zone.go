package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/metrics"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/resolver"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/worker"
	"deed.example/deed/internal/zone"
)

// newZones returns the zone service.
func (a *App) newZones() *zone.Service {
	return &zone.Service{
		Store: a.dns.zones, History: a.dns.zones,
		Publish: a.dns.publish, Changing: func(name deed.Name) func() { return a.dns.follower.Changing(string(name)) },
		NewID: sqldb.NewRecordID,
		Now:   a.now, RegistryNow: a.calendar.Now, Grace: a.prices.GraceDays, Step: a.config.Hooks.Step,
		Forwards: len(a.config.RedirectAddresses) > 0,
	}
}

// publish publishes a zone on this node immediately, unless it has this serial already;
// 0 is any.
func (d *dnsBackend) publish(ctx context.Context, name deed.Name, serial uint32) {
	if d.stopped() {
		return // the follower publishes it when it goes on
	}
	_ = d.follower.Ensure(context.WithoutCancel(ctx), string(name), serial) // the follower retries at its next poll
}

// aliasTimeout is how long a resolver may take to answer.
const aliasTimeout = 4 * time.Second

// zoneRows returns the rows of zones that the worker advances.
func (a *App) zoneRows() []worker.Rows {
	d, checker := a.dns, a.dns.propagationChecker()
	rolls := a.keyRoller()
	aliases := &zone.AliasUpdater{Aliases: d.zones, Now: d.zones.Now, Lookup: resolver.Client{Servers: a.config.Resolvers, Timeout: aliasTimeout}.Lookup}
	rows := []worker.Rows{
		{Name: "changes", Due: a.engine.DueChanges, Advance: a.engine.AdvanceJob},
		{Name: "signatures", Due: d.zones.DueZones, Advance: func(ctx context.Context, id string) error {
			return d.zones.Resign(ctx, deed.Name(id))
		}, Paced: true},
		{Name: "delegations", Due: a.Delegations.Due, Advance: a.Delegations.Advance},
		{Name: "key rolls", Due: rolls.Due, Advance: rolls.Advance},
		{Name: "aliases", Due: aliases.Due, Advance: aliases.Advance, Paced: true},
		{Name: "outbox", Due: checker.Due, Advance: checker.Advance},
		{Name: "published zones", Due: func(ctx context.Context, _ int) ([]string, error) {
			if d.stopped() {
				return nil, nil
			}
			return nil, d.follower.Follow(ctx)
		}},
	}
	if d.parents != nil {
		rows = append(rows, worker.Rows{Name: "parent zones", Due: d.publishParents()})
	}
	return rows
}

// publishParents returns a function that publishes the parent zones of a sandbox. It uses
// at most a twentieth of the time: the more names there are, the longer a run takes.
func (d *dnsBackend) publishParents() func(ctx context.Context, _ int) ([]string, error) {
	var next time.Time
	return func(ctx context.Context, _ int) ([]string, error) {
		began := time.Now()
		if d.stopped() || began.Before(next) {
			return nil, nil
		}
		err := d.parents.Publish(ctx)
		next = time.Now().Add(20 * time.Since(began))
		if errors.Is(err, local.ErrTooMany) {
			next = time.Now().Add(time.Hour) // reading them again and again would be all that a node does
		}
		return nil, err
	}
}

// listen receives notifications of changes by other nodes. The follower finds what
// it misses.
func (d *dnsBackend) listen(ctx context.Context, db *sqldb.DB, log *slog.Logger) {
	db.Listen(ctx, sqldb.ZoneChannel, func(origin string) {
		if d.stopped() {
			return
		}
		if err := d.follower.HandleNotification(ctx, origin); err != nil && ctx.Err() == nil {
			log.Warn("cannot publish what another node changed: the next poll tries again", "zone", origin, "err", err)
		}
	}, func(err error) {
		log.Warn("cannot get the notifications of other nodes: their changes are polled meanwhile", "err", err)
	})
}

// propagationChecker checks whether every name server serves the latest change of a zone.
func (d *dnsBackend) propagationChecker() *zone.PropagationChecker {
	return &zone.PropagationChecker{Outbox: d.zones, Now: d.zones.Now, Raise: d.zones.RaiseSerial, Remind: d.remind, Query: func(ctx context.Context, name deed.Name, serial uint32) (p zone.Propagation) {
		servers := d.propagation(ctx, name, serial)
		p.InSync = !slices.ContainsFunc(servers, func(s api.ServerPropagation) bool { return !s.InSync })
		for _, s := range servers {
			p.Latest = max(p.Latest, s.Serial)
			if !s.InSync && s.Error == "" {
				p.Behind = append(p.Behind, s.Server)
			}
		}
		return p
	}}
}

// remind notifies the secondaries among these servers again.
func (d *dnsBackend) remind(ctx context.Context, name deed.Name, servers []string) error {
	if d.notifier == nil {
		return nil
	}
	soa, err := sqldb.Served{DB: d.zones.DB, Now: d.zones.Now}.SOA(ctx, string(name))
	if deed.CodeOf(err) == deed.CodeNotFound {
		return nil // it has ended, or was withdrawn
	}
	if err != nil {
		return fmt.Errorf("read the SOA of %s: %w", name, err)
	}
	return d.notifier.Remind(soa, servers)
}

// watchDrift counts the zones that are not on all name servers after a while, and
// warns if there are any.
func (d *dnsBackend) watchDrift(counters *metrics.Metrics, log *slog.Logger) func(ctx context.Context) error {
	monitor := zone.PropagationMonitor{Outbox: d.zones, Now: d.zones.Now, Count: counters.ZonesBehind, Warn: func(n int) {
		log.Warn("changes of zones are not on every name server", "zones", n, "after", zone.MaxPropagation.String())
	}}
	return monitor.Check
}

// dsUpdater publishes the DS records of zones.
func (a *App) dsUpdater() *zone.DSUpdater {
	d := a.dns
	return &zone.DSUpdater{
		Names: d.zones, Manager: a.registrar, Servers: d.zones.Publishing.Servers,
		DS: func(ctx context.Context, name deed.Name) ([]dnssec.DS, error) {
			current, _, err := d.dsOf(ctx, name)
			return current, err
		},
		Ready: func(ctx context.Context, name deed.Name, waited time.Duration) (bool, error) {
			return d.ready(ctx, name, func(s []zone.ServerCopy) (bool, []string) { return zone.DSReady(s, waited) }, a.log)
		},
		Now: d.zones.Now,
	}
}

// keyRoller replaces the keys of zones.
func (a *App) keyRoller() *zone.KeyRoller {
	d := a.dns
	return &zone.KeyRoller{
		Rolls: d.zones, Delegation: d.zones, Manager: a.registrar, Servers: d.zones.Publishing.Servers, DS: d.dsOf,
		Propagated: func(ctx context.Context, r lifecycle.KeyRoll) (bool, error) {
			since := d.zones.Now().Sub(r.StepBegan)
			return d.ready(ctx, r.Name, func(s []zone.ServerCopy) (bool, []string) { return zone.KeyReady(s, since) }, a.log)
		},
		ParentTTL: a.config.ParentTTL.DS, Now: a.calendar.Now,
	}
}

// dsOf returns the DS of the key that signs the zone, and of the one that it replaces.
func (d *dnsBackend) dsOf(ctx context.Context, name deed.Name) (current, old []dnssec.DS, err error) {
	keys, err := d.zones.ZoneKeys(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	return d.zones.Publishing.DSOf(name, keys)
}

// ready reports whether enough name servers serve the current zone, by the given rule.
func (d *dnsBackend) ready(ctx context.Context, name deed.Name, rule func([]zone.ServerCopy) (bool, []string), log *slog.Logger) (bool, error) {
	z, err := d.zones.Zone(ctx, name)
	if err != nil {
		return false, err
	}
	var copies []zone.ServerCopy
	for _, s := range d.drift.Check(ctx, string(name), z.Serial) {
		copies = append(copies, zone.ServerCopy{Server: s.Server, InSync: s.Err == nil && s.Lag == 0, Absent: s.Absent})
	}
	if d.server != nil {
		embedded := d.embeddedPropagation(name, z.Serial)
		here := zone.ServerCopy{Server: embedded.Server, InSync: embedded.InSync}
		if len(copies) == 0 || !here.InSync { // it counts for others only if it is the only one
			copies = append(copies, here)
		}
	}
	ready, without := rule(copies)
	if ready && len(without) > 0 {
		log.Warn("the DS or the key of a zone changes although name servers do not have the zone", "zone", string(name), "servers", without)
	}
	return ready, nil
}

// propagation queries every name server for its serial, and compares it with the current one.
func (d *dnsBackend) propagation(ctx context.Context, name deed.Name, serial uint32) []api.ServerPropagation {
	servers := []api.ServerPropagation{}
	if d.server != nil {
		servers = append(servers, d.embeddedPropagation(name, serial))
	}
	for _, s := range d.drift.Check(ctx, string(name), serial) {
		out := api.ServerPropagation{Server: s.Server, Serial: s.Serial, InSync: s.Err == nil && s.Lag == 0, LagSeconds: int64(s.Lag)}
		if s.Err != nil {
			out.Error = s.Reason
		}
		servers = append(servers, out)
	}
	return servers
}

// embeddedPropagation is the part of propagation about the name server of this node.
func (d *dnsBackend) embeddedPropagation(name deed.Name, serial uint32) api.ServerPropagation {
	out := api.ServerPropagation{Server: "embedded"}
	has, serves := d.server.Serial(string(name))
	if !serves {
		out.Error = "it does not serve the zone"
		return out
	}
	out.Serial, out.InSync = has, !dnssec.NewerSerial(serial, has)
	return out
}
