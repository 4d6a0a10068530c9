package e2e_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/zone"
)

// A lossyManager executes SetDS and loses the answer, or does not execute it, when told.
type lossyManager struct {
	registrar.Manager
	lose, fail int
}

func (m *lossyManager) SetDS(ctx context.Context, name deed.Name, ds []dnssec.DS) error {
	if m.fail > 0 {
		m.fail--
		return errors.New("not executed")
	}
	err := m.Manager.SetDS(ctx, name, ds)
	if m.lose > 0 {
		m.lose--
		return errors.New("executed, and the answer was lost")
	}
	return err
}

// A roller replaces the key of first.com.
type roller struct {
	*env
	t       *testing.T
	zones   sqldb.Zones
	token   string // of the owner
	manager *lossyManager
	keys    *zone.KeyRoller
	seen    *validators
}

func openRoller(t *testing.T, s *env) *roller {
	t.Helper()
	zones := s.api.Zones.Store.(sqldb.Zones)
	zones.SignatureClock = nil
	r := &roller{env: s, t: t, zones: zones, manager: &lossyManager{Manager: s.registry}}
	r.token = s.bearer(t, s.bought(t, "first.com"))
	for _, body := range []string{`{"type":"A","host":"www","value":"192.0.2.1","ttl":86400}`, `{"type":"A","host":"short","value":"192.0.2.1","ttl":60}`} {
		created(t, s.try(t, "POST", "/dns/first.com", body, r.token).send(t, s))
	}
	r.keys = &zone.KeyRoller{
		Rolls: zones, Delegation: zones, Manager: r.manager, Servers: s.api.Registrations.Nameservers, DS: r.ds,
		Propagated: func(context.Context, lifecycle.KeyRoll) (bool, error) { return true, nil }, ParentTTL: 25 * time.Hour, Now: s.clock.Now,
	}
	ds, _, err := r.ds(t.Context(), "first.com")
	if err != nil || len(ds) != 1 {
		t.Fatal(ds, err)
	}
	publishDS(t, s, "first.com", ds)
	r.seen = &validators{t: t, now: s.clock.Now, parent: r.parent, served: r.served}
	return r
}

func (r *roller) ds(ctx context.Context, name deed.Name) (current, old []dnssec.DS, err error) {
	keys, err := r.zones.ZoneKeys(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	return r.zones.Publishing.DSOf(name, keys)
}

// publishDS has the registry publish a DS, and stores that.
func publishDS(t *testing.T, s *env, name deed.Name, ds []dnssec.DS) {
	t.Helper()
	if err := s.registry.SetDS(t.Context(), name, ds); err != nil {
		t.Fatal(err)
	}
	stored, err := s.api.Zones.Store.(sqldb.Zones).StoreDS(t.Context(), name, s.api.Registrations.Nameservers, ds)
	if err != nil || !stored {
		t.Fatalf("store the DS of %s: got %t, %v", name, stored, err)
	}
}

// What was seen at the registry is stored by its clock.
func TestSeenDSIsStored(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.bought(t, "first.com")
		now := s.api.Registrations.RegistryNow().Truncate(time.Second)
		if err := s.api.Zones.Store.(sqldb.Zones).SeeDS(t.Context(), "first.com"); err != nil {
			t.Fatal(err)
		}
		r, err := s.api.Registrations.Names.Registration(t.Context(), "first.com")
		if err != nil || r.DSSeen.Before(now) || r.DSSeen.After(now.Add(time.Hour)) {
			t.Errorf("got %v, %v, want %v", r.DSSeen, err, now)
		}
	})
}

func (r *roller) parent() []dnssec.DS {
	h, err := r.registry.Holding(r.t.Context(), "first.com")
	if err != nil {
		r.t.Fatal(err)
	}
	return h.DS
}

func (r *roller) served() dnssec.ServedZone {
	z, err := sqldb.Served{DB: r.db}.Zone(r.t.Context(), "first.com")
	if err != nil {
		r.t.Fatal(err)
	}
	return z
}

// tick advances the clock, renews signatures, and asks.
func (r *roller) tick(d time.Duration) {
	r.t.Helper()
	r.clock.advance(d)
	due, err := r.zones.DueZones(r.t.Context(), 10)
	for _, name := range due {
		err = errors.Join(err, r.zones.Resign(r.t.Context(), deed.Name(name)))
	}
	if err != nil {
		r.t.Fatal(err)
	}
	r.seen.ask()
}

// advance does what the workers of two nodes do at once.
func (r *roller) advance() {
	r.t.Helper()
	names, err := r.keys.Due(r.t.Context(), 10)
	if err != nil {
		r.t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, name := range append(names, names...) {
		wg.Go(func() {
			if err := r.keys.Advance(r.t.Context(), name); err != nil && deed.CodeOf(err) != deed.CodeNotFound && !strings.Contains(err.Error(), "executed") {
				r.t.Error(err)
			}
		})
	}
	wg.Wait()
}

func (r *roller) request(want int64) {
	r.t.Helper()
	if n, err := r.zones.RequestKeyRolls(r.t.Context(), ""); err != nil || n != want {
		r.t.Fatalf("got %d, %v, want %d", n, err, want)
	}
}

// Over three months the key is replaced twice, the second time by one of another secret,
// and signatures are renewed. Every resolver that asks at any time, with whatever it has
// in its cache, validates the answer; answers of the registry are lost meanwhile.
func TestKeyRollIsNeverBogus(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		r := openRoller(t, s)
		tags := map[uint16]bool{r.parent()[0].KeyTag: true}
		for round := range 2 {
			if round == 1 {
				r.zones.Publishing.Earlier = []deed.Secret{r.zones.Publishing.Master}
				r.zones.Publishing.Master = deed.Secret(strings.Repeat("fedcba9876543210", 4))
				r.keys.Rolls, r.keys.Delegation = r.zones, r.zones
			}
			r.request(1)
			r.request(0)
			r.manager.fail, r.manager.lose = 1, 1
			steps := r.rollThrough(t)
			if want := "requested introducing replacing "; !strings.HasPrefix(steps, want) && steps != strings.TrimSpace(want) {
				t.Errorf("got the steps %s, want %s", steps, want)
			}
			tags[r.parent()[0].KeyTag] = true
			for range 40 { // days
				r.tick(24 * time.Hour)
				r.advance()
			}
		}
		if len(tags) != 3 || len(r.parent()) != 1 {
			t.Errorf("the registry had the keys %v", tags)
		}
		d := s.domain(t, "first.com")
		events := ""
		for _, e := range d.Events {
			events += e.Type + " "
		}
		if d.DNSSEC.KeyRoll != nil || d.DNSSEC.DS[0].KeyTag != r.parent()[0].KeyTag || strings.Count(events, "key_introduced") != 2 || strings.Count(events, "key_replaced") != 2 {
			t.Errorf("got %+v and the events %s", d.DNSSEC, events)
		}
		if r.seen.bogus > 0 || r.seen.secure < 1000 {
			t.Errorf("%d answers were secure, %d bogus: %s", r.seen.secure, r.seen.bogus, r.seen.why)
		}
		t.Logf("%d answers secure, %d bogus", r.seen.secure, r.seen.bogus)
		s.audit(t)
	})
}

// A key is replaced with its DS, also when the name servers of the name are listed in
// another order, or the configuration has another one since.
func TestKeyRollWithOtherServers(t *testing.T) {
	for what, servers := range map[string][]string{
		"another order": {"ns2.deed.example", "ns1.deed.example"},
		"one more":      {"ns1.deed.example", "ns2.deed.example", "ns3.deed.example"},
	} {
		t.Run(what, func(t *testing.T) {
			eachEnv(t, func(t *testing.T, s *env) {
				r := openRoller(t, s)
				r.keys.Servers = servers
				was := r.parent()[0]
				r.request(1)
				r.rollThrough(t)
				for range 4 { // days
					r.tick(24 * time.Hour)
				}
				if is := r.parent(); len(is) != 1 || is[0] == was || r.seen.bogus > 0 {
					t.Errorf("the DS was %v and is %v; %d answers were bogus: %s", was, is, r.seen.bogus, r.seen.why)
				}
			})
		})
	}
}

// rollThrough advances the roll in half hours to its end and returns its steps.
func (r *roller) rollThrough(t *testing.T) (steps string) {
	t.Helper()
	last := ""
	r.seen.ask() // before the first step; each tick asks after the others
	for range 24 * 2 * 3 {
		d := read[api.Domain](t, r.get(t, "/domains/first.com"))
		if d.DNSSEC.KeyRoll == nil {
			return strings.TrimSpace(steps)
		}
		if d.DNSSEC.KeyRoll.Step != last {
			last = d.DNSSEC.KeyRoll.Step
			steps += last + " "
		}
		r.advance()
		r.tick(30 * time.Minute)
	}
	t.Fatalf("the roll has not ended after three days: %s", steps)
	return ""
}

// Without either of the two waits resolvers find answers bogus: the test above would
// notice.
func TestKeyRollWithoutWaitIsBogus(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		r := openRoller(t, s)
		next := func() {
			t.Helper()
			roll, err := r.zones.KeyRoll(t.Context(), "first.com")
			if err == nil {
				err = r.zones.NextKeyStep(t.Context(), roll)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		found := func(what string) {
			t.Helper()
			for range 12 { // longer than resolvers have the keys
				r.tick(10 * time.Minute)
			}
			if r.seen.bogus == 0 {
				t.Errorf("%s: no answer is bogus", what)
			}
			r.seen.bogus = 0
		}
		r.seen.ask()
		r.request(1)
		next()
		next()
		found("records signed by a key that is not in all caches")
		for range 24 * 4 { // until all caches have it
			r.tick(30 * time.Minute)
		}
		r.seen.bogus = 0
		r.advance() // replaces the DS
		r.tick(time.Minute)
		if r.seen.bogus > 0 {
			t.Errorf("both keys are there: %s", r.seen.why)
		}
		next()
		found("a DS in caches whose key is gone")
	})
}
