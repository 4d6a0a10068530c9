package deed_test

import (
	"testing"

	"deed.example/deed"
	"github.com/google/go-cmp/cmp"
)

func TestDistance(t *testing.T) {
	tests := []struct {
		name  string
		in    deed.RecordInput
		value string // "" when refused
		want  *int
	}{
		{"MX", deed.RecordInput{Type: "MX", Value: "Mail.example.com.", Distance: num(10)}, "mail.example.com", num(10)},
		{"MX by priority", deed.RecordInput{Type: "mx", Value: "mail.example.com", Priority: num(10)}, "mail.example.com", num(10)},
		{"MX by both", deed.RecordInput{Type: "MX", Value: "mail.example.com", Distance: num(0), Priority: num(0)}, "mail.example.com", num(0)},
		{"MX by both, at odds", deed.RecordInput{Type: "MX", Value: "mail.example.com", Distance: num(1), Priority: num(2)}, "", nil},
		{"MX without", deed.RecordInput{Type: "MX", Value: "mail.example.com"}, "", nil},
		{"MX below", deed.RecordInput{Type: "MX", Value: "mail.example.com", Distance: num(-1)}, "", nil},
		{"MX above", deed.RecordInput{Type: "MX", Value: "mail.example.com", Distance: num(65536)}, "", nil},
		{"MX at the top", deed.RecordInput{Type: "MX", Value: "mail.example.com", Distance: num(65535)}, "mail.example.com", num(65535)},
		{"null MX", deed.RecordInput{Type: "MX", Value: ".", Distance: num(0)}, ".", num(0)},
		{"null MX with a preference", deed.RecordInput{Type: "MX", Value: ".", Distance: num(1)}, "", nil},
		{"SRV in full", deed.RecordInput{Type: "SRV", Value: "1 2 3 a.example.com"}, "1 2 3 a.example.com", num(2)},
		{"SRV in full, agreeing", deed.RecordInput{Type: "SRV", Value: "1 2 3 a.example.com", Distance: num(2), Priority: num(1)}, "1 2 3 a.example.com", num(2)},
		{"SRV in full, at odds", deed.RecordInput{Type: "SRV", Value: "1 2 3 a.example.com", Distance: num(5)}, "", nil},
		{"SRV with another priority", deed.RecordInput{Type: "SRV", Value: "1 2 3 a.example.com", Priority: num(2)}, "", nil},
		{"SRV of three fields", deed.RecordInput{Type: "SRV", Value: "1 3 a.example.com", Distance: num(2)}, "1 2 3 a.example.com", num(2)},
		{"SRV of three fields without", deed.RecordInput{Type: "SRV", Value: "1 3 a.example.com"}, "", nil},
		{"SRV above", deed.RecordInput{Type: "SRV", Value: "1 3 a.example.com", Distance: num(65536)}, "", nil},
		{"SRV of spaces", deed.RecordInput{Type: "SRV", Value: "  ", Distance: num(1)}, "", nil},
		{"A with a distance", deed.RecordInput{Type: "A", Value: "192.0.2.1", Distance: num(0)}, "", nil},
		{"A with a priority", deed.RecordInput{Type: "A", Value: "192.0.2.1", Priority: num(0)}, "", nil},
		{"TXT with a distance", deed.RecordInput{Type: "TXT", Value: "x", Distance: num(0)}, "", nil},
	}
	for _, tt := range tests {
		tt.in.Host = "h"
		got, err := tt.in.Record(zoneName)
		if tt.value == "" {
			refused(t, tt.name, err)
			continue
		}
		if err != nil || got.Value != tt.value || !cmp.Equal(got.Distance, tt.want) || got.TTL != 3600 {
			t.Errorf("%s: got %+v, %v, want %q", tt.name, got, err, tt.value)
		}
	}
}

func TestRecordUpdate(t *testing.T) {
	text := func(s string) *string { return &s }
	a := deed.Record{ID: "1", Type: "A", Host: "www", Value: "192.0.2.1", TTL: 300}
	mx := deed.Record{ID: "2", Type: "MX", Host: "@", Value: "mail.example.com", TTL: 300, Distance: num(10)}
	srv := deed.Record{ID: "3", Type: "SRV", Host: "_sip._tcp", Value: "1 2 3 a.example.com", TTL: 300, Distance: num(2)}
	tests := []struct {
		name  string
		r     deed.Record
		patch deed.RecordPatch
		want  string // host, value, ttl, distance; "" when refused
	}{
		{"value", a, deed.RecordPatch{Value: text("192.0.2.2")}, "www 192.0.2.2 300 -"},
		{"host", a, deed.RecordPatch{Host: text("FTP.example.com.")}, "ftp 192.0.2.1 300 -"},
		{"ttl", a, deed.RecordPatch{TTL: num(60)}, "www 192.0.2.1 60 -"},
		{"the same type too", a, deed.RecordPatch{Type: text("a"), TTL: num(60)}, "www 192.0.2.1 60 -"},
		{"another type", a, deed.RecordPatch{Type: text("AAAA"), Value: text("::1")}, ""},
		{"nothing", a, deed.RecordPatch{}, ""},
		{"only the type", a, deed.RecordPatch{Type: text("A")}, ""},
		{"ttl of nought", a, deed.RecordPatch{TTL: num(0)}, ""},
		{"empty value", a, deed.RecordPatch{Value: text("")}, ""},
		{"empty host", a, deed.RecordPatch{Host: text("")}, ""},
		{"a distance on an A", a, deed.RecordPatch{Distance: num(1)}, ""},
		{"bad value", a, deed.RecordPatch{Value: text("256.1.1.1")}, ""},
		{"MX host", mx, deed.RecordPatch{Value: text("mx2.example.com")}, "@ mx2.example.com 300 10"},
		{"MX distance", mx, deed.RecordPatch{Distance: num(20)}, "@ mail.example.com 300 20"},
		{"MX priority", mx, deed.RecordPatch{Priority: num(20)}, "@ mail.example.com 300 20"},
		{"MX both, at odds", mx, deed.RecordPatch{Priority: num(20), Distance: num(10)}, ""},
		{"SRV weight alone", srv, deed.RecordPatch{Distance: num(9)}, "_sip._tcp 1 9 3 a.example.com 300 9"},
		{"SRV in full", srv, deed.RecordPatch{Value: text("4 5 6 b.example.com")}, "_sip._tcp 4 5 6 b.example.com 300 5"},
		{"SRV in full, agreeing", srv, deed.RecordPatch{Value: text("4 5 6 b.example.com"), Distance: num(5)}, "_sip._tcp 4 5 6 b.example.com 300 5"},
		{"SRV in full, at odds", srv, deed.RecordPatch{Value: text("4 5 6 b.example.com"), Distance: num(2)}, ""},
		{"SRV of three fields keeps its weight", srv, deed.RecordPatch{Value: text("4 6 b.example.com")}, "_sip._tcp 4 2 6 b.example.com 300 2"},
		{"SRV ttl", srv, deed.RecordPatch{TTL: num(60)}, "_sip._tcp 1 2 3 a.example.com 60 2"},
		{"SRV priority, the same", srv, deed.RecordPatch{Priority: num(1), TTL: num(60)}, "_sip._tcp 1 2 3 a.example.com 60 2"},
		{"SRV priority, another", srv, deed.RecordPatch{Priority: num(7)}, ""},
	}
	for _, tt := range tests {
		got, err := tt.r.Update(tt.patch, zoneName)
		if tt.want == "" {
			refused(t, tt.name, err)
			continue
		}
		if err != nil || show(got) != tt.want || got.ID != tt.r.ID {
			t.Errorf("%s: got %s, %v, want %s", tt.name, show(got), err, tt.want)
		}
	}
	if *srv.Distance != 2 || *mx.Distance != 10 {
		t.Error("an update changed the record it began with")
	}
}
