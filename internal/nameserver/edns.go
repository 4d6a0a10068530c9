package nameserver

import (
	"encoding/binary"
	"net/netip"
	"time"
)

// Options of EDNS that the server answers.
const (
	optionNSID      = 3  // RFC 5001
	optionCookie    = 10 // RFC 7873
	optionKeepalive = 11 // RFC 7828
)

const (
	// maxNSID leaves room for the longest question and a cookie in 512 bytes.
	maxNSID    = 64
	optionHead = 4 // code and length
	maxOptions = 3*optionHead + maxNSID + clientCookieSize + serverCookieSize + 2
)

// readOptions parses the options of an OPT. It reports whether they fill the data
// exactly and are well formed. Of several cookies the first counts (RFC 7873, 5.2).
func (q *query) readOptions(data []byte) bool {
	for len(data) >= optionHead {
		n := optionHead + int(binary.BigEndian.Uint16(data[2:]))
		if n > len(data) {
			return false
		}
		switch value := data[optionHead:n]; binary.BigEndian.Uint16(data) {
		case optionNSID:
			q.nsid = true
		case optionKeepalive:
			q.keepalive = true
		case optionCookie:
			if !validCookieSize(len(value)) {
				return false
			}
			if q.cookie == nil {
				q.cookie = value
			}
		}
		data = data[n:]
	}
	return len(data) == 0
}

// A sender is the client of a query, with the time at which the query arrived.
type sender struct {
	addr   netip.Addr
	second int64 // Unix time
	tcp    bool
}

// setOptions writes the options of the response. It reports whether the client has
// proved with a cookie that its address is not spoofed.
func (s *Server) setOptions(w *worker, from sender) (verified bool) {
	q, out := &w.q, w.r.optionBuf[:0]
	if q.edns && q.cookie != nil && s.cookies != nil {
		out = appendOptionHead(out, optionCookie, clientCookieSize+serverCookieSize)
		out, verified = s.cookies.renew(out, q.cookie, from.addr, from.second)
	}
	if q.edns && q.nsid && s.cfg.NSID != "" {
		out = appendOptionHead(out, optionNSID, len(s.cfg.NSID))
		out = append(out, s.cfg.NSID...)
	}
	// Over UDP the option means nothing (RFC 7828, 3.2.1).
	if q.edns && q.keepalive && from.tcp {
		out = appendOptionHead(out, optionKeepalive, 2)
		out = binary.BigEndian.AppendUint16(out, uint16(min(s.cfg.Idle/(100*time.Millisecond), 0xffff)))
	}
	w.r.options = out
	return verified
}

func appendOptionHead(b []byte, code uint16, size int) []byte {
	b = binary.BigEndian.AppendUint16(b, code)
	return binary.BigEndian.AppendUint16(b, uint16(size))
}
