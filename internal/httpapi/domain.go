package httpapi

import (
	"net/http"
	"net/netip"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/account"
	"deed.example/deed/internal/dnssec"
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
	if s.Registrations == nil {
		return api.Domain{}, errNoPayments
	}
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
		DNSSEC: api.DNSSEC{Enabled: len(v.DS) > 0, DS: []api.DS{}}, Events: fromEvents(v.Events), Warnings: []string{}, UpdatedAt: v.Updated,
	}
	if q, err := s.Catalog.Renewal(v.Registration, 1, false); err == nil || deed.CodeOf(err) == deed.CodeTooExpensive {
		out.RenewalPrice = q.Amount.String()
	}
	if v.Move != nil {
		var text string
		out.Delegation, text = fromMove(*v.Move)
		out.Warnings = append(out.Warnings, text)
	}
	if v.Status == lifecycle.StatusSuspended {
		out.Warnings = append(out.Warnings, suspendedWarning(v.Registration))
	}
	if v.Status == lifecycle.StatusTransferring {
		out.Warnings = append(out.Warnings, s.transferringWarning(v.Registration))
	}
	if v.Stopped {
		out.Warnings = append(out.Warnings, s.stoppedWarning())
	}
	if demand := v.Registry.Verification; demand.Required() {
		out.Verification = fromVerification(demand)
		out.Warnings = append(out.Warnings, verificationWarning(demand, v.Registrant))
	}
	if text := registrantWarning(v); text != "" {
		out.Warnings = append(out.Warnings, text)
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
	if v.Lifecycle.Phase == lifecycle.PhaseActive {
		if text := account.Warning(v.Registration, s.Accounts.Now()); text != "" {
			out.Warnings = append(out.Warnings, text)
		}
		return out
	}
	out.Grace = &api.Grace{Phase: string(v.Lifecycle.Phase), EndsAt: v.Lifecycle.Ends}
	if v.Renewal.Amount > 0 {
		out.Grace.Price = v.Renewal.Amount.String()
	}
	if v.Status != lifecycle.StatusTransferring { // it cannot be renewed
		out.Warnings = append(out.Warnings, phaseWarnings[v.Lifecycle.Phase])
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

// fromMove returns a change of name servers as its owner sees it, and what it means.
func fromMove(m lifecycle.Move) (*api.Delegation, string) {
	d := &api.Delegation{State: string(m.Step), Nameservers: m.Hosts, Glue: fromGlue(m.Glue), EffectiveAt: m.EffectiveAt}
	if m.Refused.IsZero() {
		return d, moveWarnings[m.Step]
	}
	d.RefusedAt = &m.Refused
	return d, refusedWarning
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
		if s.Registrations == nil {
			return errNoPayments
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

func (s *Server) setNameservers(w http.ResponseWriter, r *http.Request, who deed.Wallet, name deed.Name) error {
	var in api.NameserversRequest
	if err := decode(w, r, maxAuthBody, &in); err != nil {
		return err
	}
	if in.Nameservers == nil {
		return deed.Invalid("nameservers", "is required: send host names, or an empty list for our own servers")
	}
	d, err := toDelegation(name, in)
	if err != nil {
		return err
	}
	if err := s.Registrations.Delegate(r.Context(), who, name, d); err != nil {
		return err
	}
	out, err := s.readDomain(r, name)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if out.Delegation != nil { // it waits for the caches of resolvers
		status = http.StatusAccepted
	}
	s.reply(w, status, out)
	return nil
}

func toDelegation(name deed.Name, in api.NameserversRequest) (d registration.Delegation, err error) {
	d.Force = in.Force
	hosts := make([]string, len(in.Nameservers))
	for i, ns := range in.Nameservers {
		hosts[i] = ns.Host
	}
	if d.Hosts, err = parseNameservers(hosts); err != nil {
		return d, err
	}
	servers := make([]dnssec.Nameserver, len(d.Hosts))
	for i, host := range d.Hosts {
		servers[i].Host = host
		for _, text := range in.Nameservers[i].Addresses {
			a, err := netip.ParseAddr(text)
			if err != nil {
				return d, deed.Invalid("nameservers", "%s of %s is not an address", deed.Quoted(text), host)
			}
			servers[i].Addresses = append(servers[i].Addresses, a)
		}
	}
	d.Glue, err = lifecycle.NewGlue(name, servers)
	return d, err
}

// fromGlue returns glue as callers see it.
func fromGlue(g lifecycle.Glue) (out []api.Glue) {
	for _, s := range g {
		one := api.Glue{Host: s.Host}
		for _, a := range s.Addresses {
			one.Addresses = append(one.Addresses, a.String())
		}
		out = append(out, one)
	}
	return out
}

func (s *Server) setDS(w http.ResponseWriter, r *http.Request, who deed.Wallet, name deed.Name) error {
	var in api.DSRequest
	if err := decode(w, r, maxAuthBody, &in); err != nil {
		return err
	}
	if in.DS == nil {
		return deed.Invalid("ds", "is required: send DS records, or an empty list for none")
	}
	list := make([]dnssec.DS, len(in.DS))
	for i, ds := range in.DS {
		list[i] = dnssec.DS(ds)
	}
	list, err := dnssec.ParseDS(list)
	if err != nil {
		return err
	}
	if err := s.Registrations.SetDS(r.Context(), who, name, registration.DSChange{DS: list, Force: in.Force}); err != nil {
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
