package primary

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/miekg/dns"
)

const (
	driftTries   = 2
	driftTimeout = time.Second // for one try
)

// Drift looks how far the name servers are behind. Fill the exported field. It
// is safe for concurrent use.
type Drift struct {
	Servers []Secondary
}

// A ServerState is what one name server answers with.
type ServerState struct {
	Server string // its name
	Serial uint32 // of the zone there; 0 when Err is not nil
	Lag    uint32 // by how much that serial is behind ours; 0 when it is not
	Err    error  // why there is no serial: no answer in time, or the zone is not there
}

// Check asks every server for the zone, as anybody would ask it, and compares
// its serial with ours. It returns after a few seconds at most, with one state
// for each server, in their order.
func (d *Drift) Check(ctx context.Context, origin string, serial uint32) []ServerState {
	states := make([]ServerState, len(d.Servers))
	var wg sync.WaitGroup
	for i, server := range d.Servers {
		wg.Go(func() { states[i] = look(ctx, server, origin, serial) })
	}
	wg.Wait()
	return states
}

func look(ctx context.Context, server Secondary, origin string, want uint32) ServerState {
	state := ServerState{Server: server.Name}
	for range driftTries {
		state.Serial, state.Err = askSerial(ctx, server, origin)
		if state.Err == nil || ctx.Err() != nil {
			break
		}
	}
	if state.Err == nil && newer(want, state.Serial) {
		state.Lag = want - state.Serial
	}
	return state
}

// askSerial asks the server which serial the zone has there.
func askSerial(ctx context.Context, server Secondary, origin string) (uint32, error) {
	ctx, cancel := context.WithTimeout(ctx, driftTimeout)
	defer cancel()
	m := new(dns.Msg)
	m.SetQuestion(dns.CanonicalName(origin), dns.TypeSOA)
	m.RecursionDesired = false
	r, err := ask(ctx, Secondary{Addr: server.Addr}, m)
	if err != nil {
		return 0, fmt.Errorf("ask %s for the SOA of %s: %w", server.Name, origin, err)
	}
	for _, rr := range r.Answer {
		soa, ok := rr.(*dns.SOA)
		if ok && r.Rcode == dns.RcodeSuccess && dns.CanonicalName(soa.Hdr.Name) == dns.CanonicalName(origin) {
			return soa.Serial, nil
		}
	}
	return 0, fmt.Errorf("%s answered %s and no SOA of %s", server.Name, dns.RcodeToString[r.Rcode], origin)
}
