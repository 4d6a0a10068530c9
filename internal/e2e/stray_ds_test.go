package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/registrar"
)

// A stoppedManager calls a function once, after a DS was set.
type stoppedManager struct {
	registrar.Manager
	after func()
}

func (m *stoppedManager) SetDS(ctx context.Context, name deed.Name, ds []dnssec.DS) error {
	err := m.Manager.SetDS(ctx, name, ds)
	if f := m.after; f != nil {
		m.after = nil
		f()
	}
	return err
}

// A DS that was set while the owner forced other name servers is removed, also when the node
// stops then, or the time for the name is used up.
func TestDSIsRemovedWhenTheNodeStops(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m := openUnsigned(t, s)
		ctx, stop := context.WithCancel(t.Context())
		m.ds.Manager = &stoppedManager{after: stop, Manager: &interruptedManager{
			Manager: s.registry, before: func() { delegated(t, m.put("nameservers", forced)) },
		}}
		if err := m.ds.Advance(ctx, "first.com"); err != nil {
			t.Fatal(err)
		}
		m.is("moved", m.domain(t, "first.com"), "ns1.example.net", "", 0)
	})
}

// If the registry does not remove it then, the comparison does, as often as necessary.
func TestStrayDSIsRemoved(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m := openUnsigned(t, s)
		lossy := &lossyManager{Manager: s.registry}
		m.ds.Manager = &stoppedManager{after: func() { lossy.fail = 1 }, Manager: &interruptedManager{
			Manager: lossy, before: func() { delegated(t, m.put("nameservers", forced)) },
		}}
		if err := m.ds.Advance(t.Context(), "first.com"); err == nil {
			t.Fatal("the DS was removed")
		}
		s.lifecycle.DS = func(ctx context.Context, name deed.Name) (current, old []dnssec.DS, err error) {
			current, err = m.ds.DS(ctx, name)
			return current, nil, err
		}
		compares := &lossyManager{Manager: s.lifecycle.Manager, fail: 1}
		s.lifecycle.Manager = compares
		s.pass(t, 2*time.Minute) // the registry fails again
		if d := m.domain(t, "first.com"); compares.fail != 0 || len(d.DNSSEC.DS) != 0 {
			t.Errorf("got %d, %+v", compares.fail, d.DNSSEC)
		}
		s.pass(t, 2*time.Minute)
		m.is("compared", m.domain(t, "first.com"), "ns1.example.net", "", 0)

		// What the owner sets stays, be it of another key or of ours.
		ours, err := m.ds.DS(t.Context(), "first.com")
		if err != nil {
			t.Fatal(err)
		}
		for _, digest := range []string{strings.Repeat("cd", 32), ours[0].Digest} {
			m.put("ds", fmt.Sprintf(`{"ds":[{"keyTag":%d,"algorithm":13,"digestType":2,"digest":"%s"}],"force":true}`, ours[0].KeyTag, digest)).expect(t, 200, "")
			s.pass(t, 48*time.Hour)
			m.is("set by the owner", m.domain(t, "first.com"), "ns1.example.net", "", 1)
		}
	})
}

// An owner who forces other name servers while the DS of the new key is set, and the answer
// is lost, does not keep that DS.
func TestOwnerForcesServersDuringAKeyRoll(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		r := openRoller(t, s)
		r.request(1)
		r.keys.Manager = &interruptedManager{Manager: r.manager, before: func() {
			delegated(t, s.do(t, "PUT", "/domains/first.com/nameservers", forced, "Authorization", r.token))
			r.manager.lose = 1
		}}
		for range 24 * 2 * 4 {
			due, err := r.keys.Due(t.Context(), 10)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range due {
				if err := r.keys.Advance(t.Context(), name); err != nil && !strings.Contains(err.Error(), "executed") {
					t.Fatal(err)
				}
			}
			s.clock.advance(30 * time.Minute)
		}
		if h, err := s.registry.Holding(t.Context(), "first.com"); err != nil || h.Nameservers[0] != "ns1.example.net" || len(h.DS) != 0 {
			t.Errorf("got %v with %v, %v", h.Nameservers, h.DS, err)
		}
	})
}

// The roll of a name that others serve, too, with a key of their own, replaces only our DS.
func TestKeyRollKeepsTheDSOfOthers(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		r := openRoller(t, s)
		old := r.parent()[0]
		put := func(what, body string) {
			t.Helper()
			s.do(t, "PUT", "/domains/first.com/"+what, body, "Authorization", r.token).expect(t, 200, "")
		}
		put("nameservers", `{"nameservers":["ns1.deed.example","ns1.example.net"],"force":true}`)
		theirs := dnssec.DS{KeyTag: 1, Algorithm: 13, DigestType: 2, Digest: strings.Repeat("cd", 32)}
		const entry = `{"keyTag":%d,"algorithm":13,"digestType":2,"digest":"%s"}`
		put("ds", fmt.Sprintf(`{"ds":[`+entry+`,`+entry+`],"force":true}`, theirs.KeyTag, theirs.Digest, old.KeyTag, old.Digest))
		r.request(1)
		for range 24 * 4 {
			r.advance()
			s.clock.advance(time.Hour)
		}
		ds, _, err := r.ds(t.Context(), "first.com")
		if err != nil {
			t.Fatal(err)
		}
		is := r.parent()
		if dnssec.AnyDS(ds, []dnssec.DS{old}) || !dnssec.SameDS(is, slices.Concat(ds, []dnssec.DS{theirs})) {
			t.Errorf("got %v, want %v and %v", is, ds, theirs)
		}
		if d := s.domain(t, "first.com"); len(d.DNSSEC.DS) != 2 {
			t.Errorf("got %+v", d.DNSSEC)
		}
	})
}
