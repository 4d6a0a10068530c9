package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
)

// cancelManager is the registry that keeps our names and deletes them.
type cancelManager struct {
	manager
	m *cancelModel
}

// Holding implements registrar.Manager. Some registries say when another registrar has a
// name.
func (k cancelManager) Holding(ctx context.Context, name deed.Name) (lifecycle.Holding, error) {
	return call(k.p, "Holding", func() (lifecycle.Holding, error) {
		h, err := k.r.Holding(ctx, name)
		moved := k.r.entries[name].HeldBy(them, k.r.now()) && !k.r.entries[name].Moved.IsZero()
		if deed.CodeOf(err) == deed.CodeNotFound && moved && !k.m.silent {
			err = &deed.Error{Code: deed.CodeNotFound, Message: "another registrar has it", Err: registrar.ErrElsewhere}
		}
		return h, err
	})
}

// Delete implements registrar.Deleter. Like an order, it is not sent when its process
// slept past the deadline of the call.
func (k cancelManager) Delete(_ context.Context, name deed.Name) error {
	deadline := k.p.w.now.Add(callTime)
	return act(k.p, "Delete "+string(name), func() error {
		if k.p.w.now.After(deadline) {
			return context.DeadlineExceeded
		}
		return k.m.delete(name)
	})
}

// delete does with a deletion what its fate is: it is executed, with or without a reply,
// on its way, lost, accepted and executed later, refused, or refused although it was
// executed.
func (m *cancelModel) delete(name deed.Name) error {
	e, fate := m.w.registry.entries[name], 0
	if m.w.faulty {
		fate = m.w.rng.IntN(14)
	}
	d := &sentDeletion{name: name, reference: e.Reference, arrives: m.w.now}
	later := m.w.now.Add(time.Duration(1+m.w.rng.IntN(int(order.QuietWindow/time.Second)-1)) * time.Second)
	m.w.tell("the registry meets the deletion of %s with fate %d", name, fate)
	if m.w.registry.ours(name) && !m.asked[e.Reference] && m.w.broken == nil {
		m.w.broken = fmt.Errorf("%s is deleted, and its owner did not ask for it", name)
	}
	switch fate {
	case 7, 8: // on its way
		d.arrives = later
		m.sent = append(m.sent, d)
		return errSilent
	case 9: // never arrives
		return errSilent
	case 10: // accepted, and executed later
		d.arrives = later
		m.sent = append(m.sent, d)
		return nil
	case 11, 12:
		return deed.Errorf(deed.CodeRegistrationFailed, "the registry does not delete names now")
	}
	err := m.execute(d)
	switch {
	case fate == 5 || fate == 6:
		return errSilent
	case fate == 13 && err == nil:
		return deed.Errorf(deed.CodeValidation, "the name cannot be deleted")
	}
	return err
}

// run executes the deletions that have arrived.
func (m *cancelModel) run() {
	var left []*sentDeletion
	for _, d := range m.sent {
		if m.w.now.Before(d.arrives) {
			left = append(left, d)
			continue
		}
		_ = m.execute(d) // nobody waits for the answer
	}
	m.sent = left
}

// execute deletes the name, whoever has it by now.
func (m *cancelModel) execute(d *sentDeletion) error {
	r := m.w.registry
	if !r.ours(d.name) {
		return deed.Errorf(deed.CodeNotFound, "%s is not in our account", d.name)
	}
	e := r.entries[d.name]
	gone, err := e.Deleted(r.now())
	if err != nil {
		return err
	}
	if m.w.broken == nil {
		m.w.broken = m.mayDelete(d, e.Reference)
	}
	r.entries[d.name], m.deleted[e.Reference] = gone, deletion{d.name, m.w.now}
	m.w.ends["deleted in add grace"]++
	m.w.dirty = true
	m.w.tell("the registry deletes %s of %s", d.name, e.Reference)
	return nil
}

// mayDelete says what is wrong with the deletion of a name that is registered under the
// reference: it is of the next registration, or of a name that was renewed.
func (m *cancelModel) mayDelete(d *sentDeletion, reference string) error {
	if d.reference != reference {
		return fmt.Errorf("%s was to be deleted under %s, and is deleted under %s", d.name, d.reference, reference)
	}
	for _, o := range slices.Backward(m.w.registry.done) {
		if o.Name != d.name {
			continue
		}
		if o.Kind == registrar.OrderRenew {
			return fmt.Errorf("%s is deleted, and was renewed under %s", d.name, o.Reference)
		}
		return nil
	}
	return errors.New("a name is deleted that was never registered")
}
