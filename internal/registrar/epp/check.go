package epp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

var errOtherName = errors.New("it is about another name, or names no registrar")

// maxCheck is how many names are checked with one command.
const maxCheck = 50

// Available implements registrar.Registrar.
func (b *Backend) Available(ctx context.Context, name deed.Name) (registrar.Availability, error) {
	return b.available(ctx, name, lookup)
}

func (b *Backend) available(ctx context.Context, name deed.Name, as priority) (registrar.Availability, error) {
	all, err := b.check(ctx, []deed.Name{name}, as)
	if err != nil {
		return registrar.Availability{}, fmt.Errorf("check %s: %w", name, err)
	}
	a, ok := all[name]
	if !ok {
		return registrar.Availability{}, fmt.Errorf("check %s: the registry has no price for it", name)
	}
	return a, nil
}

// AvailableAll implements registrar.BulkChecker. One bad name makes some registries
// refuse the whole command, so each name is then checked by itself.
func (b *Backend) AvailableAll(ctx context.Context, names []deed.Name) (map[deed.Name]registrar.Availability, error) {
	out := map[deed.Name]registrar.Availability{}
	var failed error
	for len(names) > 0 {
		some := names[:min(len(names), maxCheck)]
		names = names[len(some):]
		got, err := b.check(ctx, some, lookup)
		if _, refused := errors.AsType[*deed.Error](err); refused && len(some) > 1 {
			got, err = b.checkEach(ctx, some)
		}
		if err != nil {
			failed = err
		}
		maps.Copy(out, got)
	}
	if len(out) == 0 && failed != nil {
		return nil, fmt.Errorf("check names: %w", failed)
	}
	return out, nil
}

// checkEach checks names one by one, on as many sessions as there are. It fails when the
// registry does not answer for one of them, with what it answered for the others.
func (b *Backend) checkEach(ctx context.Context, names []deed.Name) (map[deed.Name]registrar.Availability, error) {
	out := map[deed.Name]registrar.Availability{}
	var mu sync.Mutex // guards out
	var all errgroup.Group
	all.SetLimit(b.cfg.Sessions) // more of them would only keep other lookups waiting
	for _, name := range names {
		all.Go(func() error {
			got, err := b.check(ctx, []deed.Name{name}, lookup)
			if _, refused := errors.AsType[*deed.Error](err); err != nil && !refused {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(out, got)
			return nil
		})
	}
	return out, all.Wait()
}

// check checks names with one command, with their prices where the registry has them.
// A name is missing from the result when it is free but its price is not known.
func (b *Backend) check(ctx context.Context, names []deed.Name, as priority) (map[deed.Name]registrar.Availability, error) {
	r, err := b.send(ctx, command{
		priority: as,
		body: func(w *writer, _ services) {
			w.element("check", func() {
				w.object("domain", "check", nsDomain, func() {
					for _, name := range names {
						w.text("domain:name", string(name))
					}
				})
			})
		},
		ext: func(w *writer, svc services) {
			if svc.fee() {
				least := b.cfg.Profile.MinYears // for fewer, a registry has no prices
				b.writeFeeCheck(w, []feeQuery{{"create", least}, {"renew", least}})
			}
		},
	})
	switch {
	case err != nil:
		return nil, err
	case r.code() != codeOK:
		return nil, b.refused(r, fmt.Sprint(len(names), " names"), beforeMoney)
	case len(r.Data.Checks) != 1 || len(r.Data.Checks[0].Names) != len(names):
		return nil, b.invalidReply("a check of %d names", len(names))
	}
	out := map[deed.Name]registrar.Availability{}
	for _, cd := range r.Data.Checks[0].Names {
		name, ok := among(cd.Name.Text, names)
		if _, twice := out[name]; !ok || twice {
			return nil, b.invalidReply("a check of other names")
		}
		a, err := availability(cd.Name.Avail, cd.Reason)
		if err != nil {
			return nil, b.invalidReply("check %s: %w", name, err)
		}
		out[name] = a
	}
	m, err := b.services(ctx)
	if err != nil || !m.fee() {
		return out, err
	}
	for name, a := range out {
		if out[name], err = b.priced(r, name, a); err != nil {
			delete(out, name)
		}
	}
	return out, nil
}

func among(text string, names []deed.Name) (deed.Name, bool) {
	for _, name := range names {
		if sameName(text, name) {
			return name, true
		}
	}
	return "", false
}

func availability(avail, reason string) (registrar.Availability, error) {
	switch avail {
	case "1", "true":
		return registrar.Availability{Available: true}, nil
	case "0", "false":
		if text := strings.ToLower(reason); strings.Contains(text, "reserved") || strings.Contains(text, "blocked") || strings.Contains(text, "prohibited") {
			return registrar.Availability{Reason: "reserved"}, nil
		}
		return registrar.Availability{Reason: "taken"}, nil
	}
	return registrar.Availability{}, fmt.Errorf("avail is %s", deed.Quoted(avail))
}

// Transferable implements registrar.Registrar.
func (b *Backend) Transferable(ctx context.Context, name deed.Name, code deed.Secret) error {
	if code == "" {
		return deed.Invalid("authCode", "is needed for the transfer of %s", name)
	}
	d, err := b.info(ctx, name, code)
	switch {
	case err != nil:
		return err
	case b.ours(d):
		return deed.Errorf(deed.CodeDomainUnavailable, "%s is already in this account", name)
	case d.authInfo != "" && d.authInfo != code:
		return deed.Invalid("authCode", "is not the code of %s", name)
	case d.ending():
		return deed.Invalid("domain", "%s has expired: its holder must restore it first", name)
	}
	for _, status := range []string{"clientTransferProhibited", "serverTransferProhibited", "pendingTransfer"} {
		if d.has(status) {
			return deed.Invalid("domain", "%s is locked at the registry (%s): its holder must unlock it first", name, status)
		}
	}
	return b.checkPremium(ctx, name)
}

// checkPremium fails for a premium name: all transfers are sold at the price of others.
func (b *Backend) checkPremium(ctx context.Context, name deed.Name) error {
	p, err := b.Price(ctx, registrar.Order{Kind: registrar.OrderTransfer, Name: name, Years: 1})
	switch {
	case p.Premium:
		return deed.Invalid("domain", "%s has a price of its own, and cannot be transferred here", name)
	case deed.CodeOf(err) == deed.CodeNotFound, errors.Is(err, errNoPrice):
		return nil
	}
	return err
}
