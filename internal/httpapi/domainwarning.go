package httpapi

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"deed.example/deed/internal/account"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registration"
)

// domainWarnings returns what the owner of a name should know about it.
func (s *Server) domainWarnings(v registration.View) []string {
	out := []string{}
	if v.Move != nil {
		out = append(out, moveWarning(v.Registration, *v.Move))
	}
	if v.Status == lifecycle.StatusSuspended {
		out = append(out, suspendedWarning(v.Registration))
	}
	if v.Status == lifecycle.StatusTransferring {
		out = append(out, s.transferringWarning(v.Registration))
	}
	if v.Stopped {
		out = append(out, s.stoppedWarning())
	}
	if demand := v.Registry.Verification; demand.Required() {
		out = append(out, verificationWarning(demand, v.Registrant))
	}
	if text := registrantWarning(v); text != "" {
		out = append(out, text)
	}
	if v.Lifecycle.Phase != lifecycle.PhaseActive {
		if v.Status != lifecycle.StatusTransferring { // it cannot be renewed
			out = append(out, phaseWarnings[v.Lifecycle.Phase])
		}
		return out
	}
	if text := s.arrivedWarning(v); text != "" {
		out = append(out, text)
	}
	if text := account.Warning(v.Registration, s.Accounts.Now()); text != "" {
		out = append(out, text)
	}
	return out
}

// arrivedFor is how long the owner of a transferred name is told that it is served elsewhere;
// after that, it counts as wanted.
const arrivedFor = 30 * 24 * time.Hour

// arrivedWarning explains to the owner of a name that was transferred in, and has not had our
// name servers since, that its records here are not used; "" if there is nothing to say.
func (s *Server) arrivedWarning(v registration.View) string {
	i := slices.IndexFunc(v.Events, func(e lifecycle.Event) bool { return e.Type == lifecycle.EventTransferredIn })
	if i < 0 || v.Move != nil || s.serves(v.Registration) {
		return ""
	}
	came := v.Events[i].At
	switch {
	case len(v.Nameservers) == 0:
		return "the name has no name servers, so it does not resolve: set its name servers, an empty list for ours"
	case v.OurServersUntil.After(came) || s.Accounts.Now().Sub(came) > arrivedFor:
		return ""
	}
	return "the name has kept its name servers elsewhere, so the records here are not in the public DNS: when they are complete, set its name servers, an empty list for ours"
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

// phaseWarnings explain to the owner what a phase means.
var phaseWarnings = map[lifecycle.Phase]string{
	lifecycle.PhaseGrace:         "the name has expired: renew it, or it stops working when its grace ends",
	lifecycle.PhaseRedemption:    "the name has expired and does not work any more: renew it, with its restore fee, or it is deleted",
	lifecycle.PhasePendingDelete: "the name is about to be deleted and cannot be saved any more",
	lifecycle.PhaseGone:          "the name is being deleted",
}

// transferringWarning explains to the owner what a pending transfer means.
func (s *Server) transferringWarning(r lifecycle.Registration) string {
	text := "another registrar has asked for the name, and gets it soon: if you did not order that, lock the name, which rejects the transfer"
	if s.serves(r) {
		text += "; our name servers stop answering for it then"
	}
	return text
}

// leavingWarnings explain to the owner, who reads the auth code, what a transfer meets.
func (s *Server) leavingWarnings(r lifecycle.Registration) (all []string) {
	if s.serves(r) {
		all = append(all, "our name servers stop answering for the name when another registrar gets it: have its zone served elsewhere, and change its name servers, before you order the transfer")
	}
	if slices.Contains(r.Registry.Statuses, "serverTransferProhibited") {
		all = append(all, "the registry does not transfer the name yet (serverTransferProhibited): usually within 60 days of its registration or last transfer")
	}
	return all
}

// serves reports whether the name is delegated to any of our name servers.
func (s *Server) serves(r lifecycle.Registration) bool {
	return slices.ContainsFunc(r.Nameservers, func(host string) bool { return slices.Contains(s.Registrations.Nameservers, host) })
}
