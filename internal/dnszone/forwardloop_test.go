package dnszone_test

import (
	"strings"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
)

// A FORWARD to its own host is refused, whatever the rest of the URL is, and so are several
// that lead in a circle.
func TestForwardLoops(t *testing.T) {
	forward := func(host, value string) dnszone.Record { return rec("FORWARD", host, value) }
	for _, c := range []struct {
		name string
		recs []dnszone.Record
		loop bool
	}{
		{"itself", []dnszone.Record{forward("@", "https://example.com/")}, true},
		{"itself, below the name", []dnszone.Record{forward("www", "http://www.example.com")}, true},
		{"itself, for good", []dnszone.Record{forward("www", "301 https://www.example.com/")}, true},
		{"itself, in other letters, with a dot and a port", []dnszone.Record{forward("www", "https://WWW.Example.COM.:443/a?b#c")}, true},
		{"itself, another path", []dnszone.Record{forward("@", "https://example.com/shop")}, true},
		{"with www and back", []dnszone.Record{forward("@", "https://www.example.com/"), forward("www", "https://example.com/")}, true},
		{"three", []dnszone.Record{forward("a", "https://b.example.com/"), forward("b", "https://c.example.com/"), forward("c", "https://a.example.com/")}, true},
		{"with www", []dnszone.Record{forward("@", "https://www.example.com/"), rec("A", "www", "192.0.2.1")}, false},
		{"with www, which leads elsewhere", []dnszone.Record{forward("@", "https://www.example.com/"), forward("www", "https://example.net/")}, false},
		{"a host that only begins like it", []dnszone.Record{forward("@", "https://example.com.example.net/")}, false},
	} {
		var ops []dnszone.RecordOp
		for i, r := range c.recs {
			ops = append(ops, addOp(string(rune('a'+i)), r))
		}
		_, err := batch(ops...).Apply(dnszone.Zone{Name: zoneName, Owner: "0xaa", Serial: 7}, start)
		if refused := deed.CodeOf(err) == deed.CodeValidation && strings.Contains(err.Error(), "redirected for ever"); refused != c.loop || err != nil && !refused {
			t.Errorf("%s: got %v, want a loop: %v", c.name, err, c.loop)
		}
	}
}

// A zone that has such a loop from before can be changed otherwise.
func TestOldForwardLoop(t *testing.T) {
	z := zoneOf(t, rec("FORWARD", "a", "https://b.example.com/"), rec("FORWARD", "b", "https://example.net/"))
	z.Records[1].Value = "https://a.example.com/" // as if there had been no rule
	if _, err := z.Add(rec("A", "new", "192.0.2.1")); err != nil {
		t.Errorf("got %v", err)
	}
	if _, err := z.Update(z.Records[1].ID, dnszone.RecordPatch{Value: &z.Records[0].Value}); err == nil {
		t.Error("a FORWARD to its own host was accepted")
	}
}
