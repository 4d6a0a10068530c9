package registration

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
)

// Registrants stores the contact data that owners give for the registry.
type Registrants interface {
	// Registrant returns that of a registration, or CodeNotFound.
	Registrant(ctx context.Context, reference string) (lifecycle.Registrant, error)

	// PutRegistrant stores what the owner gave, in place of what they gave before, to be
	// sent. It fails with CodeOwnershipDenied when the name was handed over.
	PutRegistrant(ctx context.Context, g lifecycle.Registrant) error

	// ResetRegistrant erases what the owner gave, here and then at the registry. It
	// fails likewise, and does nothing when there is none.
	ResetRegistrant(ctx context.Context, r lifecycle.Registration, who deed.Wallet) error

	// DueRegistrants returns references that AdvanceRegistrant should be called for.
	DueRegistrants(ctx context.Context, limit int) ([]string, error)

	RegistrantSteps
}

// RegistrantSteps are the steps at the registry. They have no effect when the owner has
// changed the data since, or another process was faster.
type RegistrantSteps interface {
	// LeaseRegistrant stores that this process asks the registry. It returns false when
	// another one does.
	LeaseRegistrant(ctx context.Context, g lifecycle.Registrant, until time.Time) (bool, error)

	// DelayRegistrant stores when the registry is asked again. Until g.Lease the last
	// call may still be executed.
	DelayRegistrant(ctx context.Context, g lifecycle.Registrant, next time.Time) error

	// AnswerRegistrant stores the answer of the registry, with an event for the owner.
	// When the data was changed since, only the handle is stored.
	AnswerRegistrant(ctx context.Context, g lifecycle.Registrant, event lifecycle.EventType) error

	// ForgetRegistrant deletes what was erased here and at the registry.
	ForgetRegistrant(ctx context.Context, g lifecycle.Registrant) error
}

// A RegistrantView is whose contact data a name has at the registry.
type RegistrantView struct {
	Policy lifecycle.RegistrantPolicy
	Given  *lifecycle.Registrant // nil when the registrant is the operator's privacy service
}

// policy returns the registrar of a name, and whether owners may be registrants there.
func (s *Service) policy(backend string) (registrar.Backend, lifecycle.RegistrantPolicy) {
	if s.Registrants == nil || s.Backend == nil {
		return registrar.Backend{}, lifecycle.RegistrantProxy
	}
	b, err := s.Backend(backend)
	if err != nil || !b.Registrant.AllowsOwner() {
		return b, lifecycle.RegistrantProxy
	}
	if _, ok := registrar.RegistrantsOf(b.Manager); !ok {
		return b, lifecycle.RegistrantProxy
	}
	return b, b.Registrant
}

// Registrant returns whose contact data the name has. Only its owner may ask.
func (s *Service) Registrant(ctx context.Context, who deed.Wallet, name deed.Name) (RegistrantView, error) {
	r, err := s.Names.Registration(ctx, name)
	if err == nil {
		err = r.OwnedBy(who)
	}
	if err != nil {
		return RegistrantView{}, err
	}
	return s.registrantOf(ctx, r)
}

// registrantOf reads the registrant of a name. What a former owner gave is not shown.
func (s *Service) registrantOf(ctx context.Context, r lifecycle.Registration) (v RegistrantView, err error) {
	_, v.Policy = s.policy(r.Backend)
	if s.Registrants == nil {
		return v, nil
	}
	g, err := s.Registrants.Registrant(ctx, r.Reference)
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound:
		return v, nil
	case err != nil:
		return v, fmt.Errorf("read the registrant of %s: %w", r.Name, err)
	}
	if g.Wallet != r.Owner {
		g.Contact, g.Reason, g.State = lifecycle.Contact{}, "", lifecycle.RegistrantResetting
	}
	v.Given = &g
	return v, nil
}

// publicRegistrant is registrantOf for everybody: it has no contact data.
func (s *Service) publicRegistrant(ctx context.Context, r lifecycle.Registration) (RegistrantView, error) {
	if _, policy := s.policy(r.Backend); !policy.AllowsOwner() {
		return RegistrantView{Policy: policy}, nil
	}
	v, err := s.registrantOf(ctx, r)
	if v.Given != nil {
		v.Given.Contact, v.Given.Reason = lifecycle.Contact{}, ""
	}
	return v, err
}

// agreement adds to an order what its buyer agrees to.
func (s *Service) agreement(ctx context.Context, name deed.Name, facts order.PurchaseFacts) (order.PurchaseFacts, error) {
	facts.Terms, facts.Registrant = s.Terms, lifecycle.RegistrantProxy
	if s.Route == nil {
		return facts, nil
	}
	backend, err := s.Route.BackendOf(ctx, name)
	if err == nil {
		_, facts.Registrant = s.policy(backend)
	}
	return facts, err
}

// SetRegistrant stores the owner's contact data. The worker sends it to the registry.
func (s *Service) SetRegistrant(ctx context.Context, who deed.Wallet, name deed.Name, c lifecycle.Contact) (RegistrantView, error) {
	r, err := s.owned(ctx, who, name)
	if err != nil {
		return RegistrantView{}, err
	}
	if _, policy := s.policy(r.Backend); !policy.AllowsOwner() {
		return RegistrantView{}, deed.Invalid("domain", "the registrant of %s is the privacy service of the operator, and its registrar takes no other: nothing was stored", name)
	}
	if c, err = lifecycle.ParseContact(c); err != nil {
		return RegistrantView{}, err
	}
	err = s.Registrants.PutRegistrant(ctx, lifecycle.Registrant{Name: name, Reference: r.Reference, Backend: r.Backend, Wallet: who, Contact: c})
	if err != nil {
		return RegistrantView{}, err
	}
	return s.registrantOf(ctx, r)
}

// ResetRegistrant erases the owner's contact data: the registrant is the privacy service
// of the operator again.
func (s *Service) ResetRegistrant(ctx context.Context, who deed.Wallet, name deed.Name) (RegistrantView, error) {
	r, err := s.owned(ctx, who, name)
	if err != nil {
		return RegistrantView{}, err
	}
	if s.Registrants == nil {
		return RegistrantView{Policy: lifecycle.RegistrantProxy}, nil
	}
	if _, policy := s.policy(r.Backend); policy == lifecycle.RegistrantRequired {
		return RegistrantView{}, deed.Invalid("domain", "the registry of %s demands the contact data of the owner: give other data, or hand the name over", name)
	}
	if err := s.Registrants.ResetRegistrant(ctx, r, who); err != nil {
		return RegistrantView{}, err
	}
	return s.registrantOf(ctx, r)
}

// Limits of the steps at the registry.
const (
	registrantTimeout = time.Minute // of all calls of one step
	registrantTries   = 10          // to delete a contact of a name that has left

	minRegistrantDelay = 30 * time.Second
	maxRegistrantDelay = time.Hour
)

// AdvanceRegistrant takes the next step at the registry. It is idempotent. While a call
// may still be executed, no other is made: an old one must not undo a new one.
func (s *Service) AdvanceRegistrant(ctx context.Context, reference string) error {
	g, err := s.Registrants.Registrant(ctx, reference)
	if deed.CodeOf(err) == deed.CodeNotFound {
		return nil
	}
	now := s.Now()
	if err != nil || !g.State.Due() || now.Before(g.Lease) {
		return err
	}
	leased, err := s.Registrants.LeaseRegistrant(ctx, g, now.Add(registrantTimeout+order.QuietWindow))
	if err != nil || !leased {
		return err
	}
	g.Tries++
	s.registrantStep("leased")
	call, cancel := context.WithTimeout(ctx, registrantTimeout)
	defer cancel()
	b, err := s.Backend(g.Backend)
	if err != nil {
		return s.delayRegistrant(ctx, g, err)
	}
	m, ok := registrar.RegistrantsOf(b.Manager)
	if !ok {
		return s.delayRegistrant(ctx, g, errors.New("the registrar has no registrants any more"))
	}
	switch g.State {
	case lifecycle.RegistrantPending:
		return s.sendRegistrant(ctx, call, m, g)
	case lifecycle.RegistrantResetting:
		if err := m.ResetRegistrant(call, g.Name); err != nil {
			return s.delayRegistrant(ctx, g, err)
		}
	}
	return s.forgetRegistrant(ctx, call, m, g)
}

// registrantStep is called between any two steps.
func (s *Service) registrantStep(name string) {
	if s.Step != nil {
		s.Step("registrant: " + name)
	}
}

// sendRegistrant makes the owner the registrant at the registry. The contact that the
// name had before is deleted.
func (s *Service) sendRegistrant(ctx, call context.Context, m registrar.RegistrantManager, g lifecycle.Registrant) error {
	handle, err := m.SetRegistrant(call, g.Name, g.Contact)
	s.registrantStep("sent")
	if refused, ok := errors.AsType[*deed.Error](err); ok && refused.Code == deed.CodeValidation {
		g.State, g.Reason = lifecycle.RegistrantRefused, refused.Message
		return s.Registrants.AnswerRegistrant(ctx, g, lifecycle.EventRegistrantRefused)
	}
	if err != nil {
		return s.delayRegistrant(ctx, g, err)
	}
	if g.Handle != "" && g.Handle != handle {
		_ = m.DeleteContact(call, g.Handle) // another name may have it; it is not that of this name any more
	}
	g.State, g.Handle = lifecycle.RegistrantSent, handle
	return s.Registrants.AnswerRegistrant(ctx, g, lifecycle.EventRegistrantSent)
}

// forgetRegistrant deletes the contact at the registry, and then what is left of it here.
// A contact that another name has, or that is not deleted after many attempts, stays
// there.
func (s *Service) forgetRegistrant(ctx, call context.Context, m registrar.RegistrantManager, g lifecycle.Registrant) error {
	if g.Handle != "" {
		err := m.DeleteContact(call, g.Handle)
		if err != nil && deed.CodeOf(err) != deed.CodeValidation && g.Tries < registrantTries {
			return s.delayRegistrant(ctx, g, err)
		}
	}
	s.registrantStep("deleted")
	return s.Registrants.ForgetRegistrant(ctx, g)
}

// delayRegistrant has the registry asked again later. The cause is told without its
// text, in which a registry may repeat the data.
func (s *Service) delayRegistrant(ctx context.Context, g lifecycle.Registrant, cause error) error {
	now := s.Now()
	wait := min(minRegistrantDelay<<min(g.Tries-1, 10), maxRegistrantDelay)
	g.Lease = now.Add(order.QuietWindow)
	if err := s.Registrants.DelayRegistrant(ctx, g, now.Add(wait)); err != nil {
		return err
	}
	what := "it does not answer"
	if code := deed.CodeOf(cause); code != deed.CodeUnavailable {
		what = string(code)
	}
	return fmt.Errorf("change the registrant of %s at registrar %s: %s; the next attempt is in %s", g.Name, g.Backend, what, wait)
}
