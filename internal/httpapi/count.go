package httpapi

import (
	"net/http"

	"deed.example/deed"
	"deed.example/deed/internal/fulfil"
)

// countPaid reads the payment of a request and counts the request against its
// limit. A request with a known payment may be repeated any number of times, also at
// once, without being counted, even after the payment terms have changed; if it turns out
// to be another request, call counted. Call end when the request has ended.
func (s *Server) countPaid(w http.ResponseWriter, r *http.Request, lim deed.Limit, caller string) (pay offered, end func(), err error) {
	pay, end = s.payment(r), func() {}
	count := s.spend
	if s.Payments != nil {
		known := fulfil.New
		if known, end, err = s.Payments.Arrive(r.Context(), pay.auth); err != nil {
			return pay, end, err
		}
		if known == fulfil.Accepted {
			count, pay.err = s.peek, nil
			pay.count = func() error { return s.spend(w, r, lim, caller) }
		}
		pay.isNew = known == fulfil.New
	}
	return pay, end, count(w, r, lim, caller)
}

// counted counts a request that has a known payment, but does not repeat what that was
// accepted with.
func (o offered) counted() error {
	if o.count == nil {
		return nil
	}
	return o.count()
}
