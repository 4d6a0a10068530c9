package httpapi

import (
	"net/http"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registration"
)

func (s *Server) showRegistrant(w http.ResponseWriter, r *http.Request, who deed.Wallet, name deed.Name) error {
	v, err := s.Registrations.Registrant(r.Context(), who, name)
	return s.replyRegistrant(w, http.StatusOK, name, v, err)
}

func (s *Server) setRegistrant(w http.ResponseWriter, r *http.Request, who deed.Wallet, name deed.Name) error {
	var in api.Contact
	if err := decode(w, r, maxAuthBody, &in); err != nil {
		return err
	}
	v, err := s.Registrations.SetRegistrant(r.Context(), who, name, lifecycle.Contact(in))
	return s.replyRegistrant(w, http.StatusAccepted, name, v, err)
}

func (s *Server) resetRegistrant(w http.ResponseWriter, r *http.Request, who deed.Wallet, name deed.Name) error {
	v, err := s.Registrations.ResetRegistrant(r.Context(), who, name)
	return s.replyRegistrant(w, http.StatusOK, name, v, err)
}

// replyRegistrant replies with what only the owner of the name may see.
func (s *Server) replyRegistrant(w http.ResponseWriter, status int, name deed.Name, v registration.RegistrantView, err error) error {
	if err != nil {
		return err
	}
	out := api.Registrant{Domain: string(name), Policy: string(v.Policy), Mode: "proxy"}
	if g := v.Given; g != nil {
		out.Status, out.Reason = string(g.State), g.Reason
		if g.State != lifecycle.RegistrantResetting {
			at := g.Updated.UTC()
			out.Mode, out.Contact, out.UpdatedAt = "owner", new(api.Contact(g.Contact)), &at
		}
	}
	w.Header().Set("Cache-Control", "no-store")
	s.reply(w, status, out)
	return nil
}

// registrantWarning tells the owner of a name what its registry demands.
func registrantWarning(v registration.View) string {
	g := v.Registrant.Given
	if v.Registrant.Policy != lifecycle.RegistrantRequired || g != nil && g.State != lifecycle.RegistrantResetting && g.State != lifecycle.RegistrantRefused {
		return ""
	}
	return "the registry demands the contact data of the owner: give it with PUT /domains/" + string(v.Name) + "/registrant, or the registry may put the name on hold"
}

// whoAnswers says who has to answer a registry that wants the registrant verified.
func whoAnswers(v registration.RegistrantView) string {
	if v.Given != nil && v.Given.Current() {
		return "the owner, who is the registrant, has to answer what the registry or the registrar has sent to the registrant's e-mail address"
	}
	return "the operator, who is the registrant of record, has to answer"
}

// fromAgreement returns nil for an order from before agreements were stored.
func fromAgreement(f order.PurchaseFacts) *api.Agreement {
	if f.Registrant == "" {
		return nil
	}
	return &api.Agreement{Terms: f.Terms, Registrant: string(f.Registrant)}
}
