package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registration"
)

// TestDelegationSimulation runs many seeds in which the owner of a signed name changes its
// name servers and its DS in any order, its keys are replaced, and it is handed over, at a
// registry that fails before or after it has done something. After each change at the
// parent, no resolver may find the name bogus, whatever it has in its cache (see bogus); at
// the end nothing fails any more, and the name must get what its owner wanted last.
// SIM_SEED=7 runs that seed alone, and tells what happened in it.
func TestDelegationSimulation(t *testing.T) {
	simulateSeeds(t, func(seed uint64, loud bool) (*world, error) {
		d, err := newDelegations(seed, loud)
		if err != nil {
			return &world{}, err
		}
		defer d.db.Close() // it is gone with the run
		d.run()
		return d.world, d.broken
	}, []string{"at home", "elsewhere", "signed", "key replaced"}, delegationSeeds)
}

const (
	parentDSTTL = 24 * time.Hour // what resolvers keep; the waits are an hour longer, for the registry's delay
	parentNSTTL = 48 * time.Hour
	sigTTL      = 24 * time.Hour // of the records, and so of their signatures

	signedName    deed.Name = "first.com"
	signedOrder             = "order-1"
	advanceMoves            = "advance the move"
	forcedFor               = 100 * time.Hour // after a forced change resolvers may find the name bogus
	delegationLen           = 50              // steps of a run
)

// foreignDS is that of the key with which all name servers elsewhere sign.
var foreignDS = dnssec.DS{KeyTag: 1, Algorithm: 13, DigestType: 2, Digest: strings.Repeat("cd", 32)}

// places are where an owner may have a name served.
var places = map[string][]string{
	"home": {"ns1.deed.example", "ns2.deed.example"}, "a": {"ns1.example.net", "ns2.example.net"}, "b": {"ns1.example.org", "ns2.example.org"},
	"both": {"ns1.deed.example", "ns1.example.net"}, // some are ours
}

// placeOf returns where the servers are.
func placeOf(hosts []string) string {
	for place, servers := range places {
		if lifecycle.SameServers(hosts, servers) {
			return place
		}
	}
	return ""
}

// run takes the steps, and then comes to rest.
func (d *delegations) run() {
	for range delegationLen {
		if d.broken != nil {
			return
		}
		d.act()
	}
	d.tell("nothing fails any more")
	d.faulty = false
	for range 90 {
		d.now = d.now.Add(3 * time.Hour)
		d.work()
	}
	if d.broken == nil {
		d.broken = d.rested()
	}
}

// act is one step of the owner, the operator, a worker, or time.
func (d *delegations) act() {
	switch n := d.rng.IntN(20); {
	case n < 7:
		d.delegate()
	case n < 9:
		d.putDS()
	case n == 9 && d.rng.IntN(3) == 0:
		d.handOver()
	case n == 10 && d.rng.IntN(3) == 0:
		d.tell("the keys are replaced")
		if _, err := d.zones.RequestKeyRolls(context.Background(), ""); err != nil {
			d.broken = err
		}
	case n < 14:
		d.work()
	case n < 16:
		d.pass(time.Duration(1+d.rng.IntN(90)) * time.Second)
	case n < 18:
		d.pass(time.Duration(1+d.rng.IntN(120)) * time.Minute)
	default:
		d.pass(time.Duration(1+d.rng.IntN(60)) * time.Hour)
	}
}

// pass lets time pass, while the workers work.
func (d *delegations) pass(long time.Duration) {
	d.tell("%s pass", long)
	for range 4 { // a name is compared a minute after a change, however long the steps below are
		if d.life == nil || d.broken != nil {
			break
		}
		d.now = d.now.Add(time.Minute)
		d.work()
	}
	for end := d.now.Add(long); d.now.Before(end) && d.broken == nil; {
		d.now = d.now.Add(min(end.Sub(d.now), max(time.Minute, long/5)))
		d.work()
	}
}

// others lets others act while somebody waits for the registry. A call takes less than a
// minute.
func (d *delegations) others() {
	if !d.faulty || d.nested >= 2 || d.broken != nil || d.rng.IntN(8) > 0 {
		return
	}
	d.nested++
	defer func() { d.nested-- }()
	switch n := d.rng.IntN(6); {
	case n < 2:
		d.delegate()
	case n < 3:
		d.putDS()
	case n < 5:
		d.work()
	default:
		d.now = d.now.Add(time.Duration(1+d.rng.IntN(20)) * time.Second)
	}
}

// do runs f until it ends or its process dies.
func (d *delegations) do(what string, f func(ctx context.Context) error) (err error) {
	d.tell("%s", what)
	defer func() {
		if v := recover(); v != nil {
			if _, died := v.(death); !died {
				panic(v)
			}
			d.tell("dies: %s", what)
			err = errLost
		}
	}()
	if err = f(context.Background()); err != nil {
		d.tell("%s: %v", what, err)
	}
	return err
}

// owners runs an act of the owner, and reports whether it succeeded, and nobody else acted
// meanwhile.
func (d *delegations) owners(what string, f func(ctx context.Context) error) (ok bool) {
	d.acts++
	began := d.acts
	d.acting++
	defer func() { d.acting-- }()
	err := d.do(what, f)
	return err == nil && d.acts == began && d.acting == 1
}

func (d *delegations) delegate() {
	to := []string{"home", "home", "a", "a", "b", "both"}[d.rng.IntN(6)]
	force := d.rng.IntN(25) == 0 && d.nested == 0 // alone: nobody waits for a forced change
	what := fmt.Sprintf("delegate to %s, forced %t", to, force)
	d.wanted[to] = true
	if force {
		d.forced = d.now.Add(forcedFor)
		d.nested += 2
		defer func() { d.nested -= 2 }()
	}
	if d.owners(what, func(ctx context.Context) error {
		return d.service.Delegate(ctx, d.owner, signedName, registration.Delegation{Hosts: places[to], Force: force})
	}) {
		d.wanted = map[string]bool{to: true}
	}
}

// putDS has the owner sign a name that is served elsewhere.
func (d *delegations) putDS() {
	var ds []dnssec.DS
	if d.rng.IntN(3) > 0 {
		ds = []dnssec.DS{foreignDS}
	}
	d.owners(fmt.Sprintf("put %d DS", len(ds)), func(ctx context.Context) error {
		return d.service.SetDS(ctx, d.owner, signedName, registration.DSChange{DS: ds})
	})
}

func (d *delegations) handOver() {
	to := d.owner[:len(d.owner)-1] + deed.Wallet('a'+rune(d.rng.IntN(6)))
	for place := range places { // it cancels a move, or comes too late
		d.wanted[place] = true
	}
	d.owners("hand over", func(ctx context.Context) error { return d.service.HandOver(ctx, d.owner, signedName, to) })
	if r, err := d.names.Registration(context.Background(), signedName); err == nil {
		d.owner = r.Owner
	}
}

// work advances what is due, as a worker does.
func (d *delegations) work() {
	if d.life != nil {
		d.life.run()
	}
	for _, i := range d.rng.Perm(len(d.rows)) {
		row := d.rows[i]
		ids, err := row.due(context.Background())
		if err != nil {
			d.broken = err
			return
		}
		d.others() // a row is advanced some time after it was due
		for _, id := range ids {
			if d.busy[row.what] {
				continue // it was not due meanwhile
			}
			d.busy[row.what] = row.what == advanceMoves
			_ = d.do(row.what, func(ctx context.Context) error { return row.advance(ctx, id) }) // it is tried again
			d.busy[row.what] = false
		}
		d.noteKeys()
		if d.life != nil {
			d.life.noteRecord()
		}
	}
}

// rested returns what is wrong after the time in which everything comes to its end.
func (d *delegations) rested() error {
	ctx := context.Background()
	r, err := d.names.Registration(ctx, signedName)
	if err != nil {
		return err
	}
	if m, err := d.moves.Move(ctx, signedName); deed.CodeOf(err) != deed.CodeNotFound {
		return fmt.Errorf("a move has not ended: %+v, %v", m, err)
	}
	if roll, err := d.zones.KeyRoll(ctx, signedName); deed.CodeOf(err) != deed.CodeNotFound {
		return fmt.Errorf("a key roll has not ended: %+v, %v", roll, err)
	}
	at, ds := placeOf(d.hosts.last().hosts), d.parent.last().ds
	if !lifecycle.SameServers(r.Nameservers, d.hosts.last().hosts) || !dnssec.SameDS(r.DS, ds) {
		return fmt.Errorf("the record has %v and %v, the registry %v and %v", r.Nameservers, r.DS, d.hosts.last().hosts, ds)
	}
	if !d.wanted[at] {
		return fmt.Errorf("the name is at %s, and its owner wanted %v", at, d.wanted)
	}
	ours, _, err := d.dsOf(ctx, signedName)
	switch {
	case err != nil:
		return err
	case at == "home" && !dnssec.SameDS(ds, ours):
		return fmt.Errorf("the name is at home, and its DS is %v instead of %v", ds, ours)
	case at != "home" && len(ds) > 0 && !dnssec.SameDS(ds, []dnssec.DS{foreignDS}):
		return fmt.Errorf("the name is at %s, and has the DS %v", at, ds)
	}
	d.ends[map[bool]string{true: "at home", false: "elsewhere"}[at == "home"]]++
	if len(ds) > 0 {
		d.ends["signed"]++
	}
	if len(d.keySets) > 2 {
		d.ends["key replaced"]++
	}
	return nil
}

// newDelegations returns the world of a seed: a name that was just registered.
func newDelegations(seed uint64, loud bool) (*delegations, error) {
	d := &delegations{world: &world{now: time.Unix(1_800_000_000, 0).UTC(), rng: rand.New(rand.NewPCG(seed, 2)), faulty: true, ends: map[string]int{}, loud: loud}}
	d.owner = "0x0000000000000000000000000000000000000001"
	d.wanted, d.busy = map[string]bool{"home": true}, map[string]bool{}
	return d, d.open()
}
