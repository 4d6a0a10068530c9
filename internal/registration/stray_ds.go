package registration

import (
	"context"
	"slices"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
)

// removeStray removes a DS of our key from a name that is served elsewhere (see
// lifecycle.Registration.StrayDS), and returns the registry's record after that. If this
// fails, the record has the DS that we know, so that the DS is found stray again, and
// removed is false.
func (l *Lifecycle) removeStray(ctx context.Context, was lifecycle.Registration, h lifecycle.Holding) (after lifecycle.Holding, removed bool) {
	if l.DS == nil || dnssec.SameDS(h.DS, was.DS) {
		return h, true
	}
	failed := func(message string, err error) (lifecycle.Holding, bool) {
		l.Log.Error(message, "domain", string(was.Name), "registrar", was.Backend, "err", err.Error())
		h.DS = was.DS
		return h, false
	}
	current, old, err := l.DS(ctx, was.Name)
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound:
		return h, true // it has no zone here, and no keys
	case err != nil:
		return failed("the DS that a registry has of a name cannot be compared with our keys, and is compared again", err)
	}
	rest, stray := was.StrayDS(h, l.Servers, slices.Concat(current, old))
	if !stray {
		return h, true
	}
	if err := l.Manager.SetDS(ctx, was.Name, rest); err != nil {
		return failed("our DS cannot be removed from a name that is served elsewhere: resolvers find it bogus until then, and it is tried again", err)
	}
	h.DS = rest
	return h, true
}
