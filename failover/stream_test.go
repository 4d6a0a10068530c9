//go:build failover && linux

package failover

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

const (
	callers      = 4 // that buy names and change zones
	callTimeout  = 30 * time.Second
	readInterval = 100 * time.Millisecond
)

// A stream is what callers do during a case: some buy names and change zones, one reads.
type stream struct {
	e      *env
	label  string // of the names
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu     sync.Mutex  // guards the fields below
	paid   []time.Time // when orders and changes were done
	reads  int
	failed map[string]int // HTTP requests, by what the caller saw
	names  []bought
}

// bought is what a caller was told to have.
type bought struct {
	by      *client.Client
	wallet  string
	domain  string
	changed bool
}

// stream starts the callers.
func (e *env) stream(label string) *stream {
	e.t.Helper()
	ctx, cancel := context.WithCancel(e.t.Context())
	s := &stream{e: e, label: label, cancel: cancel, failed: map[string]int{}}
	for i := range callers {
		key := e.fund()
		c, err := client.New(e.front, client.WithWallet(client.NewKey(key)), client.WithMaxPayment(100*client.Dollar),
			client.WithHTTPClient(&http.Client{Transport: &observed{s: s, next: &http.Transport{}}, Timeout: callTimeout}))
		if err != nil {
			e.t.Fatal(err)
		}
		s.wg.Go(func() { s.buy(ctx, i, c, crypto.PubkeyToAddress(key.PublicKey).Hex()) })
	}
	s.wg.Go(func() { s.read(ctx) })
	return s
}

// buy buys one name after the other, and changes the zone of each.
func (s *stream) buy(ctx context.Context, caller int, c *client.Client, wallet string) {
	for i := 0; ctx.Err() == nil; i++ {
		b := bought{by: c, wallet: wallet, domain: fmt.Sprintf("%s-%d-%d.com", s.label, caller, i)}
		if !s.until(ctx, func(ctx context.Context) error { return order(ctx, b) }) {
			return
		}
		b.changed = s.until(ctx, func(ctx context.Context) error { return change(ctx, b) })
		s.mu.Lock()
		s.names = append(s.names, b)
		s.mu.Unlock()
	}
}

// until repeats a call until it is done, and reports whether it is. What was begun when
// the stream ends is finished.
func (s *stream) until(ctx context.Context, call func(ctx context.Context) error) bool {
	for {
		err := call(context.WithoutCancel(ctx))
		if err == nil {
			s.mu.Lock()
			s.paid = append(s.paid, time.Now())
			s.mu.Unlock()
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// order buys the name. One that an earlier attempt has bought is ours.
func order(ctx context.Context, b bought) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	o, err := b.by.Register(ctx, api.RegisterRequest{Domain: b.domain})
	if err == nil && o.Done == nil {
		_, err = b.by.WaitJob(ctx, o.JobID)
	}
	if err != nil {
		return owned(ctx, b)
	}
	return nil
}

// owned fails unless the caller owns the name.
func owned(ctx context.Context, b bought) error {
	d, err := b.by.Domain(ctx, b.domain)
	if err == nil && !strings.EqualFold(d.WalletAddress, b.wallet) {
		err = fmt.Errorf("%s belongs to %s", b.domain, d.WalletAddress)
	}
	return err
}

// change adds a record. One that an earlier attempt has added is there.
func change(ctx context.Context, b bought) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if _, err := b.by.AddRecord(ctx, b.domain, api.RecordRequest{Type: "A", Host: "www", Value: "192.0.2.7"}); err != nil {
		return hasRecord(ctx, b)
	}
	return nil
}

func hasRecord(ctx context.Context, b bought) error {
	list, err := b.by.Records(ctx, b.domain, client.RecordFilter{Type: "A", Host: "www"})
	if err == nil && len(list.Records) != 1 {
		err = fmt.Errorf("%s has %d records, want 1", b.domain, len(list.Records))
	}
	return err
}

// read reads a name that nobody has, which asks the database.
func (s *stream) read(ctx context.Context) {
	c := &http.Client{Transport: &observed{s: s, next: &http.Transport{}, reads: true}, Timeout: callTimeout}
	for ; ctx.Err() == nil; time.Sleep(readInterval) {
		if res, err := c.Get(s.e.front + "/domains/nobody-has-it.com"); err == nil {
			res.Body.Close() // only the status counts
		}
	}
}

// observed counts what callers see.
type observed struct {
	s     *stream
	next  http.RoundTripper
	reads bool
}

func (o *observed) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := o.next.RoundTrip(r)
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	kind := "paid calls"
	if o.reads {
		kind = "reads"
		o.s.reads++
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		o.s.failed[kind+" timed out"]++
	case err != nil:
		o.s.failed[kind+" lost their connection"]++
	case res.StatusCode >= 500:
		o.s.failed[fmt.Sprintf("%s got %d", kind, res.StatusCode)]++
	}
	return res, err
}

// done returns how many orders and changes were done since a time.
func (s *stream) done(since time.Time) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.paid {
		if at.After(since) {
			n++
		}
	}
	return n
}

// wait waits until some orders and changes were done since a time.
func (s *stream) wait(t *testing.T, since time.Time, n int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); s.done(since) < n; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("only %d orders and changes were done in 5 minutes; callers saw %s", s.done(since), s.seen())
		}
	}
}

// pause returns the longest time without an order or change since a time.
func (s *stream) pause(since time.Time) (longest time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := since
	for _, at := range s.paid {
		if at.After(since) {
			longest, last = max(longest, at.Sub(last)), at
		}
	}
	return longest
}

// seen returns what callers saw, in words.
func (s *stream) seen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for what, n := range s.failed {
		out = append(out, fmt.Sprintf("%d %s", n, what))
	}
	slices.Sort(out)
	if len(out) == 0 {
		return "no failed request"
	}
	return strings.Join(out, ", ")
}
