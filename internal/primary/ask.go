package primary

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/miekg/dns"
)

// ask sends m to the secondary over UDP and returns its answer. When m is
// signed, an answer that is not, or not by the same key, is an error. It returns
// at once when ctx is done, which must have a deadline.
func ask(ctx context.Context, to Secondary, m *dns.Msg) (*dns.Msg, error) {
	var dialer net.Dialer
	raw, err := dialer.DialContext(ctx, "udp", to.Addr)
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	stop := context.AfterFunc(ctx, func() { raw.Close() }) // it wakes whoever waits for an answer
	defer stop()

	// The ring is there even when it is empty: the library needs one to look at
	// a signature that nobody asked for.
	client := &dns.Client{Timeout: time.Minute, TsigProvider: newRing(to.Key)} // ctx is done before
	r, _, err := client.ExchangeWithConnContext(ctx, m, &dns.Conn{Conn: raw})
	if err != nil {
		return nil, err
	}
	if !to.Key.zero() && r.IsTsig() == nil {
		return nil, fmt.Errorf("the answer, %s, is not signed", dns.RcodeToString[r.Rcode])
	}
	return r, nil
}
