package sqldb_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// A testEnv registers names and changes their DNS, without real payments.
type testEnv struct {
	clock    time.Time
	zones    sqldb.Zones
	served   sqldb.Served
	payments sqldb.Payments
	jobs     sqldb.Jobs
	names    sqldb.Registrations
	sold     int
}

func newTestEnv(db *sqldb.DB) *testEnv {
	s := &testEnv{clock: noon}
	now := func() time.Time { return s.clock }
	s.served = sqldb.Served{DB: db, Now: now}
	s.zones = sqldbtest.Zones(db, now)
	s.zones.Generation = 1
	s.payments = sqldb.Payments{DB: db, ChainID: 84532, Asset: "0x036cbd53842c5426634e7929541ec2318f3dcf7e", Now: now}
	s.jobs = sqldb.Jobs{DB: db, Now: now, Zones: s.zones}
	s.names = sqldb.Registrations{DB: db, Now: now, Zones: s.zones}
	return s
}

// paid returns the job of a settled purchase.
func (s *testEnv) paid(t testing.TB, what order.Purchase) order.Job {
	t.Helper()
	s.sold++
	auth := settle.Authorization{Payer: wallet, PayTo: wallet, Amount: deed.Cent, Nonce: fmt.Sprint(s.sold)}
	p, err := s.payments.AuthorizePayment(t.Context(), order.Payment{ID: auth.PaymentID(84532, s.payments.Asset), Source: order.SourceX402Exact, Auth: auth, Purchase: what}, sqldbtest.AdmitAll)
	for _, to := range []order.PaymentState{order.PaymentSettling, order.PaymentSettled} {
		if err == nil {
			p, err = s.payments.MovePayment(t.Context(), p, to, fmt.Sprintf("0xfeed%d", s.sold))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	j, err := s.jobs.JobOf(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// sell registers a name.
func (s *testEnv) sell(t testing.TB, name deed.Name, records ...dnszone.Record) lifecycle.Registration {
	t.Helper()
	j := s.paid(t, order.Purchase{Kind: order.PurchaseRegistration, Name: name, Years: 1, Records: records})
	j.Attempts, j.Reference, j.Submitted, j.Lease = 1, j.ID+"-1", s.clock, s.clock
	for _, to := range []order.JobState{order.JobSubmitting, order.JobVerifying} {
		if moved, err := s.jobs.MoveJob(t.Context(), j, to, s.clock); err != nil || !moved {
			t.Fatal(moved, err)
		}
		j.State = to
	}
	r := lifecycle.Registration{Name: name, Owner: wallet, Status: lifecycle.StatusActive, Reference: j.Reference, PaymentID: j.PaymentID,
		Created: s.clock, Expires: s.clock.AddDate(1, 0, 0), Updated: s.clock, Nameservers: s.zones.Publishing.Servers}
	if err := s.jobs.CompleteJob(t.Context(), j, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// change applies a paid change.
func (s *testEnv) change(t testing.TB, name deed.Name, ops ...dnszone.RecordOp) {
	t.Helper()
	c := dnszone.Change{Kind: dnszone.ChangeBatch, Zone: name, By: wallet, Ops: ops}
	j := s.paid(t, order.PurchaseOf(c))
	if _, done, err := s.zones.ChangeZone(t.Context(), j); err != nil || !done {
		t.Fatal(done, err)
	}
	if j, err := s.jobs.Job(t.Context(), j.ID); err != nil || j.State != order.JobCompleted {
		t.Fatalf("got %s %s, %v", j.State, j.Failure, err)
	}
}

func (s *testEnv) zone(t testing.TB, name deed.Name) dnssec.ServedZone {
	t.Helper()
	z, err := s.served.Zone(t.Context(), string(name))
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// member returns the label of a zone in the catalog, "" when it is not there,
// and the catalog's serial.
func (s *testEnv) member(t testing.TB, name deed.Name) (label string, serial uint32) {
	t.Helper()
	members, serial, err := s.served.Members(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if alone, err := s.served.CatalogSerial(t.Context()); err != nil || alone != serial {
		t.Errorf("the catalog is at %d and at %d, %v", serial, alone, err)
	}
	for _, m := range members {
		if m.Origin == string(name) {
			return m.Label, serial
		}
	}
	return "", serial
}

// randomOps returns a few random operations that the zone allows.
func (s *testEnv) randomOps(t testing.TB, dice *rand.Rand, name deed.Name) (ops []dnszone.RecordOp) {
	t.Helper()
	z, err := s.zones.Zone(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	for range 1 + dice.IntN(3) {
		s.sold++
		fresh := dnszone.Record{Type: "TXT", Host: fmt.Sprintf("h%d", dice.IntN(5)), Value: fmt.Sprintf("text %d", s.sold), TTL: 60 * (1 + dice.IntN(3))}
		switch pick := dice.IntN(len(z.Records) + 2); {
		case pick >= len(z.Records):
			ops = append(ops, dnszone.RecordOp{Op: dnszone.OpAdd, ID: dnszone.RecordID(fmt.Sprintf("rec_%d", s.sold)), Record: fresh})
		case dice.IntN(2) == 0:
			ops = append(ops, dnszone.RecordOp{Op: dnszone.OpUpdate, ID: z.Records[pick].ID, Patch: dnszone.RecordPatch{Value: &fresh.Value}})
			z.Records = slices.Delete(z.Records, pick, pick+1)
		default:
			ops = append(ops, dnszone.RecordOp{Op: dnszone.OpDelete, ID: z.Records[pick].ID})
			z.Records = slices.Delete(z.Records, pick, pick+1)
		}
	}
	return ops
}

// An earlier version of a zone plus the changes since then equals the current version,
// for every earlier version.
func TestChangesLeadFromEveryEditionToTheZone(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const name = "example.com"
		s, dice := newTestEnv(db), rand.New(rand.NewPCG(3, 4))
		s.sell(t, name, dnszone.Record{Type: "TXT", Host: "@", Value: "the first", TTL: 300})
		s.sell(t, "neighbour.com", dnszone.Record{Type: "A", Host: "@", Value: "192.0.2.2", TTL: 300})
		editions := []dnssec.ServedZone{s.zone(t, name)}
		for range 30 {
			s.clock = s.clock.Add(time.Duration(dice.IntN(3)) * 12 * time.Hour)
			if dice.IntN(6) == 0 {
				if err := s.zones.Resign(t.Context(), name); err != nil {
					t.Fatal(err)
				}
			} else {
				s.change(t, name, s.randomOps(t, dice, name)...)
			}
			editions = append(editions, s.zone(t, name))
		}
		last := editions[len(editions)-1]
		for _, was := range editions[:len(editions)-1] {
			gone, came, serial, err := s.served.Changes(t.Context(), name, was.Serial)
			if err != nil || serial != last.Serial {
				t.Fatalf("since %d: got %d, %v", was.Serial, serial, err)
			}
			wantGone, wantCame := was.Diff(last)
			if !slices.Equal(gone, wantGone) || !slices.Equal(came, wantCame) {
				t.Errorf("since %d: got %d removed and %d added, want %d and %d", was.Serial, len(gone), len(came), len(wantGone), len(wantCame))
			}
		}
		if soa, err := s.served.SOA(t.Context(), name); err != nil || soa != last.RRs[0] {
			t.Errorf("got %v, %v", soa, err)
		}
		for _, never := range []uint32{0, editions[0].Serial - 1, editions[1].Serial + 1, last.Serial, last.Serial + 1, 1 << 31} {
			if slices.ContainsFunc(editions[:len(editions)-1], func(z dnssec.ServedZone) bool { return z.Serial == never }) {
				continue
			}
			if _, _, _, err := s.served.Changes(t.Context(), name, never); deed.CodeOf(err) != deed.CodeNotFound {
				t.Errorf("since %d, which it never had or has now: got %v", never, err)
			}
		}
	})
}

// Records removed more than a month ago are deleted, and no partial diff is returned.
func TestOldEditionsAreForgotten(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const name = "example.com"
		s := newTestEnv(db)
		s.sell(t, name, dnszone.Record{Type: "A", Host: "@", Value: "192.0.2.1", TTL: 300})
		first := s.zone(t, name)
		for i, wait := range []int{1, 20, 20} {
			s.clock = s.clock.AddDate(0, 0, wait)
			s.change(t, name, dnszone.RecordOp{Op: dnszone.OpAdd, ID: dnszone.RecordID(fmt.Sprint("rec_", i)), Record: dnszone.Record{Type: "A", Host: "www", Value: fmt.Sprint("192.0.2.", 10+i), TTL: 60}})
			if i == 0 {
				if _, _, _, err := s.served.Changes(t.Context(), name, first.Serial); err != nil {
					t.Errorf("after a day: %v", err)
				}
			}
		}
		if _, _, _, err := s.served.Changes(t.Context(), name, first.Serial); deed.CodeOf(err) != deed.CodeNotFound {
			t.Errorf("after 41 days: got %v", err)
		}
	})
}

// A zone is in the catalog while it is served, with a label that changes with its owner,
// and every such change raises the serial of the catalog.
func TestMembersThroughALife(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const name = "example.com"
		s := newTestEnv(db)
		versions := map[uint32]map[string]string{}
		label, serial := s.member(t, name)
		if label != "" {
			t.Fatalf("an empty catalog lists %s", label)
		}
		grown := func(what string, want func(label string) bool) {
			t.Helper()
			now, next := s.member(t, name)
			if int32(next-serial) <= 0 || !want(now) {
				t.Errorf("%s: the catalog went from %d to %d, the label from %q to %q", what, serial, next, label, now)
			}
			label, serial = now, next
			s.checkCatalog(t, versions)
			_, err := s.served.Zone(t.Context(), name)
			_, missing := s.served.SOA(t.Context(), name)
			_, _, _, unknown := s.served.Changes(t.Context(), name, 1)
			if served := now != ""; served != (err == nil) || served != (missing == nil) || deed.CodeOf(unknown) != deed.CodeNotFound {
				t.Errorf("%s: got %v, %v and %v", what, err, missing, unknown)
			}
		}
		is := func(want string) func(string) bool { return func(got string) bool { return got == want } }
		fresh := func(old string) func(string) bool {
			return func(got string) bool { return got != "" && got != old }
		}
		r := s.sell(t, name)
		grown("sold", fresh(""))
		held, first := label, s.zone(t, name)

		withdrawn := r
		withdrawn.Status, withdrawn.Updated = lifecycle.StatusRedemption, s.clock
		s.update(t, r, withdrawn)
		grown("withdrawn", is(""))
		back := withdrawn
		back.Status = lifecycle.StatusActive
		s.update(t, withdrawn, back)
		grown("restored", is(held))

		given := back
		given.Owner = "0x00000000000000000000000000000000000000aa"
		if err := s.names.RecordAction(t.Context(), given, lifecycle.OwnerAction{Kind: lifecycle.ActionHandover, Wallet: wallet}); err != nil {
			t.Fatal(err)
		}
		grown("handed over", fresh(held))
		given, err := s.names.Registration(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		held = label
		if err := s.names.EndRegistration(t.Context(), given, "deleted", nil); err != nil {
			t.Fatal(err)
		}
		grown("ended", is(""))
		s.sell(t, name)
		grown("sold again", fresh(held))
		if z := s.zone(t, name); int32(z.Serial-first.Serial) <= 0 {
			t.Errorf("the new zone starts at %d, and the old one had %d", z.Serial, first.Serial)
		}
	})
}

// checkCatalog adds the catalog to its versions, each a list of origins by label, and
// checks that the stored changes lead from every earlier one to it.
func (s *testEnv) checkCatalog(t testing.TB, versions map[uint32]map[string]string) {
	t.Helper()
	members, serial, err := s.served.Members(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	versions[serial] = map[string]string{}
	for _, m := range members {
		versions[serial][m.Label] = m.Origin
	}
	for from, was := range versions {
		got := maps.Clone(was)
		changes, at, err := s.served.CatalogChanges(t.Context(), from, 100)
		for _, c := range changes {
			if _, there := got[c.Label]; there == c.Added {
				t.Errorf("from %d to %d: %+v changes nothing", from, serial, c)
			}
			if c.Added {
				got[c.Label] = c.Origin
			} else {
				delete(got, c.Label)
			}
		}
		if err != nil || at != serial || !maps.Equal(got, versions[serial]) {
			t.Errorf("from %d: got %v at %d, %v, want %v at %d", from, got, at, err, versions[serial], serial)
		}
		if _, _, err := s.served.CatalogChanges(t.Context(), from, len(changes)-1); len(changes) > 0 && deed.CodeOf(err) != deed.CodeNotFound {
			t.Errorf("more than asked for: got %v", err)
		}
	}
	for _, unknown := range []uint32{1, serial + 1} {
		if _, _, err := s.served.CatalogChanges(t.Context(), unknown, 100); deed.CodeOf(err) != deed.CodeNotFound {
			t.Errorf("since %d: got %v", unknown, err)
		}
	}
}

// All zones are read in parts, each of them once.
func TestAllZonesAreRead(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestEnv(db)
		want := map[string]int{}
		for i := range 7 {
			name := deed.Name(fmt.Sprintf("name%d.com", i))
			s.sell(t, name)
			want[string(name)] = len(s.zone(t, name).RRs)
		}
		for _, size := range []int{1, 3, 7, 8} {
			got := map[string]int{}
			err := s.served.AllBy(t.Context(), size, func(z dnssec.ServedZone) error {
				got[z.Origin] += len(z.RRs)
				return nil
			})
			if err != nil || !maps.Equal(got, want) {
				t.Errorf("%d at a time: got %v, %v, want %v", size, got, err, want)
			}
		}
	})
}

// The history of the catalog is kept for about 30 days, and ends when a backup is
// restored.
func TestCatalogHistoryIsPruned(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestEnv(db)
		s.sell(t, "first.com")
		_, first := s.member(t, "first.com")
		s.clock = s.clock.AddDate(0, 0, 20)
		s.sell(t, "second.com")
		_, second := s.member(t, "second.com")
		if changes, _, err := s.served.CatalogChanges(t.Context(), first, 10); err != nil || len(changes) != 1 {
			t.Errorf("after 20 days: got %v, %v", changes, err)
		}
		s.clock = s.clock.AddDate(0, 0, 20)
		s.sell(t, "third.com")
		if _, _, err := s.served.CatalogChanges(t.Context(), first, 10); deed.CodeOf(err) != deed.CodeNotFound {
			t.Errorf("after 40 days: got %v", err)
		}
		if changes, _, err := s.served.CatalogChanges(t.Context(), second, 10); err != nil || len(changes) != 1 {
			t.Errorf("of the last 20 days: got %v, %v", changes, err)
		}
		if _, err := s.zones.Republish(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.served.CatalogChanges(t.Context(), second, 10); deed.CodeOf(err) != deed.CodeNotFound {
			t.Errorf("after a restore: got %v", err)
		}
	})
}

// Members and the serial are consistent under concurrent registrations: a serial never
// stands for two lists.
func TestMembersAreOfOneMoment(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestEnv(db)
		sold, read := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(sold)
			for i := range 40 {
				if t.Failed() {
					return
				}
				<-read // so that every version may be seen, however slow reading is
				s.sell(t, deed.Name(fmt.Sprintf("name%d.com", i)))
			}
		}()
		lists := map[uint32]int{}
		for looking := true; looking; {
			select {
			case <-sold:
				looking = false
			default:
			}
			members, serial, err := s.served.Members(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if n, known := lists[serial]; known && n != len(members) {
				t.Fatalf("the catalog at %d has %d members and %d", serial, n, len(members))
			}
			lists[serial] = len(members)
			select {
			case read <- struct{}{}:
			default: // a name is being sold meanwhile
			}
		}
		if len(lists) < 3 {
			t.Errorf("saw only %d versions", len(lists))
		}
	})
}

func (s *testEnv) update(t *testing.T, was, is lifecycle.Registration) {
	t.Helper()
	if written, err := s.names.UpdateRegistration(t.Context(), was, is, nil, s.clock); err != nil || !written {
		t.Fatal(written, err)
	}
}

// Signatures of all signed zones are renewed before they expire, and the records do not
// change.
func TestSignaturesAreRenewed(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestEnv(db)
		for i := range 3 {
			s.sell(t, deed.Name(fmt.Sprintf("name%d.com", i)), dnszone.Record{Type: "A", Host: "@", Value: "192.0.2.1", TTL: 300})
		}
		s.zones.Generation = 0
		s.jobs.Zones = s.zones
		s.sell(t, "unsigned.com")
		if due, err := s.zones.DueZones(t.Context(), 10); err != nil || len(due) != 0 {
			t.Fatalf("new zones: got %v, %v", due, err)
		}
		before := s.zone(t, "name1.com")
		s.clock = s.clock.AddDate(0, 0, 13) // signatures are good for 14 days
		due, err := s.zones.DueZones(t.Context(), 10)
		if err != nil || len(due) != 3 {
			t.Fatalf("after 13 days: got %v, %v", due, err)
		}
		for _, name := range due {
			if err := s.zones.Resign(t.Context(), deed.Name(name)); err != nil {
				t.Fatal(err)
			}
		}
		after := s.zone(t, "name1.com")
		if after.Serial <= before.Serial || !after.RenewAt().After(s.clock) {
			t.Errorf("got serial %d after %d, and it is due again %s", after.Serial, before.Serial, after.RenewAt())
		}
		gone, came := before.Diff(after)
		if len(gone) != len(came) {
			t.Errorf("%d records were removed and %d added", len(gone), len(came))
		}
		const rrsig = 46
		for i, rr := range came {
			if i > 0 && rr.Type != rrsig { // the first is the SOA
				t.Errorf("a renewal changed %s, type %d", rr.Owner, rr.Type)
			}
		}
		if due, err := s.zones.DueZones(t.Context(), 10); err != nil || len(due) != 0 {
			t.Errorf("after the renewal: got %v, %v", due, err)
		}
	})
}
