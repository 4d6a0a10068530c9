package e2e_test

import (
	"strings"
	"testing"

	"deed.example/deed"
	"deed.example/deed/api"
)

// A patch changes the given fields only; GET filters records.
func TestPatchesAndFilters(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		h := openContent(t, s)
		put := func(host, body string) api.Record {
			t.Helper()
			got := read[api.RecordUpdated](t, h.dnsCall(t, "PUT", "/dns/first.com/"+h.record(t, host).ID, body, h.token, s.promise(h.owner, change).header(t)))
			if got.Message != "DNS record updated" || got.RecordID != got.ID {
				t.Errorf("got %+v", got)
			}
			return got.Record
		}
		if r := put("www", `{"type":"A","ttl":60,"distance":null}`); r.TTL != 60 || r.Value != "192.0.2.10" || r.Distance != nil {
			t.Errorf("got %+v", r)
		}
		if r := put("_sip._tcp", `{"distance":7}`); r.Value != "1 7 5060 sip.example" || r.Distance == nil || *r.Distance != 7 {
			t.Errorf("got %+v", r)
		}
		if r := put("_sip._tcp", `{"value":"3 4 5061 sip2.example"}`); r.Value != "3 4 5061 sip2.example" || *r.Distance != 4 {
			t.Errorf("got %+v", r)
		}
		if r := put("mail", `{"priority":0}`); *r.Distance != 0 || r.Value != "mx.example" {
			t.Errorf("got %+v", r)
		}
		before := h.record(t, "www")
		if r := put("www", `{"host":"moved"}`); r.ID != before.ID || r.Host != "moved" || !r.CreatedAt.Equal(before.CreatedAt) {
			t.Errorf("got %+v", r)
		}
		if _, answers := s.dig(t, "moved.first.com", "A"); len(answers) != 1 || !strings.HasPrefix(answers[0], "moved.first.com. 60 IN A") {
			t.Errorf("got %v", answers)
		}
		for query, want := range map[string]int{
			"": 4, "?type=A": 1, "?type=MX": 1, "?type=TXT": 0, "?host=moved": 1, "?host=www": 0, "?host=@": 0, "?type=A&host=moved": 1, "?type=A&host=mail": 0,
			"?host=MAIL": 1, "?host=mail.first.com.": 1,
		} {
			if list := read[api.RecordList](t, s.get(t, "/dns/first.com"+query, "Authorization", h.token)); len(list.Records) != want || list.Records == nil {
				t.Errorf("%s: got %+v", query, list)
			}
		}
		for _, query := range []string{"?type=BOGUS", "?type=SOA", "?host=a..b", "?host=www.other.com."} {
			s.get(t, "/dns/first.com"+query, "Authorization", h.token).expect(t, 400, deed.CodeValidation)
		}
		s.dnsCall(t, "PUT", "/dns/first.com/rec_unknown", `{"ttl":60}`, h.token, h.payment).expect(t, 404, deed.CodeNotFound)
		other := s.ownerOf(t, "other.com")
		theirs := s.addedRecord(t, "other.com", other)
		for _, method := range []string{"PUT", "DELETE"} { // a record of another wallet's name
			s.dnsCall(t, method, "/dns/first.com/"+theirs.ID, `{"ttl":60}`, h.token, h.payment).expect(t, 404, deed.CodeNotFound)
		}
		s.runWorker(t)
		s.audit(t)
	})
}
