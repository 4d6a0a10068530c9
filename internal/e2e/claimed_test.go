package e2e_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/registrar/local"
)

// checked returns what search and check say about a .com name, in one word each.
func (s *env) checked(t *testing.T, label string) string {
	t.Helper()
	searched := read[api.SearchResult](t, s.get(t, "/domains/search?tlds=com&query="+label)).Results
	checked := read[api.CheckResult](t, s.get(t, "/domains/check?domains="+label+".com")).Results
	return found(searched) + ", " + found(checked)
}

// ordered registers first.com, which takes longer than the request waits.
func (s *env) ordered(t *testing.T, header string) (p api.PendingOrder) {
	t.Helper()
	got := s.register(t, "first.com", header)
	if err := json.Unmarshal([]byte(got.body), &p); err != nil || got.status != 202 {
		t.Errorf("got %d %s: %v", got.status, got.body, err)
	}
	return p
}

// From the moment that somebody has paid for a name until the job ends, nobody else can
// buy it. Its buyer gets an offer and the same job again, and so does a caller who may be
// the buyer until it pays.
func TestNameBeingBought(t *testing.T) {
	const free, taken = "first.com 13.06, first.com 13.06", "first.com taken, first.com taken"
	eachEnv(t, func(t *testing.T, s *env) {
		if got := s.checked(t, "first"); got != free {
			t.Errorf("got %s", got)
		}
		a := s.buyer(t)
		header := s.promise(a, comPrice).header(t)
		s.faults.Set(local.FaultParked, 1)
		first := s.ordered(t, header)
		if got := s.checked(t, "first"); got != taken {
			t.Errorf("got %s", got)
		}
		const dryRun = `{"domain":"first.com","dryRun":true}`
		for what, got := range map[string]answer{
			"signed in":       s.do(t, "POST", "/domains/register", `{"domain":"first.com"}`, "Authorization", "Bearer "+s.tokens(t, s.buyer(t)).Access),
			"dry run":         s.do(t, "POST", "/domains/register", dryRun),
			"paid":            s.register(t, "first.com", s.promise(s.buyer(t), comPrice).header(t)),
			"paid too little": s.register(t, "first.com", s.promise(s.buyer(t), comPrice-1).header(t)),
			"transfer, paid":  s.transfer(t, "first.com", "code", s.promise(s.buyer(t), comPrice).header(t)),
		} {
			if got.status != 409 || !strings.Contains(got.body, string(deed.CodeDomainUnavailable)) {
				t.Errorf("%s: got %d %s", what, got.status, got.body)
			}
		}
		if again := s.ordered(t, header); again.JobID != first.JobID {
			t.Errorf("got %+v, want the job %s", again, first.JobID)
		}
		// A buyer who has lost the answer gets an offer and signs again.
		token := "Bearer " + s.tokens(t, a).Access
		s.do(t, "POST", "/domains/register", dryRun, "Authorization", token).expect(t, 200, "")
		s.do(t, "POST", "/domains/register", `{"domain":"first.com"}`, "Authorization", token).expect(t, 402, deed.CodePaymentRequired)
		s.register(t, "first.com", "").expect(t, 402, deed.CodePaymentRequired)
		if second := s.ordered(t, s.promise(a, comPrice).header(t)); second.JobID != first.JobID {
			t.Errorf("got %+v, want the job %s", second, first.JobID)
		}
		s.runWorker(t) // the parked order is taken back after its deadline
		if got := s.checked(t, "first"); got != free {
			t.Errorf("got %s", got)
		}
		s.register(t, "first.com", "").expect(t, 402, deed.CodePaymentRequired)
		s.register(t, "first.com", s.promise(s.buyer(t), comPrice).header(t)).expect(t, 201, "")
		if got := s.checked(t, "first"); got != taken { // although the registrar's answer is cached
			t.Errorf("got %s", got)
		}
		s.audit(t)
	})
}

// A buyer who had just the price, has paid it, and has lost the answer signs again: it gets
// the job, and is not told to bring more money for the same order. For another order it is.
func TestBuyerSignsAgainWithAnEmptyWallet(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := newAccount(t)
		if _, _, err := s.chain.Faucet(t.Context(), string(a.wallet), int64(comPrice)); err != nil {
			t.Fatal(err)
		}
		s.faults.Set(local.FaultParked, 1)
		first := s.ordered(t, s.promise(a, comPrice).header(t))
		if again := s.ordered(t, s.promise(a, comPrice).header(t)); again.JobID != first.JobID {
			t.Errorf("got %+v, want the job %s", again, first.JobID)
		}
		s.register(t, "second.com", s.promise(a, comPrice).header(t)).expect(t, 402, deed.CodePaymentInsufficient)
		forged := s.promise(a, comPrice)
		forged.key = newAccount(t).key
		s.register(t, "first.com", forged.header(t)).expect(t, 402, deed.CodePaymentInvalid)
		s.audit(t)
	})
}
