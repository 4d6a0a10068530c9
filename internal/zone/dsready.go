package zone

import (
	"time"

	"deed.example/deed/internal/dnssec"
)

// AbsentServerTimeout is how long a name server that does not have a zone, or cannot
// be reached, keeps the DS of the zone from being published.
const AbsentServerTimeout = time.Hour

// A ServerCopy is the copy of a zone on one name server that resolvers query.
type ServerCopy struct {
	Server string
	InSync bool
	Absent bool // it does not have the zone, or cannot be reached
}

// DSReady reports whether the DS of a zone may be published, and without which
// servers. A server with an old copy always prevents it: resolvers that query it
// would treat the name as bogus. One without the zone prevents it only until the DS has
// waited for AbsentServerTimeout, however often the zone changes meanwhile, if another
// one has the zone: resolvers query that one then, with or without a DS.
func DSReady(servers []ServerCopy, waited time.Duration) (ready bool, without []string) {
	return readyWithout(servers, waited >= AbsentServerTimeout)
}

// KeyReady reports likewise whether the next step of a key roll may begin. A server that
// we cannot reach may serve the old keys to resolvers, so it counts as absent only when
// it must have stopped, or has transferred the zone since the step began: after the
// expire time of a signed zone's SOA.
func KeyReady(servers []ServerCopy, sinceStep time.Duration) (ready bool, without []string) {
	return readyWithout(servers, sinceStep >= dnssec.SignedExpire)
}

// readyWithout reports whether all servers have the current copy, except for absent
// ones if those may be left out.
func readyWithout(servers []ServerCopy, leaveOut bool) (ready bool, without []string) {
	inSync := 0
	for _, s := range servers {
		switch {
		case s.InSync:
			inSync++
		case s.Absent && leaveOut:
			without = append(without, s.Server)
		default:
			return false, nil
		}
	}
	return inSync > 0, without
}
