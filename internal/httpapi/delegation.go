package httpapi

import (
	"net/http"
	"net/netip"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registration"
)

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

// fromMove returns a change of name servers as its owner sees it.
func fromMove(m lifecycle.Move) *api.Delegation {
	d := &api.Delegation{State: string(m.Step), Nameservers: m.Hosts, Glue: fromGlue(m.Glue), EffectiveAt: m.EffectiveAt}
	if !m.Refused.IsZero() {
		d.RefusedAt = &m.Refused
	}
	return d
}

// moveWarning explains to the owner what a change of name servers means.
func moveWarning(r lifecycle.Registration, m lifecycle.Move) string {
	switch {
	case m.OfFormerOwner(r):
		return formerOwnerWarning
	case m.Refused.IsZero():
		return moveWarnings[m.Step]
	}
	return refusedWarning
}

// moveWarnings explain to the owner what the state of a delegation means.
var moveWarnings = map[lifecycle.MoveStep]string{
	lifecycle.MoveWithdrawing: "the DS of the name has been removed, and its name servers change at delegation.effectiveAt, when no resolver has it in its cache any more: keep the zone here and there until then",
	lifecycle.MoveSettling:    "the name is served by us again; it is signed again at delegation.effectiveAt, when no resolver asks the old name servers any more",
}

// formerOwnerWarning explains to a new owner what the delegation of a former one means.
const formerOwnerWarning = "a former owner asked for the change of the name servers (see delegation), and it is being cancelled: the name keeps its name servers and gets its DS again"

// refusedWarning explains to the owner what a delegation with refusedAt means.
const refusedWarning = "the registry refuses the change of the name servers (see delegation), which is tried again, ever less often: set the current ones to cancel it, or others"
