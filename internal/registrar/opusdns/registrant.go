package opusdns

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
)

// SetRegistrant implements registrar.RegistrantManager. A contact with the same data
// that exists already is used, so that a second attempt finds that of the first.
func (b *Backend) SetRegistrant(ctx context.Context, name deed.Name, c lifecycle.Contact) (string, error) {
	want, err := ownerContact(c)
	if err != nil {
		return "", err
	}
	id, err := b.findContact(ctx, want)
	if err == nil && id == "" {
		id, err = b.createContact(ctx, want)
	}
	switch p := refusal(err); {
	case p != nil:
		return "", deed.Invalid("registrant", "the registrar does not accept the contact: %s", strings.Join(append([]string{p.text}, p.invalid...), ": "))
	case err != nil:
		return "", b.unknown("prepare the contact of the owner of "+string(name), err)
	}
	_, err = b.update(ctx, name, updateRequest{Contacts: map[string]string{"registrant": id}})
	return id, err
}

// ownerContact returns the contact as the vendor has it, which is never disclosed.
func ownerContact(c lifecycle.Contact) (contactData, error) {
	first, last := splitName(c.Name)
	switch {
	case last == "":
		return contactData{}, deed.Invalid("name", "the registrar needs a first and a last name")
	case c.PostalCode == "":
		return contactData{}, deed.Invalid("postalCode", "the registrar needs one")
	}
	return contactData{
		FirstName: first, LastName: last, Organization: c.Organization, Email: c.Email, Phone: c.Phone,
		Street: strings.Join(c.Street, ", "), City: c.City, State: c.Region, PostalCode: c.PostalCode, Country: c.Country,
	}, nil
}

// splitName returns the last word of a name as the last name, and the rest as the first.
func splitName(name string) (first, last string) {
	words := strings.Fields(name)
	if len(words) < 2 {
		return name, ""
	}
	return strings.Join(words[:len(words)-1], " "), words[len(words)-1]
}

// ResetRegistrant implements registrar.RegistrantManager.
func (b *Backend) ResetRegistrant(ctx context.Context, name deed.Name) error {
	id, err := b.registrant(ctx)
	if err != nil {
		return err
	}
	_, err = b.update(ctx, name, updateRequest{Contacts: map[string]string{"registrant": id}})
	return err
}

// DeleteContact implements registrar.RegistrantManager.
func (b *Backend) DeleteContact(ctx context.Context, handle string) error {
	own, err := b.registrant(ctx)
	switch {
	case err != nil:
		return err
	case handle == own: // an owner gave the data of the registrant of record
		return deed.Invalid("registrant", "this is the contact of all names")
	}
	err = b.api.do(ctx, request{lane: orderLane, method: http.MethodDelete, path: "/v1/contacts/" + url.PathEscape(handle)}, nil)
	switch p := refusal(err); {
	case err == nil, p != nil && p.is(codeContactNotFound):
		return nil
	case p == nil:
		return b.unknown("delete contact "+handle, err)
	default:
		return &deed.Error{Code: deed.CodeValidation, Message: fmt.Sprintf("the registrar does not delete contact %s now", handle), Err: p}
	}
}
