package httpapi

import (
	"net/http"
	"strconv"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/account"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
)

func (s *Server) account(w http.ResponseWriter, r *http.Request, who deed.Wallet) error {
	a, err := s.Accounts.Account(r.Context(), who)
	if err != nil {
		return err
	}
	s.reply(w, http.StatusOK, api.Account{
		WalletAddressOld: string(who), WalletAddress: string(who), CreatedAt: a.Created.UTC(), LastActiveAt: a.LastActive.UTC(),
		TotalSpentCents: int64(a.Spent.UpToCent() / deed.Cent), TotalSpent: a.Spent.String(), Refunded: a.Refunded.String(),
		DomainsRegistered: a.Domains, ActiveDomains: a.Active, ExpiringSoon: a.ExpiringSoon,
	})
	return nil
}

func (s *Server) accountDomains(w http.ResponseWriter, r *http.Request, who deed.Wallet) error {
	q, err := query(r, "limit", "offset", "cursor", "status", "expiringWithinDays")
	if err != nil {
		return err
	}
	p, err := listPage(q, nameCursor)
	if err != nil {
		return err
	}
	f := account.Filter{Status: lifecycle.Status(q.Get("status"))}
	if text := q.Get("expiringWithinDays"); text != "" {
		if f.Days, err = strconv.Atoi(text); err != nil || f.Days < 1 || f.Days > 3650 {
			return deed.Invalid("expiringWithinDays", "must be a number from 1 to 3650")
		}
	}
	names, total, err := s.Accounts.Domains(r.Context(), who, f, p)
	if err != nil {
		return err
	}
	warnings, err := s.Accounts.Warnings(r.Context(), who)
	if err != nil {
		return err
	}
	out := api.AccountDomains{Domains: make([]api.AccountDomain, 0, len(names)), Warnings: warnings, PageFields: pageFields(p, total)}
	for _, n := range names {
		out.Domains = append(out.Domains, s.fromOwnedDomain(n))
	}
	if len(names) == p.Limit {
		out.Next = nameCursor.write(account.Position{Name: names[len(names)-1].Name})
	}
	s.reply(w, http.StatusOK, out)
	return nil
}

func (s *Server) fromOwnedDomain(n account.OwnedDomain) api.AccountDomain {
	out := api.AccountDomain{
		Domain: string(n.Name), Status: string(n.Status), RegisteredAt: n.Created, ExpiresAt: n.Expires, Locked: n.Locked, Events: fromEvents(n.Events),
	}
	if q, err := s.Catalog.Renewal(n.Registration, 1, n.Status == lifecycle.StatusRedemption); err == nil || deed.CodeOf(err) == deed.CodeTooExpensive {
		out.RenewalPrice = q.Amount.String()
	}
	return out
}

func (s *Server) transactions(w http.ResponseWriter, r *http.Request, who deed.Wallet) error {
	q, err := query(r, "limit", "offset", "cursor")
	if err != nil {
		return err
	}
	p, err := listPage(q, transactionCursor)
	if err != nil {
		return err
	}
	list, total, err := s.Accounts.Transactions(r.Context(), who, p)
	if err != nil {
		return err
	}
	out := api.Transactions{Transactions: make([]api.Transaction, 0, len(list)), PageFields: pageFields(p, total)}
	for _, m := range list {
		out.Transactions = append(out.Transactions, s.fromMovement(m))
	}
	if len(list) == p.Limit {
		last := list[len(list)-1]
		out.Next = transactionCursor.write(account.Position{At: last.At, Payment: last.PaymentID, Refund: last.Refund})
	}
	s.reply(w, http.StatusOK, out)
	return nil
}

// movementStatus maps the states of a payment to the values of the API.
var movementStatus = map[order.PaymentState]string{
	order.PaymentAuthorized: "pending",
	order.PaymentSettling:   "pending",
	order.PaymentSettled:    "settled",
	order.PaymentConsumed:   "settled",
	order.PaymentRefundDue:  "pending",
	order.PaymentRefunding:  "pending",
	order.PaymentRefunded:   "refunded",
	order.PaymentVoid:       "failed",
	order.PaymentReleased:   "failed",
	order.PaymentUnclaimed:  "pending",
}

func (s *Server) fromMovement(m order.Movement) api.Transaction {
	out := api.Transaction{
		TransactionID: m.PublicID, Type: string(m.Kind), Domain: string(m.Name), Status: movementStatus[m.State], Price: m.Amount.String(),
		Currency: currency, Network: s.Terms.NetworkV1, TxHash: textOrNull(m.TxHash), Payer: string(m.Payer), RecordID: string(m.RecordID), CreatedAt: m.At.UTC(), Reason: m.Reason,
	}
	if _, shown := jobTypes[m.Kind]; shown {
		out.JobID = m.JobID
	}
	if m.Refund || m.Kind == order.PurchaseNothing {
		out.Type = "refund"
	}
	return out
}
