package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/nameserver/peer"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/primary"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/zone"
)

// A fleet is a primary and a Knot secondary.
type fleet struct {
	db       *sqldb.DB
	zones    sqldb.Zones
	server   *primary.Server
	notifier *primary.Notifier
	follower *zone.Follower
	knot     *peer.Daemon
	dir      string       // of Knot
	paid     atomic.Int64 // payments so far
}

// name returns a zone whose changes are measured, and other one of the others, in turn.
func (f *fleet) name(i int) deed.Name  { return deed.Name(fmt.Sprintf("fleet%d.com", i%fleetZones)) }
func (f *fleet) other(i int) deed.Name { return deed.Name(fmt.Sprintf("other%d.com", i%otherZones)) }

// zoneAt returns one of all zones.
func (f *fleet) zoneAt(i int) deed.Name {
	if i < fleetZones {
		return f.name(i)
	}
	return f.other(i - fleetZones)
}

// sell creates the zones by completed registrations.
func (f *fleet) sell() error {
	registry := &local.Registry{Store: sqldb.Registry{DB: f.db}, Now: time.Now}
	names := newEngine(sqldb.Jobs{DB: f.db, Now: time.Now, Zones: f.zones}, registry)
	var ids []string
	for i := range fleetZones + otherZones {
		id, err := paidJob(f.db, benchWallet, int(f.paid.Add(1)), order.Purchase{Kind: order.PurchaseRegistration, Name: f.zoneAt(i), Years: 1})
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	_, err := finishJobs(names, ids)
	return err
}

// start starts the primary and Knot, and returns when Knot has all zones.
func (f *fleet) start() error {
	ctx := context.Background()
	page, err := os.ReadFile("docs/secondaries.md")
	if err != nil {
		return err
	}
	key, err := primary.ParseKey("fleet-2026", fleetSecret)
	if err != nil {
		return err
	}
	quiet := slog.New(slog.DiscardHandler)
	catalog := &primary.Catalog{Origin: "catalog.invalid", Store: sqldb.Served{DB: f.db, Now: time.Now}}
	f.server = &primary.Server{Store: sqldb.Served{DB: f.db, Now: time.Now}, Catalog: catalog, Keys: []primary.Key{key}, Now: time.Now, Log: quiet}
	if err := f.server.Listen("127.0.0.1:0"); err != nil {
		return err
	}
	if f.dir, err = os.MkdirTemp("", "deed-bench"); err != nil {
		return err
	}
	knot, err := peer.StartKnot(f.dir, string(page), f.server.Addr().Port(), fleetSecret)
	if err != nil {
		return err
	}
	f.knot = knot
	f.notifier = &primary.Notifier{Secondaries: []primary.Secondary{{Name: "knot", Addr: knot.Addr.String(), Key: key}}, Catalog: catalog, Now: time.Now, Log: quiet}
	f.notifier.Start()
	f.follower = &zone.Follower{Zones: sqldb.Served{DB: f.db, Now: time.Now}, Publishers: []dnssec.Publisher{f.notifier}, Now: time.Now}
	if _, err := f.follower.Load(ctx); err != nil {
		return err
	}
	for i := range fleetZones + otherZones {
		if err := f.await(ctx, f.zoneAt(i)); err != nil {
			return err
		}
	}
	return nil
}

// edit makes one change, and returns the duration of its transaction and the time
// until the secondary served it.
func (f *fleet) edit(name deed.Name) (commit, change time.Duration, err error) {
	began, commit, err := f.commit(name)
	if err != nil {
		return 0, 0, err
	}
	if err := f.follower.Refresh(context.Background(), string(name)); err != nil {
		return 0, 0, err
	}
	err = f.await(context.Background(), name)
	return commit, time.Since(began), err
}

// change makes one change and publishes it, without waiting for the secondary.
func (f *fleet) change(name deed.Name) error {
	if _, _, err := f.commit(name); err != nil {
		return err
	}
	return f.follower.Refresh(context.Background(), string(name))
}

// commit adds a record to a zone in a transaction, and returns when it began and how long
// it took.
func (f *fleet) commit(name deed.Name) (began time.Time, took time.Duration, err error) {
	ctx, n := context.Background(), int(f.paid.Add(1))
	c := dnszone.Change{Kind: dnszone.ChangeBatch, Zone: name, By: benchWallet, Ops: []dnszone.RecordOp{{Op: dnszone.OpAdd, ID: dnszone.RecordID(fmt.Sprintf("rec_%d", n)),
		Record: dnszone.Record{Type: "A", Host: fmt.Sprintf("h%d", n), Value: "192.0.2.1", TTL: 300}}}}
	what := order.PurchaseOf(c)
	what.Change = c
	id, err := paidJob(f.db, benchWallet, n, what)
	if err != nil {
		return began, 0, err
	}
	j, err := (sqldb.Jobs{DB: f.db, Now: time.Now, Zones: f.zones}).Job(ctx, id)
	if err != nil {
		return began, 0, err
	}
	began = time.Now()
	if _, done, err := f.zones.ChangeZone(ctx, j); err != nil || !done {
		return began, 0, errors.Join(fmt.Errorf("the change of %s was not made", name), err)
	}
	return began, time.Since(began), nil
}

// await returns when the secondary serves the current zone.
func (f *fleet) await(ctx context.Context, name deed.Name) error {
	z, err := f.zones.Zone(ctx, name)
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(fleetWait); ; {
		if serial, err := f.serial(name); err == nil && serial == z.Serial {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the secondary does not show %s:\n%s", name, f.knot.Log())
		}
		time.Sleep(200 * time.Microsecond)
	}
}

// serial returns the serial that the secondary serves.
func (f *fleet) serial(name deed.Name) (uint32, error) {
	r, err := dns.Exchange(new(dns.Msg).SetQuestion(string(name)+".", dns.TypeSOA), f.knot.Addr.String())
	if err != nil {
		return 0, err
	}
	for _, rr := range r.Answer {
		if soa, ok := rr.(*dns.SOA); ok {
			return soa.Serial, nil
		}
	}
	return 0, errors.New("it has no such zone")
}

func (f *fleet) close() (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if f.notifier != nil {
		f.notifier.Close(ctx)
	}
	if f.knot != nil {
		err = f.knot.Stop()
	}
	if f.server != nil {
		err = errors.Join(err, f.server.Close(ctx))
	}
	if f.dir != "" {
		err = errors.Join(err, os.RemoveAll(f.dir))
	}
	return err
}
