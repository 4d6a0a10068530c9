package httpapi

import (
	"net/http"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/lifecycle"
)

func (s *Server) cancelDomain(w http.ResponseWriter, r *http.Request, who deed.Wallet, name deed.Name) error {
	var in api.CancelRequest
	if err := decode(w, r, maxAuthBody, &in); err != nil {
		return err
	}
	c, err := s.Registrations.Cancel(r.Context(), who, name, in.DryRun)
	if err != nil {
		return err
	}
	out := api.Cancellation{
		Domain: string(c.Name), Status: "cancelling", Price: c.Paid.String(), Kept: c.Fee.String(), RefundAmount: c.Refund().String(), WalletAddress: string(c.Wallet),
	}
	status := http.StatusAccepted
	switch {
	case c.State == lifecycle.CancelDone:
		out.Status, status = "cancelled", http.StatusOK
		p, err := s.Payments.Find(r.Context(), c.PaymentID)
		if err != nil {
			return err
		}
		out.Refund = fromRefund(p)
	case in.DryRun && c.Created.IsZero():
		out.Status, status = "possible", http.StatusOK
	}
	s.reply(w, status, out)
	return nil
}
