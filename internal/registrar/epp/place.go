package epp

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// Place implements registrar.Registrar.
func (b *Backend) Place(ctx context.Context, o registrar.Order) error {
	o, err := b.checkOrder(o)
	if err != nil {
		return err
	}
	place := map[registrar.OrderKind]func(context.Context, registrar.Order) error{
		registrar.OrderRegister: b.register, registrar.OrderRenew: b.renew, registrar.OrderTransfer: b.transfer,
	}[o.Kind]
	if err := place(ctx, o); err != nil {
		return fmt.Errorf("order %s: %w", o.Name, err)
	}
	b.mu.Lock()
	b.funds = false
	b.mu.Unlock()
	return nil
}

// checkOrder returns the normalized order. It fails for an order that this registry
// can never have accepted.
func (b *Backend) checkOrder(o registrar.Order) (registrar.Order, error) {
	refuse := func(format string, args ...any) (registrar.Order, error) {
		return o, deed.Errorf(deed.CodeRegistrationFailed, format, args...)
	}
	o.From = o.From.UTC().Truncate(time.Second)
	switch o.Kind {
	case registrar.OrderRegister:
		if len(o.Nameservers) > 0 {
			hosts, err := deed.ParseNameservers(o.Nameservers)
			if err != nil {
				return o, err
			}
			o.Nameservers = hosts
		}
	case registrar.OrderRenew:
	case registrar.OrderTransfer:
		o.Years = 1 // a transfer adds one year everywhere
		if o.AuthCode == "" {
			return o, deed.Invalid("authCode", "is needed for the transfer of %s", o.Name)
		}
		return o, nil
	default:
		return refuse("the registry does not support orders of kind %q", o.Kind)
	}
	if o.Reference == "" {
		return refuse("an order needs a reference")
	}
	if p := b.cfg.Profile; !p.sells(o.Years) {
		return refuse("%s is sold for %d to %d years at once, not for %d", o.Name, p.MinYears, p.MaxYears, o.Years)
	}
	return o, nil
}

// CheckTerm implements registrar.TermLimiter by the profile.
func (b *Backend) CheckTerm(_ context.Context, o registrar.Order) error {
	if p := b.cfg.Profile; !p.sells(o.Years) {
		return deed.Invalid("years", "%s is sold for %d to %d years at once, not for %d", o.Name, p.MinYears, p.MaxYears, o.Years)
	}
	return nil
}

// sells reports whether the registry takes orders for so many years.
func (p Profile) sells(years int) bool { return years >= p.MinYears && years <= p.MaxYears }

// register creates a name. What it needs is created first, once.
func (b *Backend) register(ctx context.Context, o registrar.Order) error {
	if err := b.ensureContact(ctx); err != nil {
		return err
	}
	if err := b.ensureHosts(ctx, o.Nameservers); err != nil {
		return err
	}
	fee, err := b.premiumFee(ctx, o)
	if err != nil {
		return err
	}
	r, err := b.send(ctx, b.createCommand(o, fee))
	if err != nil {
		return err
	}
	b.noteBalance(r)
	if !succeeded(r) {
		return b.afterRefusal(ctx, o, r)
	}
	if r.code() == codeOK {
		if err := b.checkDates(r.Data.Created, o.Name, func(d domainDates) error {
			return sellsYears(d.Created, d.Expires, o.Years)
		}); err != nil {
			return err
		}
		b.lockNew(ctx, domain{name: o.Name})
	}
	return nil
}

// checkDates checks the data that a successful order returns.
func (b *Backend) checkDates(got []domainDates, name deed.Name, check func(domainDates) error) error {
	if len(got) != 1 || !sameName(got[0].Name, name) {
		return b.invalidReply("the result of the order for %s is about another name", name)
	}
	if err := check(got[0]); err != nil {
		return b.invalidReply("order %s: %w", name, err)
	}
	return nil
}

// tolerance is how far a date may be from the expected one: registries differ in how
// they add years to the 29th of February, and in time zones.
const tolerance = 48 * time.Hour

func near(a, b time.Time) bool { return a.Sub(b).Abs() <= tolerance }

// sellsYears fails unless a new name has the years that were ordered.
func sellsYears(created, expires string, years int) error {
	from, err := parseTime(created)
	if err != nil {
		return err
	}
	to, err := optionalTime(expires)
	if err != nil || to.IsZero() { // RFC 5731, 3.2.1: it is optional, and a lookup tells
		return err
	}
	if !near(to, from.AddDate(years, 0, 0)) {
		return fmt.Errorf("created %s, expires %s, ordered for %d years", from, to, years)
	}
	return nil
}

// lockNew locks a name that is new in our account against transfers. If that fails, the
// name is sold nevertheless, and its owner sees that it is unlocked. It returns the name as
// it is then.
func (b *Backend) lockNew(ctx context.Context, d domain) domain {
	if b.cfg.Profile.Unlocked || d.has(transferLock) {
		return d
	}
	r, err := b.send(ctx, b.updateCommand(d.name, update{addStatus: []string{transferLock}}))
	if err == nil && !succeeded(r) {
		err = resultError(r)
	}
	if err != nil {
		b.cfg.Log.Warn("a new name could not be locked", "domain", d.name, "err", err.Error())
		return d
	}
	d.statuses = append(d.statuses, transferLock)
	return d
}

// afterRefusal returns the error of a refused order, unless the state of the name
// shows that it is done: an earlier attempt was executed, and only its reply was
// lost.
func (b *Backend) afterRefusal(ctx context.Context, o registrar.Order, r response) error {
	if r.code() == codeBilling || unknown(r.code()) {
		return b.refused(r, string(o.Name), afterMoney)
	}
	st, err := b.lookUp(ctx, o)
	switch {
	case err != nil:
		return fmt.Errorf("refused with %d, and then: %w", r.code(), err)
	case st.State == registrar.OrderDone, st.State == registrar.OrderPending:
		return nil
	}
	if o.Kind == registrar.OrderRegister && r.code() != codeExists {
		if a, err := b.available(ctx, o.Name, normal); err == nil && !a.Available {
			return deed.Errorf(deed.CodeDomainUnavailable, "%s is %s", o.Name, a.Reason)
		}
		if r.code() == codeNotFound {
			return b.forgetObjects(o.Name, o.Nameservers)
		}
	}
	return b.refused(r, string(o.Name), afterMoney)
}

// authInfo returns the code that a name gets with its registration. It is different
// for each purchase, and only this service can compute it.
func (b *Backend) authInfo(o registrar.Order) deed.Secret {
	return formatCode(b.cfg.derive("authInfo", b.cfg.Purchase(o.Reference), string(o.Name)))
}

// formatCode returns a code with letters of both cases, digits and a sign, because
// many registries demand them, and with 128 random bits (RFC 9154, 4.1).
func formatCode(random []byte) deed.Secret {
	text := base64.RawURLEncoding.EncodeToString(random[:16])
	return deed.Secret(strings.NewReplacer("-", "x", "_", "y").Replace(text) + "-aZ9")
}

func (b *Backend) createCommand(o registrar.Order, fee deed.USDC) command {
	return command{
		reference: o.Reference,
		body: func(w *writer, svc services) {
			w.element("create", func() {
				w.object("domain", "create", nsDomain, func() {
					w.text("domain:name", string(o.Name))
					w.number("domain:period", o.Years, "unit", "y")
					if len(o.Nameservers) > 0 {
						w.element("domain:ns", func() { b.writeHosts(w, svc, o.Nameservers, nil) })
					}
					b.writeContacts(w)
					w.element("domain:authInfo", func() {
						if svc.secure() { // RFC 9154, 5.1: no code until there is a transfer
							w.text("domain:pw", "")
						} else {
							w.text("domain:pw", b.authInfo(o).Reveal())
						}
					})
				})
			})
		},
		ext: func(w *writer, svc services) {
			b.writeFee(w, svc, "create", fee)
			if table := b.cfg.Profile.IDNTable; svc.idn() && table != "" && o.Name.Label().IsIDN() {
				w.object("idn", "data", nsIDN, func() {
					w.text("idn:table", table)
					w.text("idn:uname", o.Name.Unicode())
				})
			}
		},
	}
}

// writeFee writes the price that is agreed to; none is 0.
func (b *Backend) writeFee(w *writer, svc services, verb string, amount deed.USDC) {
	if amount == 0 || !svc.fee() {
		return
	}
	w.object("fee", verb, nsFee, func() {
		w.text("fee:currency", b.cfg.Profile.Currency)
		w.text("fee:fee", amount.String())
	})
}
