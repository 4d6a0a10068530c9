package dnszone_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
)

// start is the time in these tests.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// batch returns a change by the owner of the test zone.
func batch(ops ...dnszone.RecordOp) dnszone.Change {
	return dnszone.Change{Kind: dnszone.ChangeBatch, Zone: zoneName, By: "0xaa", Ops: ops}
}

func addOp(id string, r dnszone.Record) dnszone.RecordOp {
	return dnszone.RecordOp{Op: dnszone.OpAdd, ID: dnszone.RecordID(id), Record: r}
}

func deleteOp(id string) dnszone.RecordOp {
	return dnszone.RecordOp{Op: dnszone.OpDelete, ID: dnszone.RecordID(id)}
}

func updateOp(id, value string) dnszone.RecordOp {
	return dnszone.RecordOp{Op: dnszone.OpUpdate, ID: dnszone.RecordID(id), Patch: dnszone.RecordPatch{Value: &value}}
}

func TestApply(t *testing.T) {
	z := zoneOf(t, rec("A", "a", "192.0.2.1"), rec("A", "b", "192.0.2.1"))
	single := func(kind dnszone.ChangeKind, op dnszone.RecordOp) dnszone.Change {
		c := batch(op)
		c.Kind = kind
		return c
	}
	at := func(revision uint32, c dnszone.Change) dnszone.Change {
		c.IfRevision = revision
		return c
	}
	otherOwner := batch(addOp("n", rec("TXT", "a", "x")))
	otherOwner.By = "0xbb"
	tests := []struct {
		name   string
		change dnszone.Change
		want   deed.Code
		count  int
	}{
		{"add", single(dnszone.ChangeAdd, addOp("n", rec("TXT", "a", "x"))), "", 3},
		{"update", single(dnszone.ChangeUpdate, updateOp("r0", "192.0.2.9")), "", 2},
		{"delete", single(dnszone.ChangeDelete, deleteOp("r0")), "", 1},
		{"delete what is not there", single(dnszone.ChangeDelete, deleteOp("x")), deed.CodeNotFound, 0},
		{"add what is wrong", single(dnszone.ChangeAdd, addOp("n", rec("A", "a", "x"))), deed.CodeValidation, 0},
		{"another owner", otherOwner, deed.CodeOwnershipDenied, 0},
		{"nothing", batch(), deed.CodeValidation, 0},
		{"the right revision", at(7, batch(deleteOp("r0"))), "", 1},
		{"another revision", at(6, batch(deleteOp("r0"))), deed.CodeValidation, 0},
		{"an address gives way to a CNAME", batch(deleteOp("r0"), addOp("n", rec("CNAME", "a", "example.net"))), "", 2},
		{"in the other order too", batch(addOp("n", rec("CNAME", "a", "example.net")), deleteOp("r0")), "", 2},
		{"a DS before its NS", batch(addOp("n", rec("DS", "s", dsValue)), addOp("m", rec("NS", "s", "ns1.example.net"))), "", 4},
		{"a DS whose NS never comes", batch(addOp("n", rec("DS", "s", dsValue)), addOp("m", rec("A", "s", "192.0.2.1"))), deed.CodeValidation, 0},
		{"an add that is taken back", batch(addOp("n", rec("A", "n", "192.0.2.1")), deleteOp("n")), "", 2},
		{"a record deleted twice", batch(deleteOp("r0"), deleteOp("r0")), deed.CodeNotFound, 0},
		{"an update after the delete", batch(deleteOp("r0"), updateOp("r0", "192.0.2.9")), deed.CodeNotFound, 0},
		{"the same record twice", batch(addOp("n", rec("TXT", "a", "x")), addOp("m", rec("TXT", "A", `"x"`))), deed.CodeValidation, 0},
		{"all or nothing", batch(deleteOp("r0"), addOp("n", rec("A", "a", "256.1.1.1"))), deed.CodeValidation, 0},
		{"an op that is none", batch(dnszone.RecordOp{Op: "upsert", ID: "r0"}), deed.CodeValidation, 0},
		{"one ID for two records", batch(addOp("r0", rec("TXT", "a", "x"))), deed.CodeDNS, 0},
		{"a kind that is none", single("import", deleteOp("r0")), deed.CodeUnavailable, 0},
		{"a kind at odds with its op", single(dnszone.ChangeAdd, deleteOp("r0")), deed.CodeUnavailable, 0},
	}
	before := lines(z.Records)
	for _, tt := range tests {
		got, err := tt.change.Apply(z, start)
		if deed.CodeOf(err) != tt.want || len(got.Records) != tt.count {
			t.Errorf("%s: got %d records, %v, want %d and %q", tt.name, len(got.Records), err, tt.count, tt.want)
		}
		if err == nil && got.Serial != uint32(start.Unix()) {
			t.Errorf("%s: got serial %d, want %d", tt.name, got.Serial, start.Unix())
		}
		if !cmp.Equal(lines(z.Records), before) || z.Serial != 7 {
			t.Fatalf("%s: the zone itself changed", tt.name)
		}
	}
	if n := tests[9].change.Count(); n != 2 {
		t.Errorf("got a count of %d, want 2", n)
	}
	elsewhere := batch(deleteOp("r0"))
	elsewhere.Zone = "example.net"
	if _, err := elsewhere.Apply(z, start); err == nil {
		t.Error("a change of another zone was applied")
	}
}

func TestApplyErrorHasIndex(t *testing.T) {
	z := zoneOf(t, rec("A", "a", "192.0.2.1"))
	for name, c := range map[string]dnszone.Change{
		"a record that cannot be": batch(deleteOp("r0"), addOp("n", rec("A", "b", "256.1.1.1"))),
		"records at odds":         batch(addOp("n", rec("A", "b", "192.0.2.1")), addOp("m", rec("CNAME", "a", "example.net")), addOp("o", rec("A", "c", "192.0.2.1"))),
	} {
		_, err := c.Apply(z, start)
		e, ok := err.(*deed.Error)
		if !ok || !strings.HasPrefix(e.Message, "changes[1]: ") || !strings.HasPrefix(e.Details[0].Field, "changes[1].") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	single := batch(addOp("n", rec("A", "b", "256.1.1.1")))
	single.Kind = dnszone.ChangeAdd
	if _, err := single.Apply(z, start); err == nil || strings.Contains(err.Error(), "changes") {
		t.Errorf("a single change: got %v", err)
	}
}

func TestApplySetsTimesAndSerial(t *testing.T) {
	z, err := batch(addOp("n", rec("A", "a", "192.0.2.1")), addOp("m", rec("A", "b", "192.0.2.1"))).Apply(zoneOf(t), start)
	if err != nil {
		t.Fatal(err)
	}
	later := start.Add(time.Hour)
	z, err = batch(updateOp("n", "192.0.2.2")).Apply(z, later)
	if err != nil || z.Serial != uint32(later.Unix()) {
		t.Fatalf("serial %d, %v", z.Serial, err)
	}
	if r := z.Records[0]; !r.Created.Equal(start) || !r.Updated.Equal(later) {
		t.Errorf("the updated one: %v, %v", r.Created, r.Updated)
	}
	if r := z.Records[1]; !r.Created.Equal(start) || !r.Updated.Equal(start) {
		t.Errorf("the other one: %v, %v", r.Created, r.Updated)
	}
	again, err := batch(updateOp("n", "192.0.2.3")).Apply(z, start) // the clock has not advanced, or was set back
	if err != nil || again.Serial != z.Serial+1 {
		t.Errorf("got serial %d after %d, %v", again.Serial, z.Serial, err)
	}
}

func TestChangeSame(t *testing.T) {
	c := batch(addOp("n", dist(rec("MX", "a", "mail.example.com"), 10)), updateOp("r0", "x"), deleteOp("r1"))
	again := batch(addOp("m", dist(rec("MX", "a", "mail.example.com"), 10)), updateOp("r0", "x"), deleteOp("r1"))
	if !c.Same(again) || c.Ops[0].ID != "n" {
		t.Error("a new ID of the added record makes the change another one")
	}
	for name, spoil := range map[string]func(*dnszone.Change){
		"host":     func(c *dnszone.Change) { c.Ops[0].Record.Host = "b" },
		"distance": func(c *dnszone.Change) { c.Ops[0].Record.Distance = num(20) },
		"patch":    func(c *dnszone.Change) { c.Ops[1] = updateOp("r0", "y") },
		"ID":       func(c *dnszone.Change) { c.Ops[2].ID = "r2" },
		"owner":    func(c *dnszone.Change) { c.By = "0xbb" },
		"zone":     func(c *dnszone.Change) { c.Zone = "example.net" },
		"revision": func(c *dnszone.Change) { c.IfRevision = 1 },
		"length":   func(c *dnszone.Change) { c.Ops = c.Ops[:2] },
	} {
		other := again
		other.Ops = append([]dnszone.RecordOp(nil), again.Ops...)
		spoil(&other)
		if c.Same(other) {
			t.Errorf("another %s is the same change", name)
		}
	}
}

func TestChangeSurvivesJSON(t *testing.T) {
	host, ttl := "www", 60
	c := batch(addOp("n", dist(rec("MX", "a", "mail.example.com"), 0)), updateOp("r0", "a\"b"), deleteOp("r1"),
		dnszone.RecordOp{Op: dnszone.OpUpdate, ID: "r3", Patch: dnszone.RecordPatch{Host: &host, TTL: &ttl, Distance: num(0)}})
	c.IfRevision = 9
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var back dnszone.Change
	if err := json.Unmarshal(text, &back); err != nil || !cmp.Equal(back, c) || !c.Same(back) {
		t.Errorf("%v %s\n%s", err, text, cmp.Diff(c, back))
	}
}

func BenchmarkApplyBatchOnFullZone(b *testing.B) {
	z := fullZone(b, 1000)
	var ops []dnszone.RecordOp
	for i := range 1000 {
		ops = append(ops, updateOp(fmt.Sprintf("r%d", i), fmt.Sprintf("10.1.%d.%d", i/256, i%256)))
	}
	for b.Loop() {
		if _, err := batch(ops...).Apply(z, start); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkApplyOneOnFullZone(b *testing.B) {
	z := fullZone(b, 1000)
	for b.Loop() {
		if _, err := batch(updateOp("r1", "10.2.0.1")).Apply(z, start); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkServeFullZone(b *testing.B) {
	z := fullZone(b, 1000)
	for b.Loop() {
		if _, err := z.RRs(); err != nil {
			b.Fatal(err)
		}
	}
}

// BIND refuses a zone in which a host has too many types, of which signatures are half.
func TestTypesOfAHostAreLimited(t *testing.T) {
	for n, ok := range map[int]bool{256: true, 257: false} {
		var ops []dnszone.RecordOp
		for i := range n {
			ops = append(ops, addOp(fmt.Sprint("r", i), rec(fmt.Sprintf("TYPE%d", 1000+i), "a", `\# 1 00`)))
		}
		_, err := batch(ops...).Apply(dnszone.Zone{Name: zoneName, Owner: "0xaa", Serial: 7}, start)
		if (err == nil) != ok || err != nil && deed.CodeOf(err) != deed.CodeValidation {
			t.Errorf("%d types: got %v", n, err)
		}
	}
}
