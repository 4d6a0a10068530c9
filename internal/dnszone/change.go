package dnszone

import (
	"fmt"
	"reflect"
	"time"

	"deed.example/deed"
)

// A ChangeKind says what a ZoneChange was asked for as.
type ChangeKind string

// The kinds of change. Imports and rollbacks are batches.
const (
	ChangeAdd    ChangeKind = "add"
	ChangeUpdate ChangeKind = "update"
	ChangeDelete ChangeKind = "delete"
	ChangeBatch  ChangeKind = "batch"
)

// An OpKind says what a RecordOp does.
type OpKind string

// The kinds of op.
const (
	OpAdd    OpKind = "add"
	OpUpdate OpKind = "update"
	OpDelete OpKind = "delete"
)

// A RecordOp does one thing to one record.
type RecordOp struct {
	Op     OpKind
	ID     RecordID    // which record, as the caller named it; for OpAdd the ID that it gets, given by whoever makes the op
	Record Record      `json:",omitzero"` // for OpAdd; its own ID does not count
	Patch  RecordPatch `json:",omitzero"` // for OpUpdate
}

// A ZoneChange is one change of a zone, as plain data: it is stored with the
// payment that buys it and may be made later, by another process. Its fields
// are stored by name, so a field that is renamed needs a migration.
type Change struct {
	Kind       ChangeKind
	Zone       deed.Name
	By         deed.Wallet // who asks for it; must own the zone when it is made
	Ops        []RecordOp
	IfRevision uint32 `json:",omitzero"` // the serial that the zone must have; 0 for any
}

// maxOps is enough to take every record of a full zone away and to fill it
// again.
const maxOps = 2 * maxRecords

// Count returns how many ops the change has; each is paid for.
func (c Change) Count() int { return len(c.Ops) }

// Apply returns z as it will be, or why it cannot be so: CodeOwnershipDenied,
// CodeValidation or CodeNotFound. All ops are made or none, and the rules for
// records that live together are held to what they leave behind, not to the
// steps between. The new serial is the time, or the next number when that is
// not larger.
//
// It is pure. It runs once on a copy, before any money moves, and once more on
// the zone that is held for writing.
func (c Change) Apply(z Zone, now time.Time) (Zone, error) {
	if c.Zone != z.Name {
		return Zone{}, fmt.Errorf("a change of %s was applied to %s", c.Zone, z.Name)
	}
	if err := z.OwnedBy(c.By); err != nil {
		return Zone{}, err
	}
	if err := c.check(z.Serial); err != nil {
		return Zone{}, err
	}
	d := newDraft(z)
	for i, op := range c.Ops {
		if err := d.do(op, now); err != nil {
			return Zone{}, c.at(i, err)
		}
	}
	next, err := d.zone()
	if err != nil {
		return Zone{}, c.at(d.culprit, err)
	}
	next.Serial = max(z.Serial+1, uint32(now.Unix()))
	return next, nil
}

// check says what is wrong with the change as a whole.
func (c Change) check(serial uint32) error {
	switch {
	case len(c.Ops) == 0:
		return deed.Invalid("changes", "there are none: say at least one thing to do")
	case len(c.Ops) > maxOps:
		return deed.Invalid("changes", "there are %d, and %d are the most at once", len(c.Ops), maxOps)
	case c.Kind != ChangeBatch && (len(c.Ops) > 1 || string(c.Kind) != string(c.Ops[0].Op)):
		return fmt.Errorf("a change of kind %q has %d ops, the first to %q", c.Kind, len(c.Ops), c.Ops[0].Op)
	case c.IfRevision != 0 && c.IfRevision != serial:
		return deed.Invalid("ifRevision", "the zone is at revision %d, not at %d: read it again and decide anew", serial, c.IfRevision)
	}
	return nil
}

// at says which op of a batch an error is about.
func (c Change) at(i int, err error) error {
	if c.Kind != ChangeBatch {
		return err
	}
	return deed.Within(fmt.Sprintf("changes[%d]", i), err)
}

// Same says whether c and d ask for the same thing. The IDs of records to add
// do not count: we give them, anew with each try.
func (c Change) Same(d Change) bool {
	c.Ops, d.Ops = WithoutGivenIDs(c.Ops), WithoutGivenIDs(d.Ops)
	return reflect.DeepEqual(c, d)
}

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
