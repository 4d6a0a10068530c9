package e2e_test

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/event"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar/local"
)

const comCap deed.USDC = 15_680_000 // a fifth above the price, in whole cents

// plan asks what to sign for the coming years.
func (s *env) plan(t *testing.T, a *account, name string, years int) api.MandatePlan {
	t.Helper()
	return read[api.MandatePlan](t, s.get(t, fmt.Sprintf("/account/mandates/%s/plan?years=%d", name, years), "Authorization", s.bearer(t, a)))
}

// mandatePromise returns the authorization of a slot, to be changed and signed.
func (s *env) mandatePromise(t *testing.T, a *account, slot api.MandateSlot) *promise {
	t.Helper()
	number := func(text string) *big.Int {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return big.NewInt(n)
	}
	p := s.promise(a, 0)
	p.value, p.after, p.before, p.to = number(slot.Authorization.Value), number(slot.Authorization.ValidAfter), number(slot.Authorization.ValidBefore), common.HexToAddress(slot.Authorization.To)
	return p
}

// mandateBody returns the body that gives signed authorizations.
func mandateBody(expires []time.Time, promises []*promise) string {
	var all []string
	for i, p := range promises {
		all = append(all, fmt.Sprintf(`{"expiresAt":%q,"authorization":%s,"signature":"0x%s"}`, expires[i].Format(time.RFC3339), p.authorization(), hex.EncodeToString(p.sign())))
	}
	return `{"mandates":[` + strings.Join(all, ",") + `]}`
}

// mandate signs the coming renewals of a name, and returns what was signed.
func (s *env) mandate(t *testing.T, a *account, name string, years int) []*promise {
	t.Helper()
	var expires []time.Time
	var promises []*promise
	for _, slot := range s.plan(t, a, name, years).Renewals {
		expires, promises = append(expires, slot.ExpiresAt), append(promises, s.mandatePromise(t, a, slot))
	}
	s.do(t, "POST", "/account/mandates/"+name, mandateBody(expires, promises), "Authorization", s.bearer(t, a)).expect(t, 201, "")
	return promises
}

// passAll advances all clocks, and does what is due.
func (s *env) passAll(t *testing.T, d time.Duration) {
	t.Helper()
	s.clock.advance(d)
	s.ahead += d
	s.chain.SetAhead(s.ahead)
	if err := s.chain.Mine(); err != nil {
		t.Fatal(err)
	}
	s.runMandates(t)
	s.runLifecycle(t)
}

// runMandates advances every mandate that is due.
func (s *env) runMandates(t *testing.T) {
	t.Helper()
	ids, err := s.api.Mandates.Due(t.Context(), 1000)
	for _, id := range ids {
		if err == nil {
			err = s.api.Mandates.Advance(t.Context(), id)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// mandates returns the mandates of a name, the earliest expiry first.
func (s *env) mandates(t *testing.T, a *account, name string) []api.Mandate {
	t.Helper()
	all := read[api.Mandates](t, s.get(t, "/account/mandates/"+name, "Authorization", s.bearer(t, a))).Mandates
	slices.Reverse(all)
	return all
}

// told returns the events about mandates of a wallet.
func (s *env) told(t *testing.T, a *account) (all []api.Event) {
	t.Helper()
	for _, e := range s.events(t, a, "?limit=100").Events {
		if strings.HasPrefix(e.Type, "mandate.") {
			all = append(all, e)
		}
	}
	return all
}

// wantTold fails unless the events about mandates are of these types.
func (s *env) wantTold(t *testing.T, a *account, want ...event.Type) []api.Event {
	t.Helper()
	told := s.told(t, a)
	if got := types(api.Events{Events: told}); !slices.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
	return told
}

// wantMandates fails unless the mandates of a name are in these states.
func (s *env) wantMandates(t *testing.T, a *account, name string, want ...order.MandateState) []api.Mandate {
	t.Helper()
	all := s.mandates(t, a, name)
	var got []order.MandateState
	for _, m := range all {
		got = append(got, order.MandateState(m.Status))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got mandates %v, want %v", got, want)
	}
	return all
}

// A mandate renews its name once, thirty days before the expiry. The price of the day
// is charged, and the rest goes back; the receipt has both.
func TestMandateRenews(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.bought(t, "first.com")
		before, expires := s.balance(t, common.HexToAddress(string(a.wallet))), s.domain(t, "first.com").ExpiresAt
		if s.domain(t, "first.com").AutoRenew {
			t.Error("it renews itself without a mandate")
		}
		if p := s.plan(t, a, "first.com", 2); p.Price != comRenewal.String() || p.Cap != comCap.String() || len(p.Renewals) != 2 || p.Renewals[0].Signed || !p.Renewals[1].ExpiresAt.Equal(expires.AddDate(1, 0, 0)) {
			t.Errorf("got %+v", p)
		}
		s.mandate(t, a, "first.com", 2)
		if !s.domain(t, "first.com").AutoRenew || !s.plan(t, a, "first.com", 1).Renewals[0].Signed {
			t.Error("it does not renew itself")
		}
		s.passAll(t, 334*day)
		s.wantMandates(t, a, "first.com", order.MandateActive, order.MandateActive)
		s.passAll(t, 2*day)
		s.runWorker(t)
		s.wantMandates(t, a, "first.com", order.MandateUsed, order.MandateActive)
		d := s.domain(t, "first.com")
		if !d.ExpiresAt.Equal(expires.AddDate(1, 0, 0)) || !d.AutoRenew {
			t.Errorf("got %+v", d)
		}
		if got := s.balance(t, common.HexToAddress(string(a.wallet))); got != before-comRenewal {
			t.Errorf("it cost %s, want %s", before-got, comRenewal)
		}
		told := s.wantTold(t, a, event.MandateDue, event.MandateUsed)
		if used := told[1].Data; used.Price != comRenewal.String() || used.Amount != comCap.String() || used.MandateID == "" || !used.ExpiresAt.Equal(expires) {
			t.Errorf("got %+v", used)
		}
		job := s.renewalJob(t, a)
		if job.Payment.Amount != comCap.String() || job.Result.Price != comRenewal.String() || job.Refund == nil || job.Refund.Amount != (comCap-comRenewal).String() || job.Refund.Status != "confirmed" {
			t.Errorf("got %+v with the refund %+v", job, job.Refund)
		}
		for range 3 { // it is not used twice
			s.passAll(t, day)
			s.runWorker(t)
		}
		s.wantTold(t, a, event.MandateDue, event.MandateUsed)
		s.audit(t)
	})
}

// renewalJob returns the last completed renewal of a wallet.
func (s *env) renewalJob(t *testing.T, a *account) (job api.Job) {
	t.Helper()
	for _, e := range s.events(t, a, "?limit=100").Events {
		if e.Type == string(event.JobCompleted) && e.Data.Kind == string(order.PurchaseRenewal) {
			job = read[api.Job](t, s.get(t, "/domains/status/"+e.Data.JobID))
		}
	}
	if job.Result == nil {
		t.Fatal("no renewal is completed")
	}
	return job
}

// What cannot be a mandate is refused, and nothing is stored.
func TestMandateRefusals(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a, other := s.bought(t, "first.com"), s.buyer(t)
		token := s.bearer(t, a)
		slots := s.plan(t, a, "first.com", 3).Renewals
		post := func(name, token string, at time.Time, change func(p *promise)) answer {
			p := s.mandatePromise(t, a, slots[0])
			change(p)
			return s.do(t, "POST", "/account/mandates/"+name, mandateBody([]time.Time{at}, []*promise{p}), "Authorization", token)
		}
		same := func(*promise) {}
		e := slots[0].ExpiresAt
		post("nobody.com", token, e, same).expect(t, 404, deed.CodeNotFound)
		post("first.com", s.bearer(t, other), e, same).expect(t, 403, deed.CodeOwnershipDenied)
		s.do(t, "POST", "/account/mandates/first.com", "{}").expect(t, 401, deed.CodeAuthRequired)
		for what, got := range map[string]answer{
			"another payer":     post("first.com", token, e, func(p *promise) { p.from, p.key = common.HexToAddress(string(other.wallet)), other.key }),
			"another key":       post("first.com", token, e, func(p *promise) { p.key = other.key }),
			"another payee":     post("first.com", token, e, func(p *promise) { p.to = p.from }),
			"below the price":   post("first.com", token, e, func(p *promise) { p.value = big.NewInt(int64(comRenewal) - 1) }),
			"too much":          post("first.com", token, e, func(p *promise) { p.value = big.NewInt(int64(comRenewal)*10 + 1) }),
			"nothing":           post("first.com", token, e, func(p *promise) { p.value = new(big.Int) }),
			"valid at once":     post("first.com", token, e, func(p *promise) { p.after = new(big.Int) }),
			"valid for ever":    post("first.com", token, e, func(p *promise) { p.before = big.NewInt(1 << 40) }),
			"the past":          post("first.com", token, e.AddDate(-1, 0, 0), same),
			"no expiry":         post("first.com", token, e.Add(time.Second), same),
			"eleven years":      post("first.com", token, e.AddDate(10, 0, 0), same),
			"another chain":     post("first.com", token, e, func(p *promise) { p.chainID = 8453 }),
			"the other expiry":  post("first.com", token, slots[1].ExpiresAt, same),
			"an empty list":     s.do(t, "POST", "/account/mandates/first.com", `{"mandates":[]}`, "Authorization", token),
			"a malformed nonce": s.do(t, "POST", "/account/mandates/first.com", strings.Replace(mandateBody([]time.Time{e}, []*promise{s.mandatePromise(t, a, slots[0])}), `"nonce":"0x`, `"nonce":"0y`, 1), "Authorization", token),
		} {
			if got.status != 400 || got.error(t).Code != string(deed.CodeValidation) {
				t.Errorf("%s: got %d %s", what, got.status, got.body)
			}
		}
		one, two := s.mandatePromise(t, a, slots[0]), s.mandatePromise(t, a, slots[1])
		two.nonce = one.nonce
		s.do(t, "POST", "/account/mandates/first.com", mandateBody([]time.Time{e, slots[1].ExpiresAt}, []*promise{one, two}), "Authorization", token).expect(t, 400, deed.CodeValidation)
		if _, _, err := s.chain.SendFromFaucet(t.Context(), devchain.USDC, one.cancelCall()); err != nil {
			t.Fatal(err)
		}
		s.do(t, "POST", "/account/mandates/first.com", mandateBody([]time.Time{e}, []*promise{one}), "Authorization", token).expect(t, 400, deed.CodeValidation)
		s.wantMandates(t, a, "first.com")
		good := mandateBody([]time.Time{e}, []*promise{s.mandatePromise(t, a, slots[0])})
		first := made[api.Mandates](t, s.do(t, "POST", "/account/mandates/first.com", good, "Authorization", token)).Mandates
		if kept := s.mandates(t, a, "first.com"); !reflect.DeepEqual(first, kept) {
			t.Errorf("got %+v, and then %+v", first, kept)
		}
		s.do(t, "POST", "/account/mandates/first.com", good, "Authorization", token).expect(t, 400, deed.CodeValidation) // twice
		post("first.com", token, e, same).expect(t, 400, deed.CodeValidation)                                            // another for the same expiry
		s.wantMandates(t, a, "first.com", order.MandateActive)
	})
}

// A renewal that is open or done by the owner comes first: the mandate of that expiry
// is not used, and the next one stands.
func TestMandateIsNotNeeded(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.bought(t, "first.com")
		s.mandate(t, a, "first.com", 2)
		s.faults.Set(local.FaultDown, 0)
		s.passAll(t, 330*day)
		s.faults.Set(local.FaultNone, 0)
		p := s.promise(a, comRenewal)
		p.before = big.NewInt(s.clock.Now().Add(5 * time.Minute).Unix())
		s.faults.Set(local.FaultParked, 1)
		s.renew(t, "first.com", 1, p.header(t)).expect(t, 202, "")
		s.passAll(t, 6*day) // the renewal is open
		s.wantMandates(t, a, "first.com", order.MandateActive, order.MandateActive)
		s.runWorker(t) // the parked order goes back after its deadline
		s.passAll(t, day)
		s.runWorker(t)
		s.wantMandates(t, a, "first.com", order.MandateUsed, order.MandateActive)
		p = s.promise(a, comRenewal)
		p.before = big.NewInt(s.clock.Now().Add(5 * time.Minute).Unix())
		s.renew(t, "first.com", 1, p.header(t)).expect(t, 200, "")
		for range 12 {
			s.passAll(t, 30*day)
		}
		s.runWorker(t)
		s.wantMandates(t, a, "first.com", order.MandateUsed, order.MandateUnneeded)
		if s.domain(t, "first.com").AutoRenew {
			t.Error("it renews itself")
		}
		s.wantTold(t, a, event.MandateDue, event.MandateUsed)
		s.audit(t)
	})
}
