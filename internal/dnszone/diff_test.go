package dnszone_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deed.example/deed/internal/dnszone"
)

func TestDiff(t *testing.T) {
	ttl := func(r dnszone.Record, seconds int) dnszone.Record {
		r.TTL = seconds
		return r
	}
	z := zoneOf(t, rec("A", "a", "192.0.2.1"), rec("A", "a", "192.0.2.2"), dist(rec("MX", "@", "mail.example.com"), 10), rec("SRV", "s", "1 2 3 s.example.com"))
	tests := []struct {
		name string
		want []dnszone.Record
		ops  string
	}{
		{"nothing to do", z.Records, ""},
		{"in another order", []dnszone.Record{z.Records[3], z.Records[2], z.Records[1], z.Records[0]}, ""},
		{"all gone", nil, "delete r0, delete r1, delete r2, delete r3"},
		{"another ttl", []dnszone.Record{ttl(z.Records[0], 60), z.Records[1], z.Records[2], z.Records[3]}, "update r0 ttl"},
		{"another value", []dnszone.Record{z.Records[0], ttl(rec("A", "a", "192.0.2.3"), 3600), z.Records[2], z.Records[3]}, "update r1 value"},
		{"another preference", []dnszone.Record{z.Records[0], z.Records[1], dist(z.Records[2], 20), z.Records[3]}, "update r2 distance"},
		{"another weight", []dnszone.Record{z.Records[0], z.Records[1], z.Records[2], dist(ttl(rec("SRV", "s", "1 9 3 s.example.com"), 3600), 9)}, "update r3 value"},
		{"one more", append(z.Records[:4:4], ttl(rec("TXT", "a", "x"), 60)), "add TXT"},
		{"another type", []dnszone.Record{z.Records[2], z.Records[3], ttl(rec("CNAME", "a", "example.net"), 60)}, "delete r0, delete r1, add CNAME"},
		{"another host", append(z.Records[1:4:4], ttl(rec("A", "b", "192.0.2.1"), 3600)), "delete r0, add A"},
	}
	for _, tt := range tests {
		if got := opNames(z.Diff(tt.want)); got != tt.ops {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.ops)
		}
	}
	want := []dnszone.Record{ttl(z.Records[0], 60), ttl(rec("A", "a", "192.0.2.3"), 60)}
	if got := opNames(z.Merge(want)); got != "add A" {
		t.Errorf("merge: got %s", got)
	}
}

// opNames formats ops on one line.
func opNames(ops []dnszone.RecordOp) string {
	var out []string
	for _, op := range ops {
		s := string(op.Op)
		switch op.Op {
		case dnszone.OpAdd:
			s += " " + op.Record.Type
		case dnszone.OpDelete:
			s += " " + string(op.ID)
		case dnszone.OpUpdate:
			s += " " + string(op.ID)
			for name, set := range map[string]bool{" value": op.Patch.Value != nil, " ttl": op.Patch.TTL != nil, " distance": op.Patch.Distance != nil} {
				if set {
					s += name
				}
			}
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// numbered sets the IDs of the added records of ops.
func numbered(ops []dnszone.RecordOp) []dnszone.RecordOp {
	for i := range ops {
		if ops[i].Op == dnszone.OpAdd {
			ops[i].ID = dnszone.RecordID(fmt.Sprintf("new%d", i))
		}
	}
	return ops
}

func TestDiffProducesTarget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, want := genZone(t), genZone(t)
		for _, r := range z.Records { // so that they have something in common
			r.TTL = rapid.SampledFrom([]int{r.TTL, 60}).Draw(t, "ttl")
			r.ID = "kept-" + r.ID
			if next, err := want.Add(r); err == nil && rapid.Bool().Draw(t, "keep") {
				want = next
			}
		}
		ops := z.Diff(want.Records)
		got := z
		if len(ops) > 0 {
			var err error
			if got, err = batch(numbered(ops)...).Apply(z, start); err != nil {
				t.Fatalf("%v\n%s", err, opNames(ops))
			}
		}
		if diff := cmp.Diff(lines(want.Records), lines(got.Records)); diff != "" {
			t.Errorf("%s\n%s", opNames(ops), diff)
		}
		if more := got.Diff(want.Records); len(more) > 0 {
			t.Errorf("remaining ops: %s", opNames(more))
		}
		if limit := len(z.Records) + len(want.Records); len(ops) > limit {
			t.Errorf("%d ops for %d records", len(ops), limit)
		}
	})
}
