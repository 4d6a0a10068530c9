package e2e_test

import (
	"fmt"
	"strings"
	"testing"
)

// The DS of a name that is bought again, to be served elsewhere, just after its cancellation is
// refused while resolvers may still ask our servers.
func TestDSWaitsAfterACancellation(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		foreign := `{"ds":[{"keyTag":1,"algorithm":13,"digestType":2,"digest":"` + strings.Repeat("cd", 32) + `"}]}`
		body := `{"domain":%q,"nameservers":["ns1.example.net","ns2.example.net"]}`
		put := func(domain string, owner *account) answer {
			t.Helper()
			return s.do(t, "PUT", "/domains/"+domain+"/ds", foreign, "Authorization", s.bearer(t, owner))
		}
		first := s.bought(t, "first.com")
		s.cancel(t, "first.com", s.bearer(t, first), `{}`).expect(t, 200, "")
		s.cancelled(t, "first.com", first)
		second := s.buyer(t)
		for _, domain := range []string{"first.com", "never.com"} {
			s.paid(t, "/domains/register", fmt.Sprintf(body, domain), s.promise(second, comPrice).header(t)).expect(t, 201, "")
		}
		if got := put("first.com", second); got.status != 400 || !strings.Contains(got.body, "resolvers may still ask our name servers") {
			t.Errorf("got %d %s", got.status, got.body)
		}
		put("never.com", second).expect(t, 200, "")
		s.pass(t, 3*day)
		put("first.com", second).expect(t, 200, "")
		s.audit(t)
	})
}
