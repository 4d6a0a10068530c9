package nameserver

import (
	"net/netip"
)

// longestQuery bounds what we read of a datagram: no query we understand is as
// long, and what is cut off is found malformed.
const longestQuery = 1500

// answerUDP answers one datagram. An empty answer is none.
func (s *Server) answerUDP(w *worker, msg []byte, from netip.Addr, second int64) []byte {
	rcode, ok := w.q.read(msg)
	if !ok {
		s.dropped.Add(1)
		return nil
	}
	limit := min(w.q.size, mostUDP)
	if s.cfg.Amplification > 0 {
		limit = min(limit, s.cfg.Amplification*len(msg))
	}
	switch s.rate.spend(from, second) {
	case sendNothing:
		s.limited.Add(1)
		return nil
	case sendShort:
		s.limited.Add(1)
		w.r.begin(msg, &w.q, limit)
		w.r.full = true
		return w.r.finish(&w.q, rcodeOK)
	}
	out := w.answer(&s.zones, msg, rcode, limit)
	if w.r.full {
		s.truncated.Add(1)
	}
	return out
}
