package httpapi

import (
	"deed.example/deed"
	"deed.example/deed/api"
)

// jobStatus spells the states of a job as callers know them.
var jobStatus = map[deed.JobState]string{
	deed.JobAwaitingPayment: "pending",
	deed.JobQueued:          "pending",
	deed.JobSubmitting:      "processing",
	deed.JobVerifying:       "processing",
	deed.JobCompleted:       "completed",
	deed.JobFailed:          "failed",
	deed.JobCancelled:       "failed",
}

func (s *Server) fromJob(j deed.Job, p deed.Payment) api.Job {
	out := api.Job{
		ID: j.ID, JobID: j.ID, Type: "domain_registration", Status: jobStatus[j.State], Completed: j.State == deed.JobCompleted,
		Domain: string(j.Purchase.Name), Years: j.Purchase.Years, WalletAddress: string(j.Owner),
		Payment: s.fromPayment(p), Refund: fromRefund(p), Steps: make([]api.JobStep, 0, len(j.Steps)),
		CreatedAt: j.Created.UTC(), UpdatedAt: j.Updated.UTC(), DeadlineAt: j.Deadline.UTC(), PollInterval: pollInterval,
	}
	for _, step := range j.Steps {
		out.Steps = append(out.Steps, api.JobStep{Name: string(step.State), At: step.At.UTC()})
	}
	switch {
	case j.State == deed.JobCancelled:
		out.Code, out.Message = string(deed.CodePaymentInvalid), "the payment became void before it moved any money: sign a new one"
	case j.State == deed.JobFailed && j.Refusal == deed.CodeDomainUnavailable:
		out.Code, out.Message = string(deed.CodeDomainUnavailable), j.Failure
	case j.State == deed.JobFailed:
		out.Code, out.Message = string(deed.CodeRegistrationFailed), j.Failure
	}
	if out.Code != "" {
		out.Error = statuses[deed.Code(out.Code)].title
	}
	return out
}

func (s *Server) fromPayment(p deed.Payment) api.Payment {
	return api.Payment{Amount: p.Auth.Amount.String(), TxHash: textOrNull(p.TxHash), Network: s.Terms.NetworkV1, Payer: string(p.Auth.Payer), Settled: p.TxHash != ""}
}

// refundStatus spells the states of a refund as callers know them.
var refundStatus = map[deed.PaymentState]string{
	deed.PaymentRefundDue: "due",
	deed.PaymentRefunding: "sent",
	deed.PaymentRefunded:  "confirmed",
}

// fromRefund returns nil when nothing goes back.
func fromRefund(p deed.Payment) *api.Refund {
	status, ok := refundStatus[p.State]
	if !ok {
		return nil
	}
	return &api.Refund{Status: status, Amount: p.Auth.Amount.String(), TxHash: textOrNull(p.RefundTx)}
}

func (s *Server) fromRegistration(j deed.Job, p deed.Payment, r deed.Registration) api.Registration {
	return api.Registration{
		TransactionID: p.ID, JobID: j.ID, Domain: string(r.Name), Status: string(r.Status), Years: j.Purchase.Years, Price: p.Auth.Amount.String(),
		RegisteredAt: r.Created.UTC(), ExpiresAt: r.Expires.UTC(), Nameservers: []string{}, DNSRecords: []api.Record{},
		WalletAddress: string(r.Owner), Payment: s.fromPayment(p), Warnings: []string{"the DNS of this name is not served yet"},
	}
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
