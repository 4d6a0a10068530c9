package dnszone

import (
	"maps"
	"slices"
	"time"

	"deed.example/deed"
)

// Limits of a zone. Bytes are those of the record data in wire format.
const (
	maxRecords     = 1000
	maxRecordBytes = 4096
	maxSetBytes    = 8192 // of one host and type
	maxTypes       = 256  // of one host: BIND refuses a zone with too many, and counts signatures as others
)

// A draft is a zone while it is being changed. Ops may pass through states that are
// invalid for a zone (a CNAME is added before the address it replaces is deleted),
// so the records of a host are checked once, at the end.
type draft struct {
	before  Zone
	records []Record
	deleted []bool           // by index in records
	indexes map[RecordID]int // of those not deleted
	changed map[string]int   // host → the last op that changed it
	ops     int
}

// A violation is a rule that the result of the ops breaks.
type violation struct {
	op   int    // that caused it
	host string // where it is; "" for the zone as a whole
	err  error
}

func newDraft(z Zone) *draft {
	d := &draft{
		before:  z,
		records: slices.Clone(z.Records),
		deleted: make([]bool, len(z.Records)),
		indexes: make(map[RecordID]int, len(z.Records)+1),
		changed: map[string]int{},
	}
	for i, r := range z.Records {
		if r.ID != "" {
			d.indexes[r.ID] = i
		}
	}
	return d
}

// do applies one op.
func (d *draft) do(op RecordOp, now time.Time) error {
	at := d.ops
	d.ops++
	if op.Op == OpAdd {
		return d.add(op, now, at)
	}
	index, ok := d.indexes[op.ID.Short()]
	if !ok {
		return d.before.noRecord(op.ID)
	}
	d.changed[d.records[index].Host] = at
	switch op.Op {
	case OpDelete:
		d.deleted[index] = true
		delete(d.indexes, op.ID.Short())
		return nil
	case OpUpdate:
		rec, err := d.records[index].Update(op.Patch, d.before.Name)
		if err != nil {
			return err
		}
		if !now.IsZero() {
			rec.Updated = now
		}
		d.records[index] = rec
		d.changed[rec.Host] = at
		return nil
	}
	return deed.Invalid("op", "%s is not an operation: write add, update or delete", deed.Quoted(string(op.Op)))
}

func (d *draft) add(op RecordOp, now time.Time, at int) error {
	id := op.ID.Short()
	if _, taken := d.indexes[id]; taken {
		return deed.Errorf(deed.CodeDNS, "a new record of %s got the id of an existing one: retry the request", d.before.Name)
	}
	rec, err := op.Record.Canonical(d.before.Name)
	if err != nil {
		return err
	}
	rec.ID = id
	if !now.IsZero() {
		rec.Created, rec.Updated = now, now
	}
	if id != "" { // in a dry run the IDs may not be set
		d.indexes[id] = len(d.records)
	}
	d.records = append(d.records, rec)
	d.deleted = append(d.deleted, false)
	d.changed[rec.Host] = at
	return nil
}

// zone returns the result of the ops, and all rules that it breaks.
func (d *draft) zone() (Zone, []violation) {
	z := d.before
	z.Records = make([]Record, 0, len(d.records))
	hosts := map[string][]Record{}
	for i, r := range d.records {
		if d.deleted[i] {
			continue
		}
		z.Records = append(z.Records, r)
		if _, ok := d.changed[r.Host]; ok {
			hosts[r.Host] = append(hosts[r.Host], r)
		}
	}
	if len(z.Records) > maxRecords {
		err := deed.Invalid("records", "%s would have %d records, the maximum is %d", z.Name, len(z.Records), maxRecords)
		return z, []violation{{op: d.ops - 1, err: err}}
	}
	var found []violation
	if err := checkAliases(z); err != nil {
		found = append(found, violation{op: d.ops - 1, err: err})
	}
	add := func(host string, err error) {
		op, ok := d.changed[host]
		if !ok {
			op = d.ops - 1
		}
		found = append(found, violation{op, host, err})
	}
	for _, host := range slices.Sorted(maps.Keys(hosts)) {
		if err := checkHost(z.Name, hosts[host]); err != nil {
			add(host, err)
		}
	}
	checkDNAMEs(z, add)
	checkDelegations(d.before, z, add)
	checkLoops(d.before, z, add)
	checkForwardLoops(d.before, z, add)
	return z, found
}
