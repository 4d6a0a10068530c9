package e2e_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/zone"
)

// A mover is an owner who changes the name servers of first.com.
type mover struct {
	*env
	t     *testing.T
	token string
	ds    *zone.DSUpdater
}

func openMover(t *testing.T, s *env) *mover {
	t.Helper()
	zones := s.api.Zones.Store.(sqldb.Zones)
	key := []dnssec.DS{{KeyTag: 7, Algorithm: 13, DigestType: 2, Digest: strings.Repeat("ab", 32)}}
	m := &mover{env: s, t: t, token: s.bearer(t, s.bought(t, "first.com")), ds: &zone.DSUpdater{
		Names: zones, Manager: s.registry, Servers: s.api.Registrations.Nameservers, DS: func(context.Context, deed.Name) ([]dnssec.DS, error) { return key, nil },
	}}
	publishDS(t, s, "first.com", key)
	return m
}

func (m *mover) put(what, body string) answer {
	m.t.Helper()
	return m.do(m.t, "PUT", "/domains/first.com/"+what, body, "Authorization", m.token)
}

// delegate changes the name servers.
func (m *mover) delegate(body string) api.Domain {
	m.t.Helper()
	return delegated(m.t, m.put("nameservers", body))
}

// delegated returns the name of an answer to a change of its name servers. It fails unless
// that is 202 while the change waits, and 200 when it has taken effect.
func delegated(t *testing.T, got answer) (d api.Domain) {
	t.Helper()
	err := json.Unmarshal([]byte(got.body), &d, json.RejectUnknownMembers(true))
	if err != nil || got.status != 200 && got.status != 202 || (got.status == 202) != (d.Delegation != nil) {
		t.Errorf("got %d %s: %v", got.status, got.body, err)
	}
	return d
}

// due advances the clock and the moves, and returns first.com.
func (m *mover) due(d time.Duration) api.Domain {
	m.t.Helper()
	m.moves(d)
	return m.domain(m.t, "first.com")
}

// moves advances the clock and the moves.
func (m *mover) moves(d time.Duration) {
	m.t.Helper()
	m.pass(m.t, d)
	names, err := m.api.Registrations.Moves.DueMoves(m.t.Context(), 10)
	if err != nil {
		m.t.Fatal(err)
	}
	for range 2 { // twice is like once
		for _, name := range names {
			if err := m.api.Registrations.AdvanceMove(m.t.Context(), name); err != nil && deed.CodeOf(err) != deed.CodeNotFound {
				m.t.Fatal(err)
			}
		}
	}
}

// is fails unless the name has these servers, this step and this many DS records.
func (m *mover) is(what string, d api.Domain, server, step string, ds int) {
	m.t.Helper()
	got := ""
	if d.Delegation != nil {
		got = d.Delegation.State
	}
	h, err := m.registry.Holding(m.t.Context(), "first.com")
	if err != nil {
		m.t.Fatal(err)
	}
	if d.Nameservers[0] != server || got != step || len(d.DNSSEC.DS) != ds || h.Nameservers[0] != server || len(h.DS) != ds {
		m.t.Errorf("%s: got %v, step %q, %d DS; at the registry %v and %d DS; want %s, %q, %d", what, d.Nameservers, got, len(d.DNSSEC.DS), h.Nameservers, len(h.DS), server, step, ds)
	}
}

const (
	away   = `{"nameservers":["ns1.example.net","ns2.example.net"]}`
	home   = `{"nameservers":[]}`
	forced = `{"nameservers":["ns1.example.net","ns2.example.net"],"force":true}`
)

// A signed name moves out and back in steps, each visible with its end.
func TestMoveOfASignedNameWaits(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m := openMover(t, s)
		m.is("before", m.domain(t, "first.com"), "ns1.deed.example", "", 1)
		out := m.delegate(away)
		m.is("out", out, "ns1.deed.example", "withdrawing", 0)
		if len(out.Warnings) != 1 || out.Delegation.EffectiveAt.Sub(s.clock.Now()) < 24*time.Hour || out.Delegation.Nameservers[0] != "ns1.example.net" {
			t.Errorf("got %+v", out.Delegation)
		}
		m.is("after a day", m.due(24*time.Hour), "ns1.deed.example", "withdrawing", 0)
		if due, err := m.ds.Due(t.Context(), 10); err != nil || len(due) > 0 {
			t.Errorf("a DS would be published meanwhile: %v, %v", due, err)
		}
		m.put("ds", `{"ds":[]}`).expect(t, 400, deed.CodeValidation)
		m.is("after 25 hours", m.due(time.Hour), "ns1.example.net", "", 0)

		foreign := `{"ds":[{"keyTag":1,"algorithm":13,"digestType":2,"digest":"` + strings.Repeat("CD", 32) + `"}]}`
		m.is("a DS of others", read[api.Domain](t, m.put("ds", strings.Replace(foreign, "]}", `],"force":true}`, 1))), "ns1.example.net", "", 1)
		m.is("back, with a DS", m.delegate(home), "ns1.example.net", "withdrawing", 0)
		m.is("back", m.due(25*time.Hour), "ns1.deed.example", "settling", 0)
		m.put("ds", foreign).expect(t, 400, deed.CodeValidation)
		if due, err := m.ds.Due(t.Context(), 10); err != nil || len(due) > 0 {
			t.Errorf("a DS would be published too early: %v, %v", due, err)
		}
		done := m.due(49 * time.Hour)
		m.is("settled", done, "ns1.deed.example", "", 0)
		if due, err := m.ds.Due(t.Context(), 10); err != nil || len(due) != 1 {
			t.Errorf("the DS is due: got %v, %v", due, err)
		}
		var events []string
		for _, e := range done.Events {
			events = append(events, e.Type)
		}
		if got := strings.Join(events, " "); strings.Count(got, "ds_withdrawn") != 2 || strings.Count(got, "delegated") != 2 {
			t.Errorf("got the events %s", got)
		}
		s.audit(t)
	})
}

// A move can be canceled, changed and forced, and a handover cancels it.
func TestMoveCanBeCanceledChangedAndForced(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m := openMover(t, s)
		m.put("nameservers", `{"nameservers":["ns1.first.com","ns2.example.net"]}`).expect(t, 400, deed.CodeValidation)
		m.do(t, "POST", "/domains/register", `{"domain":"second.com","nameservers":["ns1.second.com","ns2.example.net"]}`).expect(t, 400, deed.CodeValidation)
		m.do(t, "POST", "/domains/transfer", `{"domain":"third.com","authCode":"code","nameservers":["third.com","ns2.example.net"]}`).expect(t, 400, deed.CodeValidation)
		m.delegate(away)
		m.is("canceled", m.delegate(home), "ns1.deed.example", "", 0)
		s.runLifecycle(t)
		if due, err := m.ds.Due(t.Context(), 10); err != nil || len(due) != 1 {
			t.Errorf("the DS is due again: got %v, %v", due, err)
		}
		again := m.delegate(away) // before the DS is published again: caches still have it
		m.is("out again", again, "ns1.deed.example", "withdrawing", 0)
		if again.Delegation == nil || again.Delegation.EffectiveAt.Sub(s.clock.Now()) < 24*time.Hour {
			t.Fatalf("got %+v", again.Delegation)
		}
		m.is("canceled again", m.delegate(home), "ns1.deed.example", "", 0)
		key := []dnssec.DS{{KeyTag: 7, Algorithm: 13, DigestType: 2, Digest: strings.Repeat("ab", 32)}}
		publish := func() {
			t.Helper()
			publishDS(t, s, "first.com", key)
		}
		publish()
		m.delegate(away)
		m.delegate(`{"nameservers":["ns7.example.net","ns8.example.net"]}`)
		m.is("changed", m.due(25*time.Hour), "ns7.example.net", "", 0)
		m.is("home", m.delegate(home), "ns1.deed.example", "settling", 0)
		m.is("settled", m.due(49*time.Hour), "ns1.deed.example", "", 0)
		publish()
		m.is("forced", m.delegate(forced), "ns1.example.net", "", 0)
		m.is("forced home", m.delegate(`{"nameservers":[],"force":true}`), "ns1.deed.example", "", 0)
		publish()
		m.delegate(away)
		if got := s.handOver(t, m.token, s.buyer(t)); got.status != 200 {
			t.Fatalf("got %d %s", got.status, got.body)
		}
		m.is("handed over", m.due(25*time.Hour), "ns1.deed.example", "", 0)
		s.audit(t)
	})
}

// A new owner does not wait for a change of name servers that the former one has begun: it is
// canceled soon, and the DS that was removed for it is set again.
func TestHandOverCancelsAMoveSoon(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m := openMover(t, s)
		m.delegate(forced)
		m.is("elsewhere", m.due(49*time.Hour), "ns1.example.net", "", 0)
		foreign := `{"ds":[{"keyTag":1,"algorithm":13,"digestType":2,"digest":"` + strings.Repeat("CD", 32) + `"}]}`
		m.is("signed there", read[api.Domain](t, m.put("ds", foreign)), "ns1.example.net", "", 1)
		m.is("to come home", m.delegate(home), "ns1.example.net", "withdrawing", 0)
		if got := s.handOver(t, m.token, s.buyer(t)); got.status != 200 {
			t.Fatalf("got %d %s", got.status, got.body)
		}
		d := m.domain(t, "first.com")
		m.is("handed over", d, "ns1.example.net", "withdrawing", 0)
		if !says(d.Warnings, "a former owner asked for the change") {
			t.Errorf("got %v", d.Warnings)
		}
		m.is("canceled", m.due(2*time.Minute), "ns1.example.net", "", 1)
		s.audit(t)
	})
}

// After a crash between storing a move and removing the DS, the DS is removed before
// the servers change.
func TestMoveAfterACrash(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m := openMover(t, s)
		m.delegate(away)
		key := []dnssec.DS{{KeyTag: 7, Algorithm: 13, DigestType: 2, Digest: strings.Repeat("ab", 32)}}
		if err := s.registry.SetDS(t.Context(), "first.com", key); err != nil { // as if it had never been removed
			t.Fatal(err)
		}
		m.is("it waits again", m.due(25*time.Hour), "ns1.deed.example", "withdrawing", 0)
		m.is("and moves", m.due(25*time.Hour), "ns1.example.net", "", 0)
	})
}

// Of two owners' calls that set a DS at once, both succeed: the second is repeated with the
// DS that the first has set.
func TestDSIsSetTwiceAtOnce(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m := openMover(t, s)
		m.delegate(forced)
		for _, digest := range []string{"CD", "EF"} { // the same DS, and another one
			first := `{"ds":[{"keyTag":1,"algorithm":13,"digestType":2,"digest":"` + strings.Repeat("CD", 32) + `"}],"force":true}`
			second := strings.ReplaceAll(first, "CD", digest)
			s.api.Registrations.Manager = &interruptedManager{Manager: s.registry, before: func() { m.put("ds", first).expect(t, 200, "") }}
			m.put("ds", second).expect(t, 200, "")
			m.is("set twice", m.domain(t, "first.com"), "ns1.example.net", "", 1)
			m.put("ds", `{"ds":[]}`).expect(t, 200, "")
		}
	})
}

// A DS of other keys is refused while resolvers may still ask our servers, and accepted when
// it is forced, when the name has it already, and when no resolver asks ours any more.
func TestDSWaitsForCachesAfterAMove(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m := openMover(t, s)
		m.delegate(away)
		m.due(25 * time.Hour)
		foreign := `{"ds":[{"keyTag":1,"algorithm":13,"digestType":2,"digest":"` + strings.Repeat("cd", 32) + `"}]}`
		another, force := strings.ReplaceAll(foreign, "cd", "ef"), strings.Replace(foreign, "]}", `],"force":true}`, 1)
		free := s.clock.Now().Add(49 * time.Hour).Truncate(time.Second)
		refused := m.put("ds", foreign)
		refused.expect(t, 400, deed.CodeValidation)
		if at := free.UTC().Format(time.RFC3339); !strings.Contains(refused.body, at) || !strings.Contains(refused.body, "force") {
			t.Errorf("got %s, want %s and force in it", refused.body, at)
		}
		m.put("ds", `{"ds":[]}`).expect(t, 200, "")
		m.is("forced", read[api.Domain](t, m.put("ds", force)), "ns1.example.net", "", 1)
		m.is("the same", read[api.Domain](t, m.put("ds", foreign)), "ns1.example.net", "", 1)
		m.put("ds", another).expect(t, 400, deed.CodeValidation)
		for _, tag := range []string{``, `"keyTag":null,`} {
			m.put("ds", strings.Replace(force, `"keyTag":1,`, tag, 1)).expectDetail(t, "no key tag", "ds[0].keyTag")
		}
		m.delegate(`{"nameservers":["ns3.example.net","ns4.example.net"]}`) // others again: they change nothing for ours
		s.pass(t, 48*time.Hour)
		m.put("ds", another).expect(t, 400, deed.CodeValidation)
		s.pass(t, time.Hour)
		m.is("free", read[api.Domain](t, m.put("ds", another)), "ns3.example.net", "", 1)
		s.audit(t)
	})
}

// So does one after a change that the comparison with the registry has found.
func TestDSWaitsAfterTheRegistryChangedTheServers(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m := openMover(t, s)
		if err := s.registry.SetNameservers(t.Context(), "first.com", []string{"ns1.example.net", "ns2.example.net"}); err != nil {
			t.Fatal(err)
		}
		s.pass(t, 25*time.Hour)
		foreign := `{"ds":[{"keyTag":1,"algorithm":13,"digestType":2,"digest":"` + strings.Repeat("cd", 32) + `"}]}`
		m.put("ds", foreign).expect(t, 400, deed.CodeValidation)
		s.pass(t, 49*time.Hour)
		m.put("ds", foreign).expect(t, 200, "")
	})
}
