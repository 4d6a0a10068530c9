package httpapi

import (
	"cmp"
	"net/http"
	"net/netip"
	"strings"
	"time"

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
	out.Warnings = append(out.Warnings, phaseWarnings[v.Lifecycle.Phase])
	return out
}

func fromVerification(v lifecycle.Verification) *api.Verification {
	out := &api.Verification{Claims: v.Claims}
	if at := v.Deadline; !at.IsZero() {
		out.DeadlineAt = &at
	}
	return out
}

// verificationWarning explains to the owner what the registry demands.
func verificationWarning(v lifecycle.Verification, r registration.RegistrantView) string {
	text := "the registry demands that the registrant is verified (" + strings.Join(v.Claims, ", ") + "): " + whoAnswers(r)
	if v.Deadline.IsZero() {
		return text
	}
	return text + " by " + v.Deadline.UTC().Format(time.RFC3339) + ", or the name stops working"
}

// suspendedWarning explains to the owner why a name does not work.
func suspendedWarning(r lifecycle.Registration) string {
	if r.OnHold() {
		return "the registry has put the name on hold (see eppStatus): it does not resolve until the registry ends that; ask the operator for the reason"
	}
	return "the registry does not show the name in our account, and it may not resolve: the operator is looking into it"
}

// stoppedWarning explains to the owner why an operator's suspension stops a name.
func (s *Server) stoppedWarning() string {
	return "the operator has stopped serving the name, so it does not resolve; it stays its owner's: ask " + cmp.Or(s.Contact, "the operator") + " for the reason"
}

// moveWarnings explain to the owner what the state of a delegation means.
var moveWarnings = map[lifecycle.MoveStep]string{
	lifecycle.MoveWithdrawing: "the DS of the name has been removed, and its name servers change at delegation.effectiveAt, when no resolver has it in its cache any more: keep the zone here and there until then",
	lifecycle.MoveSettling:    "the name is served by us again; it is signed again at delegation.effectiveAt, when no resolver asks the old name servers any more",
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

// refusedWarning explains to the owner what a delegation with refusedAt means.
const refusedWarning = "the registry refuses the change of the name servers (see delegation), which is tried again, ever less often: set the current ones to cancel it, or others"

// phaseWarnings explain to the owner what a phase means.
var phaseWarnings = map[lifecycle.Phase]string{
	lifecycle.PhaseGrace:         "the name has expired: renew it, or it stops working when its grace ends",
	lifecycle.PhaseRedemption:    "the name has expired and does not work any more: renew it, with its restore fee, or it is deleted",
	lifecycle.PhasePendingDelete: "the name is about to be deleted and cannot be saved any more",
	lifecycle.PhaseGone:          "the name is being deleted",
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
	s.reply(w, http.StatusOK, api.AuthCode{Domain: string(name), AuthCode: code.Reveal()})
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
