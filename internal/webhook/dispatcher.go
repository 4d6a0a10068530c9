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
	hostRequests = 4                // parallel requests to one host
	batchSize    = 32               // deliveries that are read at once
	turnLimit    = 20 * time.Second // no attempt begins later in a turn
	leaseTTL     = time.Minute      // longer than a turn with its last attempts

	// attemptTimeout bounds one attempt, whatever the Sender does.
	attemptTimeout = 10 * time.Second
)

// A Lane is a class of hosts with slots of its own.
type Lane int

// The lanes: hosts that responded the last time, and the others. A caller who adds
// hosts that hang delays only hosts that have not responded yet.
const (
	LaneAnswered Lane = iota
	LaneOther
	lanes
)

// An Attempt is a delivery that is due, with everything that is needed to send it. It
// has no secrets if they cannot be decrypted.
type Attempt struct {
	Delivery
	URL     string
	Secrets []deed.Secret
	Message Message
}

// Queue is the queue of deliveries in the database.
type Queue interface {
	// Hosts returns at most limit hosts of the lane with a due delivery that nobody
	// serves, the least recently served first.
	Hosts(ctx context.Context, lane Lane, limit int) ([]string, error)

	// Lease reserves a host until a time, and reports whether it was free. It fails
	// the deliveries to the host whose webhook is off or deleted.
	Lease(ctx context.Context, host string, until time.Time) (bool, error)

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

	once  sync.Once
	slots [lanes]chan struct{}
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
	d.once.Do(func() {
		for i := range d.slots {
			d.slots[i] = make(chan struct{}, laneSlots)
		}
	})
	for lane, slots := range d.slots {
		free := cap(slots) - len(slots)
		if free == 0 {
			continue
		}
		hosts, err := d.Queue.Hosts(ctx, Lane(lane), free)
		if err != nil {
			return fmt.Errorf("read the hosts with due deliveries: %w", err)
		}
		for _, host := range hosts {
			if err := d.begin(ctx, host, slots); err != nil {
				return err
			}
		}
	}
	return nil
}

// Wait waits for the turns that have begun.
func (d *Dispatcher) Wait() { d.wg.Wait() }

// begin reserves the host and serves it in the background.
func (d *Dispatcher) begin(ctx context.Context, host string, slots chan struct{}) error {
	free, err := d.Queue.Lease(ctx, host, d.Now().Add(leaseTTL))
	if err != nil || !free {
		return wrap(err, "reserve host %s", host)
	}
	slots <- struct{}{} // there is room: only Poll adds
	d.wg.Go(func() {
		defer func() { <-slots }()
		if err := d.serve(ctx, host); err != nil && ctx.Err() == nil {
			d.OnError(fmt.Errorf("deliver to %s: %w", host, err))
		}
	})
	return nil
}

// serve sends what is due to a host, until its turn ends, nothing is due, or it stops
// answering.
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
			if seen, err = d.sendAll(ctx, chunk); err != nil || seen == Silent || !d.Now().Before(end) {
				return seen, err
			}
		}
	}
}

// sendAll sends deliveries in parallel.
func (d *Dispatcher) sendAll(ctx context.Context, chunk []Attempt) (Reachability, error) {
	outcomes, errs := make([]Outcome, len(chunk)), make([]error, len(chunk))
	var wg sync.WaitGroup
	for i, a := range chunk {
		wg.Go(func() { outcomes[i], errs[i] = d.attempt(ctx, a) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return Unknown, err
	}
	for _, o := range outcomes {
		if o.Status != 0 || o.Failure == FailureSecret {
			return Answered, nil
		}
	}
	return Silent, nil
}

// attempt sends one delivery and records the outcome. If the process dies in between,
// the delivery is sent again.
func (d *Dispatcher) attempt(ctx context.Context, a Attempt) (Outcome, error) {
	one, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	o := d.send(one, a)
	if ctx.Err() != nil {
		return o, ctx.Err() // we stopped, the receiver did not fail
	}
	return o, wrap(d.Queue.Record(ctx, a, o), "record an attempt of %s", a.EventID)
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
