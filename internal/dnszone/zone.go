package dnszone

import (
	"strings"
	"time"

	"deed.example/deed"
)

// A RecordID identifies one record for its lifetime, and is never reused in its
// zone. It has at most 14 characters of [a-z0-9]: clients show it in a column of
// 15.
type RecordID string

// IDs used to be rec_ and 26 characters. They still work: such an ID refers to the
// record whose ID is the first 14 of the 26.
const (
	oldIDPrefix = "rec_"
	oldIDLength = len(oldIDPrefix) + 26
	maxRecordID = 14
)

// Short returns the ID in its current form, whichever form a caller, or a change
// that was stored earlier, uses. A migration shortened the IDs of the records
// themselves by the same rule.
func (id RecordID) Short() RecordID {
	if len(id) == oldIDLength && strings.HasPrefix(string(id), oldIDPrefix) {
		return id[len(oldIDPrefix) : len(oldIDPrefix)+maxRecordID]
	}
	return id
}

// A Record is one DNS resource record of a zone (interface document, 2.3).
// Canonical returns its canonical form; the records of a Zone have it.
type Record struct {
	ID       RecordID
	Type     string // "A", "MX", …
	Host     string // relative to the zone; "@" is the apex
	Value    string // names in it are absolute and without the trailing dot; a TXT is its text
	TTL      int    // seconds
	Distance *int   // MX preference or SRV weight; nil for other types
	Created  time.Time
	Updated  time.Time
}

// A Zone is the full set of records of one registered name. Serial is the SOA
// serial; it increases with every change, and also when the service signs the zone
// again, or looks an ALIAS up. Revision is what it was after the last change of Records.
// The SOA and the NS records at the apex are managed by the service and not among Records.
type Zone struct {
	Name     deed.Name
	Owner    deed.Wallet
	Expires  time.Time // of its registration
	Serial   uint32
	Revision uint32
	Signed   bool // it is served with signatures, see dnssec
	Records  []Record
}

// OwnedBy fails with CodeOwnershipDenied unless who owns the zone.
func (z Zone) OwnedBy(who deed.Wallet) error {
	if z.Owner != who {
		return deed.Errorf(deed.CodeOwnershipDenied, "%s belongs to another wallet", z.Name)
	}
	return nil
}

// Record returns the record with the given ID, in either form, or CodeNotFound.
func (z Zone) Record(id RecordID) (Record, error) {
	for _, r := range z.Records {
		if r.ID == id.Short() {
			return r, nil
		}
	}
	return Record{}, z.noRecord(id)
}

// Matching returns the records of a type and at a host, each as a caller writes it;
// "" matches any. It fails with CodeValidation when the type or host is invalid.
func (z Zone) Matching(kind, host string) (found []Record, err error) {
	if kind != "" {
		t, err := recordTypeOf(kind)
		if err != nil {
			return nil, err
		}
		kind = t.name
	}
	if host != "" {
		if host, err = relativeHost(host, z.Name); err != nil {
			return nil, err
		}
	}
	for _, r := range z.Records {
		if (kind == "" || r.Type == kind) && (host == "" || r.Host == host) {
			found = append(found, r)
		}
	}
	return found, nil
}

func (z Zone) noRecord(id RecordID) error {
	return deed.WithNext(deed.Errorf(deed.CodeNotFound, "%s has no record %s", z.Name, deed.Quoted(string(id))), deed.Next{Action: deed.ActionListRecords, Domain: z.Name})
}

// Add returns the zone with the canonical form of rec added. The receiver is
// unchanged, and so are the serial and the times, which Change.Apply sets.
//
// It fails with CodeValidation when rec is malformed or cannot coexist with the
// existing records.
func (z Zone) Add(rec Record) (Zone, error) {
	return z.apply(RecordOp{Op: OpAdd, ID: rec.ID, Record: rec})
}

// Update returns the zone with the record changed by p. It fails with
// CodeNotFound when there is no such record, and as Add does.
func (z Zone) Update(id RecordID, p RecordPatch) (Zone, error) {
	return z.apply(RecordOp{Op: OpUpdate, ID: id, Patch: p})
}

// Delete returns the zone without the record. It fails with CodeNotFound when there
// is no such record, and with CodeValidation when another one needs it: a DS
// requires an NS.
func (z Zone) Delete(id RecordID) (Zone, error) {
	return z.apply(RecordOp{Op: OpDelete, ID: id})
}

func (z Zone) apply(op RecordOp) (Zone, error) {
	d := newDraft(z)
	if err := d.do(op, time.Time{}); err != nil {
		return Zone{}, err
	}
	next, found := d.zone()
	if len(found) > 0 {
		return Zone{}, found[0].err
	}
	return next, nil
}

// checkHost reports why the records of one host cannot coexist.
func checkHost(zone deed.Name, recs []Record) error {
	seen := make(map[dataKey]bool, len(recs))
	sizes := map[string]int{} // by type
	for _, r := range recs {
		key := r.dataKey()
		if seen[key] {
			return deed.Invalid("value", "%s already has this %s record: change the existing one", deed.Quoted(absolute(r.Host, zone)), r.Type)
		}
		seen[key] = true
		rr, err := r.served(zone)
		if err != nil {
			return err
		}
		sizes[r.Type] += len(rr.Data)
		if sizes[r.Type] > maxSetBytes {
			return deed.Invalid("value", "the %s records of %s would take more than %d bytes: delete some first", r.Type, deed.Quoted(absolute(r.Host, zone)), maxSetBytes)
		}
	}
	if len(sizes) > maxTypes {
		return deed.Invalid("type", "%s would have records of %d types, the maximum is %d", deed.Quoted(absolute(recs[0].Host, zone)), len(sizes), maxTypes)
	}
	return checkCoexistence(absolute(recs[0].Host, zone), recs)
}

// checkCoexistence checks the types of the records of one host: some types do not
// allow others.
func checkCoexistence(host string, recs []Record) error {
	count := map[string]int{}
	nullMX := false
	aliases := map[string]int{} // HTTPS and SVCB in alias mode, by type
	for _, r := range recs {
		count[r.Type]++
		nullMX = nullMX || r.Type == "MX" && r.Value == "."
		if (r.Type == "HTTPS" || r.Type == "SVCB") && strings.HasPrefix(r.Value, "0 ") {
			aliases[r.Type]++
		}
	}
	for kind, n := range aliases {
		if n < count[kind] { // RFC 9460, 2.4.1
			return deed.Invalid("value", "%s records of %s are either aliases (priority 0) or services (priority from 1), not both: clients would ignore the services", kind, deed.Quoted(host))
		}
	}
	if err := checkSynthetic(host, count); err != nil {
		return err
	}
	switch {
	case count["CNAME"] > 0 && len(recs) > 1: // RFC 1034, 3.6.2
		return deed.Invalid("host", "a CNAME must be the only record at %s: delete the others or choose another host", deed.Quoted(host))
	case count["DNAME"] > 1: // RFC 6672, 2.4
		return deed.Invalid("host", "%s has a DNAME: there is at most one at a host", deed.Quoted(host))
	case count["DNAME"] > 0 && count["NS"] > 0:
		return deed.Invalid("host", "%s cannot be delegated by NS records and redirected by a DNAME: delete one of them", deed.Quoted(host))
	case nullMX && count["MX"] > 1: // RFC 7505, 3
		return deed.Invalid("value", `the MX "." means that %s accepts no mail, so it must be the only MX record`, deed.Quoted(host))
	case count["DS"] > 0 && count["NS"] == 0: // RFC 4035, 2.4
		return deed.Invalid("type", "a DS requires NS records that delegate %s: add those first, and delete them last", deed.Quoted(host))
	}
	return nil
}

// A dataKey is equal for two records of a zone exactly when they are the same in
// the DNS.
type dataKey struct {
	host, kind, value string
	preference        int
}

// dataKey returns the key of a canonical record. The weight of an SRV is part of
// its value, so only an MX needs the distance.
func (r Record) dataKey() dataKey {
	return dataKey{r.Host, r.Type, r.Value, r.preference()}
}

// preference returns the distance of an MX, and 0 for all others.
func (r Record) preference() int {
	if r.Type != "MX" || r.Distance == nil {
		return 0
	}
	return *r.Distance
}
