package dnszone

import "deed.example/deed"

// RecordOf returns the record of rr in the zone, in canonical form and without an
// ID. It fails with CodeValidation when it is not a valid record.
func RecordOf(zone deed.Name, rr RR) (Record, error) {
	t, err := typeByCode(rr.Type)
	if err != nil {
		return Record{}, err
	}
	host, inside := cutZone(rr.Owner, zone)
	if !inside {
		return Record{}, deed.Invalid("host", "%s is not in %s", deed.Quoted(rr.Owner), zone)
	}
	r := Record{Type: t.name, Host: host, TTL: int(rr.TTL)}
	if err := checkTTL(r.TTL); err != nil {
		return Record{}, err
	}
	if r, err = r.withRdata(t, rr.Data); err != nil {
		return Record{}, err
	}
	return r.Canonical(zone)
}
