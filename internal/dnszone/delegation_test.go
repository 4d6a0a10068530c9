package dnszone_test

import (
	"testing"

	"deed.example/deed/internal/dnszone"
)

// A delegation below another one is refused, whichever is added first, unless it is there
// already. The addresses of the servers may be there.
func TestDelegationsBelowOthers(t *testing.T) {
	upper, lower, other := rec("NS", "sub", "ns.sub.example.com"), rec("NS", "a.b.sub", "ns.example.net"), rec("NS", "x-sub", "ns.example.net")
	upper.ID, lower.ID, other.ID = "upper", "lower", "other"
	_, err := zoneOf(t, upper, other, rec("A", "ns.sub", "192.0.2.1")).Add(lower)
	refused(t, "below", err)
	_, err = zoneOf(t, lower, other).Add(upper)
	refused(t, "above", err)
	old := dnszone.Zone{Name: zoneName, Owner: "0xaa", Serial: 7, Records: []dnszone.Record{upper, lower}}
	if _, err := old.Add(other); err != nil {
		t.Errorf("beside old ones: %v", err)
	}
	if _, err := old.Delete("upper"); err != nil {
		t.Error(err)
	}
}
