package feed

import (
	"bytes"
	"strings"
	"testing"
	"time"

	ics "github.com/arran4/golang-ical"

	"deed.example/deed"
)

// Another program's parser reads the calendar, and finds each expiry as an event.
func TestCalendarIsValid(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	long := deed.Name(strings.Repeat("a", 63) + ".com")
	names := []Domain{{Name: "example.com", Expires: time.Date(2027, 12, 31, 23, 59, 59, 0, time.UTC)}, {Name: long, Expires: now}}
	raw := render(names, now)
	for line := range strings.SplitSeq(strings.TrimSuffix(string(raw), "\r\n"), "\r\n") {
		if len(line) > 75 || strings.ContainsAny(line, "\r\n") {
			t.Errorf("got a line of %d bytes: %q", len(line), line)
		}
	}
	cal, err := ics.ParseCalendar(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	events := cal.Events()
	if len(events) != 2 {
		t.Fatalf("got %d events", len(events))
	}
	for i, e := range events {
		begin, err := e.GetAllDayStartAt()
		if err != nil {
			t.Fatal(err)
		}
		end, err := e.GetAllDayEndAt()
		if err != nil || !end.Equal(begin.AddDate(0, 0, 1)) {
			t.Errorf("got %s, %v", end, err)
		}
		if got, want := begin.Format(time.DateOnly), names[i].Expires.UTC().Format(time.DateOnly); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got, want := e.GetProperty(ics.ComponentPropertySummary).Value, string(names[i].Name)+" expires"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := len(e.Alarms()); got != 3 {
			t.Errorf("got %d reminders", got)
		}
		if got := e.Id(); !strings.Contains(got, string(names[i].Name)) {
			t.Errorf("got id %q", got)
		}
	}
	if _, err := ics.ParseCalendar(bytes.NewReader(render(nil, now))); err != nil {
		t.Errorf("without names: %v", err)
	}
	if got := text("a,b;c\\d\r\ne"); got != `a\,b\;c\\d\ne` {
		t.Errorf("got %q", got)
	}
	var b strings.Builder
	fold(&b, strings.Repeat("é", 80))
	if got := strings.ReplaceAll(b.String(), "\r\n ", ""); got != strings.Repeat("é", 80)+"\r\n" {
		t.Errorf("got %q", got)
	}
}
