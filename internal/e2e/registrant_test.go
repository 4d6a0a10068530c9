package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/app"
	"deed.example/deed/internal/registrar/epp/epptest"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/registrar/opusdns/opusdnstest"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// adaContact is what the owner of a name gives, and personal what nobody else may see.
const adaContact = `{"name":"Ada Privatename","organization":"Hiddenworks","street":["17 Secret Lane"],"city":"Undisclosed","region":"Nowhereshire","postalCode":"N1 1AA","country":"gb","phone":"+44.2079460123","email":"ada.quiet@example.org"}`

var personal = []string{"Privatename", "Hiddenworks", "Secret Lane", "Undisclosed", "Nowhereshire", "2079460123", "ada.quiet"}

// A registrantEnv is a service whose registrar lets owners be registrants.
type registrantEnv struct {
	*env
	email  func() string // of the registrant at the registry, "" if it is the operator's; "yes" for any other if the registry does not store it
	refuse func(bool)    // lets the registry refuse contacts
}

// operatorContact are the settings of a registrant of record.
var operatorContact = map[string]string{
	"contacts": "registrant", "registrant_name": "Proxy Service", "registrant_street": "1 Any Street", "registrant_city": "London",
	"registrant_postal_code": "N1", "registrant_country": "gb", "registrant_phone": "+44.2079460000", "registrant_email": "proxy@acme.net", "registrant_mode": "owner_optional",
}

// eachRegistrantEnv runs f with each kind of registrar on each database.
func eachRegistrantEnv(t *testing.T, f func(t *testing.T, s registrantEnv)) {
	for kind, open := range map[string]func(*testing.T, *sqldb.DB) registrantEnv{"local": localRegistrants, "epp": eppRegistrants, "opusdns": opusdnsRegistrants} {
		t.Run(kind, func(t *testing.T) {
			sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) { f(t, open(t, db)) })
		})
	}
}

func localRegistrants(t *testing.T, db *sqldb.DB) registrantEnv {
	s := openEnv(t, options{db: db})
	return registrantEnv{s, func() string {
		e, err := s.registry.Store.Entry(t.Context(), "first.com", s.clock.Now())
		if err != nil || e.Registrant == "" {
			return ""
		}
		return "yes"
	}, func(on bool) {
		kind := map[bool]local.Fault{true: local.FaultRefuse, false: local.FaultNone}[on]
		if err := s.faults.Set(kind, 0); err != nil {
			t.Error(err)
		}
	}}
}

func eppRegistrants(t *testing.T, db *sqldb.DB) registrantEnv {
	e := openEPPEnvWith(t, db, epptest.Config{Contacts: true}, operatorContact)
	return registrantEnv{e.env, func() string {
		_, email := e.server.Registrant("first.com")
		return strings.TrimSuffix(email, "proxy@acme.net")
	}, func(on bool) {
		e.server.RefuseContacts(map[bool]string{true: "the street Secret Lane does not exist", false: ""}[on])
	}}
}

func opusdnsRegistrants(t *testing.T, db *sqldb.DB) registrantEnv {
	s, vendor, checker, _ := openWholesaler(t, db, func(c *app.Config) { c.Registrars[0].Values["registrant_mode"] = "owner_optional" })
	t.Cleanup(func() {
		for _, v := range checker.Violations() {
			t.Errorf("the vendor's rules are broken: %s", v)
		}
	})
	return registrantEnv{s, func() string {
		_, email := vendor.Registrant("first.com")
		return strings.TrimSuffix(fmt.Sprint(email), "other@example.com")
	}, func(on bool) { vendor.Configure(func(a *opusdnstest.Account) { a.RefuseContacts = on }) }}
}

// runRegistrants takes all steps that are due.
func (s registrantEnv) runRegistrants(t *testing.T) {
	t.Helper()
	due, err := s.api.Registrations.Registrants.DueRegistrants(t.Context(), 100)
	for _, reference := range due {
		if err == nil {
			err = s.api.Registrations.AdvanceRegistrant(t.Context(), reference)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// give gives the contact as the owner of first.com.
func (s registrantEnv) give(t *testing.T, token, contact string) api.Registrant {
	t.Helper()
	got := s.do(t, "PUT", "/domains/first.com/registrant", contact, "Authorization", token)
	got.expect(t, 202, "")
	got.status = 200 // for read
	return read[api.Registrant](t, got)
}

func (s registrantEnv) show(t *testing.T, token string) api.Registrant {
	t.Helper()
	return read[api.Registrant](t, s.do(t, "GET", "/domains/first.com/registrant", "", "Authorization", token))
}

// An owner becomes the registrant at the registry, changes the data and takes it back;
// the registry's refusal is a state with its reason, and an event.
func TestOwnerIsTheRegistrant(t *testing.T) {
	eachRegistrantEnv(t, func(t *testing.T, s registrantEnv) {
		owner := s.bought(t, "first.com")
		token := s.bearer(t, owner)
		if got := s.show(t, token); got.Mode != "proxy" || got.Policy != "owner_optional" || got.Contact != nil || s.email() != "" {
			t.Fatalf("at first: got %+v, %q at the registry", got, s.email())
		}
		s.refuse(true)
		if got := s.give(t, token, adaContact); got.Status != "pending" || got.Mode != "owner" || got.Contact == nil || got.Contact.Country != "GB" {
			t.Errorf("given: got %+v", got)
		}
		s.runRegistrants(t)
		if got := s.show(t, token); got.Status != "refused" || got.Reason == "" || s.email() != "" {
			t.Errorf("refused: got %+v, %q at the registry", got, s.email())
		}
		s.refuse(false)
		s.give(t, token, adaContact)
		s.runRegistrants(t)
		if got := s.show(t, token); got.Status != "sent" || got.Reason != "" || s.email() != "ada.quiet@example.org" && s.email() != "yes" {
			t.Errorf("sent: got %+v, %q at the registry", got, s.email())
		}
		s.give(t, token, strings.Replace(adaContact, "ada.quiet", "ada.other", 1))
		s.runRegistrants(t)
		if got := s.show(t, token); got.Status != "sent" || s.email() != "ada.other@example.org" && s.email() != "yes" {
			t.Errorf("changed: got %+v, %q at the registry", got, s.email())
		}
		s.do(t, "DELETE", "/domains/first.com/registrant", "", "Authorization", token).expect(t, 200, "")
		if got := s.show(t, token); got.Mode != "proxy" || got.Status != "resetting" || got.Contact != nil {
			t.Errorf("taken back: got %+v", got)
		}
		s.runRegistrants(t)
		if got := s.show(t, token); got.Status != "" || s.email() != "" {
			t.Errorf("reset: got %+v, %q at the registry", got, s.email())
		}
		var told []string
		for _, e := range s.events(t, owner, "").Events {
			told = append(told, e.Type)
		}
		if !slices.Contains(told, "domain.registrant_sent") || !slices.Contains(told, "domain.registrant_refused") {
			t.Errorf("the owner was told %v", told)
		}
		s.audit(t)
	})
}

// A hand-over erases what the former owner gave, here at once and at the registry next;
// so do a cancellation and a transfer away.
func TestRegistrantIsErased(t *testing.T) {
	eachRegistrantEnv(t, func(t *testing.T, s registrantEnv) {
		first, heir := s.bought(t, "first.com"), newAccount(t)
		s.give(t, s.bearer(t, first), adaContact)
		s.runRegistrants(t)
		s.handOver(t, s.bearer(t, first), heir).expect(t, 200, "")
		s.do(t, "GET", "/domains/first.com/registrant", "", "Authorization", s.bearer(t, first)).expect(t, 403, deed.CodeOwnershipDenied)
		if got := s.show(t, s.bearer(t, heir)); got.Mode != "proxy" || got.Contact != nil {
			t.Errorf("the new owner sees %+v", got)
		}
		s.runRegistrants(t)
		if got := s.show(t, s.bearer(t, heir)); got.Status != "" || s.email() != "" {
			t.Errorf("handed over: got %+v, %q at the registry", got, s.email())
		}
		s.give(t, s.bearer(t, heir), adaContact)
		s.runRegistrants(t)
		if s.email() == "" {
			t.Error("the new owner is not the registrant")
		}

		second := s.bought(t, "second.com")
		s.do(t, "PUT", "/domains/second.com/registrant", strings.Replace(adaContact, "ada.quiet", "ada.second", 1), "Authorization", s.bearer(t, second)).expect(t, 202, "")
		s.runRegistrants(t)
		s.cancel(t, "second.com", s.bearer(t, second), `{}`)
		s.runWorker(t)
		s.cancelled(t, "second.com", second)
		s.runRegistrants(t)
		due, err := s.api.Registrations.Registrants.DueRegistrants(t.Context(), 100)
		if err != nil || len(due) > 0 {
			t.Errorf("left to erase: %v, %v", due, err)
		}
		s.audit(t)
	})
}

// Only the owner sees or changes the registrant, and what cannot be an address is
// refused.
func TestRegistrantIsPrivate(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		token, stranger := s.bearer(t, s.bought(t, "first.com")), s.bearer(t, newAccount(t))
		for _, call := range [][2]string{{"GET", ""}, {"PUT", adaContact}, {"DELETE", ""}} {
			s.do(t, call[0], "/domains/first.com/registrant", call[1], "Authorization", stranger).expect(t, 403, deed.CodeOwnershipDenied)
			s.do(t, call[0], "/domains/never.com/registrant", call[1], "Authorization", token).expect(t, 404, deed.CodeNotFound)
			s.do(t, call[0], "/domains/first.com/registrant", call[1]).expect(t, 401, deed.CodeAuthRequired)
		}
		for field, value := range map[string]string{
			"name": `""`, "organization": `"` + strings.Repeat("x", 101) + `"`, "street": `[]`, "city": `"a\u0000b"`, "region": `"\u202eabc"`,
			"postalCode": `"` + strings.Repeat("9", 17) + `"`, "country": `"XYZ"`, "phone": `"call me"`, "email": `"nobody"`,
		} {
			var all []string
			for _, f := range []string{`"name":"Ada Example"`, `"street":["1 Any Street"]`, `"city":"London"`, `"country":"GB"`, `"phone":"+44.2079460000"`, `"email":"ada@example.com"`} {
				if !strings.HasPrefix(f, `"`+field+`"`) {
					all = append(all, f)
				}
			}
			got := s.do(t, "PUT", "/domains/first.com/registrant", `{`+strings.Join(append(all, `"`+field+`":`+value), ",")+`}`, "Authorization", token)
			if got.expect(t, 400, deed.CodeValidation); !strings.Contains(got.body, field) {
				t.Errorf("%s: got %s", field, got.body)
			}
		}
		for title, body := range map[string]string{"nothing": `{}`, "a list": `[]`, "not UTF-8": "{\"name\":\"\xff\"}", "a name twice": `{"name":"a","name":"b"}`, "more": `{"fax":"1"}`} {
			if got := s.do(t, "PUT", "/domains/first.com/registrant", body, "Authorization", token); got.status != 400 {
				t.Errorf("%s: got %d %s", title, got.status, got.body)
			}
		}
		s.do(t, "PUT", "/domains/first.com/registrant", `{"name":"`+strings.Repeat("x", 1<<20)+`"}`, "Authorization", token).expect(t, 413, deed.CodeValidation)
	})
}

// A registry that wants the registrant verified has its demand answered by the owner who
// is the registrant; where a registry demands the owner's data, the name says so until
// it is given. What the buyer agreed to is stored with the order.
func TestOwnersAreAskedToAnswer(t *testing.T) {
	s, vendor, _, _ := openWholesaler(t, nil, func(c *app.Config) {
		c.Registrars[0].Values["registrant_mode"] = "owner_required"
		c.Terms = app.Terms{Version: "2026-11-01", URL: "https://deed.example/terms"}
	})
	r := registrantEnv{env: s}
	owner := s.buyer(t)
	bought := s.register(t, "first.com", s.promise(owner, comPrice).header(t))
	bought.expect(t, 201, "")
	bought.status = 200 // for read
	if got := job(t, s.service, read[api.Registration](t, bought).JobID).Agreed; got == nil || got.Terms != "2026-11-01" || got.Registrant != "owner_required" {
		t.Errorf("agreed: got %+v", got)
	}
	if got := read[api.TLDPrice](t, s.get(t, "/domains/pricing/com")).TLDSale; got == nil || got.Registrant != "owner_required" || got.TermsURL == "" || !slices.Contains(got.Capabilities, "owner_registrant") {
		t.Errorf("sale: got %+v", got)
	}
	warned := func(words string) bool {
		return slices.ContainsFunc(s.domain(t, "first.com").Warnings, func(w string) bool { return strings.Contains(w, words) })
	}
	if !warned("demands the contact data of the owner") {
		t.Error("the owner is not told that the registry demands contact data")
	}
	vendor.DemandVerification("first.com", s.clock.Now().UTC().Truncate(time.Second).Add(15*day))
	s.pass(t, 2*time.Hour)
	if !warned("the operator, who is the registrant") {
		t.Errorf("got %v", s.domain(t, "first.com").Warnings)
	}
	r.give(t, s.bearer(t, owner), adaContact)
	r.runRegistrants(t)
	if !warned("the owner, who is the registrant") || warned("demands the contact data") {
		t.Errorf("got %v", s.domain(t, "first.com").Warnings)
	}
	s.do(t, "DELETE", "/domains/first.com/registrant", "", "Authorization", s.bearer(t, owner)).expect(t, 400, deed.CodeValidation)
}
