package primary

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/miekg/dns"
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
	if state.Err == nil && newer(want, state.Serial) {
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
			return soa.Serial, nil
		}
	}
	return 0, fmt.Errorf("%s responded %s without a SOA of %s", server.Name, dns.RcodeToString[r.Rcode], origin)
}
