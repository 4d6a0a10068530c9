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
	current, old, err := l.DS(ctx, was.Name)
	if deed.CodeOf(err) == deed.CodeNotFound {
		return h, true // it has no zone here, and no keys
	}
	rest, stray := was.StrayDS(h, l.Servers, slices.Concat(current, old))
	if err == nil && !stray {
		return h, true
	}
	if err == nil {
		err = l.Manager.SetDS(ctx, was.Name, rest)
	}
	if err != nil {
		l.Log.Error("a DS at the registry could not be compared with our keys, or one of ours not be removed from a name that is served elsewhere, which is bogus until then",
			"domain", string(was.Name), "registrar", was.Backend, "err", err.Error())
		h.DS = was.DS
		return h, false
	}
	h.DS = rest
	return h, true
}
