// Package operator has the actions of operators: find an order, retry it, refund it,
// suspend a name, block a wallet, stop an activity.
//
// Every action that changes something has an operator and a reason, and is recorded
// before it is done, in a table from which nothing can be deleted. A dry run returns
// what would be done, and changes nothing.
package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
)

// The activities that can be stopped.
const (
	Purchases  = "purchases"  // new orders are refused before money moves
	Refunds    = "refunds"    // nothing is paid back
	Publishing = "publishing" // name servers keep what they have
)

// Activities are all activities that can be stopped.
var Activities = []string{Purchases, Refunds, Publishing}

// An Act says who changes something, and why.
type Act struct {
	Operator string
	Reason   string
	DryRun   bool
}

// An Action is an act that was recorded.
type Action struct {
	At       time.Time
	Operator string
	Action   string
	Target   string
	Reason   string
	Outcome  string // "accepted", or why it failed afterwards
}

// A Found is an order or a payment that a query found.
type Found struct {
	PaymentID    string // public
	JobID        string // public; "" without a job
	Kind         order.PurchaseKind
	Domain       string
	Wallet       deed.Wallet
	Amount       deed.USDC
	PaymentState order.PaymentState
	JobState     order.JobState
	TxHash       string
	RefundTx     string
	Created      time.Time
	Changed      time.Time
	Cause        string // why it waits
	Internal     string // internal id of the payment
}

// An Entry of a timeline says what happened to an order, and when.
type Entry struct {
	At   time.Time
	What string
}

// Finder finds orders.
type Finder interface {
	// Find returns orders by name, wallet, payment, job or transaction, newest first.
	Find(ctx context.Context, query string, limit int) ([]Found, error)

	// Timeline returns what happened to the payment, oldest first.
	Timeline(ctx context.Context, f Found) ([]Entry, error)
}

// Log stores acts.
type Log interface {
	Record(ctx context.Context, a Action) error
	Actions(ctx context.Context, limit int) ([]Action, error)
}

// Rows changes orders.
type Rows interface {
	// Wake makes the payment and its job due now.
	Wake(ctx context.Context, f Found) error

	// FailQueued fails the job of the payment, if it was not placed at a registrar,
	// so that the payment is refunded; it reports whether it did.
	FailQueued(ctx context.Context, f Found) (bool, error)

	// Refund makes a payment that bought nothing due for refund.
	Refund(ctx context.Context, f Found) error

	// Dust returns how many transfers of a wallet are in the state dust, and their sum.
	Dust(ctx context.Context, w deed.Wallet) (count int, sum deed.USDC, err error)

	// RefundDust makes them due for refund.
	RefundDust(ctx context.Context, w deed.Wallet) error
}

// Rules stores what is suspended, blocked and stopped.
type Rules interface {
	// Registered returns an error if the name is not one of this service.
	Registered(ctx context.Context, name deed.Name) error

	SetSuspended(ctx context.Context, name deed.Name, suspended bool, reason string) error
	SetBlocked(ctx context.Context, w deed.Wallet, blocked bool, reason string) error
	SetStopped(ctx context.Context, activity string, stopped bool, reason string) error
}

// Service executes the actions of operators. Fill every field.
type Service struct {
	Finder Finder
	Log    Log
	Rows   Rows
	Rules  Rules
	Now    func() time.Time

	// Release gives up a payment that waits to be settled, and its claim.
	Release func(ctx context.Context, paymentID string) error

	// Replay sends an event to a webhook again. Replayable returns the error with which it
	// would refuse that.
	Replay, Replayable func(ctx context.Context, webhookID, eventID string) error

	// Changed is called after an act, so that it takes effect on this node at once.
	Changed func(ctx context.Context) error
}

// maxFound limits what a query returns.
const maxFound = 50

// Find returns the orders that a query is about.
func (s *Service) Find(ctx context.Context, query string) ([]Found, error) {
	if strings.TrimSpace(query) == "" {
		return nil, deed.Errorf(deed.CodeValidation, "name what to find: a domain, a wallet, a payment, a job or a transaction")
	}
	query = strings.ToLower(strings.TrimSpace(query))
	if name, err := deed.ParseName(query); err == nil { // orders have it without Unicode letters
		query = string(name)
	}
	return s.Finder.Find(ctx, query, maxFound)
}

// Timeline returns one order and what happened to it.
func (s *Service) Timeline(ctx context.Context, query string) (Found, []Entry, error) {
	f, err := s.one(ctx, query)
	if err != nil {
		return f, nil, err
	}
	entries, err := s.Finder.Timeline(ctx, f)
	return f, entries, err
}

// one returns the only order that a query is about.
func (s *Service) one(ctx context.Context, query string) (Found, error) {
	all, err := s.Find(ctx, query)
	if err != nil {
		return Found{}, err
	}
	switch len(all) {
	case 0:
		return Found{}, deed.Errorf(deed.CodeNotFound, "nothing is known of %s", deed.Quoted(query))
	case 1:
		return all[0], nil
	}
	return Found{}, deed.Errorf(deed.CodeValidation, "%d orders match %s: name one of them by its payment or job", len(all), deed.Quoted(query))
}

// Actions returns the newest acts.
func (s *Service) Actions(ctx context.Context) ([]Action, error) { return s.Log.Actions(ctx, 100) }

// act records an act and executes it. It returns what was done, or would be.
func (s *Service) act(ctx context.Context, a Act, action, target, outcome string, do func() error) (string, error) {
	if a.Operator == "" || strings.TrimSpace(a.Reason) == "" {
		return "", deed.Errorf(deed.CodeValidation, "say who you are and why: both are written down")
	}
	if a.DryRun {
		return "dry run: " + outcome, nil
	}
	entry := Action{At: s.Now(), Operator: a.Operator, Action: action, Target: target, Reason: a.Reason, Outcome: "accepted"}
	if err := s.Log.Record(ctx, entry); err != nil {
		return "", fmt.Errorf("write the act down: %w", err)
	}
	err := do()
	if err == nil {
		err = s.Changed(ctx)
	}
	if err != nil {
		entry.At, entry.Outcome = s.Now(), "failed: "+err.Error()
		if logErr := s.Log.Record(context.WithoutCancel(ctx), entry); logErr != nil {
			return "", fmt.Errorf("%w; and writing that down: %w", err, logErr)
		}
		return "", err
	}
	return outcome, nil
}

// Stop stops or starts an activity on all nodes.
func (s *Service) Stop(ctx context.Context, a Act, activity string, stop bool) (string, error) {
	if !slices.Contains(Activities, activity) {
		return "", deed.Errorf(deed.CodeValidation, "%s is not an activity: there are %s", deed.Quoted(activity), strings.Join(Activities, ", "))
	}
	action, outcome := "start", "started, on all nodes within seconds: "+activity
	if stop {
		action, outcome = "stop", "stopped, on all nodes within seconds: "+activity
	}
	return s.act(ctx, a, action, activity, outcome, func() error { return s.Rules.SetStopped(ctx, activity, stop, a.Reason) })
}

// Block prevents a wallet from buying, or allows it again.
func (s *Service) Block(ctx context.Context, a Act, wallet string, block bool) (string, error) {
	w, err := deed.ParseWallet(wallet)
	if err != nil {
		return "", err
	}
	action, outcome := "unblock", string(w)+" may buy again, on all nodes within seconds"
	if block {
		action, outcome = "block", string(w)+" may not buy anything, on all nodes within seconds; what it owns stays its own"
	}
	return s.act(ctx, a, action, string(w), outcome, func() error { return s.Rules.SetBlocked(ctx, w, block, a.Reason) })
}

// Suspend stops serving the zone of a name, or serves it again.
func (s *Service) Suspend(ctx context.Context, a Act, domain string, suspend bool) (string, error) {
	name, err := deed.ParseName(domain)
	if err != nil {
		return "", err
	}
	if err := s.Rules.Registered(ctx, name); err != nil {
		return "", err
	}
	action, outcome := "unsuspend", "the zone of "+string(name)+" is served again"
	if suspend {
		action, outcome = "suspend", "the zone of "+string(name)+" is not served; its owner keeps the name"
	}
	return s.act(ctx, a, action, string(name), outcome, func() error { return s.Rules.SetSuspended(ctx, name, suspend, a.Reason) })
}
