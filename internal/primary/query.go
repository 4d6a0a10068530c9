package primary

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/miekg/dns"
)

// query sends m to the secondary over UDP and returns the response. When m is
// signed, a response that is signed by another key is an error, and so is one that is
// unsigned, unless it is a refusal: Knot and NSD do not sign that they do not have the
// zone. It returns as soon as ctx is done; ctx must have a deadline.
func query(ctx context.Context, to Secondary, m *dns.Msg) (*dns.Msg, error) {
	var dialer net.Dialer
	raw, err := dialer.DialContext(ctx, "udp", to.Addr)
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	stop := context.AfterFunc(ctx, func() { raw.Close() }) // unblocks the pending read
	defer stop()

	// The keyring is set even when it is empty: without one the library cannot
	// handle an unexpected signature.
	client := &dns.Client{Timeout: time.Minute, TsigProvider: newKeyring(to.Key)} // ctx expires first
	r, _, err := client.ExchangeWithConnContext(ctx, m, &dns.Conn{Conn: raw})
	if err != nil {
		return nil, err
	}
	if !to.Key.zero() && r.IsTsig() == nil && r.Rcode == dns.RcodeSuccess {
		return nil, errors.New("the response is not signed")
	}
	return r, nil
}
