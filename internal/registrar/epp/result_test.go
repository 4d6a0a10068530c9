package epp_test

import (
	"errors"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/epp/epptest"
)

// A resultCode is the code of the error for a command that is refused with a result;
// "" is an unknown outcome.
type resultCode struct{ create, renew, transfer, manage deed.Code }

const (
	unknown = deed.Code("")
	failed  = deed.CodeRegistrationFailed
	invalid = deed.CodeValidation
	missing = deed.CodeNotFound
)

var resultCodes = map[int]resultCode{
	2000: {failed, failed, failed, invalid},
	2001: {failed, failed, failed, invalid},
	2002: {failed, failed, failed, invalid},
	2003: {invalid, invalid, invalid, invalid},
	2004: {invalid, invalid, invalid, invalid},
	2005: {invalid, invalid, invalid, invalid},
	2102: {failed, failed, failed, invalid},
	2104: {unknown, unknown, unknown, unknown},
	2105: {failed, failed, failed, invalid},
	2106: {failed, failed, failed, invalid},
	2201: {missing, missing, missing, missing},
	2202: {invalid, invalid, invalid, invalid},
	2300: {failed, failed, failed, invalid},
	2302: {deed.CodeDomainUnavailable, deed.CodeDomainUnavailable, deed.CodeDomainUnavailable, deed.CodeDomainUnavailable},
	2303: {unknown, missing, missing, missing}, // a host or a contact is missing: it is created again
	2304: {failed, failed, failed, invalid},
	2305: {failed, failed, failed, invalid},
	2306: {invalid, invalid, invalid, invalid},
	2308: {invalid, invalid, invalid, invalid},
	2400: {unknown, unknown, unknown, unknown},
	2500: {unknown, unknown, unknown, unknown},
	2501: {unknown, unknown, unknown, unknown},
	2502: {unknown, unknown, unknown, unknown},
	1234: {unknown, unknown, unknown, unknown},
	9000: {unknown, unknown, unknown, unknown},
}

// Each result code of the registry becomes a final refusal with a code, or an unknown
// outcome.
func TestResultCodes(t *testing.T) {
	e := open(t)
	from := e.bought(t, name)
	code, err := e.registry.Elsewhere(t.Context(), "other.com")
	if err != nil {
		t.Fatal(err)
	}
	for result, want := range resultCodes {
		for command, c := range map[string]struct {
			want deed.Code
			call func() error
		}{
			"create": {want.create, func() error {
				return e.Place(t.Context(), registrar.Order{Kind: registrar.OrderRegister, Reference: "a", Name: "free.com", Years: 1, Submitted: e.Now()})
			}},
			"renew": {want.renew, func() error {
				return e.Place(t.Context(), registrar.Order{Kind: registrar.OrderRenew, Reference: "b", Name: name, Years: 1, From: from, Submitted: e.Now()})
			}},
			"transfer request": {want.transfer, func() error {
				return e.Place(t.Context(), registrar.Order{Kind: registrar.OrderTransfer, Reference: "c", Name: "other.com", AuthCode: code, Submitted: e.Now()})
			}},
			"update": {want.manage, func() error { return e.SetLock(t.Context(), name, false) }},
		} {
			e.server.Break(epptest.Fault{Kind: epptest.Refuse, Code: result, Times: 1, Only: []string{command}})
			err := c.call()
			coded, final := errors.AsType[*deed.Error](err)
			switch {
			case err == nil, final != (c.want != unknown):
				t.Errorf("%d for %s: got %v, want %q", result, command, err, c.want)
			case final && coded.Code != c.want:
				t.Errorf("%d for %s: got %s, want %s", result, command, coded.Code, c.want)
			}
			if errors.Is(err, registrar.ErrFunds) != (result == 2104) {
				t.Errorf("%d for %s: got %v", result, command, err)
			}
		}
	}
	if a, err := e.Available(t.Context(), "free.com"); err != nil || !a.Available {
		t.Errorf("a refused name: got %+v, %v", a, err)
	}
	if h, err := e.Holding(t.Context(), name); err != nil || !h.Expires.Equal(from) {
		t.Errorf("a refused renewal: got %+v, %v", h, err)
	}
}

// An account without money is a warning until an order is accepted.
func TestFunds(t *testing.T) {
	e := open(t, func(s *epptest.Config, _ *eppConfig) { s.Balance = 15_000_000 })
	o := registrar.Order{Kind: registrar.OrderRegister, Reference: "a", Name: name, Years: 2, Submitted: e.Now()}
	if _, err := e.Balance(t.Context()); deed.CodeOf(err) != deed.CodeNotFound {
		t.Errorf("a balance that nobody reported: got %v", err)
	}
	if err := e.Place(t.Context(), o); !errors.Is(err, registrar.ErrFunds) {
		t.Errorf("got %v, want too little money", err)
	}
	if len(e.Warnings()) != 1 {
		t.Errorf("got %q, want one warning", e.Warnings())
	}
	o.Years = 1
	if err := e.Place(t.Context(), o); err != nil {
		t.Error(err)
	}
	if w := e.Warnings(); len(w) > 0 {
		t.Errorf("got %q after an order", w)
	}
	if got, err := e.Balance(t.Context()); err != nil || got.Available != 5_000_000 {
		t.Errorf("got %+v, %v, want 5.00", got, err)
	}
}
