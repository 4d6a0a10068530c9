package zone

import (
	"context"
	"fmt"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/order"
)

// Record returns the record of a change of one record, as it is after the change.
func (s *Service) Record(ctx context.Context, j order.Job) (dnszone.Record, error) {
	if len(j.Purchase.Change.Ops) == 0 {
		return dnszone.Record{}, fmt.Errorf("job %s changed no record", j.ID)
	}
	return s.Store.RecordAt(ctx, j.Purchase.Name, j.Purchase.Change.Ops[0].ID, j.Revision)
}

// Around returns the zone before and after a revision, even if it has ended since,
// or CodeNotFound. Only the name, the records and, after, the revision are set.
func (s *Service) Around(ctx context.Context, name deed.Name, revision uint32) (before, after dnszone.Zone, err error) {
	before, after = dnszone.Zone{Name: name}, dnszone.Zone{Name: name, Revision: revision}
	before.Records, after.Records, err = s.History.Around(ctx, name, revision)
	return before, after, err
}
