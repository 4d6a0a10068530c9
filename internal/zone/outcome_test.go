package zone_test

import (
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/order"
)

// The outcome of a change can be read after later changes, as it was then.
func TestOutcomeStays(t *testing.T) {
	e := newEnv(t)
	out, err := e.change(add(owner, "A", "www", "192.0.2.1"), &wallet{e: e})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.change(add(owner, "A", "mail", "192.0.2.2"), &wallet{e: e}); err != nil {
		t.Fatal(err)
	}
	if rec, err := e.Record(t.Context(), out.Job); err != nil || rec.Value != "192.0.2.1" {
		t.Errorf("got %+v, %v", rec, err)
	}
	before, after, err := e.Around(t.Context(), name, out.Job.Revision)
	if err != nil || len(before.Records) != 0 || len(after.Records) != 1 || after.Revision != out.Job.Revision {
		t.Errorf("got %+v and %+v, %v", before, after, err)
	}
	if _, _, err := e.Around(t.Context(), name, 1); deed.CodeOf(err) != deed.CodeNotFound {
		t.Errorf("got %v, want %s", err, deed.CodeNotFound)
	}
	if rec, err := e.Record(t.Context(), order.Job{}); err == nil {
		t.Errorf("got %+v for no change", rec)
	}
}
