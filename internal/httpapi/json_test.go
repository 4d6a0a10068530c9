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

// The range of a number is said with it: a number beyond it is a whole one, too.
func TestNumberOutOfRange(t *testing.T) {
	for body, want := range map[string]string{
		`{"ds":[{"keyTag":65536}]}`:  "ds[0].keyTag: cannot be a JSON number: send a whole number from 0 to 65535",
		`{"ds":[{"keyTag":-1}]}`:     "ds[0].keyTag: cannot be a JSON number: send a whole number from 0 to 65535",
		`{"ds":[{"algorithm":256}]}`: "ds[0].algorithm: cannot be a JSON number: send a whole number from 0 to 255",
	} {
		r := httptest.NewRequest(http.MethodPut, "/domains/example.com/ds", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		var in api.DSRequest
		if e, _ := shown(decode(httptest.NewRecorder(), r, maxBody, &in)); e.Message != want {
			t.Errorf("%s: got %q, want %q", body, e.Message, want)
		}
	}
}

// What JSON Schema calls an integer is one, however it is written.
func TestWholeNumbers(t *testing.T) {
	for text, want := range map[string]string{
		`2`: "", `2.0`: "", `2e0`: "", `0.2E1`: "",
		`2.5`:            "years: cannot be a JSON number: send a whole number",
		`2.0,"years":3`:  "the body is not the JSON we expect: duplicate object member name at byte 30",
		`2.0,"month":1`:  "month: there is no such field",
		`2.0,"domain":5`: "domain: cannot be a JSON number: send a string",
	} {
		r := httptest.NewRequest(http.MethodPost, "/domains/register", strings.NewReader(`{"dns_records":[],"years":`+text+`}`))
		r.Header.Set("Content-Type", "application/json")
		var in api.RegisterRequest
		got := ""
		if err := decode(httptest.NewRecorder(), r, maxBody, &in); err != nil {
			e, _ := shown(err)
			got = e.Message
		}
		if got != want || want == "" && *in.Years != 2 {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// Kinds of values have the words of JSON, and what to send is said of each.
func TestWordsOfKinds(t *testing.T) {
	for body, want := range map[string]string{
		`[]`:                               "body: cannot be a JSON array: send an object",
		`"x"`:                              "body: cannot be a JSON string: send an object",
		`{"domain":["example.com"]}`:       "domain: cannot be a JSON array: send a string",
		`{"domain":{}}`:                    "domain: cannot be a JSON object: send a string",
		`{"dns_records":{}}`:               "dns_records: cannot be a JSON object: send an array",
		`{"dns_records":[5]}`:              "dns_records[0]: cannot be a JSON number: send an object",
		`{"nameservers":"ns.example.com"}`: "nameservers: cannot be a JSON string: send an array",
		`{"domain":"exam`:                  "the body ends before its JSON value does",
		`{`:                                "the body ends before its JSON value does",
	} {
		r := httptest.NewRequest(http.MethodPost, "/domains/register", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		var in api.RegisterRequest
		if e, _ := shown(decode(httptest.NewRecorder(), r, maxBody, &in)); e.Message != want {
			t.Errorf("%s: got %q, want %q", body, e.Message, want)
		}
	}
}
