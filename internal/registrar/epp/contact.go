package epp

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"

	"deed.example/deed/internal/lifecycle"
)

// contactID returns the identifier of the registrant's contact. It depends on the
// content, so that all nodes use the same and a changed registrant gets a new one.
func (b *Backend) contactID() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", b.cfg.ClientID, b.cfg.Registrant))
	return "D" + base32.StdEncoding.EncodeToString(sum[:])[:13]
}

// ensureContact creates the registrant's contact where the registry wants one.
func (b *Backend) ensureContact(ctx context.Context) error {
	b.mu.Lock()
	known := b.contact || b.cfg.Profile.Contacts == ContactsNone
	b.mu.Unlock()
	if known {
		return nil
	}
	r, err := b.send(ctx, b.contactCommand(b.contactID(), b.cfg.Registrant))
	switch {
	case err != nil:
		return fmt.Errorf("create the registrant's contact: %w", err)
	case !succeeded(r) && r.code() != codeExists:
		b.logOnce("contact", "the registry does not accept the registrant's contact", "result", resultError(r).Error())
		return fmt.Errorf("create the registrant's contact: %w", resultError(r)) // the operator can correct it
	}
	b.mu.Lock()
	b.contact = true
	b.mu.Unlock()
	return nil
}

// contactCommand returns the command that creates a contact.
func (b *Backend) contactCommand(id string, c lifecycle.Contact) command {
	return command{body: func(w *writer, _ services) {
		w.element("create", func() {
			w.object("contact", "create", nsContact, func() { b.writeContact(w, id, c) })
		})
	}}
}

// writeContact writes the content of the command that creates the contact.
func (b *Backend) writeContact(w *writer, id string, c lifecycle.Contact) {
	form := "int"
	if strings.ContainsFunc(strings.Join(append([]string{c.Name, c.Organization, c.City, c.Region}, c.Street...), ""), func(r rune) bool { return r > 0x7e }) {
		form = "loc" // RFC 5733, 2.3: "int" is ASCII
	}
	w.text("contact:id", id)
	w.element("contact:postalInfo", func() {
		w.text("contact:name", c.Name)
		if c.Organization != "" {
			w.text("contact:org", c.Organization)
		}
		w.element("contact:addr", func() {
			for _, line := range c.Street {
				w.text("contact:street", line)
			}
			w.text("contact:city", c.City)
			if c.Region != "" {
				w.text("contact:sp", c.Region)
			}
			if c.PostalCode != "" {
				w.text("contact:pc", c.PostalCode)
			}
			w.text("contact:cc", strings.ToUpper(c.Country))
		})
	}, "type", form)
	w.text("contact:voice", c.Phone)
	w.text("contact:email", c.Email)
	w.element("contact:authInfo", func() {
		w.text("contact:pw", formatCode(b.cfg.derive("contact", id)).Reveal())
	})
}

// writeContacts writes the contacts of a new name.
func (b *Backend) writeContacts(w *writer) {
	if b.cfg.Profile.Contacts == ContactsNone {
		return
	}
	w.text("domain:registrant", b.contactID())
	if b.cfg.Profile.Contacts != ContactsAll {
		return
	}
	for _, role := range []string{"admin", "tech", "billing"} {
		w.text("domain:contact", b.contactID(), "type", role)
	}
}
