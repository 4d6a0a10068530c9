package lifecycle

import (
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
)

// A Holding is the registry's record of a name in our account.
type Holding struct {
	Name        deed.Name
	Reference   string // of the order that registered it
	Created     time.Time
	Expires     time.Time
	Phase       Phase
	EPPStatus   []string // RFC 5731 and 3915: "ok", "clientTransferProhibited", …
	Locked      bool
	Nameservers []string
	Glue        Glue // of the name servers below the name, as far as the registry reports it
	DS          []dnssec.DS
}
