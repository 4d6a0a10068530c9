package api

import "time"

// Contact is a person or an organization, as registries want it.
type Contact struct {
	Name         string   `json:"name"`
	Organization string   `json:"organization,omitzero"`
	Street       []string `json:"street"` // one to three lines
	City         string   `json:"city"`
	Region       string   `json:"region,omitzero"`
	PostalCode   string   `json:"postalCode,omitzero"`
	Country      string   `json:"country"` // ISO 3166-1, two letters
	Phone        string   `json:"phone"`   // "+49.301234567"
	Email        string   `json:"email"`
}

// Registrant says whose contact data a name has at the registry.
type Registrant struct {
	Domain    string     `json:"domain"`
	Policy    string     `json:"policy"`           // "proxy", "owner_optional" or "owner_required"
	Mode      string     `json:"mode"`             // "proxy" or "owner"
	Status    string     `json:"status,omitzero"`  // "pending", "sent", "refused" or "resetting"; "" if nothing was given
	Reason    string     `json:"reason,omitzero"`  // why the registry refused it
	Contact   *Contact   `json:"contact,omitzero"` // what the owner gave
	UpdatedAt *time.Time `json:"updatedAt,omitzero"`
}

// Agreement is what the buyer of a name agreed to.
type Agreement struct {
	Terms      string `json:"terms,omitzero"` // version of the terms; "" if the operator had none
	Registrant string `json:"registrant"`     // policy of the name's registrar
}
