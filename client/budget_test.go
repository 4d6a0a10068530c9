package client_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

// overBudget fails unless err is an OverBudget with the given amount left.
func overBudget(t *testing.T, err error, left client.USDC) {
	t.Helper()
	if e, ok := errors.AsType[*client.OverBudget](err); !ok || e.Left != left {
		t.Errorf("got %v, want one over a budget of %s", err, left)
	}
}

// Concurrent calls never sign for more than the budget in total.
func TestBudgetRaced(t *testing.T) {
	budget := client.NewBudget(40 * client.Dollar)
	s := newBuyer(t, client.WithBudget(budget))
	signer := &counting{Key: s.key}
	s.Client = open(t, s.wire, client.WithWallet(signer), client.WithMaxPayment(50*client.Dollar), client.WithBudget(budget))
	bought, refused := race(t, 24, func() error {
		_, err := s.Register(t.Context(), api.RegisterRequest{Domain: fresh(t)})
		return err
	})
	if bought != 3 || refused != 21 || signer.signed != 3 || budget.Left() != 40*client.Dollar-3*comPrice {
		t.Errorf("got %d bought, %d refused, %d signed, %s left", bought, refused, signer.signed, budget.Left())
	}
	s.spent(t, 3*comPrice, 3)
}

// Identical concurrent calls may sign more than one payment; each one counts.
func TestBudgetOfOneCallRaced(t *testing.T) {
	budget := client.NewBudget(2*comPrice + 1)
	s := newBuyer(t)
	signer := &counting{Key: s.key}
	s.Client = open(t, s.wire, client.WithWallet(signer), client.WithMaxPayment(50*client.Dollar), client.WithBudget(budget))
	in := api.RegisterRequest{Domain: fresh(t)}
	bought, _ := race(t, 24, func() error {
		_, err := s.Register(t.Context(), in)
		if client.CodeOf(err) == client.CodeDomainUnavailable {
			return nil // another call was faster
		}
		return err
	})
	if bought == 0 || signer.signed > 2 || budget.Left() != 2*comPrice+1-client.USDC(signer.signed)*comPrice {
		t.Errorf("got %d bought, %d signed, %s left", bought, signer.signed, budget.Left())
	}
}

// race makes concurrent calls and counts those that succeeded and those that
// exceeded the budget.
func race(t *testing.T, times int, call func() error) (done, refused int) {
	t.Helper()
	var (
		mu    sync.Mutex // guards done and refused
		wg    sync.WaitGroup
		start = make(chan struct{})
	)
	for range times {
		wg.Go(func() {
			<-start
			err := call()
			mu.Lock()
			defer mu.Unlock()
			if _, over := errors.AsType[*client.OverBudget](err); over {
				refused++
			} else if err == nil {
				done++
			} else {
				t.Error(err)
			}
		})
	}
	close(start)
	wg.Wait()
	return done, refused
}

// A failed payment stays reserved, because its signature could still be used.
func TestBudgetKeepsFailedPaymentsReserved(t *testing.T) {
	budget := client.NewBudget(20 * client.Dollar)
	c := open(t, newWire(t), client.WithWallet(newKey(t)), client.WithMaxPayment(50*client.Dollar), client.WithBudget(budget))
	_, err := c.Register(t.Context(), api.RegisterRequest{Domain: fresh(t)})
	refused(t, err, 402, client.CodePaymentInsufficient) // the wallet has no money
	if budget.Left() != 20*client.Dollar-comPrice {
		t.Errorf("got %s left", budget.Left())
	}
	_, err = c.Register(t.Context(), api.RegisterRequest{Domain: fresh(t)})
	overBudget(t, err, 20*client.Dollar-comPrice)
}

// failing is a wallet that cannot sign.
type failing struct{ *client.Key }

var errNoSignature = errors.New("no signature")

func (failing) SignTypedData(context.Context, client.TypedData) ([]byte, error) {
	return nil, errNoSignature
}

func TestBudgetCountsSignedPaymentsOnly(t *testing.T) {
	no := errors.New("no")
	for name, c := range map[string]struct {
		opt  client.Option
		want error
	}{
		"not confirmed": {client.WithConfirm(func(context.Context, client.Offer) error { return no }), no},
		"not signed":    {client.WithWallet(failing{newKey(t)}), errNoSignature},
	} {
		budget := client.NewBudget(comPrice)
		buyer := open(t, newWire(t), client.WithWallet(newKey(t)), client.WithMaxPayment(50*client.Dollar), client.WithBudget(budget), c.opt)
		if _, err := buyer.Register(t.Context(), api.RegisterRequest{Domain: fresh(t)}); !errors.Is(err, c.want) || budget.Left() != comPrice {
			t.Errorf("%s: got %v, %s left", name, err, budget.Left())
		}
	}
	budget := client.NewBudget(50 * client.Dollar)
	buyer := open(t, newWire(t), client.WithWallet(newKey(t)), client.WithBudget(budget))
	if _, err := buyer.Register(t.Context(), api.RegisterRequest{Domain: fresh(t)}); client.CodeOf(err) != client.CodePaymentRequired || budget.Left() != 50*client.Dollar {
		t.Errorf("a budget alone is no leave: got %v, %s left", err, budget.Left())
	}
}

// A payment that another process signed counts once in the process that sends it
// again, because its money may move only now.
func TestBudgetCountsJournaledPayments(t *testing.T) {
	journal := &sharedJournal{payments: map[string]string{}}
	s := newBuyer(t, client.WithJournal(journal))
	in := api.RegisterRequest{Domain: fresh(t)}
	ctx, leave := context.WithCancel(t.Context())
	s.wire.set(func(req *http.Request) error {
		if !paying(req) {
			return nil
		}
		leave() // the payment never reaches the service
		return errCut
	}, nil)
	if _, err := s.Register(ctx, in); err == nil {
		t.Fatal("it was bought")
	}
	s.wire.set(nil, nil)
	before := s.wire.count("POST /domains/register paid")
	next := func(limit client.USDC, budget *client.Budget) error {
		c := open(t, s.wire, client.WithWallet(s.key), client.WithMaxPayment(limit), client.WithJournal(journal), client.WithBudget(budget))
		_, err := c.Register(t.Context(), in)
		return err
	}
	overBudget(t, next(50*client.Dollar, client.NewBudget(comPrice-1)), comPrice-1)
	overCap(comPrice-1)(t, next(comPrice-1, client.NewBudget(50*client.Dollar)))
	if n := s.wire.count("POST /domains/register paid"); n != before {
		t.Errorf("a payment beyond the limits was sent %d times", n-before)
	}
	budget := client.NewBudget(50 * client.Dollar)
	s.wire.set(nil, answering(func(req *http.Request) error {
		if paying(req) {
			return errCut
		}
		return nil
	}, 429, `{"error":"Too many requests","message":"wait","code":"RATE_LIMITED"}`)) // the payment stays in the journal
	for range 2 {
		refused(t, next(50*client.Dollar, budget), 429, client.CodeRateLimited)
		if budget.Left() != 50*client.Dollar-comPrice {
			t.Errorf("got %s left", budget.Left())
		}
	}
	s.wire.set(nil, nil)
	if err := next(50*client.Dollar, budget); err != nil || budget.Left() != 50*client.Dollar-comPrice {
		t.Errorf("got %v, %s left", err, budget.Left())
	}
	s.spent(t, comPrice, 1)
}

// A sharedJournal is a journal that several clients share.
type sharedJournal struct {
	mu       sync.Mutex // guards payments
	payments map[string]string
}

func (j *sharedJournal) Payment(_ context.Context, call string) (string, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.payments[call], nil
}

func (j *sharedJournal) Write(_ context.Context, call, payment string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.payments[call] = payment
	return nil
}
