package dnszone

// A setKey identifies the records of one host and type.
type setKey struct{ host, kind string }

// Diff returns the smallest list of ops that turn the records of z into want, whose
// records are canonical. A record with the same data and another TTL is updated,
// and so is one that is replaced by another of its host and type. The caller sets
// the IDs of added records.
func (z Zone) Diff(want []Record) []RecordOp {
	missing, surplus, ops := z.match(want)
	var adds []RecordOp
	for _, r := range missing {
		set := setKey{r.Host, r.Type}
		old := surplus[set]
		if len(old) == 0 {
			adds = append(adds, addOp(r))
			continue
		}
		surplus[set] = old[1:]
		ops = append(ops, RecordOp{Op: OpUpdate, ID: old[0].ID, Patch: old[0].patchTo(r)})
	}
	var deletes []RecordOp
	for _, r := range z.Records {
		set := setKey{r.Host, r.Type}
		if old := surplus[set]; len(old) > 0 && old[0].ID == r.ID {
			surplus[set] = old[1:]
			deletes = append(deletes, RecordOp{Op: OpDelete, ID: r.ID})
		}
	}
	return append(append(deletes, ops...), adds...)
}

// match removes the records that z and want have in common. It returns the
// remaining ones of both, and the ops that update the TTL of the common records.
func (z Zone) match(want []Record) (missing []Record, surplus map[setKey][]Record, ops []RecordOp) {
	wanted := make(map[dataKey]int, len(want))
	for i, r := range want {
		wanted[r.dataKey()] = i
	}
	met := make([]bool, len(want))
	surplus = map[setKey][]Record{}
	for _, r := range z.Records {
		i, ok := wanted[r.dataKey()]
		if !ok {
			set := setKey{r.Host, r.Type}
			surplus[set] = append(surplus[set], r)
			continue
		}
		met[i] = true
		if r.TTL != want[i].TTL {
			ops = append(ops, RecordOp{Op: OpUpdate, ID: r.ID, Patch: r.patchTo(want[i])})
		}
	}
	for i, r := range want {
		if !met[i] {
			missing = append(missing, r)
		}
	}
	return missing, surplus, ops
}

// Merge returns the ops that add the records of want that z does not have. A record
// with the same data is unchanged, whatever its TTL.
func (z Zone) Merge(want []Record) []RecordOp {
	missing, _, _ := z.match(want)
	var ops []RecordOp
	for _, r := range missing {
		ops = append(ops, addOp(r))
	}
	return ops
}

// addOp returns the op that adds the record as a new one.
func addOp(r Record) RecordOp {
	return RecordOp{Op: OpAdd, Record: Record{Type: r.Type, Host: r.Host, Value: r.Value, TTL: r.TTL, Distance: r.Distance}}
}

// patchTo returns the patch that turns r into want, which has the same host and
// type.
func (r Record) patchTo(want Record) RecordPatch {
	var p RecordPatch
	if r.Value != want.Value {
		p.Value = &want.Value
	}
	if r.TTL != want.TTL {
		p.TTL = &want.TTL
	}
	if r.preference() != want.preference() {
		p.Distance = want.Distance // the weight of an SRV is part of its value
	}
	return p
}
