package opusdns

import (
	"net/http"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
)

// Whatever the vendor replies, what is read of it is valid.
func FuzzDomain(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{"name":"one.com","expires_on":"2029-11-01T10:00:00.123456Z","registry_statuses":["ok","pending_transfer"]}`,
		`{"name":"one.com","created_on":"2026-11-01","nameservers":[{"hostname":"NS1.example.net."}],"auth_code":"x","transfer_lock":true}`,
		`{"name":"one.com","verification_required":{"claims":["email","email","\u202e"],"deadlines":[{"type":"deletion","date":"2026-12-01"}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var reply domainReply
		if json.Unmarshal(raw, &reply) != nil {
			return
		}
		d, err := parseDomain(reply)
		if err != nil {
			if deed.CodeOf(err) != deed.CodeUnavailable {
				t.Errorf("%s: the error has a code: %v", raw, err)
			}
			return
		}
		if _, err := deed.ParseName(string(d.name)); err != nil {
			t.Errorf("%s: got the name %q", raw, d.name)
		}
		h := d.holding(time.Now())
		if len(h.EPPStatus) > maxStatuses+1 || len(h.Nameservers) > maxHosts || !h.Expires.IsZero() && h.Expires.Year() < 1980 {
			t.Errorf("%s: got %+v", raw, h)
		}
	})
}

// A reply is a problem of the API, decoded, or an error without a code; it never
// refuses anything by accident.
func FuzzReply(f *testing.F) {
	f.Add(404, "application/problem+json", []byte(`{"type":"domain-not-found","title":"x","status":404,"code":"ERROR_DOMAIN_NOT_FOUND"}`))
	f.Add(200, "application/json; charset=utf-8", []byte(`{"name":"one.com"}`))
	f.Add(409, "text/html", []byte(`<html>`))
	f.Add(429, "", []byte(``))
	f.Fuzz(func(t *testing.T, status int, contentType string, raw []byte) {
		var reply domainReply
		err := decodeReply(&http.Response{StatusCode: status, Header: http.Header{"Content-Type": {contentType}}}, raw, &reply)
		if p := refusal(err); p != nil && (status < 400 || status > 499 || !hasJSON(contentType)) {
			t.Errorf("%d %q %s: got a refusal", status, contentType, raw)
		}
		if err != nil && deed.CodeOf(err) != deed.CodeUnavailable {
			t.Errorf("%d %q %s: the error has a code: %v", status, contentType, raw, err)
		}
	})
}

// An amount is what the text says, rounded to less money, and a price to more.
func FuzzAmount(f *testing.F) {
	for _, seed := range []string{"1", "-1.5", "+0.0000001", ".", "", "1e3", "999999999999.999999", "00012.50"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		amount, err := parseAmount(text)
		price, priceErr := parsePrice(text, currency)
		if err != nil && priceErr == nil {
			t.Errorf("%q is a price and not an amount", text)
		}
		if priceErr == nil && (price <= 0 || price < amount || price > amount+1) {
			t.Errorf("%q: the amount is %d and the price %d", text, amount, price)
		}
	})
}
