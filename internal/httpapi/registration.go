package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/ratelimit"
	"deed.example/deed/internal/settle"
)

const (
	maxBody      = 64 << 10
	pollInterval = 2000 // milliseconds
)

// errNoPayments is returned by a deployment on a real chain without a treasury.
var errNoPayments = deed.Errorf(deed.CodeUnavailable, "this deployment takes no payments: its operator has not set pay_to")

// order returns the handler of a paid route about a name; read parses its body.
func (s *Server) order(read func(w http.ResponseWriter, r *http.Request) (o order.Request, dryRun bool, err error)) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		pay, end, err := s.countPaid(w, r, s.Limits.Register, ratelimit.AddressKey(clientAddr(r, s.Trusted)))
		defer end()
		if err != nil {
			return err
		}
		if s.NotReady != nil {
			return s.NotReady
		}
		if pay.auth == nil && pay.err == nil && noBody(r) {
			return s.indicativeOffer(w, r)
		}
		o, dryRun, err := read(w, r)
		if err != nil || dryRun {
			err = cmp.Or(pay.counted(), err)
		}
		if err != nil {
			return err
		}
		who := s.signedIn(r)
		if dryRun {
			o.Payer = who
			return s.dryRun(w, r, o)
		}
		if err := samePayer(who, o.Kind, pay.auth); err != nil {
			return err
		}
		return s.buy(w, r, o, pay.by(who))
	}
}

// indicativeOffer responds to an empty request with 402, so that crawlers see the
// terms of payment and how to call the route.
func (s *Server) indicativeOffer(w http.ResponseWriter, r *http.Request) error {
	tld, q, err := s.Catalog.Indicative()
	if err != nil {
		return err
	}
	how, err := s.bazaar(r.Pattern)
	if err != nil {
		return err
	}
	return s.failUnpaid(w, r, &deed.Error{
		Code: deed.CodePaymentRequired, Message: fmt.Sprintf("send the name you want as {\"domain\":…}; this offer shows what a .%s costs", tld),
	}, offer{quote: q, extensions: map[string]any{"bazaar": how}})
}

func readRegister(w http.ResponseWriter, r *http.Request) (o order.Request, dryRun bool, err error) {
	var in api.RegisterRequest
	if err := decode(w, r, maxBody, &in); err != nil {
		return o, false, err
	}
	if o, err = toOrder(order.PurchaseRegistration, in.Domain, in.Years, in.MaxPrice); err != nil {
		return o, false, err
	}
	if o.Records, err = startingRecords(o.Name, in.DNSRecords); err != nil {
		return o, false, err
	}
	o.Nameservers, err = parseNameservers(in.Nameservers)
	return o, in.DryRun, err
}

func readRenew(w http.ResponseWriter, r *http.Request) (o order.Request, dryRun bool, err error) {
	var in api.RenewRequest
	if err := decode(w, r, maxBody, &in); err != nil {
		return o, false, err
	}
	o, err = toOrder(order.PurchaseRenewal, in.Domain, in.Years, in.MaxPrice)
	o.From = in.ExpectedExpiresAt
	return o, in.DryRun, err
}

func readTransfer(w http.ResponseWriter, r *http.Request) (o order.Request, dryRun bool, err error) {
	var in api.TransferRequest
	if err := decode(w, r, maxBody, &in); err != nil {
		return o, false, err
	}
	if o, err = toOrder(order.PurchaseTransfer, in.Domain, nil, in.MaxPrice); err != nil {
		return o, false, err
	}
	if in.AuthCode == "" || len(in.AuthCode) > 255 {
		return o, false, deed.Invalid("authCode", "is the code that the present registrar gives out, of 1 to 255 characters")
	}
	o.AuthCode = deed.Secret(in.AuthCode)
	o.Nameservers, err = parseNameservers(in.Nameservers)
	return o, in.DryRun, err
}

// maxStartingRecords is how many records an order can have; more can be added
// after the registration.
const maxStartingRecords = 50

// startingRecords parses the initial records of a name and checks them against
// the rules of a zone.
func startingRecords(name deed.Name, in []api.RecordRequest) ([]dnszone.Record, error) {
	if len(in) > maxStartingRecords {
		return nil, deed.Invalid("dns_records", "are %d at most: add more when you have the name", maxStartingRecords)
	}
	z := dnszone.Zone{Name: name}
	for i, r := range in {
		rec, err := toRecordInput(r).Record(name)
		if err == nil {
			z, err = z.Add(rec)
		}
		if err != nil {
			return nil, deed.Within(fmt.Sprintf("dns_records[%d]", i), err)
		}
	}
	return z.Records, nil
}

// parseNameservers parses the name servers of an order, which are optional.
func parseNameservers(hosts []string) ([]string, error) {
	if len(hosts) == 0 {
		return nil, nil
	}
	return deed.ParseNameservers(hosts)
}

// toOrder parses the fields that all orders have. nil means absent; an explicit
// zero is invalid.
func toOrder(kind order.PurchaseKind, domain string, years *int, maxPrice *string) (order.Request, error) {
	name, err := deed.ParseName(domain)
	if err != nil {
		return order.Request{}, err
	}
	o := order.Request{Purchase: order.Purchase{Kind: kind, Name: name}}
	if years != nil {
		if *years < 1 || *years > 10 {
			return o, deed.Invalid("years", "must be from 1 to 10, not %d: leave it out for the fewest that can be had", *years)
		}
		o.Years = *years
	}
	if maxPrice == nil {
		return o, nil
	}
	limit, err := deed.ParseUSDC(*maxPrice)
	switch {
	case err != nil:
		return o, deed.Invalid("maxPriceUsd", "is not an amount: write it like 12.50, or leave it out for any price")
	case limit == 0:
		return o, deed.Invalid("maxPriceUsd", "0 allows no price at all: write the most that the order may cost, or leave it out for any price")
	}
	o.MaxPrice = &limit
	return o, nil
}

func (s *Server) dryRun(w http.ResponseWriter, r *http.Request, o order.Request) error {
	q, _, err := s.Registrations.Quote(r.Context(), o)
	if err != nil {
		return err
	}
	s.reply(w, http.StatusOK, api.Quote{DryRun: true, Domain: string(o.Name), Years: q.Years, Price: q.Amount.String(), Currency: currency})
	return nil
}

// signedIn returns the wallet of an optional access token. An invalid token is
// ignored.
func (s *Server) signedIn(r *http.Request) deed.Wallet {
	token, err := bearer(r)
	if err != nil {
		return ""
	}
	who, err := s.SignIn.Authenticate(r.Context(), token)
	if err != nil {
		return ""
	}
	return who
}

// samePayer rejects a payment by a wallet other than the one that is signed in,
// for orders that make the payer the owner.
func samePayer(who deed.Wallet, kind order.PurchaseKind, auth *settle.Authorization) error {
	if who == "" || auth == nil || !kind.ClaimsName() || who == auth.Payer {
		return nil
	}
	return deed.Errorf(deed.CodeOwnershipDenied, "you are signed in as %s and %s would pay, and so own the name: use one wallet, or no token", who, auth.Payer)
}

func (s *Server) buy(w http.ResponseWriter, r *http.Request, o order.Request, pay offered) error {
	o.Payer, o.MayBeBuyer = pay.signedIn, pay.signedIn == "" && pay.auth == nil
	if pay.auth != nil {
		o.Offered, o.Payer = pay.auth.Amount, pay.auth.Payer
	}
	out, err := s.Payments.Buy(r.Context(), o, s.checkout(pay))
	s.logOrder(w, r, out.Job)
	if errors.Is(err, order.ErrOtherRequest) {
		if limited := pay.counted(); limited != nil {
			return limited
		}
	}
	if code := deed.CodeOf(err); code == deed.CodePaymentRequired || code == deed.CodePaymentInvalid || code == deed.CodePaymentInsufficient {
		return s.failUnpaid(w, r, err, offer{quote: out.Quote, domain: o.Name, jobID: out.Job.PublicID, version: pay.version, ended: out.Payment})
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
		return s.failOrder(w, out.Job, p, err)
	case out.Job.State == order.JobCompleted:
		return s.replyRegistration(w, r, out.Job, p)
	default:
		s.replyPending(w, out.Job, p)
	}
	return nil
}

// replyRegistration sends the registration that a completed job created or renewed.
func (s *Server) replyRegistration(w http.ResponseWriter, r *http.Request, j order.Job, p order.Payment) error {
	reg, err := s.Registrations.Result(context.WithoutCancel(r.Context()), j)
	if err != nil {
		return err
	}
	status := http.StatusCreated
	if j.Purchase.Kind == order.PurchaseRenewal {
		status = http.StatusOK
	}
	s.reply(w, status, s.fromRegistration(r.Context(), j, p, reg))
	return nil
}

// checkout returns the checkout that collects the payment of a request.
func (s *Server) checkout(pay offered) order.Checkout {
	if pay.err != nil {
		return refusingCheckout{pay.err}
	}
	return s.Payments.Checkout(pay.auth, pay.signedIn, pay.isNew)
}

// refusingCheckout is the checkout for a payment header that is invalid.
type refusingCheckout struct{ err error }

func (c refusingCheckout) Resume(context.Context, order.Purchase) (order.Payment, bool, error) {
	return order.Payment{}, false, nil
}

func (c refusingCheckout) Collect(context.Context, order.Quote, order.Purchase) (order.Payment, error) {
	return order.Payment{}, c.err
}

func (s *Server) replyPending(w http.ResponseWriter, j order.Job, p order.Payment) {
	poll := "/domains/status/" + j.PublicID
	w.Header().Set("Location", poll)
	w.Header().Set("Retry-After", "2")
	message := "the registry is at work: ask for the job until it is completed"
	if p.TxHash == "" {
		message = "the payment is being settled: ask for the job until it is completed, and do not pay again"
	}
	s.reply(w, http.StatusAccepted, api.PendingOrder{
		Status: "pending", JobID: j.PublicID, Domain: string(j.Purchase.Name), Message: message, PollURL: poll, PollInterval: pollInterval, Payment: s.fromPayment(p),
	})
}
