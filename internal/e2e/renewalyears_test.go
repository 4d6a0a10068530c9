package e2e_test

import (
	"strings"
	"testing"

	"deed.example/deed"
	"deed.example/deed/api"
)

// A registry renews names for as many years at once as its TLD allows. Others are refused
// before they are paid, and a renewal without years is for the fewest.
func TestRenewalYears(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner := s.buyer(t)
		price := mustUSDC(t, read[api.Quote](t, s.paid(t, "/domains/register", `{"domain":"robot.ai","dryRun":true}`, "")).Price)
		s.register(t, "robot.ai", s.promise(owner, price).header(t)).expect(t, 201, "")
		price = mustUSDC(t, read[api.Quote](t, s.paid(t, "/domains/register", `{"domain":"first.be","dryRun":true}`, "")).Price)
		s.register(t, "first.be", s.promise(owner, price).header(t)).expect(t, 201, "")
		was := s.domain(t, "robot.ai").ExpiresAt

		for _, body := range []string{`{"domain":"robot.ai","years":1}`, `{"domain":"first.be","years":2}`} {
			got := s.paid(t, "/domains/renew", body, "")
			if got.expect(t, 400, deed.CodeValidation); !strings.Contains(got.body, `"field":"years"`) {
				t.Errorf("got %s", got.body)
			}
		}
		token := s.bearer(t, owner)
		s.get(t, "/account/mandates/robot.ai/plan?years=1", "Authorization", token).expect(t, 400, deed.CodeValidation)
		s.get(t, "/account/mandates/first.be/plan?years=1", "Authorization", token).expect(t, 200, "")

		q := read[api.Quote](t, s.paid(t, "/domains/renew", `{"domain":"robot.ai","dryRun":true}`, ""))
		if q.Years != 2 {
			t.Errorf("without years: got %+v", q)
		}
		s.paid(t, "/domains/renew", `{"domain":"robot.ai"}`, s.promise(owner, mustUSDC(t, q.Price)).header(t)).expect(t, 200, "")
		if got := s.domain(t, "robot.ai").ExpiresAt; !got.Equal(was.AddDate(2, 0, 0)) {
			t.Errorf("got %s, was %s", got, was)
		}
		s.audit(t)
	})
}
