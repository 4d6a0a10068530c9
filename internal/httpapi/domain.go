package httpapi

import (
	"net/http"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registration"
)

func (s *Server) domain(w http.ResponseWriter, r *http.Request) error {
	name, err := deed.ParseName(r.PathValue("domain"))
	if err != nil {
		return err
	}
	return s.replyDomain(w, r, name)
}

func (s *Server) replyDomain(w http.ResponseWriter, r *http.Request, name deed.Name) error {
	out, err := s.readDomain(r, name)
	if err != nil {
		return err
	}
	s.reply(w, http.StatusOK, out)
	return nil
}

// readDomain returns the name as it is now.
func (s *Server) readDomain(r *http.Request, name deed.Name) (api.Domain, error) {
	v, err := s.Registrations.Name(r.Context(), name)
	if err != nil {
		return api.Domain{}, err
	}
	out := s.fromView(v)
	out.AutoRenew, err = s.renews(r, v.Registration)
	return out, err
}

func (s *Server) fromView(v registration.View) api.Domain {
	listing, _ := s.Catalog.Listing(v.Name.TLD()) // the zero listing, without privacy, for a TLD that is no longer sold
	out := api.Domain{
		Domain: string(v.Name), TLD: string(v.Name.TLD()), Status: string(v.Status), RegisteredAt: v.Created, ExpiresAt: v.Expires,
		Locked: v.Locked, Privacy: listing.Privacy, Nameservers: list(v.Nameservers), Glue: fromGlue(v.Glue), WalletAddress: string(v.Owner), EPPStatus: v.EPPStatus(),
		DNSSEC: api.DNSSEC{Enabled: len(v.DS) > 0, DS: []api.DS{}}, Events: fromEvents(v.Events), Warnings: s.domainWarnings(v), UpdatedAt: v.Updated,
	}
	if q, err := s.Catalog.Renewal(v.Registration, 1, false); err == nil || deed.CodeOf(err) == deed.CodeTooExpensive {
		out.RenewalPrice = q.Amount.String()
	}
	if v.Move != nil {
		out.Delegation = fromMove(*v.Move)
	}
	if demand := v.Registry.Verification; demand.Required() {
		out.Verification = fromVerification(demand)
	}
	if v.KeyRoll != nil {
		out.DNSSEC.KeyRoll = &api.KeyRoll{Step: string(v.KeyRoll.Step)}
		if at := v.KeyRoll.EffectiveAt; !at.IsZero() {
			out.DNSSEC.KeyRoll.EffectiveAt = &at
		}
	}
	for _, ds := range v.DS {
		out.DNSSEC.DS = append(out.DNSSEC.DS, api.DS(ds))
	}
	if v.Lifecycle.Phase != lifecycle.PhaseActive {
		out.Grace = &api.Grace{Phase: string(v.Lifecycle.Phase), EndsAt: v.Lifecycle.Ends}
		if v.Renewal.Amount > 0 {
			out.Grace.Price = v.Renewal.Amount.String()
		}
	}
	return out
}

func fromVerification(v lifecycle.Verification) *api.Verification {
	out := &api.Verification{Claims: v.Claims}
	if at := v.Deadline; !at.IsZero() {
		out.DeadlineAt = &at
	}
	return out
}

func fromEvents(events []lifecycle.Event) []api.DomainEvent {
	out := make([]api.DomainEvent, 0, len(events))
	for _, e := range events {
		out = append(out, api.DomainEvent{Type: string(e.Type), At: e.At})
	}
	return out
}

// owner adapts a handler for the owner of the name in the path. The handler's
// service checks the ownership.
func (s *Server) owner(h func(w http.ResponseWriter, r *http.Request, who deed.Wallet, name deed.Name) error) walletHandler {
	return func(w http.ResponseWriter, r *http.Request, who deed.Wallet) error {
		name, err := deed.ParseName(r.PathValue("domain"))
		if err != nil {
			return err
		}
		return h(w, r, who, name)
	}
}

func (s *Server) authCode(w http.ResponseWriter, r *http.Request, who deed.Wallet, name deed.Name) error {
	code, err := s.Registrations.AuthCode(r.Context(), who, name)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	out := api.AuthCode{Domain: string(name), AuthCode: code.Reveal(), Warnings: []string{}}
	if v, err := s.Registrations.Name(r.Context(), name); err == nil { // else the code is worth more than the warnings
		out.Warnings = append(out.Warnings, s.leavingWarnings(v.Registration)...)
	}
	s.reply(w, http.StatusOK, out)
	return nil
}

func (s *Server) setLock(w http.ResponseWriter, r *http.Request, who deed.Wallet, name deed.Name) error {
	var in api.LockRequest
	if err := decode(w, r, maxAuthBody, &in); err != nil {
		return err
	}
	if in.Locked == nil {
		return deed.Invalid("locked", "is required: send true or false")
	}
	if err := s.Registrations.SetLock(r.Context(), who, name, *in.Locked); err != nil {
		return err
	}
	return s.replyDomain(w, r, name)
}

func (s *Server) setOwner(w http.ResponseWriter, r *http.Request, who deed.Wallet, name deed.Name) error {
	var in api.OwnerRequest
	if err := decode(w, r, maxAuthBody, &in); err != nil {
		return err
	}
	to, err := deed.ParseWallet(in.WalletAddress)
	if err != nil {
		return err
	}
	if err := s.Registrations.HandOver(r.Context(), who, name, to); err != nil {
		return err
	}
	return s.replyDomain(w, r, name)
}
