package sim

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registration"
)

// A scripted run of the world of TestDelegationSimulation, in which only that fails what the
// test says.
type scripted struct {
	*delegations
	t *testing.T
}

// openScripted returns a name that is at home and signed.
func openScripted(t *testing.T) *scripted {
	t.Helper()
	s := openUnsigned(t)
	s.wait(time.Minute) // it is compared with its registry before its DS is published
	s.wait(time.Minute)
	s.is("published", "home", 1)
	s.wait(30 * time.Hour)
	return s
}

// openUnsigned returns a name that is at home and has no DS yet.
func openUnsigned(t *testing.T) *scripted {
	t.Helper()
	d, err := newDelegations(1, true)
	if err != nil {
		t.Fatal(err)
	}
	d.faulty, d.script = false, map[string][]fate{}
	t.Cleanup(func() {
		if d.broken != nil {
			t.Error(d.broken)
		}
		if t.Failed() {
			for _, line := range d.trace {
				t.Log(line)
			}
		}
		_ = d.db.Close() // it is not used after the test
	})
	return &scripted{d, t}
}

// to delegates the name, with the fate of the next calls of a method of the registry.
func (s *scripted) to(place string, method string, fates ...fate) error {
	if method != "" {
		s.script[method] = fates
	}
	return s.do("delegate to "+place, func(ctx context.Context) error {
		return s.service.Delegate(ctx, s.owner, signedName, registration.Delegation{Hosts: places[place]})
	})
}

// force delegates the name at once, which may leave it bogus for a while.
func (s *scripted) force(place string) error {
	s.forced = s.now.Add(forcedFor)
	return s.do("force "+place, func(ctx context.Context) error {
		return s.service.Delegate(ctx, s.owner, signedName, registration.Delegation{Hosts: places[place], Force: true})
	})
}

// put sets the DS.
func (s *scripted) put(ds ...dnssec.DS) error {
	return s.do("put a DS", func(ctx context.Context) error {
		return s.service.SetDS(ctx, s.owner, signedName, registration.DSChange{DS: ds})
	})
}

// wait lets time pass, while the workers work.
func (s *scripted) wait(d time.Duration) {
	for end := s.now.Add(d); s.now.Before(end); {
		s.now = s.now.Add(min(max(5*time.Minute, d/32), end.Sub(s.now)))
		s.work()
	}
}

// advance advances the name in one of the tables.
func (s *scripted) advance(what string) error {
	i := slices.IndexFunc(s.rows, func(r dueRow) bool { return r.what == what })
	return s.do(what, func(ctx context.Context) error { return s.rows[i].advance(ctx, string(signedName)) })
}

// must fails unless an act succeeded.
func (s *scripted) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// failed fails unless an act failed.
func (s *scripted) failed(err error) {
	s.t.Helper()
	if err == nil {
		s.t.Fatal("it succeeded")
	}
}

// elsewhere brings the name elsewhere, where it is signed if that is wanted.
func (s *scripted) elsewhere(signed bool) {
	s.t.Helper()
	s.must(s.to("a", ""))
	s.wait(25 * time.Hour)
	s.is("moved", "a", 0)
	if signed {
		s.wait(50 * time.Hour)
		s.must(s.put(foreignDS))
		s.wait(50 * time.Hour)
		s.is("signed elsewhere", "a", 1)
	}
}

// is fails unless the name is there, with so many DS, at the registry and in our record.
func (s *scripted) is(what, place string, ds int) {
	s.t.Helper()
	r, err := s.names.Registration(context.Background(), signedName)
	s.must(err)
	if at := placeOf(s.hosts.last().hosts); at != place || placeOf(r.Nameservers) != place || len(s.parent.last().ds) != ds || len(r.DS) != ds {
		s.t.Errorf("%s: got %s with %d DS at the registry, and %s with %d DS in the record, want %s with %d", what, at, len(s.parent.last().ds), placeOf(r.Nameservers), len(r.DS), place, ds)
	}
}

// A name that the registry has elsewhere, without our knowledge, and whose owner wants our
// servers, waits for the caches before its DS is published.
func TestUnseenServersAreReplaced(t *testing.T) {
	s := openUnsigned(t)
	s.hosts = append(s.hosts, published{at: s.now, hosts: places["a"]})
	s.now = s.now.Add(60 * time.Hour) // it is not compared meanwhile
	s.must(s.to("home", ""))
	s.wait(40 * time.Hour)
	s.is("back", "home", 0)
	s.wait(20 * time.Hour)
	s.is("settled", "home", 1)
}

// A name without a DS whose servers were changed without an answer, and whose owner then
// wants ours again, waits for the caches before its DS is published.
func TestChangeWithoutAnAnswerIsTakenBack(t *testing.T) {
	s := openUnsigned(t)
	s.failed(s.to("a", "SetNameservers", fate{lost: true}))
	s.must(s.to("home", ""))
	s.wait(100 * time.Hour)
	s.is("at home", "home", 1)
}

// An owner who chooses others while a name settles, which the registry does not do, does not
// end the wait for the caches.
func TestFailedChangeDoesNotEndTheWait(t *testing.T) {
	s := openScripted(t)
	s.elsewhere(false)
	s.must(s.to("home", ""))
	s.wait(2 * time.Hour)
	s.failed(s.to("a", "SetNameservers", fate{notDone: true}))
	s.wait(100 * time.Hour)
}

// An owner who takes a return back that was done without an answer keeps the other servers.
func TestReturnWithoutAnAnswerIsTakenBack(t *testing.T) {
	s := openScripted(t)
	s.elsewhere(false)
	s.wait(50 * time.Hour)
	s.failed(s.to("home", "SetNameservers", fate{lost: true}))
	s.must(s.to("a", ""))
	s.wait(100 * time.Hour)
	s.is("kept elsewhere", "a", 0)
}

// A move that is canceled when the registry may have changed the servers already is undone.
func TestMoveIsCanceledWhenItIsDone(t *testing.T) {
	s := openScripted(t)
	s.must(s.to("a", ""))
	s.script["SetNameservers"] = []fate{{lost: true}}
	s.wait(25 * time.Hour)
	s.must(s.to("home", ""))
	s.wait(100 * time.Hour)
	s.is("at home", "home", 1)
}

// The registry has changed the servers without an answer while the DS was published.
func TestServersChangeWithoutAnAnswerWhileTheDSIsPublished(t *testing.T) {
	s := openUnsigned(t)
	s.script["SetDS"] = []fate{{before: func() { _ = s.to("a", "SetNameservers", fate{lost: true}) }}}
	s.wait(100 * time.Hour)
	s.is("elsewhere", "a", 0)
}

// The owner of a name without a DS moves while its DS has been published without an answer.
func TestMoveAfterADSWithoutAnAnswer(t *testing.T) {
	s := openUnsigned(t)
	s.script["SetDS"] = []fate{{lost: true}}
	s.failed(s.advance("publish the DS"))
	s.must(s.to("a", ""))
	s.wait(100 * time.Hour)
	s.is("elsewhere", "a", 0)
}

// An owner who removes a foreign DS, and returns, waits until no cache has that DS.
func TestReturnAfterTheDSWasRemoved(t *testing.T) {
	s := openScripted(t)
	s.elsewhere(true)
	s.must(s.put())
	s.must(s.to("home", ""))
	s.wait(100 * time.Hour)
	s.is("at home", "home", 1)
}

// Who cancels a return gets the foreign DS back.
func TestCanceledReturnKeepsTheDS(t *testing.T) {
	s := openScripted(t)
	s.elsewhere(true)
	s.must(s.to("home", ""))
	s.is("withdrawn", "a", 0)
	s.must(s.to("a", ""))
	s.is("canceled", "a", 1)
	s.wait(100 * time.Hour)
	s.is("canceled", "a", 1)
}

// A name that was transferred to us, and whose buyer named the servers that it has already,
// keeps its DS.
func TestTransferToTheSameServersKeepsTheDS(t *testing.T) {
	s := openScripted(t)
	s.elsewhere(true)
	s.must(s.moves.PutMove(t.Context(), lifecycle.Move{
		Name: signedName, Reference: signedOrder, Wallet: s.owner, Step: lifecycle.MoveWithdrawing, Hosts: places["a"], EffectiveAt: s.now, Created: s.now,
	}, nil, ""))
	s.wait(100 * time.Hour)
	s.is("transferred", "a", 1)
}

// A name with our servers and a DS that none of its keys has, as after a transfer to us or the
// restore of a backup, gets the DS of its keys.
func TestWrongDSIsReplaced(t *testing.T) {
	s := openScripted(t)
	s.forced = s.now.Add(forcedFor) // it is bogus, and nobody knows since when
	s.parent = append(s.parent, published{at: s.now, ds: []dnssec.DS{foreignDS}})
	s.wait(50 * time.Hour)
	s.is("compared", "home", 1)
	s.must(s.rested())
}

// An owner who chooses others while a name comes back, which the registry then refuses, and
// who cancels that, waits for the caches like after any return.
func TestReturnWhileTheOwnerChoosesOthers(t *testing.T) {
	s := openScripted(t)
	s.elsewhere(false)
	s.wait(60 * time.Hour)
	s.must(s.to("home", "SetNameservers", fate{before: func() { s.must(s.to("a", "")) }}, fate{refused: true}))
	s.now = s.now.Add(2 * time.Minute)
	s.failed(s.advance(advanceMoves))
	s.must(s.to("home", ""))
	s.wait(100 * time.Hour)
	s.is("at home", "home", 1)
}

// A hand-over cancels a return like its owner: the name gets the foreign DS back.
func TestHandOverDuringAReturnKeepsTheDS(t *testing.T) {
	s := openScripted(t)
	s.elsewhere(true)
	s.must(s.to("home", ""))
	s.handOver()
	s.wait(100 * time.Hour)
	s.is("handed over", "a", 1)
}

// A move whose DS is set again meanwhile, and not removed by the registry, is refused, and its
// owner is told.
func TestRefusedWithdrawalAtTheEndOfAMove(t *testing.T) {
	s := openScripted(t)
	newLife(s.delegations)
	ds := s.life.entry.DS
	s.must(s.to("a", ""))
	s.life.entry.DS, s.life.entry.Expires = ds, s.now.AddDate(0, 0, -graceDays)
	s.wait(30 * time.Hour)
	if m, err := s.moves.Move(t.Context(), signedName); err != nil || m.Refused.IsZero() {
		t.Errorf("got %+v, %v", m, err)
	}
	r, err := s.names.Registration(t.Context(), signedName)
	s.must(err)
	events, err := s.names.Events(t.Context(), r)
	s.must(err)
	if !slices.ContainsFunc(events, func(e lifecycle.Event) bool { return e.Type == lifecycle.EventMoveRefused }) {
		t.Errorf("got %+v", events)
	}
}

// An owner whose registry does not remove the DS, because the name is in redemption or locked
// there, is not told that it was removed.
func TestRefusedWithdrawalIsNoEvent(t *testing.T) {
	s := openScripted(t)
	newLife(s.delegations)
	s.life.entry.Expires = s.now.AddDate(0, 0, -graceDays-1)
	s.failed(s.to("a", ""))
	r, err := s.names.Registration(t.Context(), signedName)
	s.must(err)
	events, err := s.names.Events(t.Context(), r)
	s.must(err)
	for _, e := range events {
		if e.Type == lifecycle.EventDSWithdrawn {
			t.Errorf("got %+v", events)
		}
	}
}

// A name that came back without an answer, and was handed over before that was noticed, waits
// for the caches.
func TestHandOverDuringAReturn(t *testing.T) {
	s := openScripted(t)
	s.elsewhere(true)
	s.must(s.to("home", ""))
	s.wait(24*time.Hour + 55*time.Minute)
	s.script["SetNameservers"] = []fate{{lost: true}}
	s.wait(5 * time.Minute)
	s.handOver()
	s.wait(100 * time.Hour)
	s.is("at home", "home", 1)
}

// What the registry has done without an answer is in our record soon.
func TestRecordFollowsAChangeWithoutAnAnswer(t *testing.T) {
	for title, c := range map[string]struct {
		method string
		fate   fate
	}{"lost": {"SetDS", fate{lost: true}}, "crash": {"SetDS", fate{dies: true}}} {
		t.Run(title, func(t *testing.T) {
			s := openScripted(t)
			s.failed(s.to("a", c.method, c.fate))
			s.wait(2 * time.Minute)
			s.is("withdrawn", "home", 0)
		})
	}
}

// A DS that an owner sets while the name returns does not stay.
func TestDSIsSetDuringAReturn(t *testing.T) {
	s := openScripted(t)
	s.elsewhere(false)
	s.wait(50 * time.Hour)
	s.script["SetDS"] = []fate{{before: func() { s.must(s.to("home", "")) }}}
	_ = s.put(foreignDS) // it may be refused
	s.wait(150 * time.Hour)
	s.is("at home", "home", 1)
}

// Of two calls at once, the one that names the servers of the record does not undo the other
// without a wait.
func TestServersAreSetTwiceAtOnce(t *testing.T) {
	s := openUnsigned(t)
	s.must(s.to("home", "SetNameservers", fate{before: func() { s.must(s.to("a", "")) }}))
	s.wait(100 * time.Hour)
	s.is("at home", "home", 1)
}

// A move that is being made is not due for others meanwhile: whoever makes it a second time
// could come after a newer change of its owner.
func TestMoveIsMadeOnce(t *testing.T) {
	notDue := func(s *scripted) fate {
		return fate{before: func() {
			if due, err := s.moves.DueMoves(t.Context(), 1); err != nil || len(due) > 0 {
				t.Errorf("got %v, %v", due, err)
			}
		}}
	}
	s := openUnsigned(t)
	s.must(s.to("a", "SetNameservers", notDue(s))) // at once
	s = openScripted(t)
	s.must(s.to("a", "SetNameservers", notDue(s))) // after its wait
	s.wait(26 * time.Hour)
	s.is("moved", "a", 0)
}

// A hand-over while a name settles, whose owner wanted others that the registry did not set,
// does not end the wait for the caches, and neither do many.
func TestHandOverWhileANameSettles(t *testing.T) {
	s := openScripted(t)
	s.elsewhere(false)
	s.must(s.to("home", ""))
	s.wait(2 * time.Hour)
	s.failed(s.to("a", "SetNameservers", fate{notDone: true}))
	for range 150 { // some are to the owner
		s.now = s.now.Add(time.Second)
		s.handOver()
	}
	s.wait(100 * time.Hour)
	s.is("at home", "home", 1)
}

// The same for a name that the registry has delegated to us by itself.
func TestHandOverAfterTheRegistryDelegatesToUs(t *testing.T) {
	s := openScripted(t)
	s.elsewhere(false)
	s.wait(60 * time.Hour)
	s.hosts = append(s.hosts, published{at: s.now, hosts: places["home"]})
	s.must(s.names.CompareSoon(t.Context(), signedName))
	s.wait(time.Hour)
	s.is("compared", "home", 0)
	s.failed(s.to("a", "SetNameservers", fate{notDone: true}))
	s.handOver()
	s.wait(100 * time.Hour)
	s.is("at home", "home", 1)
}

// An owner who chooses others while the servers of a move are set at the registry, which then
// refuses the others, and who goes back: the DS that was removed for the move is that of the
// keys elsewhere, and is not set again.
func TestOthersAreChosenWhileTheServersChange(t *testing.T) {
	for place, ds := range map[string]int{"home": 1, "both": 0} {
		for _, lost := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, lost %t", place, lost), func(t *testing.T) {
				s := openScripted(t)
				s.elsewhere(true)
				s.must(s.to(place, ""))
				s.wait(24*time.Hour + 55*time.Minute)
				s.script["SetNameservers"] = append([]fate{{before: func() { s.must(s.to("b", "")) }, lost: lost}}, slices.Repeat([]fate{{refused: true}}, 20)...)
				s.wait(2 * time.Hour)
				s.is("changed", place, 0)
				s.must(s.to(place, ""))
				s.is("changed back", place, 0)
				s.wait(100 * time.Hour)
				s.is("in the end", place, ds)
			})
		}
	}
}

// A forced change that the registry does not answer leaves the move that its owner asked for
// before, whether or not it was made.
func TestForcedChangeWithoutAnAnswer(t *testing.T) {
	for _, answer := range []fate{{notDone: true}, {lost: true}} {
		s := openScripted(t)
		s.must(s.to("a", ""))
		s.script["SetNameservers"] = []fate{answer}
		s.failed(s.force("both"))
		s.wait(26 * time.Hour)
		s.is("moved", "a", 0)
	}
}

// A change that the registry made without an answer is in the record soon.
func TestChangeWithoutAnAnswerIsCompared(t *testing.T) {
	s := openScripted(t)
	s.elsewhere(false)
	s.wait(2 * time.Hour)
	s.failed(s.to("b", "SetNameservers", fate{lost: true}))
	s.wait(10 * time.Minute)
	s.is("compared", "b", 0)
}
