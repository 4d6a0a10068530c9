package opusdns

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// contactData is a contact, as it is created.
type contactData struct {
	FirstName    string `json:"first_name"`
	LastName     string `json:"last_name"`
	Organization string `json:"org,omitempty"`
	Email        string `json:"email"`
	Phone        string `json:"phone"`
	Street       string `json:"street"`
	City         string `json:"city"`
	State        string `json:"state,omitempty"`
	PostalCode   string `json:"postal_code"`
	Country      string `json:"country"`
	Disclose     bool   `json:"disclose"`
}

// contactReply is a contact, as the vendor returns it.
type contactReply struct {
	contactData
	ID string `json:"contact_id"`
}

// registrant returns the ID of the contact that is the registrant of every name. It
// is the configured one, or one with the same data that exists already, or else a new
// one: several processes may make one each, which does no harm.
func (b *Backend) registrant(ctx context.Context) (string, error) {
	b.contactMu.Lock()
	defer b.contactMu.Unlock()
	b.mu.Lock()
	id := b.contact
	b.mu.Unlock()
	if id != "" {
		return id, nil
	}
	c := b.config.Registrant
	want := contactData{
		FirstName: c.FirstName, LastName: c.LastName, Organization: c.Organization, Email: c.Email, Phone: c.Phone,
		Street: c.Street, City: c.City, State: c.State, PostalCode: c.PostalCode, Country: c.Country,
	}
	id, err := b.findContact(ctx, want)
	if err == nil && id == "" {
		id, err = b.createContact(ctx, want)
	}
	if err != nil {
		return "", b.unknown("prepare the registrant", err)
	}
	b.mu.Lock()
	b.contact = id
	b.mu.Unlock()
	return id, nil
}

// findContact returns the ID of a contact with this data; "" if there is none.
func (b *Backend) findContact(ctx context.Context, want contactData) (string, error) {
	var reply struct {
		Results []jsontext.Value `json:"results"`
	}
	query := url.Values{"email": {want.Email}, "page": {"1"}, "page_size": {strconv.Itoa(100)}, "sort_by": {"created_on"}, "sort_order": {"asc"}}
	if err := b.api.do(ctx, request{lane: orderLane, method: http.MethodGet, path: "/v1/contacts", query: query}, &reply); err != nil {
		return "", err
	}
	for _, raw := range reply.Results {
		var r contactReply
		if json.Unmarshal(raw, &r) == nil && r.contactData == want && contactID.MatchString(r.ID) {
			return r.ID, nil
		}
	}
	return "", nil
}

func (b *Backend) createContact(ctx context.Context, want contactData) (string, error) {
	var reply contactReply
	if err := b.api.do(ctx, request{lane: orderLane, method: http.MethodPost, path: "/v1/contacts", in: want}, &reply); err != nil {
		return "", err
	}
	if !contactID.MatchString(reply.ID) {
		return "", fmt.Errorf("the new contact has no ID")
	}
	return reply.ID, nil
}
