package fulfil_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

const (
	payer   deed.Wallet = "0x0000000000000000000000000000000000000001"
	payTo   deed.Wallet = "0x0000000000000000000000000000000000000002"
	price               = 13 * 100 * deed.Cent
	chainID             = 1
)

// env is a service on an in-memory database, with a clock that tests control and a
// scripted chain.
type env struct {
	*fulfil.Service
	t     *testing.T
	rows  sqldb.Payments
	jobs  sqldb.Jobs
	kind  *scriptedKind
	chain *scripted
	now   time.Time
}

// scripted is a chain that returns what a test has set.
type scripted struct {
	funds     settle.Funds
	check     error
	checked   [][]string // the open nonces of each check
	during    func()     // called once, during the next check
	settle    error
	abandon   error
	refund    error
	arrivals  []settle.Arrivals
	sentByUs  bool
	traced    int // calls of SentByUs
	settles   int // calls of Settle
	abandoned int
	refunds   []settle.Refund
}

func (c *scripted) Check(_ context.Context, a settle.Authorization, open []string) (settle.Funds, error) {
	c.checked = append(c.checked, open)
	if during := c.during; during != nil {
		c.during = nil
		during()
	}
	if len(open) == 0 {
		return settle.Funds{Balance: a.Amount}, c.check // the whole balance is not read
	}
	return c.funds, c.check
}

func (c *scripted) Settle(_ context.Context, a settle.Authorization) (string, error) {
	c.settles++
	return "0xsettled" + a.Nonce, c.settle
}

func (c *scripted) Abandon(context.Context, settle.Authorization) error {
	c.abandoned++
	return c.abandon
}

func (c *scripted) Refund(_ context.Context, r settle.Refund) (string, error) {
	c.refunds = append(c.refunds, r)
	return "0xrefunded" + r.Nonce, c.refund
}

func (c *scripted) Incoming(_ context.Context, from uint64) (settle.Arrivals, error) {
	var final uint64
	if n := len(c.arrivals); n > 0 {
		final = c.arrivals[n-1].Next - 1
	}
	for _, a := range c.arrivals {
		if a.Next > from {
			a.Final = final
			return a, nil
		}
	}
	return settle.Arrivals{Next: from, Final: final}, nil
}

func (c *scripted) SentByUs(context.Context, string) (bool, error) {
	c.traced++
	return c.sentByUs, nil
}

func newEnv(t *testing.T) *env {
	t.Helper()
	db := sqldbtest.Memory(t)
	e := &env{t: t, now: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC), chain: &scripted{funds: settle.Funds{Balance: 1000 * price}}}
	clock := func() time.Time { return e.now }
	e.rows = sqldb.Payments{DB: db, ChainID: chainID, Now: clock}
	terms := fulfil.DefaultTerms()
	terms.ChainID = chainID
	e.jobs = sqldb.Jobs{DB: db, Now: clock, Zones: sqldbtest.Zones(db, clock)}
	e.kind = &scriptedKind{jobs: e.jobs}
	e.Service = &fulfil.Service{
		Store: e.rows, Books: e.rows, Queue: e.rows, Watch: e.rows, Terms: terms, Now: clock,
		Verifier: e.chain, Settler: e.chain, Refunder: e.chain, Watcher: e.chain,
		Jobs: e.jobs, JobQueue: e.jobs, Kinds: []order.Kind{e.kind}, Wait: time.Minute,
	}
	return e
}

func authorization(nonce string) *settle.Authorization {
	return &settle.Authorization{Payer: payer, PayTo: payTo, Amount: price, ValidBefore: 1 << 40, Nonce: nonce, Signature: []byte("signed " + nonce)}
}

func name(n int) order.Purchase {
	return order.Purchase{Kind: order.PurchaseRegistration, Name: deed.Name(fmt.Sprintf("name%d.com", n)), Years: 1}
}

// buy orders a name as a request does.
func (e *env) buy(a *settle.Authorization, signedIn deed.Wallet, what order.Purchase) (order.Payment, error) {
	out, err := e.Buy(e.t.Context(), order.Request{Purchase: what}, e.Checkout(a, signedIn, false))
	if err != nil {
		return order.Payment{}, err
	}
	return e.rows.Payment(e.t.Context(), out.Job.PaymentID)
}

func (e *env) state(a *settle.Authorization) order.PaymentState {
	e.t.Helper()
	p, err := e.rows.Payment(e.t.Context(), a.PaymentID(chainID, ""))
	if err != nil {
		e.t.Fatal(err)
	}
	return p.State
}

// advance advances everything that is due.
func (e *env) advance() {
	e.t.Helper()
	for _, list := range []func(context.Context, int) ([]string, error){e.Due, e.DueRefunds} {
		ids, err := list(e.t.Context(), 100)
		if err != nil {
			e.t.Fatal(err)
		}
		for _, id := range ids {
			if _, err := e.Advance(e.t.Context(), id); err != nil && !errors.Is(err, order.ErrPending) {
				e.t.Fatal(err)
			}
		}
	}
}

// A payer who opens another payment during the check is checked again, with the whole
// balance: enough is enough, and too little is refused.
func TestOpenedDuringTheCheck(t *testing.T) {
	for want, balance := range map[deed.Code]deed.USDC{"": 2 * price, deed.CodePaymentInsufficient: 2*price - 1} {
		e := newEnv(t)
		e.chain.funds, e.chain.settle = settle.Funds{Balance: balance}, settle.ErrUnsettleable
		e.chain.during = func() {
			if _, err := e.buy(authorization("1"), "", name(1)); err != nil {
				t.Fatal(err)
			}
		}
		_, err := e.buy(authorization("2"), "", name(2))
		if got := deed.CodeOf(err); err != nil && got != want || err == nil && want != "" {
			t.Errorf("with %s: got %v, want %q", balance, err, want)
		}
		if want := [][]string{nil, nil, {"1"}}; !reflect.DeepEqual(e.chain.checked, want) {
			t.Errorf("checked with %v, want %v", e.chain.checked, want)
		}
	}
}

// A payment that cannot be settled keeps its name for a minute and is then released:
// the name is free, nothing is submitted any more, and the payer may pay again.
func TestStuckPaymentIsReleased(t *testing.T) {
	e := newEnv(t)
	e.chain.settle = settle.ErrUnsettleable
	a := authorization("1")
	if p, err := e.buy(a, "", name(1)); err != nil || p.State != order.PaymentSettling {
		t.Fatalf("got %s, %v", p.State, err)
	}
	other := authorization("2")
	other.Payer = "0x0000000000000000000000000000000000000009"
	if _, err := e.buy(other, "", name(1)); deed.CodeOf(err) != deed.CodeDomainUnavailable {
		t.Fatalf("the name was not kept: %v", err)
	}
	e.now = e.now.Add(30 * time.Second)
	e.advance()
	if got := e.state(a); got != order.PaymentSettling || e.chain.abandoned != 0 {
		t.Fatalf("after 30 s: %s, abandoned %d times", got, e.chain.abandoned)
	}
	e.now = e.now.Add(2 * time.Minute)
	e.advance()
	if got := e.state(a); got != order.PaymentReleased || e.chain.abandoned != 1 {
		t.Fatalf("after a minute: %s, abandoned %d times", got, e.chain.abandoned)
	}
	if _, err := e.buy(a, "", name(1)); deed.CodeOf(err) != deed.CodePaymentInvalid || errors.Is(err, order.ErrNoOffer) {
		t.Errorf("a replay: got %v, want a refusal with an offer", err)
	}
	e.chain.settle = nil
	if p, err := e.buy(other, "", name(1)); err != nil || p.State != order.PaymentSettled {
		t.Errorf("the next buyer: got %s, %v", p.State, err)
	}
	if p, err := e.buy(authorization("3"), "", name(2)); err != nil || p.AliasOf != "" {
		t.Errorf("the same payer: got %+v, %v", p, err)
	}
}

// A payment is not released while one of our transactions may still settle it.
func TestNotReleasedWhileItMayBeMined(t *testing.T) {
	e := newEnv(t)
	e.chain.settle, e.chain.abandon = settle.ErrUnsettleable, errors.New("one of our transactions contains it")
	a := authorization("1")
	if _, err := e.buy(a, "", name(1)); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		e.now = e.now.Add(10 * time.Minute)
		e.advance()
	}
	if got := e.state(a); got != order.PaymentSettling {
		t.Errorf("got %s", got)
	}
}

// A payment whose transfer reverted is released at once, and after the third its
// payer is refused.
func TestRevertedPaymentIsReleasedAtOnce(t *testing.T) {
	e := newEnv(t)
	e.chain.settle = settle.ErrReverted
	for n := range 3 {
		a := authorization(fmt.Sprint(n))
		if _, err := e.buy(a, "", name(n)); deed.CodeOf(err) != deed.CodePaymentInvalid {
			t.Fatalf("got %v", err)
		}
		if got := e.state(a); got != order.PaymentReleased {
			t.Errorf("got %s", got)
		}
	}
	if _, err := e.buy(authorization("9"), "", name(9)); deed.CodeOf(err) != deed.CodeRateLimited {
		t.Errorf("the fourth: got %v", err)
	}
	e.now = e.now.Add(25 * time.Hour)
	e.chain.settle = nil
	if _, err := e.buy(authorization("10"), "", name(10)); err != nil {
		t.Errorf("a day later: %v", err)
	}
}

// The state of a payment is disclosed only to a caller with its signature; payer and
// nonce are public on the chain.
func TestReplayNeedsTheSignature(t *testing.T) {
	e := newEnv(t)
	a := authorization("1")
	bought, err := e.buy(a, "", name(1))
	if err != nil {
		t.Fatal(err)
	}
	e.chain.check = settle.ErrAlreadyPaid // the chain has the transfer by now
	if again, err := e.buy(a, "", name(1)); err != nil || again.PublicID != bought.PublicID {
		t.Errorf("the same again: got %+v, %v", again, err)
	}
	forged := *a
	forged.Signature = []byte{0}
	p, err := e.buy(&forged, "", name(1))
	if deed.CodeOf(err) != deed.CodePaymentInvalid || !errors.Is(err, order.ErrNoOffer) || p.PublicID != "" {
		t.Errorf("another signature: got %+v, %v", p, err)
	}
	if known, err := e.Known(t.Context(), &forged); known != fulfil.Rejected || err != nil {
		t.Errorf("another signature is known: %v", err)
	}
	if known, err := e.Known(t.Context(), a); known != fulfil.Accepted || err != nil {
		t.Errorf("the same is not known: %v", err)
	}
}

// A void payment is counted as a new request is: it buys nothing.
func TestVoidPaymentIsNotKnown(t *testing.T) {
	e := newEnv(t)
	e.chain.settle = deed.Errorf(deed.CodePaymentInvalid, "expired")
	a := authorization("1")
	if _, err := e.buy(a, "", name(1)); deed.CodeOf(err) != deed.CodePaymentInvalid {
		t.Fatal(err)
	}
	if known, err := e.Known(t.Context(), a); known != fulfil.Rejected || err != nil {
		t.Errorf("it is known: %v", err)
	}
}

// The last byte of a signature has two encodings.
func TestSignatureEncodings(t *testing.T) {
	e := newEnv(t)
	a := authorization("1")
	a.Signature = append(make([]byte, 64), 27)
	if _, err := e.buy(a, "", name(1)); err != nil {
		t.Fatal(err)
	}
	a.Signature = make([]byte, 65)
	if known, err := e.Known(t.Context(), a); known != fulfil.Accepted || err != nil {
		t.Errorf("with v = 0: %d, %v", known, err)
	}
}

func (e *env) arrive(block uint64, nonce string, amount deed.USDC) {
	e.chain.arrivals = append(e.chain.arrivals, settle.Arrivals{Next: block + 1, Transfers: []settle.Transfer{
		{Payer: payer, PayTo: payTo, Nonce: nonce, Amount: amount, TxHash: "0xmined" + nonce, Block: block},
	}})
}

func (e *env) readChain() {
	e.t.Helper()
	for more := true; more; {
		var err error
		if more, err = e.ReadChain(e.t.Context()); err != nil {
			e.t.Fatal(err)
		}
	}
}

// A transfer that precedes its request can be used only by its payer, signed in. In
// any other case the caller must not pay again, and the transfer is refunded.
func TestTransferBeforeRequest(t *testing.T) {
	for _, found := range []bool{false, true} { // by the watcher
		t.Run(fmt.Sprintf("found by the watcher %t", found), func(t *testing.T) {
			e := newEnv(t)
			e.chain.check = settle.ErrAlreadyPaid
			a := authorization("1")
			if found {
				e.arrive(1, "1", price)
				e.readChain()
			}
			for _, signedIn := range []deed.Wallet{"", "0x0000000000000000000000000000000000000009"} {
				if _, err := e.buy(a, signedIn, name(1)); deed.CodeOf(err) != deed.CodeUnavailable || !errors.Is(err, order.ErrPending) {
					t.Errorf("signed in as %q: got %v", signedIn, err)
				}
			}
			if p, err := e.buy(a, payer, name(1)); err != nil || p.State != order.PaymentSettled {
				t.Errorf("the payer: got %s, %v", p.State, err)
			}
			e.now = e.now.Add(time.Hour)
			e.arrive(1, "1", price)
			e.readChain()
			e.advance()
			if len(e.chain.refunds) != 0 {
				t.Errorf("it bought a name and was refunded")
			}
		})
	}
}

// An unclaimed transfer is refunded once, after the claim window. Its payer must not pay
// again before that, and may afterwards.
func TestUnclaimedTransferIsRefunded(t *testing.T) {
	e := newEnv(t)
	a := authorization("1")
	e.arrive(1, "1", price)
	e.readChain()
	e.advance()
	if got := e.state(a); got != order.PaymentUnclaimed {
		t.Fatalf("got %s", got)
	}
	e.now = e.now.Add(e.Terms.ClaimWindow)
	e.chain.check, e.chain.refund = settle.ErrAlreadyPaid, errors.New("the chain does not respond")
	e.advance()
	if _, err := e.buy(a, payer, name(1)); !errors.Is(err, order.ErrPending) {
		t.Errorf("before it went back: got %v", err)
	}
	e.now, e.chain.refund, e.chain.refunds = e.now.Add(time.Hour), nil, nil
	for range 3 {
		e.advance()
	}
	if got := e.state(a); got != order.PaymentRefunded || len(e.chain.refunds) != 1 || e.chain.refunds[0].Nonce != "1" {
		t.Errorf("got %s, refunds %+v", got, e.chain.refunds)
	}
	for _, signedIn := range []deed.Wallet{"", payer} {
		if _, err := e.buy(a, signedIn, name(1)); deed.CodeOf(err) != deed.CodePaymentInvalid || errors.Is(err, order.ErrNoOffer) {
			t.Errorf("after it went back, signed in as %q: got %v", signedIn, err)
		}
	}
}

// A zero transfer, dust, an unreadable block, and a transfer that violates a database
// constraint are skipped, and the transfers behind them are found.
func TestOneTransferDoesNotBlockTheNext(t *testing.T) {
	e := newEnv(t)
	e.chain.arrivals = []settle.Arrivals{{Next: 9, Unread: []settle.UnreadBlock{{Number: 2, Reason: "too large"}}, Transfers: []settle.Transfer{
		{Payer: payer, PayTo: payTo, Nonce: "zero", Amount: 0, TxHash: "0x1", Block: 1},
		{Payer: payer, PayTo: payTo, Nonce: "negative", Amount: -5, TxHash: "0x1", Block: 1},
		{Payer: payer, PayTo: payTo, Nonce: "dust", Amount: 100, TxHash: "0x2", Block: 1},
		{Payer: payer, PayTo: payTo, Nonce: "poison", Amount: price, TxHash: "", Block: 1}, // no transaction: a CHECK refuses it
		{Payer: payer, PayTo: payTo, Nonce: "good", Amount: price, TxHash: "0x3", Block: 3},
	}}}
	more, err := e.ReadChain(t.Context())
	if err == nil || more { // it has read up to the newest block
		t.Errorf("got %t, %v, want an error about what was put aside", more, err)
	}
	if more, err := e.ReadChain(t.Context()); more || err != nil {
		t.Errorf("the next time: %t, %v", more, err)
	}
	if got := e.state(authorization("good")); got != order.PaymentUnclaimed {
		t.Errorf("got %s", got)
	}
	if got := e.state(authorization("dust")); got != order.PaymentDust {
		t.Errorf("got %s", got)
	}
	if next, err := e.rows.Watched(t.Context()); next != 9 || err != nil {
		t.Errorf("the chain is read up to %d, %v", next, err)
	}
	e.now = e.now.Add(time.Hour)
	if err := e.RetryAside(t.Context()); err == nil {
		t.Error("the poison was adopted")
	}
	notices, err := sqldb.Audit{DB: e.rows.DB}.Notices(t.Context())
	if err != nil || len(notices) != 3 {
		t.Errorf("got %+v, %v", notices, err)
	}
}

// A transfer that we submitted but have no row for waits for an operator: the
// database was restored from a backup.
func TestLostPaymentWaitsForAnOperator(t *testing.T) {
	e := newEnv(t)
	e.chain.sentByUs = true
	e.arrive(1, "1", price)
	e.readChain()
	e.now = e.now.Add(24 * time.Hour)
	e.advance()
	if got := e.state(authorization("1")); got != order.PaymentUnclaimed || len(e.chain.refunds) != 0 {
		t.Errorf("got %s", got)
	}
	lost, err := e.rows.Lost(t.Context())
	if err != nil || len(lost) != 1 {
		t.Errorf("got %v, %v", lost, err)
	}
}

// A payment without progress for a minute is reported, unless the payer is at fault.
func TestStalled(t *testing.T) {
	e := newEnv(t)
	e.chain.settle = errors.New("the endpoint answered 503 to 0xabcdef0123456789abcdef")
	if _, err := e.buy(authorization("1"), "", name(1)); err != nil {
		t.Fatal(err)
	}
	if s, err := e.Stalled(t.Context()); s.Count != 0 || err != nil {
		t.Errorf("at once: %+v, %v", s, err)
	}
	e.now = e.now.Add(61 * time.Second)
	s, err := e.Stalled(t.Context())
	if err != nil || s.Count != 1 || s.Cause != "the endpoint answered 503 to …" {
		t.Errorf("got %+v, %v", s, err)
	}
	e.chain.settle = settle.ErrUnsettleable
	e.advance()
	if s, err := e.Stalled(t.Context()); s.Count != 0 || err != nil {
		t.Errorf("the payer's own fault: %+v, %v", s, err)
	}
}

// An open payment is retried with increasing delays.
func TestBackoff(t *testing.T) {
	e := newEnv(t)
	e.chain.settle = errors.New("no answer")
	a := authorization("1")
	if _, err := e.buy(a, "", name(1)); err != nil {
		t.Fatal(err)
	}
	retries := 0
	for range 600 { // ten minutes
		e.now = e.now.Add(time.Second)
		ids, err := e.Due(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		retries += len(ids)
		e.advance()
	}
	if retries < 8 || retries > 20 {
		t.Errorf("retried %d times in ten minutes", retries)
	}
}
