package e2e_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
)

// rdap queries an object. Every exchange is validated against the schemas of RFC
// 9083 in openapi.yaml.
func (s *env) rdap(t *testing.T, path string) api.RDAPDomain {
	t.Helper()
	got := s.get(t, "/rdap/"+path)
	var out api.RDAPDomain
	if err := json.Unmarshal([]byte(got.body), &out); err != nil || got.status != 200 || got.header.Get("Content-Type") != "application/rdap+json" {
		t.Fatalf("%s: got %d %v %s, %v", path, got.status, got.header, got.body, err)
	}
	return out
}

// at returns the time of an event.
func at(events []api.RDAPEvent, action string) (when time.Time) {
	for _, e := range events {
		if e.Action == action {
			when = e.Date
		}
	}
	return when
}

// RDAP shows the same data as GET /domains/{domain}, without the owner.
func TestRDAPDomain(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner := s.bought(t, "first.com")
		ds := []dnssec.DS{{KeyTag: 12345, Algorithm: 13, DigestType: 2, Digest: strings.Repeat("ab", 32)}}
		elsewhere := s.registry.SetNameservers(t.Context(), "first.com", []string{"ns1.example.net", "ns2.example.net"}) // our keys have another DS
		if err := errors.Join(elsewhere, s.registry.SetDS(t.Context(), "first.com", ds)); err != nil {
			t.Fatal(err)
		}
		s.pass(t, 25*time.Hour)
		page, got := s.domain(t, "first.com"), s.rdap(t, "domain/first.com")
		if got.Class != "domain" || got.LDHName != "first.com" || got.UnicodeName != "" || fmt.Sprint(got.Status) != "[client transfer prohibited server transfer prohibited]" {
			t.Errorf("got %+v", got)
		}
		if len(got.Nameservers) != len(page.Nameservers) || got.Nameservers[0].LDHName != page.Nameservers[0] {
			t.Errorf("got %+v, want %v", got.Nameservers, page.Nameservers)
		}
		if !got.SecureDNS.Signed || len(got.SecureDNS.DS) != 1 || got.SecureDNS.DS[0] != api.RDAPDS(ds[0]) {
			t.Errorf("got %+v", got.SecureDNS)
		}
		for action, want := range map[string]time.Time{
			"registration": page.RegisteredAt, "expiration": page.ExpiresAt, "registrar expiration": page.ExpiresAt, "last changed": page.UpdatedAt, "last update of RDAP database": s.clock.Now().UTC().Truncate(time.Second), "transfer": {},
		} {
			if when := at(got.Events, action); !when.Equal(want) {
				t.Errorf("%s: got %s, want %s", action, when, want)
			}
		}
		checkEntities(t, got)
		body := s.get(t, "/rdap/domain/first.com").body
		if strings.Contains(strings.ToLower(body), string(owner.wallet)[2:]) || strings.Contains(body, "job_") || strings.Contains(body, "pay_") {
			t.Errorf("it tells of the owner: %s", body)
		}
	})
}

// checkEntities checks the registrar and the redacted registrant.
func checkEntities(t *testing.T, got api.RDAPDomain) {
	t.Helper()
	if len(got.Entities) != 2 {
		t.Fatalf("got %+v", got.Entities)
	}
	registrar, registrant := got.Entities[0], got.Entities[1]
	if registrar.Roles[0] != "registrar" || registrar.Handle != "9999" || registrar.PublicIDs[0].Identifier != "9999" || registrar.Entities[0].Roles[0] != "abuse" {
		t.Errorf("got %+v", registrar)
	}
	if registrant.Roles[0] != "registrant" || registrant.Handle != "" || fmt.Sprint(registrant.VCard) != "[vcard [[version map[] text 4.0] [fn map[] text ] [adr map[] text [      ]] [contact-uri map[] uri https://deed.example/contact]]]" {
		t.Errorf("got %+v", registrant)
	}
	hidden := map[string]bool{}
	for _, r := range got.Redacted {
		hidden[r.Name.Type] = true
	}
	for _, what := range []string{"Registrant Name", "Registry Registrant ID", "Registrant Street", "Registrant City", "Registrant Postal Code", "Registrant Phone", "Registrant Email"} {
		if !hidden[what] {
			t.Errorf("%s is neither there nor redacted", what)
		}
	}
	if fmt.Sprint(got.Conformance) != "[rdap_level_0 redacted icann_rdap_response_profile_1 icann_rdap_technical_implementation_guide_1]" {
		t.Errorf("got %v", got.Conformance)
	}
}

// The RDAP statuses in each phase of the lifecycle.
func TestRDAPLifecycle(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.bought(t, "first.com")
		expires := s.domain(t, "first.com").ExpiresAt
		for _, c := range []struct {
			days int
			want string
		}{
			{1, "[auto renew period client transfer prohibited]"},
			{31, "[pending delete redemption period server hold client transfer prohibited]"},
			{61, "[pending delete server hold client transfer prohibited]"},
		} {
			s.pass(t, expires.AddDate(0, 0, c.days).Sub(s.clock.Now()))
			if got := s.rdap(t, "domain/first.com"); fmt.Sprint(got.Status) != c.want {
				t.Errorf("%d days after: got %v, want %s", c.days, got.Status, c.want)
			}
		}
		s.pass(t, 20*day)
		s.get(t, "/rdap/domain/first.com").expect(t, 404, deed.CodeNotFound)
		s.bought(t, "first.com")
		if again := s.rdap(t, "domain/first.com"); fmt.Sprint(again.Status) != "[client transfer prohibited]" {
			t.Errorf("sold again: got %+v", again)
		}
	})
}

func TestRDAPOfTransferredName(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		code, err := s.registry.Elsewhere(t.Context(), "moving.com")
		if err != nil {
			t.Fatal(err)
		}
		s.pass(t, 100*day) // at the other registrar
		s.transfer(t, "moving.com", code.Reveal(), s.promise(s.buyer(t), s.transferPrice(t)).header(t))
		s.pass(t, 5*day+time.Minute)
		s.runWorker(t)
		got := s.rdap(t, "domain/moving.com")
		moved, made := at(got.Events, "transfer"), at(got.Events, "registration")
		if moved.Sub(made) < 100*day || s.clock.Now().Sub(moved) > time.Hour {
			t.Errorf("made at %s, moved at %s, now it is %s", made, moved, s.clock.Now())
		}
	})
}

func TestRDAPOfInternationalNames(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.bought(t, "bücher.com")
		for _, asked := range []string{"b%C3%BCcher.com", "B%C3%9CCHER.com", "xn--bcher-kva.com", "XN--BCHER-KVA.COM."} {
			if got := s.rdap(t, "domain/"+asked); got.LDHName != "xn--bcher-kva.com" || got.UnicodeName != "bücher.com" {
				t.Errorf("%s: got %+v", asked, got)
			}
		}
	})
}

func TestRDAPNameserver(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.bought(t, "first.com")
		r, err := s.api.Registrations.Names.Registration(t.Context(), "first.com")
		if err != nil {
			t.Fatal(err)
		}
		r.Nameservers = []string{"ns1.first.com", "ns2.example.net"} // as of a name that was transferred in with them
		if err := s.api.Registrations.Names.RecordAction(t.Context(), r, lifecycle.OwnerAction{Wallet: r.Owner, Kind: lifecycle.ActionNameservers}); err != nil {
			t.Fatal(err)
		}
		for _, host := range []string{"ns1.deed.example", "NS2.DEED.EXAMPLE.", "ns1.first.com"} {
			if got := s.rdap(t, "nameserver/"+host); got.Class != "nameserver" || got.LDHName != strings.ToLower(strings.TrimSuffix(host, ".")) {
				t.Errorf("%s: got %+v", host, got)
			}
		}
		for _, host := range []string{"ns2.first.com", "ns2.example.net", "first.com", "ns1.second.com", "ns.co.uk"} {
			s.get(t, "/rdap/nameserver/"+host).expect(t, 404, deed.CodeNotFound)
		}
		for _, host := range []string{"a_b.example.net", "192.0.2.1", "localhost", "-a.example.net", "%00.example.net", "a..example.net"} {
			s.get(t, "/rdap/nameserver/"+host).expect(t, 400, deed.CodeValidation)
		}
	})
}

// An error has the fields of RDAP and of the API; an unsupported query is 501.
func TestRDAPErrors(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		for path, want := range map[string]struct {
			status int
			code   deed.Code
		}{
			"domain/unknown.com":     {404, deed.CodeNotFound},
			"domain/unknown.nope":    {404, deed.CodeNotFound},
			"domain/-a.com":          {400, deed.CodeValidation},
			"domain/com":             {400, deed.CodeValidation},
			"domain/www.first.com":   {400, deed.CodeValidation},
			"domain/a.com%2Fevil":    {400, deed.CodeValidation},
			"domain/a.com/evil":      {400, deed.CodeValidation},
			"domain":                 {400, deed.CodeValidation},
			"domain/":                {400, deed.CodeValidation},
			"ip/192.0.2.0/24":        {501, deed.CodeNotFound},
			"autnum/64496":           {501, deed.CodeNotFound},
			"entity/9999":            {501, deed.CodeNotFound},
			"domains?name=first.com": {501, deed.CodeNotFound},
			"help/me":                {501, deed.CodeNotFound},
			"":                       {501, deed.CodeNotFound},
		} {
			got := s.get(t, "/rdap/"+path, "Origin", "https://page.example")
			var e api.RDAPError
			if err := json.Unmarshal([]byte(got.body), &e); err != nil || got.header.Get("Content-Type") != "application/rdap+json" || got.header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("%s: got %v %s, %v", path, got.header, got.body, err)
			}
			if got.status != want.status || e.ErrorCode != want.status || e.Code != string(want.code) || e.Title == "" || e.Description[0] != e.Message || e.RequestID == "" {
				t.Errorf("%s: got %d %s, want %d %s", path, got.status, got.body, want.status, want.code)
			}
		}
		s.get(t, "/rdap").expect(t, 404, deed.CodeNotFound)
		s.do(t, "POST", "/rdap/domain/first.com", "{}").expect(t, 405, deed.CodeNotFound)
		if got := s.do(t, "HEAD", "/rdap/help", ""); got.status != 200 || got.body != "" || got.header.Get("Content-Type") != "application/rdap+json" {
			t.Errorf("HEAD: got %d %v %s", got.status, got.header, got.body)
		}
		if err := s.db.Close(); err != nil {
			t.Fatal(err)
		}
		s.get(t, "/rdap/domain/first.com").expect(t, 503, deed.CodeUnavailable)
	})
}

// RDAP has no rate limit, like GET /domains/{domain}.
func TestRDAPIsNotLimited(t *testing.T) {
	s := openEnv(t, options{})
	for range 130 {
		if got := s.get(t, "/rdap/help"); got.status != 200 || got.header.Get("X-RateLimit-Limit") != "" {
			t.Fatalf("got %d %v", got.status, got.header)
		}
	}
}
