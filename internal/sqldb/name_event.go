package sqldb

import (
	"context"
	"fmt"
	"time"

	"deed.example/deed/internal/lifecycle"
)

// maxEvents is how many of the newest events of a name are returned, besides how it came
// here. Owners can cause any number for nothing, such as by handing a name over, and anybody
// can read them.
const maxEvents = 100

// selectEvents returns the statement that reads the events of registrations, whose names and
// references a query selects. The newest are found by the index of the events of a name: those
// of its earlier registrations come before them. A reference with something appended is not
// looked up in the index of references, which would find all.
func selectEvents(registrations string) string {
	return fmt.Sprintf(`
		WITH r AS MATERIALIZED (
			SELECT domain, reference, coalesce((SELECT n.at FROM events n WHERE n.domain = given.domain ORDER BY n.at DESC LIMIT 1 OFFSET %d), 0) AS since
			  FROM (%s) given)
		SELECT e.reference, e.type, e.about_at, e.domain, e.at
		  FROM r CROSS JOIN events e WHERE e.domain = r.domain AND e.at >= r.since AND e.reference || '' = r.reference
		UNION
		SELECT e.reference, e.type, e.about_at, e.domain, e.at
		  FROM r CROSS JOIN events e WHERE e.reference = r.reference AND e.type IN ('registered', 'transferred_in')
		 ORDER BY at, about_at, type`, maxEvents-1, registrations)
}

var selectEventsOfOne = selectEvents("SELECT CAST($1 AS TEXT) AS domain, CAST($2 AS TEXT) AS reference")

// Events implements registration.Names.
func (s Registrations) Events(ctx context.Context, is lifecycle.Registration) (events []lifecycle.Event, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	return readAll(ctx, s.DB.read, scanEvent, selectEventsOfOne, is.Name, is.Reference)
}

// selectLastEvent reads the last event of a type by the primary key, however many there are:
// of the types that happen more than once, the time that they are about is that of the event,
// or an expiry, which is later each time.
const selectLastEvent = `
	SELECT coalesce(max(at), 0) FROM (SELECT at FROM events WHERE reference = $1 AND type = $2 ORDER BY about_at DESC LIMIT 1) newest`

// LastEvent implements registration.Names.
func (s Registrations) LastEvent(ctx context.Context, reference string, types ...lifecycle.EventType) (last time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	for _, t := range types {
		var at int64
		if err := s.DB.read.QueryRowContext(ctx, selectLastEvent, reference, t).Scan(&at); err != nil {
			return last, err
		}
		if e := timeOrZero(at); e.After(last) {
			last = e
		}
	}
	return last, nil
}

func scanEvent(row scanner) (e lifecycle.Event, err error) {
	var about, at int64
	err = row.Scan(&e.Reference, &e.Type, &about, &e.Name, &at)
	e.About, e.At = timeOrZero(about), timeOrZero(at)
	return e, err
}
