package primary

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed/internal/dnssec"
)

const (
	driftAttempts = 2
	driftTimeout  = time.Second // per attempt
)

// Drift checks how far the name servers lag behind. Set the exported field. It is
// safe for concurrent use.
type Drift struct {
	Servers []Secondary
}

// A ServerState is the response of one name server.
type ServerState struct {
	Server string // its name
	Serial uint32 // of the zone on that server; 0 when Err is not nil
	Lag    uint32 // how far that serial is behind the current one; 0 when it is not
	Err    error  // why there is no serial: a timeout, or the server does not have the zone
	Absent bool   // it has no copy of the zone, or cannot be reached, so resolvers use other servers
	Reason string // what it responded instead of a serial, for people; "" with a serial
}

// Check queries every server for the zone, as any resolver would, and compares its
// serial with the current one. It returns within a few seconds, with one state for
// each server, in their order.
func (d *Drift) Check(ctx context.Context, origin string, serial uint32) []ServerState {
	states := make([]ServerState, len(d.Servers))
	var wg sync.WaitGroup
	for i, server := range d.Servers {
		wg.Go(func() { states[i] = checkServer(ctx, server, origin, serial) })
	}
	wg.Wait()
	return states
}

func checkServer(ctx context.Context, server Secondary, origin string, want uint32) ServerState {
	state := ServerState{Server: server.Name}
	for range driftAttempts {
		state.Serial, state.Err = querySerial(ctx, server, origin)
		if state.Err == nil || ctx.Err() != nil {
			break
		}
	}
	if state.Err != nil {
		state.Absent, state.Reason = true, reasonOf(state.Err)
	}
	if state.Err == nil && dnssec.NewerSerial(want, state.Serial) {
		state.Lag = want - state.Serial
	}
	return state
}

// querySerial queries the server for the serial of its copy of the zone.
func querySerial(ctx context.Context, server Secondary, origin string) (uint32, error) {
	ctx, cancel := context.WithTimeout(ctx, driftTimeout)
	defer cancel()
	m := new(dns.Msg)
	m.SetQuestion(dns.CanonicalName(origin), dns.TypeSOA)
	m.RecursionDesired = false
	r, err := query(ctx, Secondary{Addr: server.Addr}, m)
	if err != nil {
		return 0, fmt.Errorf("query %s for the SOA of %s: %w", server.Name, origin, err)
	}
	for _, rr := range r.Answer {
		soa, ok := rr.(*dns.SOA)
		if ok && r.Rcode == dns.RcodeSuccess && dns.CanonicalName(soa.Hdr.Name) == dns.CanonicalName(origin) {
			if !r.Authoritative {
				return 0, fmt.Errorf("%s: %w", server.Name, lameError{origin})
			}
			return soa.Serial, nil
		}
	}
	return 0, fmt.Errorf("%s: %w", server.Name, answerError{r.Rcode, origin})
}

// An answerError is a response without the SOA.
type answerError struct {
	rcode  int
	origin string
}

func (e answerError) Error() string {
	word := dns.RcodeToString[e.rcode]
	switch e.rcode {
	case dns.RcodeRefused, dns.RcodeNotAuth:
		return fmt.Sprintf("it answered %s: it does not have the zone %s", word, e.origin)
	case dns.RcodeServerFailure:
		return fmt.Sprintf("it answered %s: it has not transferred the zone %s, or its copy has expired", word, e.origin)
	}
	return fmt.Sprintf("it answered %s without the SOA of %s", word, e.origin)
}

// A lameError is a response from a cache: resolvers ignore the server (RFC 1912, 2.8).
type lameError struct{ origin string }

func (e lameError) Error() string {
	return fmt.Sprintf("it answered without authority: it is a resolver, and no name server of %s", e.origin)
}

// reasonOf describes why there is no serial, without addresses of the network.
func reasonOf(err error) string {
	if e, ok := errors.AsType[answerError](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[lameError](err); ok {
		return e.Error()
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "it cannot be reached: nothing listens at its address"
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, net.ErrClosed) {
		return fmt.Sprintf("it did not answer within %s, asked %d times", driftTimeout, driftAttempts)
	}
	return "it cannot be reached"
}
