package opusdns_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/opusdns"
	"deed.example/deed/internal/registrar/opusdns/opusdnstest"
)

// liar returns a backend at a vendor that answers every request like this.
func liar(t *testing.T, status int, contentType, body string) *opusdns.Backend {
	t.Helper()
	return answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body)) // the client may have left
	})
}

// answering returns a backend at a vendor that is this handler.
func answering(t *testing.T, handle http.HandlerFunc) *opusdns.Backend {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	b, err := opusdns.Open(opusdns.Config{
		BaseURL: server.URL, Key: "key", Secret: "a secret of the test", Organization: opusdnstest.Organization,
		Contact: "contact_01h45ytscbebyvny4gc8cr8ma2", RequestsPerSecond: 100_000, Timeout: time.Minute, PageSize: 10,
		Now: func() time.Time { return time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const (
	asJSON    = "application/json"
	asProblem = "application/problem+json"
)

// goodDomain is a domain object that is as documented.
const goodDomain = `{"name":"one.com","sld":"one","tld":"com","roid":"D1","created_on":"2026-11-01T10:00:00","registered_on":"2026-11-01T10:00:00Z",
	"expires_on":"2029-11-01T10:00:00.123456Z","registry_statuses":["ok"],"nameservers":[{"hostname":"ns1.example.net"}],"transfer_lock":false}`

// changed returns the domain object with a part replaced.
func changed(t *testing.T, from, to string) string {
	t.Helper()
	if !strings.Contains(goodDomain, from) {
		t.Fatalf("%s is not in the domain object", from)
	}
	return strings.ReplaceAll(goodDomain, from, to)
}

// A domain object that breaks the schema, is about another name or absurd tells
// nothing: neither that the name is in the account nor that it is not.
func TestHostileDomain(t *testing.T) {
	order := registrar.Order{Kind: registrar.OrderRegister, Reference: "a", Name: "one.com", Years: 1, Submitted: time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)}
	if got, err := liar(t, 200, asJSON, goodDomain).Order(t.Context(), order); err != nil || got.State != registrar.OrderDone {
		t.Fatalf("the good one: got %+v, %v", got, err)
	}
	for title, body := range map[string]string{
		"another name":       changed(t, `"one.com"`, `"two.com"`),
		"no name":            changed(t, `"name":"one.com",`, ``),
		"a number as name":   changed(t, `"one.com"`, `7`),
		"not JSON":           goodDomain[:100],
		"two values":         goodDomain + goodDomain,
		"a name twice":       changed(t, `"name":"one.com"`, `"name":"one.com","name":"one.com"`),
		"a list":             "[" + goodDomain + "]",
		"too large":          goodDomain + strings.Repeat(" ", 2<<20),
		"null":               "null",
		"nothing":            "",
		"no expiry":          changed(t, `"2029-11-01T10:00:00.123456Z"`, `null`),
		"a zero expiry":      changed(t, `2029-11-01T10:00:00.123456Z`, `0001-01-01T00:00:00Z`),
		"too late":           changed(t, `2029-11`, `2039-11`),
		"too early":          changed(t, `2029-11`, `2027-08`),
		"the year 9999":      changed(t, `2029-11`, `9999-11`),
		"a time that is not": changed(t, `2026-11-01T10:00:00Z`, `yesterday`),
		"no times":           strings.ReplaceAll(strings.ReplaceAll(goodDomain, `"2026-11-01T10:00:00"`, `null`), `"2026-11-01T10:00:00Z"`, `null`),
		"a bad status":       changed(t, `"ok"`, `"ok <script>"`),
		"too many statuses":  changed(t, `"ok"`, strings.Repeat(`"ok",`, 100)+`"ok"`),
		"a bad name server":  changed(t, `ns1.example.net`, `ns1..example.net`),
		"bytes":              changed(t, `"D1"`, "\"\xff\xfe\""),
		"a bad deadline":     changed(t, `"transfer_lock":false`, `"verification_required":{"claims":[],"deadlines":[{"type":"deletion","date":"soon"}]}`),
	} {
		b := liar(t, 200, asJSON, body)
		if got, err := b.Order(t.Context(), order); !isUnknown(err) {
			t.Errorf("%s: got %+v, %v, want an error without a code", title, got, err)
		}
		if err := b.SetNameservers(t.Context(), "one.com", []string{"ns1.example.net", "ns2.example.net"}); title == "another name" && !isUnknown(err) {
			t.Errorf("a change, %s: got %v, want an error without a code", title, err)
		}
		if title != "no times" && title != "no expiry" && title != "too early" {
			if _, err := b.Holding(t.Context(), "one.com"); !isUnknown(err) {
				t.Errorf("%s: got %v, want an error without a code", title, err)
			}
		}
	}
}

// A name with the expiry of the renewal is not renewed while it is deleted.
func TestRenewalOfDeletedName(t *testing.T) {
	o := registrar.Order{Kind: registrar.OrderRenew, Name: "one.com", Years: 1, From: time.Date(2028, 11, 1, 10, 0, 0, 0, time.UTC), Submitted: time.Now()}
	for status, want := range map[string]registrar.OrderState{
		"ok": registrar.OrderDone, "autoRenewPeriod": registrar.OrderDone, "redemptionPeriod": registrar.OrderAbsent, "pendingDelete": registrar.OrderAbsent,
		"pendingRestore": registrar.OrderPending, "pending_restore": registrar.OrderPending, "deleted": registrar.OrderAbsent,
	} {
		got, err := liar(t, 200, asJSON, changed(t, `"ok"`, strconv.Quote(status))).Order(t.Context(), o)
		if err != nil || got.State != want {
			t.Errorf("%s: got %+v, %v, want %s", status, got, err, want)
		}
	}
}

// The expiry that guards a renewal is the vendor's own, whatever its precision, with a
// zone.
func TestExpiryIsRepeated(t *testing.T) {
	for _, text := range []string{"2029-11-01T10:00:00.123456Z", "2029-11-01T10:00:00.123456", "2029-11-01T11:00:00.123456+01:00"} {
		sent := make(chan string, 1)
		b := answering(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", asJSON)
			if strings.HasSuffix(r.URL.Path, "/renew") {
				body, _ := io.ReadAll(r.Body) // an empty one fails below
				sent <- string(body)
				_, _ = w.Write([]byte(`{"name":"one.com","new_expiry_date":"2030-11-01","period_extended":{"unit":"y","value":1}}`))
				return
			}
			_, _ = w.Write([]byte(changed(t, "2029-11-01T10:00:00.123456Z", text))) // the client may have left
		})
		from := time.Date(2029, 11, 1, 10, 0, 0, 0, time.UTC)
		if err := b.Place(t.Context(), registrar.Order{Kind: registrar.OrderRenew, Name: "one.com", Years: 1, From: from, Submitted: time.Now()}); err != nil {
			t.Fatal(err)
		}
		if got, want := <-sent, `{"period":{"unit":"y","value":1},"current_expiry_date":"2029-11-01T10:00:00.123456Z"}`; got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// Only a problem document of the API itself refuses an order, or says that a name is
// not in the account.
func TestHostileRefusal(t *testing.T) {
	order := registrar.Order{Kind: registrar.OrderRegister, Reference: "a", Name: "one.com", Years: 1, Submitted: time.Now()}
	for _, c := range []struct {
		status int
		kind   string
		body   string
		want   deed.Code // of the lookup; "" for unknown
	}{
		{404, asProblem, `{"type":"domain-not-found","title":"Error","status":404,"code":"ERROR_DOMAIN_NOT_FOUND"}`, deed.CodeNotFound},
		{404, asJSON, `{"type":"domain-not-found","title":"Error","status":404}`, deed.CodeNotFound},
		{404, asProblem, `{"type":"contact-not-found","title":"Error","status":404,"code":"ERROR_CONTACT_NOT_FOUND"}`, ""},
		{404, asProblem, `{"detail":"Not Found"}`, ""},
		{404, "text/html", `{"type":"domain-not-found","title":"Error","status":404,"code":"ERROR_DOMAIN_NOT_FOUND"}`, ""},
		{404, asJSON, ``, ""},
		{401, asProblem, `{"type":"authentication","title":"Error","status":401,"code":"ERROR_AUTHENTICATION"}`, ""},
		{403, asProblem, `{"type":"permission-denied","title":"Error","status":403,"code":"ERROR_PERMISSION_DENIED"}`, ""},
		{500, asProblem, `{"type":"domain-not-found","title":"Error","status":404,"code":"ERROR_DOMAIN_NOT_FOUND"}`, ""},
		{200, asProblem, `{"type":"domain-not-found","title":"Error","status":404,"code":"ERROR_DOMAIN_NOT_FOUND"}`, ""},
		{204, asJSON, ``, ""},
		{302, asJSON, ``, ""},
	} {
		b := liar(t, c.status, c.kind, c.body)
		_, err := b.Holding(t.Context(), "one.com")
		if c.want != "" && deed.CodeOf(err) != c.want || c.want == "" && !isUnknown(err) {
			t.Errorf("%d %s: got %v, want %q", c.status, c.body, err, c.want)
		}
		if err := b.Place(t.Context(), order); c.want == "" && !isUnknown(err) && c.status != 404 {
			t.Errorf("%d %s: the order got %v, want an error without a code", c.status, c.body, err)
		}
	}
}

// An entry of a list that is not as documented hides no other: neither a price, nor a name
// in a check, nor a contact, nor an event whose domain cannot be read.
func TestOneUnreadableEntry(t *testing.T) {
	const event, object, contact = "event_01h45ytscbebyvny4gc8cr8ma2", "domain_01h45ytscbebyvny4gc8cr8ma2", "contact_01h45ytscbebyvny4gc8cr8ma3"
	acknowledged := false
	b := answering(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", asJSON)
		body := `{"results":[]}`
		switch path := r.URL.Path; {
		case strings.HasSuffix(path, "/pricing/product-type/domain"):
			body = `{"prices":[{"product_action":"create","product_class":"com","price":9.5,"currency":"USD"},{"product_action":"renew","product_class":"com","price":"10.20","currency":"USD"}]}`
		case strings.HasSuffix(path, "/check") && len(r.URL.Query()["domains"]) > 1:
			body = `{"results":[{"domain":"two.com","available":"no"},7,{"domain":"one.com","available":true}]}`
		case strings.HasSuffix(path, "/check"):
			body = `{"results":[{"domain":"one.com","available":true}]}`
		case r.Method == http.MethodPatch && strings.HasSuffix(path, "/one.com"):
			body = goodDomain
		case r.Method == http.MethodPatch:
			acknowledged = true
		case strings.HasSuffix(path, "/contacts"):
			body = fmt.Sprintf(`{"results":[{"phone":7},{"contact_id":%q,"first_name":"Grace","last_name":"Example","email":"g@example.com","phone":"+44.2071234567","street":"High St 1","city":"London","postal_code":"N1 1AA","country":"GB"}]}`, contact)
		case strings.HasSuffix(path, "/events") && !acknowledged:
			body = fmt.Sprintf(`{"results":[{"event_id":%q,"object_id":%q,"object_type":"DOMAIN","type":"RENEWAL"}]}`, event, object)
		case strings.HasSuffix(path, object):
			body = `{"name":["one.com"]}`
		}
		_, _ = w.Write([]byte(body)) // the client may have left
	})
	if p, err := b.Price(t.Context(), registrar.Order{Kind: registrar.OrderRenew, Name: "one.com", Years: 1}); err != nil || p.Total != 10_200_000 {
		t.Errorf("the other price: got %+v, %v", p, err)
	}
	if got, err := b.AvailableAll(t.Context(), []deed.Name{"one.com", "two.com"}); err != nil || len(got) != 1 || !got["one.com"].Available {
		t.Errorf("the other name: got %+v, %v", got, err)
	}
	owner := lifecycle.Contact{Name: "Grace Example", Email: "g@example.com", Phone: "+44.2071234567", Street: []string{"High St 1"}, City: "London", PostalCode: "N1 1AA", Country: "GB"}
	if id, err := b.SetRegistrant(t.Context(), "one.com", owner); err != nil || id != contact {
		t.Errorf("the other contact: got %s, %v", id, err)
	}
	var got []registrar.Message
	more, err := b.NextMessage(t.Context(), func(_ context.Context, m registrar.Message) error { got = append(got, m); return nil })
	if err != nil || !more || len(got) != 1 || got[0].ID != event || got[0].Name != "" || !acknowledged {
		t.Errorf("the event: got %+v, %t, %v", got, more, err)
	}
}

// An event whose domain the vendor fails to look up, again and again, waits behind the others.
func TestEventWithoutAnswer(t *testing.T) {
	const first, second, object = "event_01h45ytscbebyvny4gc8cr8ma2", "event_01h45ytscbebyvny4gc8cr8ma3", "domain_01h45ytscbebyvny4gc8cr8ma2"
	b := answering(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", asJSON)
		if strings.HasSuffix(r.URL.Path, object) {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = fmt.Fprintf(w, `{"results":[{"event_id":%q,"object_id":%q,"object_type":"DOMAIN"},{"event_id":%q}]}`, first, object, second) // the client may have left
	})
	for _, want := range []string{"", second, ""} {
		got := ""
		_, err := b.NextMessage(t.Context(), func(_ context.Context, m registrar.Message) error { got = m.ID; return nil })
		if got != want || isUnknown(err) != (want == "") {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}

// An object of an organization below ours is not ours.
func TestOtherOrganization(t *testing.T) {
	body := changed(t, `"roid":"D1"`, `"roid":"D1","owner_id":"organization_01h45ytscbebyvny4gc8cr8ma3"`)
	if _, err := liar(t, 200, asJSON, body).Holding(t.Context(), "one.com"); deed.CodeOf(err) != deed.CodeNotFound {
		t.Errorf("got %v, want a name that is not in the account", err)
	}
}

// check returns a reply to a check with this result.
func check(fields string) string {
	return fmt.Sprintf(`{"results":[{"domain":"one.com","reason":null,%s}]}`, fields)
}

// prices returns the fields of a premium name with these prices.
func prices(create, renew, currency string) string {
	return fmt.Sprintf(`"available":true,"is_premium":true,"premium_pricing":{"prices":[{"action":"create","price":%q,"currency":%q},{"action":"renew","price":%q,"currency":%q}]}`,
		create, currency, renew, currency)
}

// What a check says about money is believed only if it makes sense.
func TestHostileCheck(t *testing.T) {
	for body, want := range map[string]registrar.Availability{
		check(`"available":true`):  {Available: true},
		check(`"available":false`): {Reason: "taken"},
		`{"results":[{"domain":"ONE.com.","available":false,"reason":"RESERVED"}]}`: {Reason: "reserved"},
		check(`"available":true,"claims_key":"2013041500/2/6/9/x"`):                 {Reason: "reserved"},
		check(prices("2500.00", "80.5", "USD")):                                     {Available: true, Premium: true, Wholesale: 2_500_000_000, Renewal: 80_500_000},
		check(prices("7.0000001", "8", "USD")):                                      {Available: true, Premium: true, Wholesale: 7_000_001, Renewal: 8_000_000},
		check(`"available":false,"is_premium":true`):                                {Reason: "taken"},
	} {
		if got, err := liar(t, 200, asJSON, body).Available(t.Context(), "one.com"); err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", body, got, err, want)
		}
	}
	for _, body := range []string{
		check(`"available":"true"`), check(`"is_premium":false`), `{"results":[]}`, `{}`, `null`,
		check(`"available":true,"is_premium":true`),
		check(prices("0.00", "80", "USD")), check(prices("-5", "80", "USD")), check(prices("5", "0", "USD")), check(prices("5", "80", "EUR")),
		check(prices("five", "80", "USD")), check(prices("1e9", "80", "USD")), check(prices("99999999999999999999", "80", "USD")), check(prices("", "80", "USD")),
		check(`"available":true,"is_premium":true,"premium_pricing":{"prices":[{"action":"create","price":"5.00","currency":"USD"}]}`),
		`{"results":[{"domain":"two.com","available":true,"reason":null}]}`,
		`{"results":[{"domain":"","available":true,"reason":null}]}`,
		`{"results":[{"domain":"one.com","available":true,"reason":null},{"domain":"one.com","available":false,"reason":null}]}`,
		check(`"available":false,"error":{"type":"check_error","message":"timeout"}`),
	} {
		b := liar(t, 200, asJSON, body)
		if got, err := b.Available(t.Context(), "one.com"); !isUnknown(err) {
			t.Errorf("%s: got %+v, %v, want an error without a code", body, got, err)
		}
		if all, err := b.AvailableAll(t.Context(), []deed.Name{"one.com", "three.com"}); err == nil && all["one.com"].Available && !strings.Contains(body, "},{") {
			t.Errorf("%s: got %+v", body, all)
		}
	}
	_, err := liar(t, 200, asJSON, check(`"available":false,"error":{"type":"validation_error","message":"TLD"}`)).Available(t.Context(), "one.com")
	if deed.CodeOf(err) != deed.CodeTLDNotSupported {
		t.Errorf("got %v, want %s", err, deed.CodeTLDNotSupported)
	}
}

// A vendor that switches protocols, and then says nothing, is not waited for.
func TestVendorSwitchesProtocols(t *testing.T) {
	b := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return // the backend notices
		}
		_, _ = buffered.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		_ = buffered.Flush()
		_, _ = conn.Read(make([]byte, 1))
		_ = conn.Close()
	})
	if _, err := b.Holding(t.Context(), "one.com"); err == nil || deed.CodeOf(err) == deed.CodeNotFound {
		t.Errorf("got %v", err)
	}
}
