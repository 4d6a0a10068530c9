package httpapi

import (
	"errors"
	"net/http"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
)

// paidWallet authenticates the wallet, reads its payment, checks the rate limit
// and calls h. A request with a known payment may be repeated any number of
// times: it costs nothing and is not counted.
func (s *Server) paidWallet(h func(w http.ResponseWriter, r *http.Request, c dnsCall) error) http.Handler {
	return s.handle(func(w http.ResponseWriter, r *http.Request) error {
		token, err := bearer(r)
		if err != nil {
			return err
		}
		who, err := s.SignIn.Authenticate(r.Context(), token)
		if err != nil {
			return err
		}
		pay, end, err := s.countPaid(w, r, s.Limits.DNS, string(who))
		defer end()
		if err != nil {
			return err
		}
		c := dnsCall{who: who, pay: pay.by(who)}
		if s.NotReady != nil {
			return s.NotReady
		}
		if c.name, err = deed.ParseName(r.PathValue("domain")); err != nil {
			return err
		}
		return h(w, r, c)
	})
}

// A dnsCall is a request to change a zone: the wallet, the zone and the payment.
type dnsCall struct {
	who  deed.Wallet
	name deed.Name
	pay  offered
}

// buyChange buys a change with the payment of the call.
func (s *Server) buyChange(r *http.Request, c dnsCall, change dnszone.Change) (order.Outcome, error) {
	return s.Payments.Buy(r.Context(), order.Request{Purchase: order.PurchaseOf(change)}, s.checkout(c.pay))
}

func (c dnsCall) change(kind dnszone.ChangeKind, ops ...dnszone.RecordOp) dnszone.Change {
	return dnszone.Change{Kind: kind, Zone: c.name, By: c.who, Ops: ops}
}

func (s *Server) listRecords(w http.ResponseWriter, r *http.Request, who deed.Wallet, name deed.Name) error {
	q, err := query(r, "type", "host")
	if err != nil {
		return err
	}
	z, err := s.Zones.Zone(r.Context(), who, name)
	if err != nil {
		return err
	}
	records, err := z.Matching(q.Get("type"), q.Get("host"))
	if err != nil {
		return err
	}
	out := api.RecordList{Domain: string(name), Records: []api.Record{}, Revision: z.Revision, Warnings: []string{}}
	for _, rec := range records {
		out.Records = append(out.Records, fromRecord(rec))
	}
	v, err := s.Registrations.Name(r.Context(), name)
	if err == nil && v.Stopped {
		out.Warnings = append(out.Warnings, s.stoppedWarning())
	}
	if err == nil && v.Lifecycle.Phase != lifecycle.PhaseActive {
		out.Warnings = append(out.Warnings, phaseWarnings[v.Lifecycle.Phase])
	}
	s.reply(w, http.StatusOK, out)
	return nil
}

func fromRecord(r dnszone.Record) api.Record {
	return api.Record{
		ID: string(r.ID), RecordID: string(r.ID), Type: r.Type, Host: r.Host, Value: r.Value, TTL: r.TTL, Distance: r.Distance,
		CreatedAt: r.Created.UTC(), UpdatedAt: r.Updated.UTC(),
	}
}

func toRecordInput(in api.RecordRequest) dnszone.RecordInput {
	return dnszone.RecordInput{Type: in.Type, Host: in.Host, Value: in.Value, TTL: in.TTL, Distance: in.Distance, Priority: in.Priority}
}

func (s *Server) addRecord(w http.ResponseWriter, r *http.Request, c dnsCall) error {
	var in api.RecordRequest
	if err := decode(w, r, maxBody, &in); err != nil {
		return err
	}
	rec, err := toRecordInput(in).Record(c.name)
	if err != nil {
		return s.ownershipErrorFirst(r, c, err)
	}
	out, err := s.buyChange(r, c, c.change(dnszone.ChangeAdd, dnszone.RecordOp{Op: dnszone.OpAdd, Record: rec}))
	if err != nil {
		return s.failChange(w, r, c, out, err)
	}
	return s.replyRecord(w, r, c, out, func(rec api.Record) (int, any) { return http.StatusCreated, rec })
}

// ownershipErrorFirst returns the error that takes precedence over err, an
// invalid record: that the caller may not change the zone at all.
func (s *Server) ownershipErrorFirst(r *http.Request, c dnsCall, err error) error {
	if _, first := s.Zones.Zone(r.Context(), c.who, c.name); first != nil {
		return first
	}
	return err
}

func (s *Server) updateRecord(w http.ResponseWriter, r *http.Request, c dnsCall) error {
	var in api.RecordUpdate
	if err := decode(w, r, maxBody, &in); err != nil {
		return err
	}
	op := dnszone.RecordOp{Op: dnszone.OpUpdate, ID: dnszone.RecordID(r.PathValue("recordId")), Patch: toPatch(in)}
	out, err := s.buyChange(r, c, c.change(dnszone.ChangeUpdate, op))
	if err != nil {
		return s.failChange(w, r, c, out, err)
	}
	return s.replyRecord(w, r, c, out, func(rec api.Record) (int, any) {
		return http.StatusOK, api.RecordUpdated{Record: rec, Message: "DNS record updated"}
	})
}

func toPatch(in api.RecordUpdate) dnszone.RecordPatch {
	return dnszone.RecordPatch{Type: in.Type, Host: in.Host, Value: in.Value, TTL: in.TTL, Distance: in.Distance, Priority: in.Priority}
}

func (s *Server) deleteRecord(w http.ResponseWriter, r *http.Request, c dnsCall) error {
	id := dnszone.RecordID(r.PathValue("recordId"))
	out, err := s.buyChange(r, c, c.change(dnszone.ChangeDelete, dnszone.RecordOp{Op: dnszone.OpDelete, ID: id}))
	if err != nil {
		return s.failChange(w, r, c, out, err)
	}
	if err := s.setChangeReceipt(w, r, c, out); err != nil {
		return err
	}
	s.reply(w, http.StatusOK, api.RecordDeleted{Message: "DNS record deleted", ID: string(id), RecordID: string(id)})
	return nil
}

// replyRecord sends the record as it is after a change of one record.
func (s *Server) replyRecord(w http.ResponseWriter, r *http.Request, c dnsCall, out order.Outcome, shape func(api.Record) (int, any)) error {
	rec, err := s.Zones.Record(r.Context(), out.Job)
	if err != nil {
		return err
	}
	if err := s.setChangeReceipt(w, r, c, out); err != nil {
		return err
	}
	status, body := shape(fromRecord(rec))
	s.reply(w, status, body)
	return nil
}

func (s *Server) setChangeReceipt(w http.ResponseWriter, r *http.Request, c dnsCall, out order.Outcome) error {
	p, err := out.Payment, error(nil)
	if p.TxHash == "" || p.ID != out.Job.PaymentID { // another process has settled it since, or it is an alias
		p, err = s.Payments.Find(r.Context(), out.Job.PaymentID)
	}
	if err == nil {
		s.setReceipt(w.Header(), c.pay.version, p)
	}
	return err
}

// failChange sends the response for a change that was not made: 402 with an
// offer, 503 while the payment is pending, 500 with the refund when the payment
// settled but the change could no longer be made.
func (s *Server) failChange(w http.ResponseWriter, r *http.Request, c dnsCall, out order.Outcome, err error) error {
	if errors.Is(err, order.ErrOtherRequest) {
		if limited := c.pay.counted(); limited != nil {
			return limited
		}
	}
	switch code := deed.CodeOf(err); {
	case code == deed.CodePaymentRequired || code == deed.CodePaymentInvalid || code == deed.CodePaymentInsufficient:
		return s.failUnpaid(w, r, err, offer{quote: out.Quote, domain: c.name, version: c.pay.version, ended: out.Payment})
	case out.Job.ID == "":
		return err
	}
	p, findErr := s.Payments.Find(r.Context(), out.Job.PaymentID)
	if findErr != nil {
		return findErr
	}
	s.setReceipt(w.Header(), c.pay.version, p)
	e, ok := errors.AsType[*deed.Error](err)
	refund := fromRefund(p)
	if !ok || e.Code != deed.CodeDNS || refund == nil {
		return err
	}
	s.reply(w, http.StatusInternalServerError, api.FailedChange{Error: s.errorBody(w.Header(), http.StatusInternalServerError, e), Refund: *refund})
	return nil
}
