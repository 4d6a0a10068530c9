package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"deed.example/deed"
	"deed.example/deed/api"
)

// badRecords are invalid bodies of POST /dns/{domain}, in a zone with a CNAME at
// alias and an A at www.
var badRecords = map[string]string{
	"a TXT that carries a record":   `{"type":"TXT","host":"x","value":"text\nevil 60 IN A 192.0.2.66"}`,
	"a TXT with a carriage return":  `{"type":"TXT","host":"x","value":"text\revil"}`,
	"a TXT with a NUL":              `{"type":"TXT","host":"x","value":"a\u0000b"}`,
	"a TXT with DEL":                `{"type":"TXT","host":"x","value":"a\u007fb"}`,
	"a TXT with an escape":          `{"type":"TXT","host":"x","value":"a\u001b[2Jb"}`,
	"a TXT with nothing":            `{"type":"TXT","host":"x","value":""}`,
	"a TXT whose quotes are open":   `{"type":"TXT","host":"x","value":"\"open"}`,
	"a TXT with a lone backslash":   `{"type":"TXT","host":"x","value":"\"lone\\\""}`,
	"a TXT larger than a record":    `{"type":"TXT","host":"x","value":"` + strings.Repeat("a", 4097) + `"}`,
	"an include":                    `{"type":"A","host":"$INCLUDE","value":"/etc/passwd"}`,
	"an include as a value":         `{"type":"CNAME","host":"x","value":"$INCLUDE /etc/passwd"}`,
	"a host with a line":            `{"type":"A","host":"x\nevil","value":"192.0.2.1"}`,
	"a host with a NUL":             `{"type":"A","host":"x\u0000","value":"192.0.2.1"}`,
	"a host with a space":           `{"type":"A","host":"a b","value":"192.0.2.1"}`,
	"a host with an empty label":    `{"type":"A","host":"a..b","value":"192.0.2.1"}`,
	"a star inside":                 `{"type":"A","host":"a.*.b","value":"192.0.2.1"}`,
	"a label of 64":                 `{"type":"A","host":"` + strings.Repeat("a", 64) + `","value":"192.0.2.1"}`,
	"no host":                       `{"type":"A","value":"192.0.2.1"}`,
	"another name's host":           `{"type":"A","host":"www.other.com.","value":"192.0.2.1"}`,
	"a CNAME beside an A":           `{"type":"CNAME","host":"www","value":"other.example"}`,
	"an A beside a CNAME":           `{"type":"A","host":"alias","value":"192.0.2.1"}`,
	"a CNAME at the apex":           `{"type":"CNAME","host":"@","value":"other.example"}`,
	"a second CNAME":                `{"type":"CNAME","host":"alias","value":"second.example"}`,
	"a CNAME of itself":             `{"type":"CNAME","host":"x","value":"x.first.com"}`,
	"a CNAME loop with others":      `{"type":"CNAME","host":"*","value":"any.first.com"}`,
	"broken punycode":               `{"type":"A","host":"xn--99999999999","value":"192.0.2.1"}`,
	"broken punycode as a target":   `{"type":"CNAME","host":"x","value":"xn--99999999999.com"}`,
	"bytes that are cut off":        `{"type":"TYPE65280","host":"x","value":"\\# 3 abcd"}`,
	"a CNAME to an address":         `{"type":"CNAME","host":"x","value":"192.0.2.1"}`,
	"an MX to an address":           `{"type":"MX","host":"@","value":"192.0.2.1","distance":10}`,
	"an MX to a URL":                `{"type":"MX","host":"@","value":"https://mail.example/","distance":10}`,
	"an MX with an underscore":      `{"type":"MX","host":"@","value":"_mail.example","distance":10}`,
	"an MX without distance":        `{"type":"MX","host":"@","value":"mail.example"}`,
	"an MX with null distance":      `{"type":"MX","host":"@","value":"mail.example","distance":null}`,
	"a distance of 65536":           `{"type":"MX","host":"@","value":"mail.example","distance":65536}`,
	"a distance of -1":              `{"type":"MX","host":"@","value":"mail.example","distance":-1}`,
	"a distance and a priority":     `{"type":"MX","host":"@","value":"mail.example","distance":1,"priority":2}`,
	"a distance of an A":            `{"type":"A","host":"x","value":"192.0.2.1","distance":0}`,
	"a distance of a TXT":           `{"type":"TXT","host":"x","value":"a","distance":5}`,
	"an SRV of other weight":        `{"type":"SRV","host":"_sip._tcp","value":"1 2 5060 sip.example","distance":3}`,
	"an SRV of other priority":      `{"type":"SRV","host":"_sip._tcp","value":"1 2 5060 sip.example","priority":3}`,
	"an SRV of three fields":        `{"type":"SRV","host":"_sip._tcp","value":"1 5060 sip.example"}`,
	"256.1.1.1":                     `{"type":"A","host":"x","value":"256.1.1.1"}`,
	"an octal address":              `{"type":"A","host":"x","value":"0300.0.2.1"}`,
	"a short address":               `{"type":"A","host":"x","value":"192.0.513"}`,
	"a number for an address":       `{"type":"A","host":"x","value":"3221225985"}`,
	"two addresses":                 `{"type":"A","host":"x","value":"192.0.2.1 192.0.2.2"}`,
	"an IPv6 address as A":          `{"type":"A","host":"x","value":"2001:db8::1"}`,
	"an IPv4 address as AAAA":       `{"type":"AAAA","host":"x","value":"192.0.2.1"}`,
	"an AAAA with a zone":           `{"type":"AAAA","host":"x","value":"fe80::1%eth0"}`,
	"ttl -1":                        `{"type":"A","host":"x","value":"192.0.2.1","ttl":-1}`,
	"ttl 0":                         `{"type":"A","host":"x","value":"192.0.2.1","ttl":0}`,
	"ttl 59":                        `{"type":"A","host":"x","value":"192.0.2.1","ttl":59}`,
	"ttl 86401":                     `{"type":"A","host":"x","value":"192.0.2.1","ttl":86401}`,
	"ttl in quotes":                 `{"type":"A","host":"x","value":"192.0.2.1","ttl":"60"}`,
	"ttl 60.5":                      `{"type":"A","host":"x","value":"192.0.2.1","ttl":60.5}`,
	"ttl 6.05e1":                    `{"type":"A","host":"x","value":"192.0.2.1","ttl":6.05e1}`,
	"ttl 2^64":                      `{"type":"A","host":"x","value":"192.0.2.1","ttl":18446744073709551616}`,
	"no type":                       `{"host":"x","value":"192.0.2.1"}`,
	"an ANAME":                      `{"type":"ANAME","host":"@","value":"other.example"}`,
	"an ALIAS to itself":            `{"type":"ALIAS","host":"x","value":"x.first.com"}`,
	"an ALIAS beside an A":          `{"type":"ALIAS","host":"www","value":"other.example"}`,
	"a FORWARD without servers":     `{"type":"FORWARD","host":"x","value":"https://other.example/"}`,
	"a SOA":                         `{"type":"SOA","host":"@","value":"a. b. 1 2 3 4 5"}`,
	"an RRSIG":                      `{"type":"RRSIG","host":"@","value":"A 13 2 300"}`,
	"NS at the apex":                `{"type":"NS","host":"@","value":"ns1.example"}`,
	"a wildcard NS":                 `{"type":"NS","host":"*","value":"ns1.example"}`,
	"a DS without NS":               `{"type":"DS","host":"sub","value":"1 13 2 ` + strings.Repeat("ab", 32) + `"}`,
	"a CAA with another flag":       `{"type":"CAA","host":"@","value":"1 issue \"ca.example\""}`,
	"a TLSA with odd hex":           `{"type":"TLSA","host":"_443._tcp","value":"3 1 1 abc"}`,
	"the same again":                `{"type":"A","host":"www","value":"192.0.2.10"}`,
	"the same in other letters":     `{"type":"a","host":"WWW.First.com.","value":"192.0.2.10","ttl":60}`,
	"an unknown field":              `{"type":"A","host":"x","value":"192.0.2.1","name":"x"}`,
	"a field twice":                 `{"type":"A","host":"x","value":"192.0.2.1","value":"192.0.2.2"}`,
	"a null MX beside another MX":   `{"type":"MX","host":"mail","value":".","distance":0}`,
	"not an object":                 `[]`,
	"UTF-8 that is not":             "{\"type\":\"TXT\",\"host\":\"x\",\"value\":\"\xff\"}",
	"a surrogate that stands alone": `{"type":"TXT","host":"x","value":"\ud800"}`,
}

// A contentEnv is a name with records, whose owner tries invalid changes with one
// payment that stays usable.
type contentEnv struct {
	*env
	owner          *account
	token, payment string
	before         answer
	paid           deed.USDC
}

func openContent(t *testing.T, s *env) *contentEnv {
	t.Helper()
	h := &contentEnv{env: s, owner: s.bought(t, "first.com")}
	h.token = s.bearer(t, h.owner)
	batch := `{"changes":[{"op":"add","type":"A","host":"www","value":"192.0.2.10"},{"op":"add","type":"CNAME","host":"alias","value":"other.example"},{"op":"add","type":"MX","host":"mail","value":"mx.example","distance":10},{"op":"add","type":"SRV","host":"_sip._tcp","value":"1 2 5060 sip.example"}]}`
	if got := s.dnsCall(t, "POST", "/dns/first.com/batch", batch, h.token, s.promise(h.owner, 4*change).header(t)); got.status != 200 {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	h.payment = s.promise(h.owner, change).header(t)
	h.before, h.paid = s.get(t, "/dns/first.com", "Authorization", h.token), s.balance(t, s.payTo)
	return h
}

// refuses makes a call with the payment and expects 400.
func (h *contentEnv) refuses(t *testing.T, what, method, path, body string, more ...string) {
	t.Helper()
	for _, payment := range []string{"", h.payment} {
		headers := append([]string{"Authorization", h.token}, more...)
		if payment != "" {
			headers = append(headers, "PAYMENT-SIGNATURE", payment)
		}
		if got := h.do(t, method, path, body, headers...); got.status != 400 || got.error(t).Code != string(deed.CodeValidation) {
			t.Errorf("%s: got %d %s, want 400 %s", what, got.status, got.body, deed.CodeValidation)
		}
	}
}

// unchanged fails if anything was written or any money moved, or if the payment is
// not usable any more.
func (h *contentEnv) unchanged(t *testing.T) {
	t.Helper()
	if now := h.get(t, "/dns/first.com", "Authorization", h.token); now.body != h.before.body || h.open(t) != 0 || h.balance(t, h.payTo) != h.paid {
		t.Errorf("something changed: before %s, after %s", h.before.body, now.body)
	}
	if txs := read[api.Transactions](t, h.get(t, "/account/transactions", "Authorization", h.token)); txs.Total != 2 {
		t.Errorf("something was written down: %+v", txs)
	}
	created(t, h.dnsCall(t, "POST", "/dns/first.com", `{"type":"A","host":"good","value":"192.0.2.1"}`, h.token, h.payment))
	h.runWorker(t)
	h.audit(t)
}

func (h *contentEnv) record(t *testing.T, host string) api.Record {
	t.Helper()
	list := read[api.RecordList](t, h.get(t, "/dns/first.com?host="+host, "Authorization", h.token))
	if len(list.Records) != 1 {
		t.Fatalf("%s: got %+v", host, list)
	}
	return list.Records[0]
}

// An invalid record is 400 before any money moves: with POST, in a batch, and with
// PUT.
func TestBadRecords(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		h := openContent(t, s)
		for what, body := range badRecords {
			h.refuses(t, what, "POST", "/dns/first.com", body)
			if strings.HasPrefix(body, "{") {
				h.refuses(t, what+" in a batch", "POST", "/dns/first.com/batch", `{"changes":[`+strings.Replace(body, "{", `{"op":"add",`, 1)+`]}`)
			}
		}
		www, srv, mx := "/dns/first.com/"+h.record(t, "www").ID, "/dns/first.com/"+h.record(t, "_sip._tcp").ID, "/dns/first.com/"+h.record(t, "mail").ID
		for _, c := range []struct{ path, body string }{
			{www, `{}`}, {www, `{"ttl":null}`}, {www, `{"type":"AAAA"}`}, {www, `{"type":"AAAA","value":"2001:db8::1"}`}, {www, `{"value":""}`},
			{www, `{"value":"256.1.1.1"}`}, {www, `{"ttl":-1}`}, {www, `{"ttl":0}`}, {www, `{"ttl":"60"}`}, {www, `{"ttl":60.5}`}, {www, `{"distance":1}`}, {www, `{"host":"alias"}`},
			{www, `{"host":""}`}, {www, `{"id":"rec_2"}`}, {mx, `{"distance":65536}`}, {mx, `{"value":"192.0.2.1"}`}, {mx, `{"value":"."}`},
			{srv, `{"distance":65536}`}, {srv, `{"value":"1 2 5060 sip.example","distance":3}`}, {srv, `{"host":"alias"}`},
		} {
			h.refuses(t, "PUT "+c.body, "PUT", c.path, c.body)
		}
		for _, body := range []string{
			`{}`, `{"changes":[]}`, `{"changes":[{"op":"move","id":"rec_1"}]}`, `{"changes":[{"op":"delete"}]}`, `{"changes":[{"op":"add","id":"rec_1","type":"A","host":"x","value":"192.0.2.1"}]}`,
			fmt.Sprintf(`{"changes":[{"op":"delete","id":%q,"ttl":60}]}`, h.record(t, "www").ID), `{"ifRevision":1,"changes":[{"op":"add","type":"A","host":"x","value":"192.0.2.1"}]}`,
		} {
			h.refuses(t, "batch "+body, "POST", "/dns/first.com/batch", body)
		}
		h.unchanged(t)
	})
}

// A master file must follow the same rules, cannot include files, and has a size
// limit.
func TestBadMasterFiles(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		h := openContent(t, s)
		text := []string{"Content-Type", "text/dns"}
		for what, file := range map[string]string{
			"$INCLUDE":          "$INCLUDE /etc/passwd\n",
			"$INCLUDE inside":   "a 300 IN A 192.0.2.1\n$include /etc/passwd first.com.\n",
			"$GENERATE":         "$GENERATE 1-65535 h$ A 192.0.2.1\n",
			"another origin":    "$ORIGIN other.com.\nwww 300 IN A 192.0.2.1\n",
			"another class":     "www 300 CH A 192.0.2.1\n",
			"an open quote":     "www 300 IN TXT \"open\n",
			"open parentheses":  "www 300 IN TXT ( \"a\"\n",
			"a NUL":             "www 300 IN TXT \"a\x00b\"\n",
			"an escaped NUL":    "www 300 IN TXT \"a\\000b\"\n",
			"256.1.1.1":         "x 300 IN A 256.1.1.1\n",
			"a CNAME beside":    "www 300 IN CNAME other.example.\n",
			"a CNAME at apex":   "@ 300 IN CNAME other.example.\n",
			"a ttl of 1":        "x 1 IN A 192.0.2.1\n",
			"an unknown type":   "x 300 IN TYPE65535 \\# 1 00\n",
			"no master file":    "<html>",
			"1,001 records":     many(1001),
			"10,000 records":    many(10_000),
			"more than a zone":  many(1000), // plus the four existing ones
			"a record too long": "x 300 IN TXT " + strings.Repeat(`"`+strings.Repeat("a", 250)+`" `, 20) + "\n",
		} {
			h.refuses(t, what, "POST", "/dns/first.com/import", file, text...)
			h.refuses(t, what+", dry", "POST", "/dns/first.com/import?dryRun=true", file, text...)
		}
		h.refuses(t, "mode", "POST", "/dns/first.com/import?mode=append", "", text...)
		h.refuses(t, "dryRun", "POST", "/dns/first.com/import?dryRun=1", "", text...)
		large := append([]string{"Authorization", h.token, "PAYMENT-SIGNATURE", h.payment}, text...)
		if got := s.do(t, "POST", "/dns/first.com/import", strings.Repeat("; nothing\n", 1<<20/10+1), large...); got.status != 413 {
			t.Errorf("larger than 1 MiB: got %d %s", got.status, got.body)
		}
		if got := s.dnsCall(t, "POST", "/dns/first.com/import", `{}`, h.token, h.payment); got.status != 415 {
			t.Errorf("JSON: got %d %s", got.status, got.body)
		}
		h.unchanged(t)
	})
}

// many returns a master file with n records.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "h%d 300 IN A 192.0.2.1\n", i)
	}
	return b.String()
}

// A zone can have 1,000 records at most.
func TestFullZone(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner := s.bought(t, "first.com")
		token := s.bearer(t, owner)
		got := read[api.ZoneChanged](t, s.do(t, "POST", "/dns/first.com/import", many(1000), "Content-Type", "text/dns", "Authorization", token, "PAYMENT-SIGNATURE", s.promise(owner, 1000*change).header(t)))
		if got.Count != 1000 || got.Price != "100.00" {
			t.Fatalf("got %d for %s", got.Count, got.Price)
		}
		payment := s.promise(owner, change).header(t)
		s.dnsCall(t, "POST", "/dns/first.com", `{"type":"A","host":"www","value":"192.0.2.1"}`, token, payment).expect(t, 400, deed.CodeValidation)
		if rcode, answers := s.dig(t, "h999.first.com", "A"); rcode != "NOERROR" || len(answers) != 1 {
			t.Errorf("got %s %v", rcode, answers)
		}
		gone := read[api.RecordList](t, s.get(t, "/dns/first.com?host=h7&type=A", "Authorization", token))
		if len(gone.Records) != 1 {
			t.Fatalf("got %+v", gone)
		}
		read[api.RecordDeleted](t, s.dnsCall(t, "DELETE", "/dns/first.com/"+gone.Records[0].ID, "", token, payment))
		created(t, s.dnsCall(t, "POST", "/dns/first.com", `{"type":"A","host":"www","value":"192.0.2.1"}`, token, s.promise(owner, change).header(t)))
		s.runWorker(t)
		s.audit(t)
	})
}
