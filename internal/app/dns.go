package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/keyfile"
	"deed.example/deed/internal/nameserver"
	"deed.example/deed/internal/primary"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/secretfile"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/zone"
)

var (
	_ dnssec.Publisher = (*nameserver.Server)(nil)
	_ dnssec.Publisher = (*primary.Notifier)(nil)
	_ primary.Store    = sqldb.Served{}
	_ zone.Served      = sqldb.Served{}
	_ zone.Store       = sqldb.Zones{}
	_ zone.History     = sqldb.Zones{}
	_ zone.Delegations = sqldb.Zones{}
	_ zone.Outbox      = sqldb.Zones{}
	_ zone.KeyRolls    = sqldb.Zones{}
	_ zone.Aliases     = sqldb.Zones{}
	_ local.Delegated  = sqldb.Registry{}
)

// dnsBackend stores, publishes and serves zones.
type dnsBackend struct {
	zones    sqldb.Zones
	follower *zone.Follower
	server   *nameserver.Server   // nil if it is off
	snapshot *nameserver.Snapshot // of its zones; likewise
	primary  *primary.Server      // likewise
	notifier *primary.Notifier    // likewise
	drift    primary.Drift
	parents  *local.Parents // of the sandbox's names; nil outside a sandbox
	served   chan error     // nil until the server answers
	stopped  func() bool    // whether operators have stopped publishing
}

// openDNS opens the name server and publishes every zone.
func (a *App) openDNS(ctx context.Context) error {
	c := &a.config
	masters, err := a.openMasters()
	if err != nil {
		return err
	}
	zones := sqldb.Zones{DB: a.DB, Now: a.now, SignatureClock: a.calendar.Now, Publishing: c.publishing(masters)}
	if err := zones.CheckMaster(ctx); err != nil {
		return fmt.Errorf("dns.key: %w", err)
	}
	if c.DNSSEC == "on" {
		zones.Generation = 1
	}
	d := &dnsBackend{stopped: func() bool { return false }, zones: zones, follower: &zone.Follower{Zones: sqldb.Served{DB: a.DB, Now: a.now}, Now: a.now}}
	a.dns = d // from here on there is something to close
	if err := d.openServer(c, a.master); err != nil {
		return err
	}
	if err := d.openPrimary(c, a.DB, a.log); err != nil {
		return err
	}
	if a.chain.sandbox != nil && d.server != nil {
		a.chain.sandbox.DNS = d.server.Addr().String()
		d.parents = &local.Parents{
			Names: sqldb.Registry{DB: a.DB}, Server: d.server, Publishing: d.zones.Publishing, Now: a.calendar.Now, Clock: a.now,
		}
	}
	if err := d.load(ctx, c.zoneSnapshotFile(), a.log); err != nil {
		return err
	}
	d.serve(a.log)
	return nil
}

// load publishes every zone: from the snapshot of the last run, as far as it has them.
func (d *dnsBackend) load(ctx context.Context, path string, log *slog.Logger) error {
	if d.server != nil {
		d.snapshot = &nameserver.Snapshot{Server: d.server, Path: path}
		d.follower.Snapshot = d.snapshot
	}
	loaded, err := d.follower.Load(ctx)
	if loaded.Snapshot != nil && !errors.Is(loaded.Snapshot, fs.ErrNotExist) {
		log.Warn("the zone snapshot could not be used: the zones were read from the database", "err", loaded.Snapshot)
	}
	if loaded.Failed > 0 {
		log.Error("zones cannot be served", "zones", loaded.Failed, "err", loaded.FirstBad)
	}
	if err == nil && len(d.follower.Publishers) > 0 {
		log.Info("zones loaded", "zones", loaded.Zones, "fromSnapshot", loaded.Restored)
	}
	return err
}

// saveSnapshot writes the zones down when enough of them have changed.
func (d *dnsBackend) saveSnapshot(log *slog.Logger) func(ctx context.Context) error {
	return func(context.Context) error {
		if d.snapshot == nil {
			return nil
		}
		saved, err := d.snapshot.Save()
		if saved {
			log.Info("zone snapshot written", "file", d.snapshot.Path)
		}
		return err
	}
}

// serve answers from now on. Before every zone is loaded, the answers would refuse names
// that are served here.
func (d *dnsBackend) serve(log *slog.Logger) {
	if d.server == nil {
		return
	}
	d.served = make(chan error, 1)
	go func() {
		defer close(d.served)
		err := d.server.Serve()
		if err != nil { // /health only says that nobody answers
			log.Error("the name server stopped serving", "err", err)
		}
		d.served <- err
	}()
}

// openMasters reads the secrets that keys are derived from, newest first.
func (a *App) openMasters() ([]deed.Secret, error) {
	masters, err := keyfile.OpenZoneSecrets(a.config.zoneSecretFile())
	if err != nil {
		return nil, fmt.Errorf("dns.key: %w", err)
	}
	a.master = masters[len(masters)-1]
	return masters, nil
}

// publishing returns with which settings zones are served.
func (c *Config) publishing(masters []deed.Secret) dnssec.Publishing {
	return dnssec.Publishing{
		SOA:     dnssec.NewSOA(c.Nameservers[0], "hostmaster."+parentOf(c.Nameservers[0])),
		Servers: c.Nameservers, Master: masters[0], Earlier: masters[1:], Redirect: c.RedirectAddresses,
	}
}

func parentOf(host string) string {
	_, parent, _ := strings.Cut(host, ".")
	return parent
}

func (d *dnsBackend) openServer(c *Config, master deed.Secret) (err error) {
	if c.DNSListen == off {
		return nil
	}
	conf := c.dnsLimits()
	conf.Listen = c.DNSListen
	if conf.CookieSecret, err = dnssec.DeriveCookieSecret(master); err != nil {
		return fmt.Errorf("dns.key: %w", err)
	}
	if d.server, err = nameserver.Open(conf); err != nil {
		return listenError("dns.listen", err)
	}
	d.follower.Publishers = append(d.follower.Publishers, d.server)
	return nil
}

// catalogOrigin is the zone that lists all others, as docs/secondaries.md has it.
// It is not public (RFC 9432, 7), so its name is a reserved one (RFC 6761, 6.4).
const catalogOrigin = "catalog.invalid"

// openPrimary opens the primary for secondaries, if there are any.
func (d *dnsBackend) openPrimary(c *Config, db *sqldb.DB, log *slog.Logger) error {
	keys, servers, err := c.readSecondaries()
	if err != nil {
		return err
	}
	catalog := &primary.Catalog{Origin: catalogOrigin, Store: sqldb.Served{DB: db, Now: d.zones.Now}}
	d.drift.Servers = servers
	if len(d.drift.Servers) > 0 {
		d.notifier = &primary.Notifier{Secondaries: d.drift.Servers, Catalog: catalog, Withdrawn: d.zones, Now: time.Now, Log: log}
		d.notifier.Start()
		d.follower.Publishers = append(d.follower.Publishers, d.notifier)
	}
	if c.PrimaryListen == off {
		return nil
	}
	d.primary = &primary.Server{Store: sqldb.Served{DB: db, Now: d.zones.Now}, Withdrawn: d.zones, Catalog: catalog, Keys: keys, Allow: c.PrimaryAllow, NSID: c.DNSAnswers.NSID, Now: time.Now, Log: log}
	if err := d.primary.Listen(c.PrimaryListen); err != nil {
		return listenError("dns.primary_listen", err)
	}
	return nil
}

// readSecondaries returns the keys of zone transfers, and the secondaries with theirs.
func (c *Config) readSecondaries() (keys []primary.Key, servers []primary.Secondary, err error) {
	if keys, err = readTSIG(c.TSIG); err != nil {
		return nil, nil, fmt.Errorf("dns.tsig: %w", err)
	}
	if servers, err = secondaries(c.Secondaries, keys); err != nil {
		return nil, nil, fmt.Errorf("dns.secondaries: %w", err)
	}
	return keys, servers, nil
}

// secondaries parses name@host:port/key. Notices to a server without a key are not
// signed: PowerDNS refuses a signature by a key that it does not have.
func secondaries(words []string, keys []primary.Key) (list []primary.Secondary, err error) {
	for _, word := range words {
		name, rest, _ := strings.Cut(word, "@")
		addr, keyName, signed := strings.Cut(rest, "/")
		s := primary.Secondary{Name: name, Addr: addr}
		if signed {
			i := slices.IndexFunc(keys, func(k primary.Key) bool { return k.Named(keyName) })
			if i < 0 {
				return nil, fmt.Errorf("%s: dns.tsig has no key %q", name, keyName)
			}
			s.Key = keys[i]
		}
		list = append(list, s)
	}
	return list, nil
}

// readTSIG reads the keys of zone transfers: a name and a secret per line.
func readTSIG(path string) (keys []primary.Key, err error) {
	if path == "" {
		return nil, nil
	}
	raw, err := secretfile.Read(path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(raw)) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) != 2 {
			return nil, fmt.Errorf("%s: a line holds a name, a blank and a secret in base64", path) // does not quote the secret
		}
		key, err := primary.ParseKey(words[0], words[1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 { // without keys, transfers would only be allowed by address
		return nil, fmt.Errorf("%s has no keys: write a name and a secret in base64 into each line, or remove the setting", path)
	}
	return keys, nil
}

// ping returns the health check of the name server, or nil if it is off.
func (d *dnsBackend) ping() func(ctx context.Context) error {
	if d.server == nil {
		return nil
	}
	return func(ctx context.Context) error {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, "tcp", d.server.Addr().String())
		if err != nil {
			return err
		}
		return conn.Close()
	}
}

// close stops the servers.
func (d *dnsBackend) close() error {
	var err error
	if d.notifier != nil {
		last, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		d.notifier.Close(last)
		cancel()
	}
	if d.primary != nil {
		last, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		err = d.primary.Close(last)
		cancel()
	}
	if d.server != nil {
		err = errors.Join(err, d.server.Close())
	}
	if d.served != nil {
		err = errors.Join(err, <-d.served)
	}
	return err
}
