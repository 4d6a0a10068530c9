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

// purchase returns what an import buys. The resulting change depends on the zone,
// so the payment is bound to the file instead.
func (in Import) purchase() order.Purchase {
	mode := "merge"
	if in.Replace {
		mode = "replace"
	}
	if in.Clamp {
		mode += " clamp"
	}
	p := order.PurchaseOf(dnszone.Change{Kind: dnszone.ChangeBatch, Zone: in.Name, By: in.By})
	p.RequestKey = fmt.Sprintf("import %s %x", mode, sha256.Sum256(in.File))
	return p
}

// PlanImport returns the change that the import results in, and the zone it is
// based on. A change without ops is a no-op.
func (s *Service) PlanImport(ctx context.Context, in Import) (dnszone.Change, dnszone.Zone, error) {
	z, err := s.Zone(ctx, in.By, in.Name)
	if err != nil {
		return dnszone.Change{}, z, err
	}
	want, err := dnszone.ParseZoneFile(dnszone.ZoneFile{Zone: in.Name, Text: bytes.NewReader(in.File), ClampTTL: in.Clamp})
	if err != nil {
		return dnszone.Change{}, z, err
	}
	ops := z.Merge(want)
	if in.Replace {
		ops = z.Diff(want)
	}
	return s.plan(z, in.By, ops)
}

// plan returns a batch change of ops against z, after checking that it applies.
func (s *Service) plan(z dnszone.Zone, by deed.Wallet, ops []dnszone.RecordOp) (dnszone.Change, dnszone.Zone, error) {
	c := dnszone.Change{Kind: dnszone.ChangeBatch, Zone: z.Name, By: by, Ops: ops, IfRevision: z.Serial}
	if len(ops) == 0 {
		return c, z, nil
	}
	_, err := c.Apply(z, s.Now())
	return c, z, err
}

// Import applies the file to the zone, for the price of each record that changes.
func (s *Service) Import(ctx context.Context, in Import, pay order.Checkout) (Outcome, error) {
	return s.buy(ctx, in.purchase(), pay, func(ctx context.Context) (dnszone.Change, error) {
		c, _, err := s.PlanImport(ctx, in)
		return c, err
	})
}

// A Rollback restores the records of an earlier revision.
type Rollback struct {
	Name     deed.Name
	By       deed.Wallet
	Revision uint32
}

// PlanRollback returns the change that the rollback results in, and the zone it is
// based on.
func (s *Service) PlanRollback(ctx context.Context, r Rollback) (dnszone.Change, dnszone.Zone, error) {
	z, err := s.Zone(ctx, r.By, r.Name)
	if err != nil {
		return dnszone.Change{}, z, err
	}
	want, err := s.History.RecordsAt(ctx, r.Name, r.Revision)
	if err != nil {
		return dnszone.Change{}, z, err
	}
	return s.plan(z, r.By, z.Diff(want))
}

// Rollback restores the records of the revision.
func (s *Service) Rollback(ctx context.Context, r Rollback, pay order.Checkout) (Outcome, error) {
	want := order.PurchaseOf(dnszone.Change{Kind: dnszone.ChangeBatch, Zone: r.Name, By: r.By})
	want.RequestKey = fmt.Sprintf("rollback %d", r.Revision)
	return s.buy(ctx, want, pay, func(ctx context.Context) (dnszone.Change, error) {
		c, _, err := s.PlanRollback(ctx, r)
		return c, err
	})
}

// Revisions returns the history of a zone to its owner.
func (s *Service) Revisions(ctx context.Context, who deed.Wallet, name deed.Name) ([]dnszone.Revision, error) {
	if _, err := s.Zone(ctx, who, name); err != nil {
		return nil, err
	}
	return s.History.Revisions(ctx, name)
}
