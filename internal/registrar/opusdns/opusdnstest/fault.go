package opusdnstest

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"time"

	"deed.example/deed"
)

// A Fault is a failure of the vendor.
type Fault string

// The faults. Those up to Refuse affect orders only, the others every request.
const (
	NoFault      Fault = ""
	LostReply    Fault = "lost_reply"    // the order is executed, and the connection closed
	Late         Fault = "late"          // the connection is closed, and the order executed later
	Taken        Fault = "taken"         // the order is refused: another was faster
	WrongAccount Fault = "wrong_account" // the order is executed for another account
	NoFunds      Fault = "no_funds"      // the order is refused: the balance is too small
	Refuse       Fault = "refuse"        // the order is refused with 422
	Down         Fault = "down"          // the connection is closed, and nothing done
	Slow         Fault = "slow"          // nothing is done until the client leaves
	Busy         Fault = "busy"          // 429 with Retry-After
	Unavailable  Fault = "unavailable"   // 503, and nothing is done
	Gateway      Fault = "gateway"       // 404 with a page of something before the API
	Denied       Fault = "denied"        // 401
	Broken       Fault = "broken"        // it is done, and the reply breaks the schema
	Redirected   Fault = "redirected"    // 307, and nothing is done
	Huge         Fault = "huge"          // a reply without an end
)

// faults is the active fault, and for how many requests.
type faults struct {
	kind  Fault
	times int
}

// Break makes the next requests that the fault affects fail, times of them.
func (s *Server) Break(f Fault, times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = faults{f, times}
}

// take returns the fault of a request.
func (f *faults) take(order bool) Fault {
	switch f.kind {
	case LostReply, Late, Taken, WrongAccount, NoFunds, Refuse:
		if !order {
			return NoFault
		}
	}
	if f.times == 0 {
		return NoFault
	}
	f.times--
	return f.kind
}

// faultBefore answers a request that is not executed, and reports whether it did.
func (s *Server) faultBefore(w http.ResponseWriter, c call) bool {
	switch c.fault {
	case Down:
		drop(w)
	case Slow:
		s.held <- struct{}{}
		<-c.ctx.Done()
	case Busy:
		w.Header().Set("Retry-After", "0")
		writeReply(w, refuse(http.StatusTooManyRequests, "ERROR_RATE_LIMIT", "rate-limit"), NoFault)
	case Unavailable:
		writeReply(w, refuse(http.StatusServiceUnavailable, "ERROR_CLAIMS_SERVICE_ERROR", "claims-service"), NoFault)
	case Gateway:
		http.Error(w, "<html>not found</html>", http.StatusNotFound)
	case Denied:
		writeReply(w, refuse(http.StatusUnauthorized, "ERROR_AUTHENTICATION", "authentication"), NoFault)
	case Redirected:
		http.Redirect(w, c.r, c.r.URL.String(), http.StatusTemporaryRedirect)
	case Huge:
		writeHuge(c.ctx, w)
	case NoFunds:
		writeReply(w, refuse(http.StatusPaymentRequired, "ERROR_INSUFFICIENT_FUNDS", "insufficient-funds"), NoFault)
	case Refuse:
		writeReply(w, refuse(http.StatusUnprocessableEntity, "ERROR_POLICY_VALIDATION", "policy-validation-error"), NoFault)
	default:
		return false
	}
	return true
}

// writeHuge writes until the client has had enough.
func writeHuge(ctx context.Context, w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	chunk := bytes.Repeat([]byte("["), 1<<16)
	for ctx.Err() == nil {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

// breakSchema returns the reply with types that the schema does not have.
func breakSchema(raw []byte) []byte {
	out := bytes.ReplaceAll(raw, []byte(`"name":"`), []byte(`"name":7,"was":"`))
	out = bytes.ReplaceAll(out, []byte(`"domain":"`), []byte(`"domain":7,"was":"`))
	out = bytes.ReplaceAll(out, []byte(`"results":[`), []byte(`"results":[7,`))
	if bytes.Equal(out, raw) {
		out = append([]byte(`{"reply":`+strconv.Quote("broken")+`,`), bytes.TrimPrefix(raw, []byte("{"))...)
	}
	return out
}

// A lateOrder is executed some time after it was ordered.
type lateOrder struct {
	due     time.Time
	execute func(context.Context)
}

// LateBy is how much later a late order is executed.
const LateBy = time.Minute

// executeLate executes what is due.
func (s *Server) executeLate(ctx context.Context) {
	now := s.now()
	var rest []lateOrder
	for _, o := range s.late {
		if o.due.After(now) {
			rest = append(rest, o)
			continue
		}
		o.execute(ctx)
	}
	s.late = rest
}

// order executes an order with its fault. Another account gets a name that is
// ordered for the wrong one.
func (s *Server) order(c call, name deed.Name, execute func(context.Context) reply) reply {
	switch c.fault {
	case Late:
		s.late = append(s.late, lateOrder{due: s.now().Add(LateBy), execute: func(ctx context.Context) { execute(ctx) }})
		return reply{lost: true}
	case Taken:
		return refuse(http.StatusConflict, "ERROR_DOMAIN_EXISTS", "domain-exists")
	}
	return execute(c.ctx)
}
