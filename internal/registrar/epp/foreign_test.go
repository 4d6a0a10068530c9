package epp

import (
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// foreign returns a response with these data and this extension.
func foreign(data, ext string) []byte {
	return []byte(`<?xml version="1.0"?><e:epp xmlns:e="urn:ietf:params:xml:ns:epp-1.0"><e:response><e:result code="1000"><e:msg>ok</e:msg></e:result><e:resData>` + data +
		`</e:resData><e:extension>` + ext + `</e:extension><e:trID><e:clTRID>a-1</e:clTRID></e:trID></e:response></e:epp>`)
}

// What registries say about a name, in the forms that were met or that the RFCs allow.
func TestForeignInfo(t *testing.T) {
	const ours = `<d:clID>us</d:clID><d:crDate>2026-01-02T03:04:05.0Z</d:crDate>`
	for title, c := range map[string]struct {
		name      deed.Name
		data, ext string
		check     func(d domain) bool
	}{
		"only what must be there": {"a.com", `<d:name>A.COM</d:name><d:clID>us</d:clID>`, "", func(d domain) bool {
			return d.holder == "us" && d.created.IsZero() && d.expires.IsZero() && len(d.hosts) == 0 && d.phase(time.Now()) == "grace"
		}},
		"a date with an offset": {"a.com", `<d:name>a.com.</d:name>` + ours + `<d:exDate>2027-01-02T00:30:00.123+02:00</d:exDate>`, "", func(d domain) bool {
			return d.expires.Equal(time.Date(2027, 1, 1, 22, 30, 0, 0, time.UTC)) && d.expiresDay == "2027-01-02"
		}},
		"a date without a zone":   {"a.com", `<d:name>a.com</d:name>` + ours + `<d:exDate>2027-01-02 03:04:05</d:exDate>`, "", func(d domain) bool { return d.expires.Year() == 2027 }},
		"an offset without colon": {"a.com", `<d:name>a.com</d:name>` + ours + `<d:exDate>2027-01-02T03:04:05+0000</d:exDate>`, "", func(d domain) bool { return d.expires.Hour() == 3 }},
		"only a day":              {"a.com", `<d:name>a.com</d:name>` + ours + `<d:exDate> 2027-01-02 </d:exDate>`, "", func(d domain) bool { return d.expiresDay == "2027-01-02" && d.expires.Day() == 2 }},
		"a name in Unicode":       {"xn--bcher-kva.com", `<d:name>bücher.com</d:name>` + ours, "", func(d domain) bool { return d.holder == "us" }},
		"statuses with text":      {"a.com", `<d:name>a.com</d:name><d:status s="serverHold" lang="en">Payment overdue.</d:status><d:status s="inactive"/>` + ours, "", func(d domain) bool { return d.has("serverHold") && d.has("inactive") }},
		"hosts as objects": {"a.com", `<d:name>a.com</d:name><d:ns><d:hostObj>NS1.Example.NET.</d:hostObj><d:hostObj> ns2.example.net </d:hostObj></d:ns><d:host>ns1.a.com</d:host>` + ours, "", func(d domain) bool {
			return slices.Equal(d.hosts, []string{"ns1.example.net", "ns2.example.net"}) && slices.Equal(d.below, []string{"ns1.a.com"})
		}},
		"hosts and a DS, repeated": {"a.com", `<d:name>a.com</d:name><d:ns><d:hostObj>NS1.Example.NET.</d:hostObj><d:hostObj>ns1.example.net</d:hostObj></d:ns>` + ours, `<s:infData xmlns:s="urn:ietf:params:xml:ns:secDNS-1.1">` + strings.Repeat(`<s:dsData><s:keyTag>12345</s:keyTag><s:alg>13</s:alg><s:digestType>2</s:digestType><s:digest>49FD46E6</s:digest></s:dsData>`, 2) + `</s:infData>`, func(d domain) bool {
			return len(d.hosts) == 1 && len(d.ds) == 1
		}},
		"hosts as attributes":      {"a.com", `<d:name>a.com</d:name><d:ns><d:hostAttr><d:hostName>ns1.a.com</d:hostName><d:hostAddr ip="v4">192.0.2.1</d:hostAddr><d:hostAddr ip="v6">2001:DB8:0::1</d:hostAddr></d:hostAttr></d:ns>` + ours, "", func(d domain) bool { return d.glue.String() == "ns1.a.com=192.0.2.1,2001:db8::1" }},
		"contacts and an update":   {"a.com", `<d:name>a.com</d:name><d:roid>EX-1</d:roid><d:registrant>jd1234</d:registrant><d:contact type="admin">sh8013</d:contact>` + ours + `<d:upID>them</d:upID><d:upDate>2026-06-01T00:00:00Z</d:upDate>`, "", func(d domain) bool { return d.creator == "" }},
		"authInfo of another kind": {"a.com", `<d:name>a.com</d:name>` + ours + `<d:authInfo><d:ext><x:y xmlns:x="urn:x"/></d:ext></d:authInfo>`, "", func(d domain) bool { return d.authInfo == "" }},
		"redemption": {"a.com", `<d:name>a.com</d:name><d:status s="pendingDelete"/>` + ours, `<r:infData xmlns:r="urn:ietf:params:xml:ns:rgp-1.0"><r:rgpStatus s="redemptionPeriod">since then</r:rgpStatus></r:infData>`, func(d domain) bool {
			return d.inRedemption() && d.phase(time.Now()) == "redemption"
		}},
		"DS with its key": {"a.com", `<d:name>a.com</d:name>` + ours, `<s:infData xmlns:s="urn:ietf:params:xml:ns:secDNS-1.1"><s:maxSigLife>604800</s:maxSigLife><s:dsData><s:keyTag>12345</s:keyTag><s:alg>3</s:alg><s:digestType>1</s:digestType><s:digest>49FD46E6C4B45C55D4AC</s:digest><s:keyData><s:flags>257</s:flags><s:protocol>3</s:protocol><s:alg>1</s:alg><s:pubKey>AQPJ</s:pubKey></s:keyData></s:dsData></s:infData>`, func(d domain) bool {
			return len(d.ds) == 1 && d.ds[0].Digest == "49fd46e6c4b45c55d4ac" && d.keys == 0
		}},
		"keys only": {"a.com", `<d:name>a.com</d:name>` + ours, `<s:infData xmlns:s="urn:ietf:params:xml:ns:secDNS-1.1"><s:keyData><s:flags>257</s:flags><s:protocol>3</s:protocol><s:alg>1</s:alg><s:pubKey>AQPJ</s:pubKey></s:keyData></s:infData>`, func(d domain) bool {
			return len(d.ds) == 1 && d.ds[0].DigestType == 2 && len(d.ds[0].Digest) == 64 && d.keys == 1
		}},
		"an older DNSSEC and unknown extensions": {"a.com", `<d:name>a.com</d:name>` + ours, `<s:infData xmlns:s="urn:ietf:params:xml:ns:secDNS-1.0"><s:dsData/></s:infData><n:infData xmlns:n="http://ns.uniregistry.net/centric-1.0"><n:x/></n:infData>`, func(d domain) bool {
			return len(d.ds) == 0
		}},
	} {
		r, err := parseResponse(foreign(`<d:infData xmlns:d="urn:ietf:params:xml:ns:domain-1.0">`+c.data+`</d:infData>`, c.ext), "a-1")
		if err != nil || len(r.Data.Domains) != 1 {
			t.Errorf("%s: got %+v, %v", title, r, err)
			continue
		}
		if d, err := parseDomain(r, c.name); err != nil || !c.check(d) {
			t.Errorf("%s: got %+v, %v", title, d, err)
		}
	}
}

// The dates of a completed order are optional, and wrong ones are noticed.
func TestForeignDates(t *testing.T) {
	for _, c := range []struct {
		created, expires string
		good             bool
	}{
		{"2026-01-02T03:04:05Z", "2027-01-02T03:04:05.0Z", true},
		{"2026-01-02T03:04:05Z", "", true},
		{"2026-01-02T03:04:05Z", "2027-01-03", true},
		{"2026-01-02T03:04:05Z", "2028-01-02T03:04:05Z", false},
		{"2026-01-02T03:04:05Z", "2025-01-02T03:04:05Z", false},
		{"2026-01-02T03:04:05Z", "9999-12-31T23:59:59Z", false},
		{"2026-01-02T03:04:05Z", "0000-00-00T00:00:00Z", false},
		{"2026-01-02T03:04:05Z", "1970-01-01T00:00:00Z", false},
		{"", "2027-01-02T03:04:05Z", false},
	} {
		if err := sellsYears(c.created, c.expires, 1); (err == nil) != c.good {
			t.Errorf("%s to %s: got %v", c.created, c.expires, err)
		}
	}
}

// We log in with what the greeting has, and nothing else.
func TestForeignGreetings(t *testing.T) {
	for title, c := range map[string]struct {
		menu     string
		without  []string
		language string
		uris     string // announced, after domain-1.0
		fails    bool
	}{
		"no extensions":        {menu: `<lang>en</lang><objURI>` + nsDomain + `</objURI>`, language: "en"},
		"space around":         {menu: "<lang>\n en </lang><objURI>\n" + nsDomain + " </objURI><objURI>" + nsHost + "</objURI>", language: "en", uris: nsHost},
		"another language":     {menu: `<lang>fr</lang><lang>pt-BR</lang><objURI>` + nsDomain + `</objURI>`, language: "fr"},
		"no language":          {menu: `<objURI>` + nsDomain + `</objURI>`, language: "en"},
		"unknown objects":      {menu: `<lang>en</lang><objURI>urn:x:y-1.0</objURI><objURI>` + nsDomain + `</objURI><svcExtension><extURI>urn:x:z-1.0</extURI><extURI>` + nsRGP + `</extURI></svcExtension>`, language: "en", uris: nsRGP},
		"extensions left out":  {menu: `<lang>en</lang><objURI>` + nsDomain + `</objURI><svcExtension><extURI>` + nsFee + `</extURI><extURI>` + nsRGP + `</extURI></svcExtension>`, without: []string{nsFee}, language: "en", uris: nsRGP},
		"an older fee":         {menu: `<lang>en</lang><objURI>` + nsDomain + `</objURI><svcExtension><extURI>urn:ietf:params:xml:ns:fee-0.11</extURI></svcExtension>`, language: "en"},
		"no names":             {menu: `<lang>en</lang><objURI>` + nsHost + `</objURI>`, fails: true},
		"a version and a date": {menu: `<version>1.0</version><lang>en</lang><objURI>` + nsDomain + `</objURI>`, language: "en"},
	} {
		g, err := parseGreeting([]byte(`<epp xmlns="` + nsEPP + `"><greeting><svID>x</svID><svDate>2026-01-01T00:00:00Z</svDate><svcMenu>` + c.menu + `</svcMenu><dcp><access><none/></access></dcp></greeting></epp>`))
		if err != nil {
			t.Errorf("%s: %v", title, err)
			continue
		}
		b := &Backend{cfg: Config{Profile: Profile{Without: c.without}, ClientID: "us", Password: "secret"}}
		m, err := b.choose(g)
		if c.fails {
			if err == nil {
				t.Errorf("%s: got %+v", title, m)
			}
			continue
		}
		got := strings.Join(append(m.objects[1:], m.exts...), " ")
		if err != nil || m.language != c.language || got != c.uris {
			t.Errorf("%s: got %q with %s, %v", title, got, m.language, err)
		}
		if text := string(document(func(w *writer) { b.writeLogin(w, m) })); strings.Contains(text, "svcExtension") != (len(m.exts) > 0) {
			t.Errorf("%s: got %s", title, text)
		}
	}
}

// A password that is too long for RFC 5730 is sent as RFC 8807 says, where the
// registry knows that.
func TestLongPassword(t *testing.T) {
	for _, c := range []struct {
		password deed.Secret
		exts     []string
		long     bool
	}{
		{"short", []string{nsLogin}, false},
		{"a password of many characters", []string{nsLogin}, true},
		{"a password of many characters", nil, false},
	} {
		b := &Backend{cfg: Config{ClientID: "us", Password: c.password}}
		var login, ext writer
		m := services{language: "en", objects: []string{nsDomain}, exts: c.exts}
		b.writeLogin(&login, m)
		b.writeLongPassword(&ext, m)
		if hidden := strings.Contains(login.String(), "<pw>[LOGIN-SECURITY]</pw>"); hidden != c.long || strings.Contains(ext.String(), c.password.Reveal()) != c.long {
			t.Errorf("%d characters, %v: got %s %s", len(c.password), c.exts, login.String(), ext.String())
		}
	}
}

// A registry that has too many sessions may say so instead of greeting.
func TestForeignRefusalInsteadOfAGreeting(t *testing.T) {
	_, err := parseGreeting([]byte(`<epp xmlns="` + nsEPP + `"><response><result code="2502"><msg>Session limit exceeded; server closing connection</msg></result><trID><svTRID>1</svTRID></trID></response></epp>`))
	if !limitReached(err) {
		t.Errorf("got %v", err)
	}
}

// Our identifier may be written in another letter case than at login.
func TestForeignIdentifier(t *testing.T) {
	b := &Backend{cfg: Config{ClientID: "Deed-7", Secret: "a secret of this service", Purchase: func(s string) string { return s }}}
	now := time.Now()
	d := domain{name: "a.com", holder: "DEED-7", creator: "deed-7", created: now, expires: now.AddDate(1, 0, 0)}
	st, err := b.registrationStatus(d, registrar.Order{Kind: registrar.OrderRegister, Reference: "a", Name: "a.com", Years: 1, Submitted: now})
	if err != nil || st.State != registrar.OrderDone || !b.ours(d) || b.cameWith(d, transferState{}, registrar.Order{}) {
		t.Errorf("got %+v, %v, and ours is %t", st, err, b.ours(d))
	}
	if b.isUs("deed-8") || b.isUs("") {
		t.Error("another registrar is us")
	}
}

// A registration that is pending may have no date yet.
func TestForeignPendingCreateWithoutADate(t *testing.T) {
	b := &Backend{cfg: Config{ClientID: "us", Secret: "a secret of this service", Purchase: func(s string) string { return s }}}
	o := registrar.Order{Kind: registrar.OrderRegister, Reference: "a", Name: "a.com", Years: 1, Submitted: time.Now()}
	st, err := b.registrationStatus(domain{name: "a.com", holder: "us", statuses: []string{"pendingCreate"}}, o)
	if err != nil || st.State != registrar.OrderPending {
		t.Errorf("got %+v, %v", st, err)
	}
}

// An identifier is found in a message that is not XML, and in nothing else.
func TestUnreadableMessageID(t *testing.T) {
	const reply = `<epp><response><result code="1301"/><msgQ count="1" id="7-a"><msg>` + "\x01" + `</msg></msgQ><trID><clTRID>a-1</clTRID></trID></response></epp>`
	for frame, want := range map[string]string{
		reply: "7-a",
		strings.ReplaceAll(reply, `"7-a"`, `'7 a'`):                     "",
		strings.Replace(reply, "a-1", "a-2", 1):                         "",
		strings.Replace(reply, "1301", "1000", 1):                       "",
		strings.Replace(reply, "<msgQ", "<x:msgQ", 1):                   "7-a",
		strings.ReplaceAll(reply, `"`, `'`):                             "7-a",
		strings.Replace(reply, "a-1", "\n\ta-1\n", 1):                   "7-a",
		"\xfe\xff\x00" + strings.Join(strings.Split(reply, ""), "\x00"): "7-a",
		strings.Replace(reply, "<msg>", `<msgQ id="8"/>`, 1):            "",
		"": "",
	} {
		if got := unreadableID([]byte(frame), "a-1"); got != want {
			t.Errorf("%q: got %q, want %q", frame, got, want)
		}
	}
}
