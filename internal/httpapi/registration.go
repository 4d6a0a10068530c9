package httpapi

import (
	"context"
	"net/http"
	"regexp"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/registration"
)

const (
	maxBody      = 64 << 10
	pollInterval = 2000 // milliseconds
)

// errNoPayments is for a deployment on a real chain without a treasury.
var errNoPayments = deed.Errorf(deed.CodeUnavailable, "this deployment takes no payments: its operator has not set pay_to")

func (s *Server) register(w http.ResponseWriter, r *http.Request) error {
	pay := s.payment(r)
	if err := s.countOrder(w, r, pay.auth); err != nil {
		return err
	}
	if s.Payments == nil {
		return errNoPayments
	}
	if r.ContentLength == 0 && pay.auth == nil && pay.err == nil {
		return s.indicativeOffer(w, r)
	}
	var in api.RegisterRequest
	if err := decode(w, r, maxBody, &in); err != nil {
		return err
	}
	o, err := toOrder(in)
	if err != nil {
		return err
	}
	if in.DryRun {
		return s.dryRun(w, r, o)
	}
	if err := s.samePayer(r, pay.auth); err != nil {
		return err
	}
	return s.buy(w, r, o, pay)
}

// countOrder counts an order against its limit. What was paid for may be asked
// for again, for nothing and any number of times.
func (s *Server) countOrder(w http.ResponseWriter, r *http.Request, auth *deed.Authorization) error {
	count := s.spend
	if s.Payments != nil {
		known, err := s.Payments.Known(r.Context(), auth)
		if err != nil {
			return err
		}
		if known {
			count = s.look
		}
	}
	return count(w, r, s.Limits.Register, clientKey(clientAddr(r, s.Trusted)))
}

// indicativeOffer shows a crawler that sends nothing what a payment looks like.
func (s *Server) indicativeOffer(w http.ResponseWriter, r *http.Request) error {
	q, err := s.Catalog.Registration("example.com", 1)
	if err != nil {
		return err
	}
	q.For = "a .com name for 1 year"
	return s.failUnpaid(w, r, &deed.Error{
		Code: deed.CodePaymentRequired, Message: "send the name you want as {\"domain\":…}; this offer shows what a .com costs",
	}, offer{quote: q})
}

// toOrder reads an order. What is not built yet is refused, not ignored.
func toOrder(in api.RegisterRequest) (registration.Order, error) {
	name, err := deed.ParseName(in.Domain)
	if err != nil {
		return registration.Order{}, err
	}
	o := registration.Order{Name: name, Years: in.Years}
	switch {
	case in.Years < 0 || in.Years > 10:
		return o, deed.Invalid("years", "must be from 1 to 10")
	case len(in.DNSRecords) > 0:
		return o, deed.Invalid("dns_records", "are not taken yet: leave them out")
	case len(in.Nameservers) > 0:
		return o, deed.Invalid("nameservers", "are not taken yet: leave them out")
	case in.MaxPrice != "":
		if o.MaxPrice, err = deed.ParseUSDC(in.MaxPrice); err != nil {
			return o, deed.Invalid("maxPriceUsd", "write it like 12.50")
		}
	}
	return o, nil
}

func (s *Server) dryRun(w http.ResponseWriter, r *http.Request, o registration.Order) error {
	q, err := s.Registrations.Quote(r.Context(), o)
	if err != nil {
		return err
	}
	s.reply(w, http.StatusOK, api.Quote{DryRun: true, Domain: string(o.Name), Years: q.Years, Price: q.Amount.String(), Currency: currency})
	return nil
}

// samePayer refuses a payment by another wallet than the one that is signed in:
// the payer becomes the owner. A token that is not good is ignored.
func (s *Server) samePayer(r *http.Request, auth *deed.Authorization) error {
	token, err := bearer(r)
	if err != nil || auth == nil {
		return nil
	}
	who, err := s.SignIn.Authenticate(r.Context(), token)
	if err == nil && who != auth.Payer {
		return deed.Errorf(deed.CodeOwnershipDenied, "you are signed in as %s and %s would pay, and so own the name: use one wallet, or no token", who, auth.Payer)
	}
	return nil
}

func (s *Server) buy(w http.ResponseWriter, r *http.Request, o registration.Order, pay offered) error {
	var checkout deed.Checkout = s.Payments.Checkout(pay.auth)
	if pay.err != nil {
		checkout = refusing{pay.err}
	}
	out, err := s.Registrations.Register(r.Context(), o, checkout)
	if code := deed.CodeOf(err); code == deed.CodePaymentRequired || code == deed.CodePaymentInvalid || code == deed.CodePaymentInsufficient {
		return s.failUnpaid(w, r, err, offer{out.Quote, o.Name, out.Job.ID})
	}
	if err != nil && out.Job.ID == "" {
		return err
	}
	p, findErr := s.Payments.Find(r.Context(), out.Job.PaymentID)
	if findErr != nil {
		return findErr
	}
	s.setReceipt(w.Header(), pay.version, p)
	switch {
	case err != nil:
		s.replyFailed(w, out.Job, p)
	case out.Job.State == deed.JobCompleted:
		s.reply(w, http.StatusCreated, s.fromRegistration(out.Job, p, out.Registration))
	default:
		s.replyPending(w, out.Job, p)
	}
	return nil
}

// refusing is a checkout for a payment that cannot even be read.
type refusing struct{ err error }

func (c refusing) Resume(context.Context, deed.Purchase) (deed.Payment, bool, error) {
	return deed.Payment{}, false, nil
}

func (c refusing) Collect(context.Context, deed.Quote, deed.Purchase) (deed.Payment, error) {
	return deed.Payment{}, c.err
}

func (s *Server) replyPending(w http.ResponseWriter, j deed.Job, p deed.Payment) {
	poll := "/domains/status/" + j.ID
	w.Header().Set("Location", poll)
	w.Header().Set("Retry-After", "2")
	message := "the registry is at work: ask for the job until it is completed"
	if p.TxHash == "" {
		message = "the payment is being settled: ask for the job until it is completed, and do not pay again"
	}
	s.reply(w, http.StatusAccepted, api.PendingOrder{
		Status: "pending", JobID: j.ID, Domain: string(j.Purchase.Name), Message: message, PollURL: poll, PollInterval: pollInterval, Payment: s.fromPayment(p),
	})
}

func (s *Server) replyFailed(w http.ResponseWriter, j deed.Job, p deed.Payment) {
	e := &deed.Error{Code: deed.CodeRegistrationFailed, Message: j.Failure}
	refund := fromRefund(p)
	s.reply(w, http.StatusInternalServerError, api.FailedOrder{Error: body(w.Header().Get("X-Request-Id"), http.StatusInternalServerError, e), JobID: j.ID, Refund: *refund})
}

// jobIDs are the ids that a job of ours can have; others never reach the database.
var jobIDs = regexp.MustCompile(`^job_[0-9a-f]{32}$`)

func (s *Server) job(w http.ResponseWriter, r *http.Request) error {
	if s.Payments == nil {
		return errNoPayments
	}
	id := r.PathValue("jobId")
	if !jobIDs.MatchString(id) {
		return deed.Errorf(deed.CodeNotFound, "there is no such job: its id is the jobId of an order's answer")
	}
	j, err := s.Registrations.Store.Job(r.Context(), id)
	if err != nil {
		return err
	}
	p, err := s.Payments.Find(r.Context(), j.PaymentID)
	if err != nil {
		return err
	}
	out := s.fromJob(j, p)
	if j.State == deed.JobCompleted {
		reg, err := s.Registrations.Names.Registration(r.Context(), j.Purchase.Name)
		if err != nil {
			return err
		}
		result := s.fromRegistration(j, p, reg)
		out.Result = &result
	}
	s.reply(w, http.StatusOK, out)
	return nil
}
