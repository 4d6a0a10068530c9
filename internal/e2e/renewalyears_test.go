package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/registrar/epp/epptest"
	"deed.example/deed/internal/registrar/opusdns/opusdnstest"
)

// A registry renews names for as many years at once as its TLD allows. Others are refused
// before they are paid. A renewal without years is for one.
func TestRenewalYears(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner := s.buyer(t)
		price := mustUSDC(t, read[api.Quote](t, s.paid(t, "/domains/register", `{"domain":"robot.ai","dryRun":true}`, "")).Price)
		s.register(t, "robot.ai", s.promise(owner, price).header(t)).expect(t, 201, "")
		price = mustUSDC(t, read[api.Quote](t, s.paid(t, "/domains/register", `{"domain":"first.be","dryRun":true}`, "")).Price)
		s.register(t, "first.be", s.promise(owner, price).header(t)).expect(t, 201, "")
		was := s.domain(t, "robot.ai").ExpiresAt

		for _, body := range []string{`{"domain":"robot.ai","years":1}`, `{"domain":"robot.ai"}`, `{"domain":"first.be","years":2}`} {
			got := s.paid(t, "/domains/renew", body, "")
			if got.expect(t, 400, deed.CodeValidation); !strings.Contains(got.body, `"field":"years"`) || strings.Contains(got.body, " 1 to 1 ") {
				t.Errorf("got %s", got.body)
			}
		}
		token := s.bearer(t, owner)
		s.get(t, "/account/mandates/robot.ai/plan?years=1", "Authorization", token).expect(t, 400, deed.CodeValidation)
		s.get(t, "/account/mandates/first.be/plan?years=1", "Authorization", token).expect(t, 200, "")

		q := read[api.Quote](t, s.paid(t, "/domains/renew", `{"domain":"robot.ai","years":2,"dryRun":true}`, ""))
		s.paid(t, "/domains/renew", `{"domain":"robot.ai","years":2}`, s.promise(owner, mustUSDC(t, q.Price)).header(t)).expect(t, 200, "")
		if got := s.domain(t, "robot.ai").ExpiresAt; !got.Equal(was.AddDate(2, 0, 0)) {
			t.Errorf("got %s, was %s", got, was)
		}
		s.audit(t)
	})
}

// refusesYears fails the test unless orders for so many years are refused before they are paid.
func (s *env) refusesYears(t *testing.T, years int) {
	t.Helper()
	for path, domain := range map[string]string{"/domains/register": "second.com", "/domains/renew": "first.com"} {
		got := s.paid(t, path, fmt.Sprintf(`{"domain":%q,"years":%d}`, domain, years), "")
		if got.expect(t, 400, deed.CodeValidation); !strings.Contains(got.body, `"field":"years"`) {
			t.Errorf("%s: got %s", path, got.body)
		}
	}
}

// A registrar may take orders for fewer terms than its TLD allows.
func TestYearsOfARegistrar(t *testing.T) {
	t.Run("epp", func(t *testing.T) {
		e := openEPPEnvWith(t, nil, epptest.Config{}, map[string]string{"max_years": "2"})
		owner := e.bought(t, "first.com")
		e.refusesYears(t, 3)
		e.renew(t, "first.com", 2, e.promise(owner, 2*comRenewal).header(t)).expect(t, 200, "")
		e.audit(t)
	})
	t.Run("opusdns", func(t *testing.T) {
		s, vendor, checker, _ := openWholesaler(t, nil)
		vendor.Configure(func(a *opusdnstest.Account) { a.Terms = []int{1, 2, 5} })
		owner := s.bought(t, "first.com")
		s.refusesYears(t, 3)
		s.renew(t, "first.com", 5, s.promise(owner, 5*comRenewal).header(t)).expect(t, 200, "")
		for _, v := range checker.Violations() {
			t.Error(v)
		}
		s.audit(t)
	})
}
