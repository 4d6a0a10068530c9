package nameserver

import (
	"net/netip"
)

// maxQuerySize limits how much of a datagram is read: every supported query is
// shorter, and a truncated one is malformed.
const maxQuerySize = 1500

// answerUDP answers one datagram. An empty result means no response.
func (s *Server) answerUDP(w *worker, msg []byte, from netip.Addr, second int64) []byte {
	rcode, ok := w.q.read(msg)
	if !ok {
		s.dropped.Add(1)
		return nil
	}
	limit := min(w.q.size, maxUDPSize)
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
