package dnszone_test

import (
	"fmt"
	"strings"
	"testing"

	"deed.example/deed/internal/dnszone"
)

// CNAMEs that lead back to themselves are refused, also through a wildcard.
func TestCNAMELoops(t *testing.T) {
	for _, c := range []struct {
		name string
		recs []dnszone.Record
		loop bool
	}{
		{"two", []dnszone.Record{rec("CNAME", "a", "b.example.com"), rec("CNAME", "b", "a.example.com")}, true},
		{"three", []dnszone.Record{rec("CNAME", "a", "b.example.com"), rec("CNAME", "b", "c.example.com"), rec("CNAME", "c", "a.example.com")}, true},
		{"into a loop", []dnszone.Record{rec("CNAME", "x", "a.example.com"), rec("CNAME", "a", "b.example.com"), rec("CNAME", "b", "a.example.com")}, true},
		{"a wildcard that matches its target", []dnszone.Record{rec("CNAME", "*", "any.example.com")}, true},
		{"a wildcard deeper down", []dnszone.Record{rec("CNAME", "*.a", "x.y.a.example.com")}, true},
		{"through a DNAME", []dnszone.Record{rec("DNAME", "d", "e.example.com"), rec("CNAME", "x.e", "x.d.example.com")}, true},
		{"a DNAME", []dnszone.Record{rec("DNAME", "d", "e.example.com"), rec("CNAME", "a", "x.d.example.com"), rec("A", "x.e", "192.0.2.1")}, false},
		{"a chain", []dnszone.Record{rec("CNAME", "a", "b.example.com"), rec("CNAME", "b", "c.example.com"), rec("A", "c", "192.0.2.1")}, false},
		{"out of the zone", []dnszone.Record{rec("CNAME", "a", "b.example.com"), rec("CNAME", "b", "a.example.net")}, false},
		{"a wildcard whose target exists", []dnszone.Record{rec("CNAME", "*", "www.example.com"), rec("A", "www", "192.0.2.1")}, false},
		{"a wildcard whose target is an empty non-terminal", []dnszone.Record{rec("CNAME", "*", "b.example.com"), rec("A", "a.b", "192.0.2.1")}, false},
		{"DNAMEs that make a name longer for ever", []dnszone.Record{rec("DNAME", "d", "x.e.example.com"), rec("DNAME", "e", "y.d.example.com"), rec("CNAME", "a", "z.d.example.com")}, true},
		{"a DNAME that makes a name too long", []dnszone.Record{rec("DNAME", "d", strings.Repeat("x.", 110)+"example.com"), rec("CNAME", "a", strings.Repeat("y.", 20)+"d.example.com")}, true},
		{"a DNAME that does not", []dnszone.Record{rec("DNAME", "d", strings.Repeat("x.", 110)+"example.com"), rec("CNAME", "a", "y.d.example.com")}, false},
		{"a wildcard to the name itself", []dnszone.Record{rec("CNAME", "*", "example.com")}, false},
	} {
		z := dnszone.Zone{Name: zoneName, Owner: "0xaa", Serial: 7}
		var ops []dnszone.RecordOp
		for i, r := range c.recs {
			ops = append(ops, addOp(string(rune('a'+i)), r))
		}
		_, err := batch(ops...).Apply(z, start)
		if got := err != nil && strings.Contains(err.Error(), "leads back to itself"); got != c.loop {
			t.Errorf("%s: got %v, want a loop: %v", c.name, err, c.loop)
		}
	}
}

// A zone full of CNAMEs that lead through each other, or through DNAMEs that make names
// longer, is checked in one pass: anyone with a name may ask for a dry run of it.
func TestManyCNAMEsAreFollowedOnce(t *testing.T) {
	deep, long := strings.Repeat("x.", 100), strings.Repeat("y.", 100)
	chain := []dnszone.RecordOp{addOp("end", rec("A", "*.w990", "192.0.2.1"))}
	growing := []dnszone.RecordOp{addOp("d", rec("DNAME", "d", long+"e.example.com")), addOp("e", rec("DNAME", "e", long+"d.example.com"))}
	for i := range 990 {
		id := fmt.Sprint("r", i)
		chain = append(chain, addOp(id, rec("CNAME", fmt.Sprint("*.w", i), fmt.Sprintf("%sw%d.example.com", deep, i+1))))
		growing = append(growing, addOp(id, rec("CNAME", fmt.Sprint("c", i), fmt.Sprintf("x%d.d.example.com", i))))
	}
	z := dnszone.Zone{Name: zoneName, Owner: "0xaa", Serial: 7}
	if _, err := batch(chain...).Apply(z, start); err != nil {
		t.Errorf("a chain: got %v", err)
	}
	if _, err := batch(growing...).Apply(z, start); err == nil {
		t.Error("names that grow were accepted")
	}
}

// Deleting the target of a wildcard may close a loop. A zone that has a loop already
// can be changed otherwise.
func TestCNAMELoopByDeletion(t *testing.T) {
	z := zoneOf(t, rec("A", "www", "192.0.2.1"), rec("CNAME", "*", "www.example.com"))
	if _, err := z.Delete(z.Records[0].ID); err == nil || !strings.Contains(err.Error(), "leads back") {
		t.Errorf("got %v, want the loop refused", err)
	}
	z.Records[0] = dnszone.Record{ID: "old", Type: "TXT", Host: "other", Value: "x", TTL: 300} // as if there had been no rule
	if _, err := z.Add(rec("A", "new", "192.0.2.1")); err != nil {
		t.Errorf("an old loop: got %v", err)
	}
	if _, err := z.Add(rec("CNAME", "new", "*.example.net"[2:])); err != nil {
		t.Errorf("an old loop: got %v", err)
	}
	if _, err := z.Add(rec("CNAME", "new", "any.example.com")); err == nil {
		t.Error("a new name in an old loop was accepted")
	}
}

// HTTPS and SVCB records of one host are aliases or services, not both (RFC 9460,
// 2.4.1).
func TestServiceModesDoNotMix(t *testing.T) {
	for _, kind := range []string{"HTTPS", "SVCB"} {
		z := zoneOf(t, rec(kind, "a", "1 . alpn=h2"))
		if _, err := z.Add(rec(kind, "a", "0 b.example.net")); err == nil {
			t.Errorf("%s: an alias beside a service was accepted", kind)
		}
		if _, err := z.Add(rec(kind, "a", "2 . alpn=h3")); err != nil {
			t.Errorf("%s: a second service: %v", kind, err)
		}
		if _, err := z.Add(rec(kind, "b", "0 b.example.net")); err != nil {
			t.Errorf("%s: an alias elsewhere: %v", kind, err)
		}
	}
}
