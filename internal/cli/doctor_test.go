package cli

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"deed.example/deed/api"
)

func TestDoctorClock(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	said := http.Header{"Date": {at.Format(http.TimeFormat)}}
	for _, c := range []struct {
		header http.Header
		now    time.Time
		state  string
	}{
		{said, at.Add(30 * time.Second), stateOK},
		{said, at.Add(-30 * time.Second), stateOK},
		{said, at.Add(5 * time.Minute), stateFailed},
		{said, at.Add(-26 * time.Hour), stateFailed},
		{http.Header{}, at, stateWarning},
		{http.Header{"Date": {"yesterday"}}, at, stateWarning},
	} {
		f := clockFinding(c.header, c.now)
		if f.State != c.state {
			t.Errorf("%v at %v: got %+v, want %s", c.header, c.now, f, c.state)
		}
		if c.state == stateFailed && !strings.Contains(f.Advice, "set the clock") {
			t.Errorf("got the advice %q", f.Advice)
		}
	}
}

// A part that fails is named, whichever it is; of those that work only the ones that
// users know.
func TestDoctorNamesFailingParts(t *testing.T) {
	found := partFindings(api.Health{Checks: map[string]api.HealthCheck{
		"cache": {Status: "ok"}, "chain": {Status: "ok"}, "database": {Status: "down"}, "registrar": {Status: "degraded"},
	}})
	var got []string
	for _, f := range found {
		got = append(got, f.Check+" "+f.State)
	}
	if want := "chain ok, database warning, registrar warning"; strings.Join(got, ", ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// What is no state of health is not from a Deed service, although it is JSON.
func TestDoctorReadsHealth(t *testing.T) {
	for body, want := range map[string]bool{
		`{"status":"ok","version":"1"}`: true, `{"status":"down","code":"SERVICE_UNAVAILABLE"}`: true,
		`{}`: false, `null`: false, `[]`: false, `<html>`: false, `{"code":"RATE_LIMITED"}`: false,
	} {
		if _, ok := readHealth([]byte(body)); ok != want {
			t.Errorf("%s: got %v", body, ok)
		}
	}
}
