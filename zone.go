package deed

// A RecordID names one record for as long as it exists.
type RecordID string

// A Record is one DNS resource record of a zone (interface document, 2.3).
type Record struct {
	ID       RecordID
	Type     string // "A", "MX", …
	Host     string // relative to the zone; "@" is the apex
	Value    string
	TTL      int  // seconds
	Distance *int // MX preference or SRV weight; nil for other types
}

// A Zone is the full set of records of one registered name. Serial is the SOA
// serial; it grows with every change.
type Zone struct {
	Name    Name
	Owner   Wallet
	Serial  uint32
	Records []Record
}
