package dnszone_test

import (
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
)

const oldID = dnszone.RecordID("rec_3cte2zmbhaibmpoz5a4j6lz6uu")

func TestShortRecordID(t *testing.T) {
	for id, want := range map[dnszone.RecordID]dnszone.RecordID{
		oldID:                                 "3cte2zmbhaibmp",
		"3cte2zmbhaibmp":                      "3cte2zmbhaibmp",
		"":                                    "",
		"r1":                                  "r1",
		"rec_1":                               "rec_1",
		oldID[:29]:                            oldID[:29],
		oldID + "a":                           oldID + "a",
		"REC_3cte2zmbhaibmpoz5a4j6lz6uu":      "REC_3cte2zmbhaibmpoz5a4j6lz6uu",
		"aaaa3cte2zmbhaibmpoz5a4j6lz6uu":      "aaaa3cte2zmbhaibmpoz5a4j6lz6uu",
		dnszone.RecordID("rec_\xff" + "aaaa"): dnszone.RecordID("rec_\xff" + "aaaa"),
	} {
		if got := id.Short(); got != want {
			t.Errorf("%q: got %q, want %q", id, got, want)
		}
	}
}

// A change may refer to a record by its old, long ID, and one that was stored before
// the IDs were shortened may add a record with such an ID.
func TestChangeByOldID(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	z := dnszone.Zone{Name: "example.com", Owner: "0xaa", Serial: 7}
	apply := func(ops ...dnszone.RecordOp) (err error) {
		t.Helper()
		var next dnszone.Zone
		if next, err = (dnszone.Change{Kind: dnszone.ChangeBatch, Zone: z.Name, By: "0xaa", Ops: ops}).Apply(z, now); err == nil {
			z = next
		}
		return err
	}
	if err := apply(addOp(string(oldID), rec("A", "www", "192.0.2.1"))); err != nil || z.Records[0].ID != oldID.Short() {
		t.Fatalf("got %+v, %v", z, err)
	}
	if err := apply(addOp(string(oldID.Short()), rec("A", "api", "192.0.2.1"))); deed.CodeOf(err) != deed.CodeDNS {
		t.Errorf("a duplicate id: got %v", err)
	}
	if err := apply(updateOp(string(oldID), "192.0.2.2")); err != nil || z.Records[0].Value != "192.0.2.2" || z.Records[0].ID != oldID.Short() {
		t.Errorf("got %+v, %v", z, err)
	}
	if r, err := z.Record(oldID); err != nil || r.ID != oldID.Short() {
		t.Errorf("got %+v, %v", r, err)
	}
	if err := apply(deleteOp(string(oldID)), deleteOp(string(oldID.Short()))); deed.CodeOf(err) != deed.CodeNotFound {
		t.Errorf("one record deleted by both its ids: got %v", err)
	}
	if err := apply(deleteOp(string(oldID))); err != nil || len(z.Records) != 0 {
		t.Errorf("got %+v, %v", z, err)
	}
}
