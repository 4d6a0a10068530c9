package epp

import (
	"context"
	"encoding/base32"
	"fmt"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
)

// HasRegistrants reports whether names have contacts at the registry.
func (b *Backend) HasRegistrants() bool { return b.cfg.Profile.Contacts != ContactsNone }

// SetRegistrant implements registrar.RegistrantManager. The contact gets an identifier
// that only we can compute, from its content and the name, so that a second attempt
// finds the contact of the first.
func (b *Backend) SetRegistrant(ctx context.Context, name deed.Name, c lifecycle.Contact) (string, error) {
	id := b.ownerContactID(name, c)
	r, err := b.send(ctx, b.contactCommand(id, c))
	switch {
	case err != nil:
		return "", fmt.Errorf("create the contact of the owner of %s: %w", name, err)
	case !succeeded(r) && r.code() != codeExists:
		return "", b.contactRefused(r, name)
	}
	return id, b.setRegistrant(ctx, name, id)
}

// ownerContactID returns the identifier of an owner's contact.
func (b *Backend) ownerContactID(name deed.Name, c lifecycle.Contact) string {
	sum := b.cfg.derive("registrant", b.cfg.ClientID, string(name), fmt.Sprintf("%q", c))
	return "R" + base32.StdEncoding.EncodeToString(sum)[:13]
}

// ResetRegistrant implements registrar.RegistrantManager.
func (b *Backend) ResetRegistrant(ctx context.Context, name deed.Name) error {
	if err := b.ensureContact(ctx); err != nil {
		return err
	}
	return b.setRegistrant(ctx, name, b.contactID())
}

// setRegistrant changes the registrant of a name to a contact that exists.
func (b *Backend) setRegistrant(ctx context.Context, name deed.Name, id string) error {
	return b.change(ctx, name, func(d domain) (u update, _ error) {
		if d.registrant != id {
			u.registrant = id
		}
		return u, nil
	})
}

// DeleteContact implements registrar.RegistrantManager.
func (b *Backend) DeleteContact(ctx context.Context, handle string) error {
	if handle == b.contactID() {
		return deed.Invalid("registrant", "this is the contact of all names")
	}
	r, err := b.send(ctx, command{body: func(w *writer, _ services) {
		w.element("delete", func() {
			w.object("contact", "delete", nsContact, func() { w.text("contact:id", handle) })
		})
	}})
	switch {
	case err != nil:
		return fmt.Errorf("delete contact %s: %w", handle, err)
	case succeeded(r), r.code() == codeNotFound:
		return nil
	case unknown(r.code()):
		return fmt.Errorf("delete contact %s: %w", handle, resultError(r))
	}
	return &deed.Error{Code: deed.CodeValidation, Message: "the registry does not delete contact " + handle + " now", Err: resultError(r)}
}

// contactRefused returns the error of a contact that the registry does not take. The
// message is for its owner, and has what the registry says; nothing of it is logged,
// because it may repeat the data.
func (b *Backend) contactRefused(r response, name deed.Name) error {
	if unknown(r.code()) || r.code() == codeBilling {
		return fmt.Errorf("create the contact of the owner of %s: result %d", name, r.code())
	}
	says := []string{r.Results[0].Message}
	for _, one := range r.Results {
		says = append(says, one.Reasons...)
	}
	for i := range says {
		says[i] = strings.Trim(deed.Quoted(says[i]), `"`)
	}
	return deed.Invalid("registrant", "the registry does not accept the contact: %s", strings.Join(says[:min(len(says), 4)], ": "))
}
