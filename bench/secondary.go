package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
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

const (
	fleetZones  = 10 // changed in rotation, so that none waits for its last NOTIFY
	fleetEdits  = 300
	fleetSecret = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	fleetWait   = 30 * time.Second // for one change
)

// secondaryRows measures the time from a paid change until a Knot secondary serves
// it: the transaction with the signatures, the NOTIFY and the zone transfer.
// Without Knot there is no row.
func secondaryRows() (rows []row, err error) {
	_, db, shut, err := openDatabase()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, shut()) }()
	f := &fleet{db: db, zones: jobZones(db)}
	defer func() { err = errors.Join(err, f.close()) }()
	if err := f.sell(); err != nil {
		return nil, err
	}
	if err := f.start(); errors.Is(err, peer.ErrMissing) {
		fmt.Fprintln(os.Stderr, "bench: no row for a change → secondary:", err)
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var commits, changes, trips []time.Duration
	for i := range fleetEdits {
		commit, change, err := f.edit(i)
		if err != nil {
			return nil, err
		}
		began := time.Now()
		if _, err := f.serial(f.name(i)); err != nil {
			return nil, err
		}
		commits, changes, trips = append(commits, commit), append(changes, change), append(trips, time.Since(began))
	}
	fmt.Printf("change → secondary: p50 %s, p99 %s of %d edits of %d signed zones; the transaction alone p50 %s, p99 %s; a bare question to the secondary p50 %s, p99 %s\n\n",
		inMS(changes, 50), inMS(changes, 99), fleetEdits, fleetZones, inMS(commits, 50), inMS(commits, 99), inMS(trips, 50), inMS(trips, 99))
	return []row{{what: "change → answer of a Knot we feed, one at a time, p50", against: "its transaction alone, signed, on SQLite",
		ours: 1 / percentile(changes, 50).Seconds(), limit: 1 / percentile(commits, 50).Seconds()}}, nil
}

func percentile(d []time.Duration, p int) time.Duration {
	slices.Sort(d)
	return d[len(d)*p/100]
}

func inMS(d []time.Duration, p int) string {
	return fmt.Sprintf("%.2f ms", float64(percentile(d, p).Microseconds())/1000)
}

// A fleet is a primary and a Knot secondary.
type fleet struct {
	db       *sqldb.DB
	zones    sqldb.Zones
	server   *primary.Server
	notifier *primary.Notifier
	follower *zone.Follower
	knot     *peer.Daemon
	dir      string // of Knot
	paid     int    // payments so far
}

func (f *fleet) name(i int) deed.Name { return deed.Name(fmt.Sprintf("fleet%d.com", i%fleetZones)) }

// sell creates the zones by completed registrations.
func (f *fleet) sell() error {
	registry := &local.Registry{Store: sqldb.Registry{DB: f.db}, Now: time.Now}
	names := newEngine(sqldb.Jobs{DB: f.db, Now: time.Now, Zones: f.zones}, registry)
	var ids []string
	for i := range fleetZones {
		id, err := paidJob(f.db, f.paid, order.Purchase{Kind: order.PurchaseRegistration, Name: f.name(i), Years: 1})
		if err != nil {
			return err
		}
		f.paid++
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
	catalog := &primary.Catalog{Origin: "catalog.invalid", Store: sqldb.Served{DB: f.db}}
	f.server = &primary.Server{Store: sqldb.Served{DB: f.db}, Catalog: catalog, Keys: []primary.Key{key}, Now: time.Now, Log: quiet}
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
	f.follower = &zone.Follower{Zones: sqldb.Served{DB: f.db}, Publishers: []dnssec.Publisher{f.notifier}, Now: time.Now}
	if _, err := f.follower.Load(ctx); err != nil {
		return err
	}
	for i := range fleetZones {
		if err := f.await(ctx, f.name(i)); err != nil {
			return err
		}
	}
	return nil
}

// edit makes one change, and returns the duration of its transaction and the time
// until the secondary served it.
func (f *fleet) edit(i int) (commit, change time.Duration, err error) {
	ctx, name := context.Background(), f.name(i)
	c := dnszone.Change{Kind: dnszone.ChangeBatch, Zone: name, By: benchWallet, Ops: []dnszone.RecordOp{{Op: dnszone.OpAdd, ID: dnszone.RecordID(fmt.Sprintf("rec_%d", i)),
		Record: dnszone.Record{Type: "A", Host: fmt.Sprintf("h%d", i), Value: "192.0.2.1", TTL: 300}}}}
	what := order.PurchaseOf(c)
	what.Change = c
	id, err := paidJob(f.db, f.paid, what)
	if err != nil {
		return 0, 0, err
	}
	f.paid++
	j, err := (sqldb.Jobs{DB: f.db, Now: time.Now, Zones: f.zones}).Job(ctx, id)
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	if done, err := f.zones.ChangeZone(ctx, j); err != nil || !done {
		return 0, 0, errors.Join(fmt.Errorf("the change of %s was not made", name), err)
	}
	commit = time.Since(began)
	if err := f.follower.Refresh(ctx, string(name)); err != nil {
		return 0, 0, err
	}
	err = f.await(ctx, name)
	return commit, time.Since(began), err
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
