package registration

import (
	"context"
	"fmt"
	"slices"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
)

// removeStray removes a DS of our key from a name that is served elsewhere (see
// lifecycle.Registration.StrayDS), and returns the registry's record after that. If the
// registry does not do it, the record has the DS that we know, so that the DS is found
// stray again, and removed is false.
func (l *Lifecycle) removeStray(ctx context.Context, was lifecycle.Registration, h lifecycle.Holding) (after lifecycle.Holding, removed bool, err error) {
	if l.DS == nil || dnssec.SameDS(h.DS, was.DS) {
		return h, true, nil
	}
	current, old, err := l.DS(ctx, was.Name)
	if deed.CodeOf(err) == deed.CodeNotFound {
		return h, true, nil // it has no zone here, and no keys
	}
	if err != nil {
		return h, false, fmt.Errorf("derive the DS of %s: %w", was.Name, err)
	}
	rest, stray := was.StrayDS(h, l.Servers, slices.Concat(current, old))
	if !stray {
		return h, true, nil
	}
	if err := l.Manager.SetDS(ctx, was.Name, rest); err != nil {
		l.Log.Error("a DS of ours could not be removed from a name that is served elsewhere: it is bogus until then", "domain", string(was.Name), "registrar", was.Backend, "err", err.Error())
		h.DS = was.DS
		return h, false, nil
	}
	h.DS = rest
	return h, true, nil
}
