package dnszone

import (
	"time"
)

// A Revision is one state of a zone.
type Revision struct {
	Serial  uint32
	At      time.Time
	Added   int
	Deleted int
	Records int
}
