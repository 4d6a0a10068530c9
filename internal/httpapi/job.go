package httpapi

import (
	"context"
	"net/http"
	"regexp"
	"slices"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
)

// jobIDs matches valid job ids; others are rejected without a database query.
var jobIDs = regexp.MustCompile(`^job_[0-9a-f]{32}$`)

func (s *Server) job(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("jobId")
	if !jobIDs.MatchString(id) {
		return deed.Errorf(deed.CodeNotFound, "there is no such job: its id is the jobId of an order's answer")
	}
	out, err := s.readJob(r.Context(), id)
	if err != nil {
		return err
	}
	w.Header().Add("Vary", "Accept")
	if wantsEvents(r) {
		return s.streamJob(w, r, out)
	}
	s.reply(w, http.StatusOK, out)
	return nil
}

// readJob returns a job in the form of the API, with its result.
func (s *Server) readJob(ctx context.Context, id string) (out api.Job, err error) {
	j, err := s.Payments.PublicJob(ctx, id)
	if err != nil {
		return out, err
	}
	if _, public := jobTypes[j.Purchase.Kind]; !public {
		return out, deed.Errorf(deed.CodeNotFound, "there is no such job: its id is the jobId of an order's answer")
	}
	p, err := s.Payments.Find(ctx, j.PaymentID)
	if err != nil {
		return out, err
	}
	out = s.fromJob(j, p)
	if j.State == order.JobCompleted && !j.Legacy() {
		reg, err := s.Registrations.Result(ctx, j)
		if err != nil {
			return out, err
		}
		result := s.fromRegistration(ctx, j, p, reg)
		out.Result = &result
	}
	return out, nil
}

// jobTypes maps the purchase of a public job to its type in the API. Jobs of
// other kinds are internal.
var jobTypes = map[order.PurchaseKind]string{
	order.PurchaseRegistration: "domain_registration",
	order.PurchaseRenewal:      "domain_renewal",
	order.PurchaseTransfer:     "domain_transfer",
}

// jobStatus maps the states of a job to the values of the API.
var jobStatus = map[order.JobState]string{
	order.JobAwaitingPayment: "pending",
	order.JobQueued:          "pending",
	order.JobSubmitting:      "processing",
	order.JobVerifying:       "processing",
	order.JobCompleted:       "completed",
	order.JobFailed:          "failed",
	order.JobCancelled:       "failed",
}

func (s *Server) fromJob(j order.Job, p order.Payment) api.Job {
	out := api.Job{
		ID: j.PublicID, JobID: j.PublicID, Type: jobTypes[j.Purchase.Kind], Status: jobStatus[j.State], Completed: j.State == order.JobCompleted,
		Domain: string(j.Purchase.Name), Years: j.Purchase.Years, WalletAddress: string(j.Owner),
		Payment: s.fromPayment(p), Refund: fromRefund(p), Steps: make([]api.JobStep, 0, len(j.Steps)),
		Agreed: fromAgreement(j.Purchase.Facts), CreatedAt: j.Created.UTC(), UpdatedAt: j.Updated.UTC(), DeadlineAt: j.Deadline.UTC(), PollInterval: pollInterval,
	}
	for _, step := range j.Steps {
		out.Steps = append(out.Steps, api.JobStep{Name: string(step.State), At: step.At.UTC()})
	}
	switch {
	case j.State == order.JobCancelled && p.State == order.PaymentReleased:
		out.Code, out.Message = string(deed.CodePaymentInvalid), "the payer could not pay, and the payment was given up: have the money in the wallet, and sign a new one"
	case j.State == order.JobCancelled:
		out.Code, out.Message = string(deed.CodePaymentInvalid), "the payment became void before it moved any money: sign a new one"
	case j.State == order.JobFailed:
		out.Code, out.Message = string(j.FailureCode()), j.Failure
	case !j.State.Ended():
		out.Message = j.Waiting
	}
	if out.Code != "" {
		out.Error = statuses[deed.Code(out.Code)].title
	}
	return out
}

func (s *Server) fromPayment(p order.Payment) api.Payment {
	return api.Payment{Amount: p.Auth.Amount.String(), TxHash: textOrNull(p.TxHash), Network: s.Terms.NetworkV1, Payer: string(p.Auth.Payer), Settled: p.TxHash != ""}
}

// refundStatus maps the states of a refund to the values of the API.
var refundStatus = map[order.PaymentState]string{
	order.PaymentRefundDue: "due",
	order.PaymentRefunding: "sent",
	order.PaymentRefunded:  "confirmed",
}

// failOrder sends the response for an order that was not delivered: 500 with the refund
// if the job has failed. While it is not known how a payment ends, err is returned.
func (s *Server) failOrder(w http.ResponseWriter, j order.Job, p order.Payment, err error) error {
	refund := fromRefund(p)
	if j.State != order.JobFailed || refund == nil {
		return err
	}
	e := &deed.Error{Code: j.FailureCode(), Message: j.Failure}
	s.reply(w, http.StatusInternalServerError, api.FailedOrder{Error: s.errorBody(w.Header(), http.StatusInternalServerError, e), JobID: j.PublicID, Refund: *refund})
	return nil
}

// fromRefund returns nil when there is no refund.
func fromRefund(p order.Payment) *api.Refund {
	status, ok := refundStatus[p.State]
	if !ok {
		return nil
	}
	return &api.Refund{Status: status, Amount: p.Refund().Amount.String(), TxHash: textOrNull(p.RefundTx), Reason: p.Part.Reason}
}

func (s *Server) fromRegistration(ctx context.Context, j order.Job, p order.Payment, r lifecycle.Registration) api.Registration {
	out := api.Registration{
		TransactionID: p.PublicID, JobID: j.PublicID, Domain: string(r.Name), Status: string(r.Status), Years: j.Purchase.Years, Price: p.Price().String(),
		RegisteredAt: r.Created.UTC(), ExpiresAt: j.Until.UTC(), Nameservers: list(r.Nameservers), DNSRecords: []api.Record{},
		WalletAddress: string(r.Owner), Payment: s.fromPayment(p), Warnings: []string{},
	}
	// The initial records only: a job is public, and later changes are visible to
	// the owner alone.
	if _, started, err := s.Zones.Around(ctx, r.Name, j.Revision); err == nil && j.Purchase.Kind != order.PurchaseRenewal {
		for _, rec := range started.Records {
			out.DNSRecords = append(out.DNSRecords, fromRecord(rec))
		}
	}
	if !slices.Equal(r.Nameservers, s.Registrations.Nameservers) {
		out.Warnings = append(out.Warnings, "the name is delegated to other name servers: records that are kept here are not seen until it is delegated to ours")
	}
	if j.Purchase.Kind == order.PurchaseRenewal {
		out.PreviousExpiresAt, out.NewExpiresAt, out.RenewedAt = j.From.UTC(), j.Until.UTC(), j.Updated.UTC()
	}
	return out
}

// list makes a nil slice encode as an empty JSON array.
func list[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
