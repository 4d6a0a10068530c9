package dnszone

import (
	"fmt"
	"reflect"
	"time"

	"deed.example/deed"
)

// A ChangeKind is the kind of request that a Change came from.
type ChangeKind string

// The kinds of change. Imports and rollbacks are batches.
const (
	ChangeAdd    ChangeKind = "add"
	ChangeUpdate ChangeKind = "update"
	ChangeDelete ChangeKind = "delete"
	ChangeBatch  ChangeKind = "batch"
)

// An OpKind is the kind of a RecordOp.
type OpKind string

// The kinds of operations.
const (
	OpAdd    OpKind = "add"
	OpUpdate OpKind = "update"
	OpDelete OpKind = "delete"
)

// A RecordOp is one operation on one record.
type RecordOp struct {
	Op     OpKind
	ID     RecordID    // the record, as the caller wrote its ID; for OpAdd the new ID, set by the creator of the op
	Record Record      // for OpAdd; its own ID is ignored
	Patch  RecordPatch // for OpUpdate
}

// A Change is one change of a zone, as plain data: it is stored with the payment
// that buys it and may be applied later, by another process.
type Change struct {
	Kind       ChangeKind
	Zone       deed.Name
	By         deed.Wallet // the caller; must own the zone when the change is applied
	Ops        []RecordOp
	IfRevision uint32 // the required revision of the zone; 0 for any
}

// maxOps is enough to delete every record of a full zone and to fill it again.
const maxOps = 2 * maxRecords

// Count returns the number of ops; each is paid for.
func (c Change) Count() int { return len(c.Ops) }

// Added returns the records that the change adds.
func (c Change) Added() (records []Record) {
	for _, op := range c.Ops {
		if op.Op == OpAdd {
			records = append(records, op.Record)
		}
	}
	return records
}

// Apply returns z after the change, or an error with CodeOwnershipDenied,
// CodeValidation or CodeNotFound. All ops are applied or none, and the rules for
// coexisting records are checked on the result, not on the intermediate states. The
// new serial is the Unix time, or the next number if that is not larger.
//
// It is pure. It runs once on a copy, before any money moves, and again on the zone
// that is locked for writing.
func (c Change) Apply(z Zone, now time.Time) (Zone, error) {
	if c.Zone != z.Name {
		return Zone{}, fmt.Errorf("a change of %s was applied to %s", c.Zone, z.Name)
	}
	if err := z.OwnedBy(c.By); err != nil {
		return Zone{}, err
	}
	if err := c.check(z.Revision); err != nil {
		return Zone{}, err
	}
	d := newDraft(z)
	for i, op := range c.Ops {
		if err := d.do(op, now); err != nil {
			return Zone{}, c.at(i, err)
		}
	}
	next, found := d.zone()
	if len(found) > 0 {
		return Zone{}, c.at(found[0].op, found[0].err)
	}
	next.Serial = max(z.Serial+1, uint32(now.Unix()))
	next.Revision = next.Serial
	return next, nil
}

// ErrEmpty is the error of a change without operations.
var ErrEmpty = deed.Invalid("changes", "is empty: write at least one change")

// check validates the change as a whole.
func (c Change) check(revision uint32) error {
	switch {
	case len(c.Ops) == 0:
		return ErrEmpty
	case len(c.Ops) > maxOps:
		return deed.Invalid("changes", "has %d entries, the maximum is %d", len(c.Ops), maxOps)
	case c.Kind != ChangeBatch && (len(c.Ops) > 1 || string(c.Kind) != string(c.Ops[0].Op)):
		return fmt.Errorf("a change of kind %q has %d ops, the first to %q", c.Kind, len(c.Ops), c.Ops[0].Op)
	case c.IfRevision != 0 && c.IfRevision != revision:
		return deed.Invalid("ifRevision", "the zone is at revision %d, not at %d: read it again and retry", revision, c.IfRevision)
	}
	return nil
}

// at adds the index of the op to an error of a batch.
func (c Change) at(i int, err error) error {
	if c.Kind != ChangeBatch {
		return err
	}
	return deed.Within(fmt.Sprintf("changes[%d]", i), err)
}

// Same reports whether c and d are the same request. The IDs of records to add are
// ignored: the service assigns new ones with each attempt.
func (c Change) Same(d Change) bool {
	c.Ops, d.Ops = WithoutGivenIDs(c.Ops), WithoutGivenIDs(d.Ops)
	return reflect.DeepEqual(c, d)
}

// WithoutGivenIDs returns the ops without the IDs that the service assigned.
func WithoutGivenIDs(ops []RecordOp) []RecordOp {
	if len(ops) == 0 {
		return nil
	}
	out := make([]RecordOp, len(ops))
	for i, op := range ops {
		if op.Op == OpAdd {
			op.ID, op.Record.ID = "", ""
		}
		out[i] = op
	}
	return out
}
