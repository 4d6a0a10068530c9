package dnszone_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"deed.example/deed/internal/dnszone"
)

func TestDistance(t *testing.T) {
	tests := []struct {
		name  string
		in    dnszone.RecordInput
		value string // "" when refused
		want  *int
	}{
		{"MX", dnszone.RecordInput{Type: "MX", Value: "Mail.example.com.", Distance: num(10)}, "mail.example.com", num(10)},
		{"MX by priority", dnszone.RecordInput{Type: "mx", Value: "mail.example.com", Priority: num(10)}, "mail.example.com", num(10)},
		{"MX by both", dnszone.RecordInput{Type: "MX", Value: "mail.example.com", Distance: num(0), Priority: num(0)}, "mail.example.com", num(0)},
		{"MX by both, at odds", dnszone.RecordInput{Type: "MX", Value: "mail.example.com", Distance: num(1), Priority: num(2)}, "", nil},
		{"MX without", dnszone.RecordInput{Type: "MX", Value: "mail.example.com"}, "", nil},
		{"MX below", dnszone.RecordInput{Type: "MX", Value: "mail.example.com", Distance: num(-1)}, "", nil},
		{"MX above", dnszone.RecordInput{Type: "MX", Value: "mail.example.com", Distance: num(65536)}, "", nil},
		{"MX at the top", dnszone.RecordInput{Type: "MX", Value: "mail.example.com", Distance: num(65535)}, "mail.example.com", num(65535)},
		{"null MX", dnszone.RecordInput{Type: "MX", Value: ".", Distance: num(0)}, ".", num(0)},
		{"null MX with a preference", dnszone.RecordInput{Type: "MX", Value: ".", Distance: num(1)}, "", nil},
		{"SRV in full", dnszone.RecordInput{Type: "SRV", Value: "1 2 3 a.example.com"}, "1 2 3 a.example.com", num(2)},
		{"SRV in full, agreeing", dnszone.RecordInput{Type: "SRV", Value: "1 2 3 a.example.com", Distance: num(2), Priority: num(1)}, "1 2 3 a.example.com", num(2)},
		{"SRV in full, at odds", dnszone.RecordInput{Type: "SRV", Value: "1 2 3 a.example.com", Distance: num(5)}, "", nil},
		{"SRV with another priority", dnszone.RecordInput{Type: "SRV", Value: "1 2 3 a.example.com", Priority: num(2)}, "", nil},
		{"SRV of three fields", dnszone.RecordInput{Type: "SRV", Value: "1 3 a.example.com", Distance: num(2)}, "1 2 3 a.example.com", num(2)},
		{"SRV of three fields without", dnszone.RecordInput{Type: "SRV", Value: "1 3 a.example.com"}, "", nil},
		{"SRV above", dnszone.RecordInput{Type: "SRV", Value: "1 3 a.example.com", Distance: num(65536)}, "", nil},
		{"SRV of spaces", dnszone.RecordInput{Type: "SRV", Value: "  ", Distance: num(1)}, "", nil},
		{"A with a distance", dnszone.RecordInput{Type: "A", Value: "192.0.2.1", Distance: num(0)}, "", nil},
		{"A with a priority", dnszone.RecordInput{Type: "A", Value: "192.0.2.1", Priority: num(0)}, "", nil},
		{"TXT with a distance", dnszone.RecordInput{Type: "TXT", Value: "x", Distance: num(0)}, "", nil},
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
	a := dnszone.Record{ID: "1", Type: "A", Host: "www", Value: "192.0.2.1", TTL: 300}
	mx := dnszone.Record{ID: "2", Type: "MX", Host: "@", Value: "mail.example.com", TTL: 300, Distance: num(10)}
	srv := dnszone.Record{ID: "3", Type: "SRV", Host: "_sip._tcp", Value: "1 2 3 a.example.com", TTL: 300, Distance: num(2)}
	tests := []struct {
		name  string
		r     dnszone.Record
		patch dnszone.RecordPatch
		want  string // host, value, ttl, distance; "" when refused
	}{
		{"value", a, dnszone.RecordPatch{Value: text("192.0.2.2")}, "www 192.0.2.2 300 -"},
		{"host", a, dnszone.RecordPatch{Host: text("FTP.example.com.")}, "ftp 192.0.2.1 300 -"},
		{"ttl", a, dnszone.RecordPatch{TTL: num(60)}, "www 192.0.2.1 60 -"},
		{"the same type too", a, dnszone.RecordPatch{Type: text("a"), TTL: num(60)}, "www 192.0.2.1 60 -"},
		{"another type", a, dnszone.RecordPatch{Type: text("AAAA"), Value: text("::1")}, ""},
		{"nothing", a, dnszone.RecordPatch{}, ""},
		{"only the type", a, dnszone.RecordPatch{Type: text("A")}, ""},
		{"ttl of nought", a, dnszone.RecordPatch{TTL: num(0)}, ""},
		{"empty value", a, dnszone.RecordPatch{Value: text("")}, ""},
		{"empty host", a, dnszone.RecordPatch{Host: text("")}, ""},
		{"a distance on an A", a, dnszone.RecordPatch{Distance: num(1)}, ""},
		{"bad value", a, dnszone.RecordPatch{Value: text("256.1.1.1")}, ""},
		{"MX host", mx, dnszone.RecordPatch{Value: text("mx2.example.com")}, "@ mx2.example.com 300 10"},
		{"MX distance", mx, dnszone.RecordPatch{Distance: num(20)}, "@ mail.example.com 300 20"},
		{"MX priority", mx, dnszone.RecordPatch{Priority: num(20)}, "@ mail.example.com 300 20"},
		{"MX both, at odds", mx, dnszone.RecordPatch{Priority: num(20), Distance: num(10)}, ""},
		{"SRV weight alone", srv, dnszone.RecordPatch{Distance: num(9)}, "_sip._tcp 1 9 3 a.example.com 300 9"},
		{"SRV in full", srv, dnszone.RecordPatch{Value: text("4 5 6 b.example.com")}, "_sip._tcp 4 5 6 b.example.com 300 5"},
		{"SRV in full, agreeing", srv, dnszone.RecordPatch{Value: text("4 5 6 b.example.com"), Distance: num(5)}, "_sip._tcp 4 5 6 b.example.com 300 5"},
		{"SRV in full, at odds", srv, dnszone.RecordPatch{Value: text("4 5 6 b.example.com"), Distance: num(2)}, ""},
		{"SRV of three fields keeps its weight", srv, dnszone.RecordPatch{Value: text("4 6 b.example.com")}, "_sip._tcp 4 2 6 b.example.com 300 2"},
		{"SRV ttl", srv, dnszone.RecordPatch{TTL: num(60)}, "_sip._tcp 1 2 3 a.example.com 60 2"},
		{"SRV priority, the same", srv, dnszone.RecordPatch{Priority: num(1), TTL: num(60)}, "_sip._tcp 1 2 3 a.example.com 60 2"},
		{"SRV priority, another", srv, dnszone.RecordPatch{Priority: num(7)}, ""},
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
