package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"deed.example/deed/api"
)

// What a time looks like is said of text that is none, and of other values.
func TestMalformedTime(t *testing.T) {
	for value, want := range map[string]string{
		`"2027-01-02"`: "expectedExpiresAt: is not a time as in 2027-01-02T03:04:05Z (RFC 3339)",
		`1798859045`:   "expectedExpiresAt: cannot be a JSON number: send a time as in 2027-01-02T03:04:05Z (RFC 3339)",
	} {
		r := httptest.NewRequest(http.MethodPost, "/domains/renew", strings.NewReader(`{"domain":"example.com","expectedExpiresAt":`+value+`}`))
		r.Header.Set("Content-Type", "application/json")
		var in api.RenewRequest
		if e, status := shown(decode(httptest.NewRecorder(), r, maxBody, &in)); e.Message != want || status != http.StatusBadRequest {
			t.Errorf("%s: got %d %q, want %q", value, status, e.Message, want)
		}
	}
}
