package mandate_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/mandate"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

const (
	owner    deed.Wallet = "0x00000000000000000000000000000000000000aa"
	treasury deed.Wallet = "0x00000000000000000000000000000000000000bb"
	price                = 1306 * deed.Cent
)

var expires = time.Date(2027, time.March, 1, 12, 0, 0, 0, time.UTC)

// A world is what a service works with: one name, its mandates, and what was done.
type world struct {
	now     time.Time
	name    lifecycle.Registration
	gone    bool // the name is not registered
	price   deed.USDC
	check   error // of an authorization whose time has not come
	use     error // of a renewal
	mandate order.Mandate
	active  []order.Mandate

	used    int
	created []order.Mandate
	ended   order.MandateState
	reason  string
	next    time.Time // of the last delay
	told    int
}

func newWorld() *world {
	return &world{
		now: expires.AddDate(-1, 0, 0), price: price,
		name: lifecycle.Registration{Name: "a.com", Owner: owner, Reference: "r1", Status: lifecycle.StatusActive, Expires: expires},
	}
}

func (w *world) service() *mandate.Service {
	return &mandate.Service{Store: w, Names: w, Prices: w, Engine: w, PayTo: treasury, Ceiling: 10_000 * deed.Cent, Now: func() time.Time { return w.now }}
}

func (w *world) Registration(context.Context, deed.Name) (lifecycle.Registration, error) {
	if w.gone {
		return lifecycle.Registration{}, deed.Errorf(deed.CodeNotFound, "a.com is not registered here")
	}
	return w.name, nil
}

func (w *world) Renewal(lifecycle.Registration, int, bool) (order.Quote, error) {
	return order.Quote{Amount: w.price}, nil
}
func (w *world) Years(deed.TLD) (least, most int, err error) { return 1, 10, nil }
func (w *world) GraceDays(deed.TLD) int                      { return 45 }

func (w *world) CheckMandate(context.Context, settle.Authorization) error { return w.check }

func (w *world) UseMandate(context.Context, order.Mandate, order.Purchase) error {
	w.used++
	return w.use
}

func (w *world) Create(_ context.Context, _ deed.Name, all []order.Mandate) ([]order.Mandate, error) {
	w.created = all
	return all, nil
}

func (w *world) List(context.Context, deed.Wallet, deed.Name) ([]order.Mandate, error) {
	return w.active, nil
}
func (w *world) Active(context.Context, deed.Name) ([]order.Mandate, error) { return w.active, nil }

func (w *world) Revoke(context.Context, deed.Wallet, deed.Name, string) ([]order.Mandate, error) {
	return w.active, nil
}
func (w *world) Mandate(context.Context, string) (order.Mandate, error) { return w.mandate, nil }
func (w *world) Due(context.Context, int) ([]string, error)             { return nil, nil }

func (w *world) Delay(_ context.Context, m order.Mandate, next time.Time, tell bool) error {
	w.mandate, w.next = m, next
	if tell {
		w.told++
	}
	return nil
}

func (w *world) End(_ context.Context, _ order.Mandate, to order.MandateState, reason string) error {
	w.ended, w.reason = to, reason
	return nil
}

// signed returns an authorization for the renewal of an expiry.
func signed(at time.Time, nonce string, amount deed.USDC) mandate.Signed {
	return mandate.Signed{Expires: at, Auth: settle.Authorization{
		Payer: owner, PayTo: treasury, Amount: amount, Nonce: nonce,
		ValidAfter: at.AddDate(0, 0, -order.MandateOpenDays).Unix(), ValidBefore: at.AddDate(0, 0, 45).Unix(),
	}}
}

// A plan has the coming renewals, says which are taken, and proposes a cap.
func TestPlan(t *testing.T) {
	w := newWorld()
	w.active = []order.Mandate{{Expires: expires.AddDate(1, 0, 0)}}
	p, err := w.service().Plan(t.Context(), owner, "a.com", 3, 0)
	if err != nil || p.Price != price || p.Cap != 1568*deed.Cent || len(p.Slots) != 3 || p.Slots[0].Taken || !p.Slots[1].Taken || !p.Slots[2].Expires.Equal(expires.AddDate(2, 0, 0)) {
		t.Errorf("got %+v, %v", p, err)
	}
	for name, tt := range map[string]struct {
		who    deed.Wallet
		years  int
		limit  deed.USDC
		change func(w *world)
		code   deed.Code
	}{
		"another wallet": {treasury, 1, 0, func(*world) {}, deed.CodeOwnershipDenied},
		"no name":        {owner, 1, 0, func(w *world) { w.gone = true }, deed.CodeNotFound},
		"a name that is being deleted": {owner, 1, 0, func(w *world) {
			w.name.Status = lifecycle.StatusRedemption
		}, deed.CodeValidation},
		"no years":        {owner, 0, 0, func(*world) {}, deed.CodeValidation},
		"too many years":  {owner, order.MaxMandates + 1, 0, func(*world) {}, deed.CodeValidation},
		"below the price": {owner, 1, price - 1, func(*world) {}, deed.CodeValidation},
		"above any price": {owner, 1, 20_000 * deed.Cent, func(*world) {}, deed.CodeValidation},
	} {
		w := newWorld()
		tt.change(w)
		if _, err := w.service().Plan(t.Context(), tt.who, "a.com", tt.years, tt.limit); deed.CodeOf(err) != tt.code {
			t.Errorf("%s: got %v, want %s", name, err, tt.code)
		}
	}
}

// Mandates are stored all or none, and only if each could be used as it is.
func TestCreate(t *testing.T) {
	first, second := signed(expires, "0x1", price), signed(expires.AddDate(1, 0, 0), "0x2", price)
	w := newWorld()
	if all, err := w.service().Create(t.Context(), owner, "a.com", []mandate.Signed{first, second}); err != nil || len(all) != 2 || all[0].State != order.MandateActive || all[1].Reference != "r1" {
		t.Errorf("got %+v, %v", all, err)
	}
	changed := func(change func(s *mandate.Signed)) []mandate.Signed {
		s := second
		change(&s)
		return []mandate.Signed{first, s}
	}
	for field, all := range map[string][]mandate.Signed{
		"mandates":                              {},
		"mandates[1]: authorization.to":         changed(func(s *mandate.Signed) { s.Auth.PayTo = owner }),
		"mandates[1]: authorization.from":       changed(func(s *mandate.Signed) { s.Auth.Payer = treasury }),
		"mandates[1]: authorization.validAfter": changed(func(s *mandate.Signed) { s.Auth.ValidAfter = 0 }),
		"mandates[1]: authorization.nonce":      changed(func(s *mandate.Signed) { s.Auth.Nonce = "0x1" }),
		"mandates[1]: capUsd":                   changed(func(s *mandate.Signed) { s.Auth.Amount = 1 }),
		"mandates[1]: expiresAt":                changed(func(s *mandate.Signed) { s.Expires = expires.Add(time.Second) }),
	} {
		w := newWorld()
		_, err := w.service().Create(t.Context(), owner, "a.com", all)
		if deed.CodeOf(err) != deed.CodeValidation || !strings.Contains(err.Error(), field+":") || w.created != nil {
			t.Errorf("%s: got %v, stored %v", field, err, w.created)
		}
	}
	w.created = nil
	for cause, code := range map[error]deed.Code{
		deed.Errorf(deed.CodePaymentInvalid, "the signature is wrong"): deed.CodeValidation, // nothing is to be paid now
		deed.Errorf(deed.CodeUnavailable, "the chain is down"):         deed.CodeUnavailable,
	} {
		w.check = cause
		if _, err := w.service().Create(t.Context(), owner, "a.com", []mandate.Signed{first}); deed.CodeOf(err) != code || w.created != nil {
			t.Errorf("%v: got %v, stored %v", cause, err, w.created)
		}
	}
}

// A wallet that signed mandates may list and revoke them, also when the name has another
// owner by now; others learn nothing.
func TestListAndRevoke(t *testing.T) {
	w := newWorld()
	w.name.Owner, w.active = treasury, []order.Mandate{{ID: "man_1"}}
	if all, err := w.service().List(t.Context(), owner, "a.com"); err != nil || len(all) != 1 {
		t.Errorf("a former owner: got %v, %v", all, err)
	}
	if all, err := w.service().Revoke(t.Context(), owner, "a.com", ""); err != nil || len(all) != 1 {
		t.Errorf("a former owner: got %v, %v", all, err)
	}
	w.active = nil
	if _, err := w.service().List(t.Context(), owner, "a.com"); deed.CodeOf(err) != deed.CodeOwnershipDenied {
		t.Errorf("a stranger: got %v", err)
	}
	if _, err := w.service().Revoke(t.Context(), owner, "a.com", ""); deed.CodeOf(err) != deed.CodeOwnershipDenied {
		t.Errorf("a stranger: got %v", err)
	}
	if all, err := w.service().List(t.Context(), treasury, "a.com"); err != nil || len(all) != 0 {
		t.Errorf("the owner: got %v, %v", all, err)
	}
	if _, err := w.service().Revoke(t.Context(), treasury, "a.com", "man_2"); deed.CodeOf(err) != deed.CodeNotFound {
		t.Errorf("the owner: got %v", err)
	}
}

// What becomes of a mandate when its turn comes: it is used, ends, or is tried again
// later, and its owner is told once of what can be mended.
func TestAdvance(t *testing.T) {
	due := expires.AddDate(0, 0, -order.MandateOpenDays).Add(time.Hour)
	lastWeek, end := expires.AddDate(0, 0, -7), expires.AddDate(0, 0, 45)
	spent := &deed.Error{Code: deed.CodePaymentInvalid, Message: "used", Err: settle.ErrSpent}
	poor := deed.Errorf(deed.CodePaymentInsufficient, "the wallet holds too little")
	down := deed.Errorf(deed.CodeUnavailable, "the chain is down")
	for name, tt := range map[string]struct {
		at     time.Time
		change func(w *world)
		ended  order.MandateState
		used   bool
		after  time.Duration // until it is looked at again
		told   bool
		fails  bool // an operator sees it
	}{
		"it is due":              {due, func(*world) {}, "", true, 0, false, false},
		"it is not active":       {due, func(w *world) { w.mandate.State = order.MandatePaying }, "", false, 0, false, false},
		"the name has ended":     {due, func(w *world) { w.gone = true }, order.MandateRevoked, false, 0, false, false},
		"the name has moved on":  {due, func(w *world) { w.name.Owner = treasury }, order.MandateRevoked, false, 0, false, false},
		"it was renewed":         {due, func(w *world) { w.name.Expires = expires.AddDate(1, 0, 0) }, order.MandateUnneeded, false, 0, false, false},
		"its time has ended":     {end, func(*world) {}, order.MandateFailed, false, 0, false, false},
		"spent when it is due":   {due, func(w *world) { w.use = spent }, order.MandateFailed, true, 0, false, false},
		"spent before":           {due.AddDate(0, -1, 0), func(w *world) { w.check = spent }, order.MandateFailed, false, 0, false, false},
		"another renewal":        {due, func(w *world) { w.use = order.ErrMandateIdle }, "", true, time.Hour, false, false},
		"the chain's clock":      {due, func(w *world) { w.use = settle.ErrNotYet }, "", true, time.Minute, false, false},
		"too many payments":      {due, func(w *world) { w.use = deed.Errorf(deed.CodeRateLimited, "wait") }, "", true, time.Minute, false, false},
		"the price has risen":    {due, func(w *world) { w.use = &order.CapTooLow{Price: 2 * price} }, "", true, 24 * time.Hour, true, false},
		"poor, with time left":   {due, func(w *world) { w.use = poor }, "", true, 6 * time.Hour, false, false},
		"poor, in the last week": {lastWeek, func(w *world) { w.use = poor }, "", true, 6 * time.Hour, true, false},
		"the chain is down":      {due, func(w *world) { w.use = down }, "", true, 5 * time.Minute, false, true},
		"down before it is due":  {due.AddDate(0, -1, 0), func(w *world) { w.check = down }, "", false, 5 * time.Minute, false, true},
		"poor, on the last day":  {end.Add(-5 * time.Hour), func(w *world) { w.use = poor }, "", true, 4 * time.Hour, true, false},
		"poor, in the last hour": {end.Add(-time.Hour), func(w *world) { w.use = poor }, "", true, time.Hour, true, false},
		"it cannot be renewed":   {due, func(w *world) { w.use = deed.Errorf(deed.CodeValidation, "it is locked") }, "", true, 24 * time.Hour, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.now = tt.at
			w.mandate = order.Mandate{ID: "man_1", Name: "a.com", Owner: owner, Reference: "r1", Expires: expires, Auth: signed(expires, "0x1", price).Auth, State: order.MandateActive}
			tt.change(w)
			err := w.service().Advance(t.Context(), "man_1")
			if (err != nil) != tt.fails || w.ended != tt.ended || (w.used == 1) != tt.used || (w.told == 1) != tt.told || (tt.ended != "") != (w.reason != "") {
				t.Errorf("got %v: ended %q because %q, used %d, told %d", err, w.ended, w.reason, w.used, w.told)
			}
			if tt.after != 0 && !w.next.Equal(tt.at.Add(tt.after)) {
				t.Errorf("it is looked at again at %s", w.next)
			}
			if tt.told {
				if err := w.service().Advance(t.Context(), "man_1"); err != nil || w.told != 1 || w.mandate.Reason == "" {
					t.Errorf("the second time: %v, told %d times, %q", err, w.told, w.mandate.Reason)
				}
			}
		})
	}
}

// An owner is warned of a cap below the price two months before the expiry, not before,
// and of an authorization that the chain would refuse at once. A mandate shows no reason when
// that is over.
func TestWarnings(t *testing.T) {
	for _, tt := range []struct {
		days  int // before the expiry
		price deed.USDC
		check error
		told  int
	}{
		{61, 2 * price, nil, 0}, {59, 2 * price, nil, 1}, {59, price, nil, 0},
		{300, price, deed.Errorf(deed.CodePaymentInvalid, "the wallet is blocked"), 1},
	} {
		w := newWorld()
		w.now, w.price, w.check = expires.AddDate(0, 0, -tt.days), tt.price, tt.check
		w.mandate = order.Mandate{Name: "a.com", Owner: owner, Reference: "r1", Expires: expires, Auth: signed(expires, "0x1", price).Auth, State: order.MandateActive}
		if err := w.service().Advance(t.Context(), "man_1"); err != nil || w.told != tt.told || w.next.Before(w.now.Add(time.Hour)) {
			t.Errorf("%+v: got %v, told %d times, next %s", tt, err, w.told, w.next)
		}
		w.price, w.check = price, nil
		if err := w.service().Advance(t.Context(), "man_1"); err != nil || w.mandate.Reason != "" {
			t.Errorf("%+v: at risk for good: %q, %v", tt, w.mandate.Reason, err)
		}
	}
}

// An owner who knows that a name cannot be renewed now is told, too, that the cap has become
// too low, and by how much, but not again of the same.
func TestEachReasonIsTold(t *testing.T) {
	w := newWorld()
	w.now = expires.AddDate(0, 0, -7)
	w.mandate = order.Mandate{Name: "a.com", Owner: owner, Reference: "r1", Expires: expires, Auth: signed(expires, "0x1", price).Auth, State: order.MandateActive}
	prohibited := deed.Errorf(deed.CodeValidation, "the registry does not allow renewals of a.com now")
	for i, tt := range []struct {
		use  error
		told int
	}{
		{prohibited, 1}, {prohibited, 1}, {&order.CapTooLow{Price: 2 * price}, 2}, {&order.CapTooLow{Price: 2 * price}, 2}, {&order.CapTooLow{Price: 3 * price}, 3},
		{deed.Errorf(deed.CodePaymentInsufficient, "the wallet has 1 USDC"), 4}, {deed.Errorf(deed.CodePaymentInsufficient, "the wallet has 2 USDC"), 4},
	} {
		w.use = tt.use
		if err := w.service().Advance(t.Context(), "man_1"); err != nil || w.told != tt.told {
			t.Errorf("%d: %v, told %d times, want %d: %q", i, err, w.told, tt.told, w.mandate.Reason)
		}
	}
}

// A name is renewed automatically if a mandate of its owner is for its present expiry.
func TestRenews(t *testing.T) {
	w := newWorld()
	for want, m := range map[bool]order.Mandate{
		true:  {Owner: owner, Reference: "r1", Expires: expires},
		false: {Owner: treasury, Reference: "r1", Expires: expires},
	} {
		w.active = []order.Mandate{{Owner: owner, Reference: "r1", Expires: expires.AddDate(1, 0, 0)}, m}
		if got, err := w.service().Renews(t.Context(), w.name); err != nil || got != want {
			t.Errorf("%+v: got %v, %v", m, got, err)
		}
	}
}
