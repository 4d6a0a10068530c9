package api

import "time"

// RDAPAnswer has the common members of RDAP responses (RFC 9083, 4).
type RDAPAnswer struct {
	Conformance []string     `json:"rdapConformance"`
	Notices     []RDAPNotice `json:"notices,omitzero"`
	Lang        string       `json:"lang,omitzero"`
}

// RDAPNotice is a notice about the service (RFC 9083, 4.3).
type RDAPNotice struct {
	Title       string     `json:"title"`
	Description []string   `json:"description"`
	Links       []RDAPLink `json:"links,omitzero"`
}

// RDAPLink is a link (RFC 9083, 4.2).
type RDAPLink struct {
	Value string `json:"value"` // context URI
	Rel   string `json:"rel"`
	Href  string `json:"href"`
	Type  string `json:"type,omitzero"`
}

// RDAPEvent is a past or future event of an object (RFC 9083, 4.5).
type RDAPEvent struct {
	Action string    `json:"eventAction"`
	Date   time.Time `json:"eventDate"`
}

// RDAPDomain is a registered name (RFC 9083, 5.3).
type RDAPDomain struct {
	RDAPAnswer
	Class       string           `json:"objectClassName"`
	Handle      string           `json:"handle,omitzero"` // the registry's identifier (ROID), once it is known
	LDHName     string           `json:"ldhName"`
	UnicodeName string           `json:"unicodeName,omitzero"`
	Status      []string         `json:"status"`
	Events      []RDAPEvent      `json:"events"`
	Nameservers []RDAPNameserver `json:"nameservers"`
	SecureDNS   RDAPSecureDNS    `json:"secureDNS"`
	Entities    []RDAPEntity     `json:"entities"`
	Links       []RDAPLink       `json:"links"`
	Redacted    []RDAPRedacted   `json:"redacted"`
}

// RDAPNameserver is a name server: a response, or nested in one (RFC 9083, 5.2).
type RDAPNameserver struct {
	*RDAPAnswer // nil if nested

	Class       string        `json:"objectClassName"`
	LDHName     string        `json:"ldhName"`
	UnicodeName string        `json:"unicodeName,omitzero"`
	Addresses   RDAPAddresses `json:"ipAddresses,omitzero"` // glue, of servers below the name
	Status      []string      `json:"status,omitzero"`
	Events      []RDAPEvent   `json:"events,omitzero"`
	Links       []RDAPLink    `json:"links,omitzero"`
}

// RDAPAddresses are the addresses of a name server.
type RDAPAddresses struct {
	V4 []string `json:"v4,omitzero"`
	V6 []string `json:"v6,omitzero"`
}

// RDAPSecureDNS says whether the zone of a name is signed (RFC 9083, 5.3).
type RDAPSecureDNS struct {
	Signed bool     `json:"delegationSigned"`
	DS     []RDAPDS `json:"dsData,omitzero"`
}

// RDAPDS is a DS record.
type RDAPDS struct {
	KeyTag     uint16 `json:"keyTag"`
	Algorithm  uint8  `json:"algorithm"`
	DigestType uint8  `json:"digestType"`
	Digest     string `json:"digest"`
}

// RDAPEntity is a contact of a name (RFC 9083, 5.1).
type RDAPEntity struct {
	Class     string         `json:"objectClassName"`
	Handle    string         `json:"handle,omitzero"`
	Roles     []string       `json:"roles"`
	PublicIDs []RDAPPublicID `json:"publicIds,omitzero"`
	VCard     []any          `json:"vcardArray"` // jCard (RFC 7095)
	Entities  []RDAPEntity   `json:"entities,omitzero"`
	Links     []RDAPLink     `json:"links,omitzero"`
}

// RDAPPublicID is a public identifier of an entity (RFC 9083, 4.8).
type RDAPPublicID struct {
	Type       string `json:"type"`
	Identifier string `json:"identifier"`
}

// RDAPRedacted is a redacted field and the reason (RFC 9537, 4.2).
type RDAPRedacted struct {
	Name            RDAPWords `json:"name"`
	PrePath         string    `json:"prePath,omitzero"`
	PostPath        string    `json:"postPath,omitzero"`
	ReplacementPath string    `json:"replacementPath,omitzero"`
	PathLang        string    `json:"pathLang"`
	Method          string    `json:"method"`
	Reason          RDAPWords `json:"reason"`
}

// RDAPWords is a registered type or a description (RFC 9537, 4.2).
type RDAPWords struct {
	Type        string `json:"type,omitzero"`
	Description string `json:"description,omitzero"`
}

// RDAPError is the body of an error under /rdap: the fields of RDAP (RFC 9083, 6)
// and those of Error.
type RDAPError struct {
	RDAPAnswer
	ErrorCode   int      `json:"errorCode"`
	Title       string   `json:"title"`
	Description []string `json:"description"`
	Error
}
