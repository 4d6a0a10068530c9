package epp

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
)

// An update is a change of a name.
type update struct {
	addHosts, remHosts   []string
	glue                 lifecycle.Glue // of addHosts that are attributes
	addStatus, remStatus []string
	addDS, remDS         []dnssec.DS
	noDS                 bool   // remove all, and keys that the registry has instead
	registrant           string // identifier of another contact
	code                 deed.Secret
}

func (u update) empty() bool {
	return len(u.addHosts)+len(u.remHosts)+len(u.addStatus)+len(u.remStatus)+len(u.addDS)+len(u.remDS) == 0 && u.code == "" && u.registrant == "" && !u.noDS
}

// change changes a name in the account. needed returns what is left to change in a
// state; after a refusal it decides again, because a registry may have made the
// change nevertheless.
func (b *Backend) change(ctx context.Context, name deed.Name, needed func(domain) (update, error)) error {
	var last error
	for range 2 {
		d, err := b.held(ctx, name)
		if err != nil {
			return fmt.Errorf("change %s: %w", name, err)
		}
		if d.ending() {
			return deed.Invalid("domain", "%s is in redemption or about to be deleted: restore it first", name)
		}
		u, err := needed(d)
		if err != nil || u.empty() {
			return err
		}
		if last != nil {
			return last
		}
		if d.has("pendingUpdate") { // another one would be refused
			return errPendingUpdate(name)
		}
		r, err := b.send(ctx, b.updateCommand(name, u))
		switch {
		case err != nil:
			return fmt.Errorf("change %s: %w", name, err)
		case r.code() == codeOK:
			return nil
		case r.code() == codePending:
			return b.checkPending(ctx, name, needed)
		}
		if last = b.refused(r, string(name), beforeMoney); r.code() == codeNotFound && len(u.addHosts) > 0 {
			last = b.forgetObjects(name, u.addHosts)
		}
	}
	return last
}

func errPendingUpdate(name deed.Name) error {
	return fmt.Errorf("change %s: the registry has not decided about the change yet", name)
}

// checkPending fails without a code unless a change that the registry calls pending was made
// nevertheless. A code may not be shown.
func (b *Backend) checkPending(ctx context.Context, name deed.Name, needed func(domain) (update, error)) error {
	d, err := b.held(ctx, name)
	if err != nil {
		return fmt.Errorf("change %s: %w", name, uncoded(err))
	}
	left, err := needed(d)
	if d.authInfo == "" {
		left.code = ""
	}
	if err == nil && (d.has("pendingUpdate") || !left.empty()) {
		err = errPendingUpdate(name)
	}
	return err
}

func (b *Backend) updateCommand(name deed.Name, u update) command {
	return command{
		body: func(w *writer, svc services) {
			w.element("update", func() {
				w.object("domain", "update", nsDomain, func() {
					w.text("domain:name", string(name))
					b.writePart(w, svc, "domain:add", u)
					b.writePart(w, svc, "domain:rem", update{addHosts: u.remHosts, addStatus: u.remStatus})
					if u.code != "" || u.registrant != "" {
						w.element("domain:chg", func() {
							if u.registrant != "" {
								w.text("domain:registrant", u.registrant)
							}
							writeCode(w, u.code)
						})
					}
				})
			})
		},
		ext: func(w *writer, svc services) {
			if len(u.addDS)+len(u.remDS) == 0 && !u.noDS || !svc.dnssec() {
				return
			}
			w.object("secDNS", "update", nsSecDNS, func() {
				if u.noDS {
					w.element("secDNS:rem", func() { w.text("secDNS:all", "true") })
				}
				writeDS(w, "secDNS:rem", u.remDS)
				writeDS(w, "secDNS:add", u.addDS)
			})
		},
	}
}

// writePart writes what an update adds as the content of the element.
func (b *Backend) writePart(w *writer, svc services, element string, u update) {
	if len(u.addHosts)+len(u.addStatus) == 0 {
		return
	}
	w.element(element, func() {
		if len(u.addHosts) > 0 {
			w.element("domain:ns", func() { b.writeHosts(w, svc, u.addHosts, u.glue) })
		}
		for _, s := range u.addStatus {
			w.element("domain:status", nil, "s", s)
		}
	})
}

func writeDS(w *writer, element string, all []dnssec.DS) {
	if len(all) == 0 {
		return
	}
	w.element(element, func() {
		for _, ds := range all {
			w.element("secDNS:dsData", func() {
				w.text("secDNS:keyTag", strconv.Itoa(int(ds.KeyTag)))
				w.number("secDNS:alg", int(ds.Algorithm))
				w.number("secDNS:digestType", int(ds.DigestType))
				w.text("secDNS:digest", ds.Digest)
			})
		}
	})
}

// distinct returns the elements of a list, each once: registries repeat some, such as a name
// server in another letter case, or a DS beside its key.
func distinct[T comparable](list []T) (out []T) {
	for _, x := range list {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// without returns the elements of a that are not in b.
func without[T comparable](a, b []T) (out []T) {
	for _, x := range a {
		if !slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}
