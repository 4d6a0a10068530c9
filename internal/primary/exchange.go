package primary

import (
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"net"
	"slices"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed/internal/dnszone"
)

// chunk is the maximum size in bytes of the records in one message of a transfer.
// Names are compressed within the first 16 KiB of a message only (RFC 1035, 4.1.4).
const chunk = 16 << 10

// An exchange is one query and its response.
type exchange struct {
	w        dns.ResponseWriter
	r        *dns.Msg
	now      func() time.Time
	nsid     string
	idle     time.Duration // that a connection may be
	admitted bool          // the peer may read the zones, and its connection stays open after the response
}

// udp reports whether the response must fit into one packet.
func (x *exchange) udp() bool {
	_, ok := x.w.RemoteAddr().(*net.UDPAddr)
	return ok
}

// reply responds with one message, signed when the query was.
func (x *exchange) reply(rcode int, rrs ...dns.RR) error {
	m := x.message(rcode)
	m.Answer = rrs
	if t := x.r.IsTsig(); t != nil && x.w.TsigStatus() == nil {
		m.SetTsig(t.Hdr.Name, t.Algorithm, fudge, x.now().Unix())
	}
	return x.w.WriteMsg(m)
}

func (x *exchange) message(rcode int) *dns.Msg {
	m := new(dns.Msg)
	m.SetRcode(x.r, rcode)
	m.Authoritative = rcode == dns.RcodeSuccess
	m.Compress = true
	if opt := x.r.IsEdns0(); opt != nil {
		m.SetEdns0(udpSize, false)
		m.IsEdns0().Option = x.options(opt)
	}
	return m
}

// options returns the options that the query asks for: the identifier of the server (RFC
// 5001), and how long a connection may be idle (RFC 7828), which means nothing over UDP.
func (x *exchange) options(asked *dns.OPT) (list []dns.EDNS0) {
	for _, o := range asked.Option {
		switch {
		case slices.ContainsFunc(list, func(has dns.EDNS0) bool { return has.Option() == o.Option() }):
		case o.Option() == dns.EDNS0NSID && x.nsid != "":
			list = append(list, &dns.EDNS0_NSID{Code: dns.EDNS0NSID, Nsid: hex.EncodeToString([]byte(x.nsid))})
		case o.Option() == dns.EDNS0TCPKEEPALIVE && x.admitted && !x.udp():
			list = append(list, &dns.EDNS0_TCP_KEEPALIVE{Code: dns.EDNS0TCPKEEPALIVE, Timeout: uint16(x.idle / (100 * time.Millisecond))})
		}
	}
	return list
}

// stream responds with all records, in as many messages as they need. Each is
// signed over the one before it (RFC 8945, 5.3.1).
func (x *exchange) stream(rrs iter.Seq[dnszone.RR]) error {
	var part []dns.RR
	size := 0
	for rr := range rrs {
		if length := wireLength(rr); size+length > chunk && len(part) > 0 {
			if err := x.reply(dns.RcodeSuccess, part...); err != nil {
				return fmt.Errorf("write part of the zone: %w", err)
			}
			x.w.TsigTimersOnly(true)
			part, size = nil, 0
		}
		part = append(part, wireRR(rr))
		size += wireLength(rr)
	}
	if err := x.reply(dns.RcodeSuccess, part...); err != nil {
		return fmt.Errorf("write the last part of the zone: %w", err)
	}
	return nil
}

// refuseSignature reports why the signature is invalid (RFC 8945, 5.2). Only a peer
// that has the key, but the wrong time, gets a signed response.
func (x *exchange) refuseSignature(reason error) error {
	asked := x.r.IsTsig()
	t := &dns.TSIG{
		Hdr:        dns.RR_Header{Name: asked.Hdr.Name, Rrtype: dns.TypeTSIG, Class: dns.ClassANY},
		Algorithm:  asked.Algorithm,
		TimeSigned: asked.TimeSigned,
		Fudge:      fudge,
		OrigId:     x.r.Id,
	}
	switch {
	case errors.Is(reason, dns.ErrSecret), errors.Is(reason, dns.ErrKeyAlg):
		t.Error = dns.RcodeBadKey
	case errors.Is(reason, dns.ErrTime):
		t.Error = dns.RcodeBadTime
		t.OtherLen, t.OtherData = 6, fmt.Sprintf("%012x", x.now().Unix())
	default:
		t.Error = dns.RcodeBadSig
	}
	m := x.message(dns.RcodeNotAuth)
	m.Extra = append(m.Extra, t)
	if t.Error == dns.RcodeBadTime {
		return x.w.WriteMsg(m)
	}
	// The library would write the time 0 into a response that it does not sign: BIND then
	// reports the clocks, and not the key.
	raw, err := m.Pack()
	if err != nil {
		return err
	}
	_, err = x.w.Write(raw)
	return err
}
