package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"deed.example/deed"
)

const (
	pollInterval = 500 * time.Millisecond
	laneSlots    = 16               // hosts that are served concurrently, in each lane
	ownerSlots   = 2                // of these, those for one owner
	turnsRead    = 128              // turns that are read at once
	hostRequests = 4                // parallel requests to one host
	batchSize    = 32               // deliveries that are read at once
	turnLimit    = 20 * time.Second // no attempt begins later in a turn
	leaseTTL     = time.Minute      // longer than a turn with its last attempts
	slowAnswer   = 2 * time.Second  // a host that takes longer is slow

	// attemptTimeout bounds one attempt, whatever the Sender does.
	attemptTimeout = 10 * time.Second
)

// A Lane is a class of hosts with slots of its own.
type Lane int

// The lanes: hosts that responded quickly the last time, and the others. A caller who adds
// hosts that hang or are slow delays only hosts that have not responded quickly yet.
const (
	LaneAnswered Lane = iota
	LaneOther
	lanes
)

// An Attempt is a delivery that is due, with everything that is needed to send it. It
// has no secrets if they cannot be decrypted.
type Attempt struct {
	Delivery
	Owner   deed.Wallet
	URL     string
	Secrets []deed.Secret
	Message Message
}

// A Turn serves a host on behalf of the owner of a webhook. What is due to others at the
// host is sent as well.
type Turn struct {
	Webhook string
	Owner   deed.Wallet
	Host    string
}

// Queue is the queue of deliveries in the database.
type Queue interface {
	// Turns returns at most limit turns of the lane, and at most perOwner of each owner. A
	// turn is for a webhook that something is due to, at a host that nobody serves. Of an
	// owner, the webhooks that have waited longest since they were served are chosen; the
	// owners are sorted in the same way, and their turns by how long they have been due.
	Turns(ctx context.Context, lane Lane, perOwner, limit int) ([]Turn, error)

	// Lease reserves the host of a turn until a time, and reports whether it was free. It
	// fails the deliveries to the host whose webhook is off or deleted.
	Lease(ctx context.Context, t Turn, until time.Time) (bool, error)

	// Due returns at most limit due deliveries to the host: the first pending
	// one of each webhook and aggregate, taken round-robin from the webhooks.
	Due(ctx context.Context, host string, limit int) ([]Attempt, error)

	// Record stores the outcome of an attempt, and disables the webhook if TurnsOff
	// says so. A delivery that is no longer pending is left unchanged.
	Record(ctx context.Context, a Attempt, o Outcome) error

	// Release ends the lease of a host. If it was silent, nothing is sent to it for
	// HostDelay.
	Release(ctx context.Context, host string, r Reachability) error
}

// Reachability is what a turn has shown about a host.
type Reachability int

// What a turn can show.
const (
	Unknown  Reachability = iota // nothing was sent
	Silent                       // no attempt was answered
	Slow                         // at least one was, and an attempt took longer than slowAnswer
	Answered                     // at least one was
)

// A Sender makes one POST request.
//
// Implementations must be safe for concurrent use, must connect to public addresses
// only, and must neither follow redirects nor return the receiver's response body.
type Sender interface {
	Send(ctx context.Context, url string, h http.Header, body []byte) Outcome
}

// Dispatcher sends what is due. Fill the exported fields. Several dispatchers, on the
// same or on different nodes, may share a queue.
type Dispatcher struct {
	Queue   Queue
	Sender  Sender
	Source  string // the address of the service, for receivers
	Now     func() time.Time
	OnError func(error) // called when a host could not be served; it is tried again

	slots [lanes]slots
	wg    sync.WaitGroup
}

// Run dispatches until ctx is done. Attempts in progress are abandoned, and repeated
// after the restart.
func (d *Dispatcher) Run(ctx context.Context) error {
	defer d.Wait()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		if err := d.Poll(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// Poll begins to serve the hosts that are due, as far as there are free slots. It does
// not wait for them: a host that hangs keeps its slot, and nothing else.
func (d *Dispatcher) Poll(ctx context.Context) error {
	for lane := range d.slots {
		slots := &d.slots[lane]
		if slots.full() {
			continue
		}
		turns, err := d.Queue.Turns(ctx, Lane(lane), ownerSlots, turnsRead)
		if err != nil {
			return fmt.Errorf("read the turns that are due: %w", err)
		}
		for _, t := range turns {
			if err := d.begin(ctx, t, slots); err != nil {
				return err
			}
		}
	}
	return nil
}

// Wait waits for the turns that have begun.
func (d *Dispatcher) Wait() { d.wg.Wait() }

// begin reserves the host and serves it in the background, if there is a slot for its owner.
func (d *Dispatcher) begin(ctx context.Context, t Turn, slots *slots) error {
	if !slots.take(t.Owner) {
		return nil
	}
	free, err := d.Queue.Lease(ctx, t, d.Now().Add(leaseTTL))
	if err != nil || !free {
		slots.release(t.Owner)
		return wrap(err, "reserve host %s", t.Host)
	}
	d.wg.Go(func() {
		defer slots.release(t.Owner)
		if err := d.serve(ctx, t.Host); err != nil && ctx.Err() == nil {
			d.OnError(fmt.Errorf("deliver to %s: %w", t.Host, err))
		}
	})
	return nil
}

// serve sends what is due to a host, until its turn ends, nothing is due, or it stops
// answering or is slow.
func (d *Dispatcher) serve(ctx context.Context, host string) error {
	seen, err := d.turn(ctx, host)
	free := d.Queue.Release(context.WithoutCancel(ctx), host, seen)
	return errors.Join(err, free)
}

func (d *Dispatcher) turn(ctx context.Context, host string) (seen Reachability, err error) {
	end := d.Now().Add(turnLimit)
	for {
		due, err := d.Queue.Due(ctx, host, batchSize)
		if err != nil || len(due) == 0 {
			return seen, err
		}
		for chunk := range slices.Chunk(due, hostRequests) {
			if seen, err = d.sendAll(ctx, chunk); err != nil || seen != Answered || !d.Now().Before(end) {
				return seen, err
			}
		}
	}
}

// sendAll sends deliveries in parallel.
func (d *Dispatcher) sendAll(ctx context.Context, chunk []Attempt) (Reachability, error) {
	outcomes, took, errs := make([]Outcome, len(chunk)), make([]time.Duration, len(chunk)), make([]error, len(chunk))
	var wg sync.WaitGroup
	for i, a := range chunk {
		wg.Go(func() { outcomes[i], took[i], errs[i] = d.attempt(ctx, a) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return Unknown, err
	}
	if !slices.ContainsFunc(outcomes, func(o Outcome) bool { return o.Status != 0 || o.Failure == FailureSecret }) {
		return Silent, nil
	}
	if slices.Max(took) > slowAnswer {
		return Slow, nil
	}
	return Answered, nil
}

// attempt sends one delivery and records the outcome. It returns how long the receiver
// took. If the process dies in between, the delivery is sent again.
func (d *Dispatcher) attempt(ctx context.Context, a Attempt) (Outcome, time.Duration, error) {
	one, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	begin := d.Now()
	o := d.send(one, a)
	took := d.Now().Sub(begin)
	if ctx.Err() != nil {
		return o, took, ctx.Err() // we stopped, the receiver did not fail
	}
	return o, took, wrap(d.Queue.Record(ctx, a, o), "record an attempt of %s", a.EventID)
}

func (d *Dispatcher) send(ctx context.Context, a Attempt) Outcome {
	body, err := a.Message.Body(d.Source)
	if err != nil {
		return Outcome{Failure: FailureSecret}
	}
	h, err := Header(a.EventID, body, d.Now(), a.Secrets)
	if err != nil {
		return Outcome{Failure: FailureSecret}
	}
	return d.Sender.Send(ctx, a.URL, h, body)
}
