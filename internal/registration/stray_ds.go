package registration

import (
	"context"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
)

// removeStray removes a DS that makes the name bogus (see lifecycle.Registration.StrayDS), and
// returns the registry's record after that. Of a name with our servers, that of its keys is
// published then. If this fails, the record has the DS that we know, so that the DS is found
// stray again, and the name is compared again after retry, which is zero otherwise.
func (l *Lifecycle) removeStray(ctx context.Context, was lifecycle.Registration, h lifecycle.Holding) (after lifecycle.Holding, retry time.Duration) {
	known := dnssec.SameDS(h.DS, was.DS) && !lifecycle.SameServers(h.Nameservers, l.Servers)
	if l.DS == nil || known || len(h.DS) == 0 || ending(h) {
		return h, 0
	}
	failed := func(message string, err error) (lifecycle.Holding, time.Duration) {
		l.Log.Error(message, "domain", string(was.Name), "registrar", was.Backend, "err", err.Error())
		h.DS = was.DS
		if refused(err) {
			return h, missingCheckInterval
		}
		return h, registryRetryDelay
	}
	current, old, err := l.DS(ctx, was.Name)
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound:
		return h, 0 // it has no zone here, and no keys
	case err != nil:
		return failed("the DS that a registry has of a name cannot be compared with our keys, and is compared again", err)
	}
	rest, stray := was.StrayDS(h, l.Servers, slices.Concat(current, old))
	if !stray {
		return h, 0
	}
	if err := l.Manager.SetDS(ctx, was.Name, rest); err != nil {
		return failed("a DS cannot be removed from a name: resolvers find it bogus until then, and it is tried again", err)
	}
	h.DS = rest
	return h, 0
}
