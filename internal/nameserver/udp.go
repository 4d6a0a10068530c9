package nameserver

// maxQuerySize limits how much of a datagram is read: every supported query is
// shorter, and a truncated one is malformed.
const maxQuerySize = 1500

// answerUDP answers one datagram. An empty result means no response. The rate limit
// comes last, since it depends on the response.
func (s *Server) answerUDP(w *worker, msg []byte, from sender) []byte {
	rcode, ok := w.q.read(msg)
	if !ok {
		s.dropped.Add(1)
		return nil
	}
	verified := s.setOptions(w, from)
	limit := min(w.q.size, maxUDPSize)
	out := w.answer(&s.zones, msg, rcode, limit)
	if !verified && s.rate.limits(from.addr) {
		switch s.rate.spend(from.addr, w.class(s.rate.seed, rcode), from.second) {
		case sendNothing:
			s.limited.Add(1)
			return nil
		case sendShort:
			s.limited.Add(1)
			w.r.begin(msg, &w.q, limit)
			w.r.full = true
			out = w.r.finish(&w.q, rcodeOK)
			s.answered(out)
			return out
		}
	}
	if w.r.full {
		s.truncated.Add(1)
	}
	s.answered(out)
	return out
}
