package api

import "time"

// Record is a DNS record (interface document, 2.3). RecordID repeats the ID for
// existing clients.
type Record struct {
	ID        string    `json:"id"`
	RecordID  string    `json:"recordId"`
	Type      string    `json:"type"`
	Host      string    `json:"host"`
	Value     string    `json:"value"`
	TTL       int       `json:"ttl"`
	Distance  *int      `json:"distance"`
	CreatedAt time.Time `json:"createdAt,omitzero"` // none for a record that is only planned
	UpdatedAt time.Time `json:"updatedAt,omitzero"`
}

// RecordList is the response of GET /dns/{domain} (interface document, 2.4).
type RecordList struct {
	Domain   string   `json:"domain"`
	Records  []Record `json:"records"`
	Revision uint32   `json:"revision"`
	Warnings []string `json:"warnings"`
}

// RecordRequest is a record in a request.
type RecordRequest struct {
	Type     string `json:"type"`
	Host     string `json:"host"`
	Value    string `json:"value"`
	TTL      *int   `json:"ttl,omitzero"`
	Distance *int   `json:"distance,omitzero"`
	Priority *int   `json:"priority,omitzero"` // another name for the distance of MX
}

// RecordUpdate is the body of PUT /dns/{domain}/{recordId}. Omitted fields stay
// unchanged.
type RecordUpdate struct {
	Type     *string `json:"type,omitzero"` // may not change
	Host     *string `json:"host,omitzero"`
	Value    *string `json:"value,omitzero"`
	TTL      *int    `json:"ttl,omitzero"`
	Distance *int    `json:"distance,omitzero"`
	Priority *int    `json:"priority,omitzero"`
}

// RecordUpdated is the response to an update.
type RecordUpdated struct {
	Record
	Message string `json:"message"`
}

// RecordDeleted is the response to a deletion.
type RecordDeleted struct {
	Message  string `json:"message"`
	ID       string `json:"id"`
	RecordID string `json:"recordId"`
}

// BatchRequest is the body of POST /dns/{domain}/batch: all changes are made, or
// none.
type BatchRequest struct {
	Changes    []RecordChange `json:"changes"`
	IfRevision *uint32        `json:"ifRevision,omitzero"` // fail unless the zone is at this revision; nil for any
	DryRun     bool           `json:"dryRun,omitzero"`
}

// RecordChange is one change of a batch: "add" takes the fields of a record,
// "update" an id and what changes, "delete" an id.
type RecordChange struct {
	Op string `json:"op"`
	ID string `json:"id,omitzero"`
	RecordUpdate
}

// ZoneChanged is the response to a batch, an import or a rollback, or to a dry
// run of one.
type ZoneChanged struct {
	Domain   string             `json:"domain"`
	DryRun   bool               `json:"dryRun"`
	Revision uint32             `json:"revision"` // after the change; the current one for a dry run
	Changes  []RecordDifference `json:"changes"`
	Count    int                `json:"count"`
	Price    string             `json:"price_usd"`
	Currency string             `json:"currency"`
}

// RecordDifference is one record that was added, deleted or changed.
type RecordDifference struct {
	Op     string  `json:"op"`
	Before *Record `json:"before,omitzero"`
	After  *Record `json:"after,omitzero"`
}

// Revisions is the history of a zone, newest first.
type Revisions struct {
	Domain    string     `json:"domain"`
	Revisions []Revision `json:"revisions"`
}

// Revision is one state of a zone.
type Revision struct {
	Revision uint32    `json:"revision"`
	At       time.Time `json:"at"`
	Added    int       `json:"added"`
	Deleted  int       `json:"deleted"`
	Records  int       `json:"records"`
}

// Propagation is the state of a zone on every name server.
type Propagation struct {
	Domain  string              `json:"domain"`
	Serial  uint32              `json:"serial"`
	Servers []ServerPropagation `json:"servers"`
}

// ServerPropagation is the state of a zone on one name server.
type ServerPropagation struct {
	Server     string `json:"server"`
	Serial     uint32 `json:"serial"`
	InSync     bool   `json:"inSync"`
	LagSeconds int64  `json:"lagSeconds"`
	Error      string `json:"error,omitzero"`
}

// FailedChange is the response to a paid change that could no longer be made.
type FailedChange struct {
	Error
	Refund Refund `json:"refund"`
}
