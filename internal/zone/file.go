package zone

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/order"
)

// An Import replaces or extends a zone with the records of a zone file.
type Import struct {
	Name    deed.Name
	By      deed.Wallet
	File    []byte
	Replace bool // delete records that are not in the file
	Clamp   bool // change TTLs that are not allowed to the nearest allowed ones
}

// Request returns the request to buy the import, for the price of each record that
// changes. The resulting change depends on the zone, so the payment is bound to the
// file instead.
func (in Import) Request() order.Request {
	mode := "merge"
	if in.Replace {
		mode = "replace"
	}
	if in.Clamp {
		mode += " clamp"
	}
	p := order.PurchaseOf(dnszone.Change{Kind: dnszone.ChangeBatch, Zone: in.Name, By: in.By})
	p.RequestKey = fmt.Sprintf("import %s %x", mode, sha256.Sum256(in.File))
	return order.Request{Purchase: p, Basis: in}
}

// PlanImport returns the change that the import results in, and the zone it is
// based on. A change without ops is a no-op.
func (s *Service) PlanImport(ctx context.Context, in Import) (dnszone.Change, dnszone.Zone, error) {
	z, err := s.changeable(ctx, in.By, in.Name)
	if err != nil {
		return dnszone.Change{}, z, err
	}
	file, err := dnszone.ReadZoneFile(dnszone.ZoneFile{Zone: in.Name, Text: bytes.NewReader(in.File), ClampTTL: in.Clamp})
	if err != nil {
		return dnszone.Change{}, z, err
	}
	ops := z.Merge(file.Records)
	if in.Replace {
		ops = z.Diff(file.Records)
	}
	c, z, err := s.plan(z, in.By, ops)
	if deed.CodeOf(err) == deed.CodeValidation {
		// The caller sent a file, and knows nothing of our ops.
		if located := file.CheckImport(c, z); located != nil {
			err = located
		}
	}
	return c, z, err
}

// plan returns a batch change of ops against z, after checking that it applies.
func (s *Service) plan(z dnszone.Zone, by deed.Wallet, ops []dnszone.RecordOp) (dnszone.Change, dnszone.Zone, error) {
	c := dnszone.Change{Kind: dnszone.ChangeBatch, Zone: z.Name, By: by, Ops: ops, IfRevision: z.Revision}
	if len(ops) == 0 {
		return c, z, nil
	}
	if err := dnszone.CheckForwards(c.Added(), s.Forwards); err != nil {
		return c, z, err
	}
	_, err := c.Apply(z, s.Now())
	return c, z, err
}

// A Rollback restores the records of an earlier revision.
type Rollback struct {
	Name     deed.Name
	By       deed.Wallet
	Revision uint32
}

// Request returns the request to buy the rollback. As for an import, the payment is
// bound to the request and not to the change.
func (r Rollback) Request() order.Request {
	p := order.PurchaseOf(dnszone.Change{Kind: dnszone.ChangeBatch, Zone: r.Name, By: r.By})
	p.RequestKey = fmt.Sprintf("rollback %d", r.Revision)
	return order.Request{Purchase: p, Basis: r}
}

// PlanRollback returns the change that the rollback results in, and the zone it is
// based on.
func (s *Service) PlanRollback(ctx context.Context, r Rollback) (dnszone.Change, dnszone.Zone, error) {
	z, err := s.changeable(ctx, r.By, r.Name)
	if err != nil {
		return dnszone.Change{}, z, err
	}
	want, err := s.History.RecordsAt(ctx, r.Name, r.Revision)
	if err != nil {
		return dnszone.Change{}, z, err
	}
	return s.plan(z, r.By, z.Diff(want))
}

// Revisions returns the history of a zone to its owner.
func (s *Service) Revisions(ctx context.Context, who deed.Wallet, name deed.Name) ([]dnszone.Revision, error) {
	if _, err := s.Zone(ctx, who, name); err != nil {
		return nil, err
	}
	return s.History.Revisions(ctx, name)
}
