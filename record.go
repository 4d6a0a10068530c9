package deed

// A RecordInput is a record as a caller wrote it.
type RecordInput struct {
	Type, Host, Value string
	TTL               *int // nil for the default
	Distance          *int
	Priority          *int // another name for the distance of an MX; for an SRV, its priority
}

// Record returns the canonical form of the input. It fails as Canonical does.
func (in RecordInput) Record(zone Name) (Record, error) { return Record{}, nil }

// A RecordPatch says what is new in a record; what is nil stays.
type RecordPatch struct {
	Type     *string `json:",omitempty"` // may be said, and not changed
	Host     *string `json:",omitempty"`
	Value    *string `json:",omitempty"`
	TTL      *int    `json:",omitempty"`
	Distance *int    `json:",omitempty"` // alone, of an SRV: its new weight
	Priority *int    `json:",omitempty"` // as in RecordInput
}

// Canonical checks the record as a caller wrote it and returns its one
// canonical form.
func (r Record) Canonical(zone Name) (Record, error) { return r, nil }

// Update returns the record with the patch applied.
func (r Record) Update(p RecordPatch, zone Name) (Record, error) { return r, nil }

// RR returns the record as name servers give it out.
func (r Record) RR(zone Name) (RR, error) { return RR{}, nil }

// RecordOf returns the record that rr is in the zone.
func RecordOf(zone Name, rr RR) (Record, error) { return Record{}, nil }

// RRs returns the records of the zone as name servers give them out.
func (z Zone) RRs() ([]RR, error) { return nil, nil }

func checkHost(zone Name, recs []Record) error { return nil }
