package client_test

import (
	"strings"
	"testing"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

func TestRecords(t *testing.T) {
	s, name := owned(t)
	list, err := s.Records(t.Context(), name, client.RecordFilter{})
	if err != nil || list.Domain != name {
		t.Fatalf("got %+v, %v", list, err)
	}
	rec, err := s.AddRecord(t.Context(), name, api.RecordRequest{Type: "A", Host: "www", Value: "192.0.2.10"})
	if err != nil || rec.ID == "" || rec.TTL != 3600 {
		t.Fatalf("got %+v, %v", rec, err)
	}
	ttl := 600
	if up, err := s.UpdateRecord(t.Context(), name, rec.ID, api.RecordUpdate{TTL: &ttl}); err != nil || up.ID != rec.ID || up.TTL != ttl {
		t.Errorf("got %+v, %v", up, err)
	}
	if list, err = s.Records(t.Context(), name, client.RecordFilter{Type: "A", Host: "www"}); err != nil || len(list.Records) != 1 {
		t.Errorf("got %+v, %v", list, err)
	}
	if gone, err := s.DeleteRecord(t.Context(), name, rec.ID); err != nil || gone.ID != rec.ID {
		t.Errorf("got %+v, %v", gone, err)
	}
	s.spent(t, comPrice+3*client.Dollar/10, 4)
	_, err = newBuyer(t).Records(t.Context(), name, client.RecordFilter{})
	refused(t, err, 403, client.CodeOwnershipDenied)
}

func TestZones(t *testing.T) {
	s, name := owned(t)
	kind, host, value := "TXT", "@", "hello"
	changed, err := s.ChangeRecords(t.Context(), name, api.BatchRequest{Changes: []api.RecordChange{
		{Op: "add", RecordUpdate: api.RecordUpdate{Type: &kind, Host: &host, Value: &value}},
	}})
	if err != nil || changed.Count != 1 || changed.Price != "0.10" {
		t.Fatalf("got %+v, %v", changed, err)
	}
	file, err := s.ExportZone(t.Context(), name)
	if err != nil || !strings.Contains(string(file), "hello") {
		t.Errorf("got %s, %v", file, err)
	}
	file = append(file, "\nwww 300 IN A 192.0.2.10\n"...)
	dry, err := s.ImportZone(t.Context(), name, file, client.Import{DryRun: true})
	if err != nil || !dry.DryRun || dry.Count != 1 {
		t.Errorf("got %+v, %v", dry, err)
	}
	if made, err := s.ImportZone(t.Context(), name, file, client.Import{}); err != nil || made.DryRun || made.Count != 1 {
		t.Errorf("got %+v, %v", made, err)
	}
	history, err := s.Revisions(t.Context(), name)
	if err != nil || len(history.Revisions) < 2 {
		t.Fatalf("got %+v, %v", history, err)
	}
	for _, dryRun := range []bool{true, false} {
		if back, err := s.Rollback(t.Context(), name, changed.Revision, dryRun); err != nil || back.Count != 1 || back.DryRun != dryRun {
			t.Errorf("got %+v, %v", back, err)
		}
	}
	s.spent(t, comPrice+3*client.Dollar/10, 4) // a dry run is free
	if p, err := s.Propagation(t.Context(), name); err != nil || p.Domain != name {
		t.Errorf("got %+v, %v", p, err)
	}
}
