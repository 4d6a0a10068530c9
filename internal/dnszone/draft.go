package dnszone

import (
	"maps"
	"slices"
	"time"

	"deed.example/deed"
)

// How much a zone holds. Bytes are those of the data on the wire.
const (
	maxRecords     = 1000
	maxRecordBytes = 4096
	maxSetBytes    = 8192 // of one host and type
)

// A draft is a zone while it is being changed. Ops may pass through states that
// no zone may have (a CNAME that comes before the address it replaces has
// gone), so the records of a host are held to the rules once, at the end.
type draft struct {
	before  Zone
	records []Record
	gone    []bool           // by place in records
	places  map[RecordID]int // of those not gone
	touched map[string]int   // host → the last op that changed it
	ops     int
	culprit int // the op that zone complains about
}

func newDraft(z Zone) *draft {
	d := &draft{
		before:  z,
		records: slices.Clone(z.Records),
		gone:    make([]bool, len(z.Records)),
		places:  make(map[RecordID]int, len(z.Records)+1),
		touched: map[string]int{},
	}
	for i, r := range z.Records {
		if r.ID != "" {
			d.places[r.ID] = i
		}
	}
	return d
}

// do makes one op.
func (d *draft) do(op RecordOp, now time.Time) error {
	at := d.ops
	d.ops++
	if op.Op == OpAdd {
		return d.add(op, now, at)
	}
	place, ok := d.places[op.ID.Short()]
	if !ok {
		return d.before.noRecord(op.ID)
	}
	d.touched[d.records[place].Host] = at
	switch op.Op {
	case OpDelete:
		d.gone[place] = true
		delete(d.places, op.ID.Short())
		return nil
	case OpUpdate:
		rec, err := d.records[place].Update(op.Patch, d.before.Name)
		if err != nil {
			return err
		}
		if !now.IsZero() {
			rec.Updated = now
		}
		d.records[place] = rec
		d.touched[rec.Host] = at
		return nil
	}
	return deed.Invalid("op", "%s is none: write add, update or delete", deed.Quoted(string(op.Op)))
}

func (d *draft) add(op RecordOp, now time.Time, at int) error {
	id := op.ID.Short()
	if _, taken := d.places[id]; taken {
		return deed.Errorf(deed.CodeDNS, "a new record of %s got the id of another one: ask for the change again", d.before.Name)
	}
	rec, err := op.Record.Canonical(d.before.Name)
	if err != nil {
		return err
	}
	rec.ID = id
	if !now.IsZero() {
		rec.Created, rec.Updated = now, now
	}
	if id != "" { // a dry run may come before the IDs
		d.places[id] = len(d.records)
	}
	d.records = append(d.records, rec)
	d.gone = append(d.gone, false)
	d.touched[rec.Host] = at
	return nil
}

// zone returns what the ops made, when it may stand.
func (d *draft) zone() (Zone, error) {
	z := d.before
	z.Records = make([]Record, 0, len(d.records))
	hosts := map[string][]Record{}
	for i, r := range d.records {
		if d.gone[i] {
			continue
		}
		z.Records = append(z.Records, r)
		if _, ok := d.touched[r.Host]; ok {
			hosts[r.Host] = append(hosts[r.Host], r)
		}
	}
	if len(z.Records) > maxRecords {
		d.culprit = d.ops - 1
		return Zone{}, deed.Invalid("records", "%s would have %d records, and %d are the most", z.Name, len(z.Records), maxRecords)
	}
	for _, host := range slices.Sorted(maps.Keys(hosts)) {
		if err := checkHost(z.Name, hosts[host]); err != nil {
			d.culprit = d.touched[host]
			return Zone{}, err
		}
	}
	return z, nil
}
