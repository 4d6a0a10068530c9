package e2e_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ohler55/ojg/jp"
	"github.com/ohler55/ojg/oj"
)

// A profileRule is a rule of ICANN's gTLD profile of 2024, with its number in the
// conformance tool: how often something occurs in a domain response.
type profileRule struct {
	code int
	path string
	want int
}

const (
	registrarPath  = "$.entities[?(@.roles[0]=='registrar')]"
	registrantPath = "$.entities[?(@.roles[0]=='registrant')]"
	statusNotice   = "$.notices[?(@.title=='Status Codes')]"
	wrongNotice    = "$.notices[?(@.title=='RDDS Inaccuracy Complaint Form')]"
)

// profile has the rules for every name of a registrar. Rules about IANA's
// registries are left out: the IANA ID of the tests is not a real one.
var profile = []profileRule{
	{-61000, "$.rdapConformance[?(@=='icann_rdap_technical_implementation_guide_1')]", 1},
	{-62000, "$.rdapConformance[?(@=='icann_rdap_response_profile_1')]", 1},
	{-62001, "$.rdapConformance[?(@=='redacted')]", 1},
	{-61200, "$.notices[*].links[?(@.rel=='terms-of-service')]", 1},
	{-46100, "$.ldhName", 1},
	{-46202, "$.redacted[?(@.name.type=='Registry Domain ID')]", 1},
	{-46203, "$.redacted[?(@.prePath=='$.handle')]", 1},
	{-46300, "$.events[?(@.eventAction=='registration')]", 1},
	{-46400, "$.events[?(@.eventAction=='expiration')]", 1},
	{-65500, "$.events[?(@.eventAction=='registrar expiration')]", 1},
	{-43100, "$.events[?(@.eventAction=='last update of RDAP database')]", 1},
	{-46602, statusNotice + ".description[?(@=='For more information on domain status codes, please visit https://icann.org/epp')]", 1},
	{-46604, statusNotice + ".links[?(@.href=='https://icann.org/epp')]", 1},
	{-46605, statusNotice + ".links[?(@.rel=='glossary')]", 1},
	{-46702, wrongNotice + ".description[?(@=='URL of the ICANN RDDS Inaccuracy Complaint Form: https://icann.org/wicf')]", 1},
	{-46704, wrongNotice + ".links[?(@.href=='https://icann.org/wicf')]", 1},
	{-46705, wrongNotice + ".links[?(@.rel=='help')]", 1},
	{-46801, "$.secureDNS.delegationSigned", 1},
	{-47301, registrarPath, 1},
	{-47302, registrarPath + ".vcardArray[1][?(@[0]=='fn')]", 1},
	{-47401, registrarPath + ".publicIds[?(@.identifier=='9999')]", 1},
	{-47403, registrarPath + ".handle", 1},
	{-47500, registrarPath + ".entities[?(@.roles[0]=='abuse')].vcardArray[1][?(@[0]=='tel')]", 1},
	{-47500, registrarPath + ".entities[?(@.roles[0]=='abuse')].vcardArray[1][?(@[0]=='email')]", 1},
	{-20900, registrarPath + "..vcardArray[1][?(@[1].type=='voice')]", 1},
	{-47700, registrarPath + ".links[?(@.rel=='about')]", 1},
	{-63000, registrantPath, 1},
	{-63102, "$.redacted[?(@.name.type=='Registry Registrant ID')]", 1},
	{-63200, registrantPath + ".vcardArray[1][?(@[0]=='fn')]", 1},
	{-63201, "$.redacted[?(@.name.type=='Registrant Name')]", 1},
	{-63300, "$.redacted[?(@.name.type=='Registrant Organization')]", 1},
	{-20800, registrantPath + ".vcardArray[1][?(@[0]=='adr')][3][*]", 7},
	{-40400, registrantPath + ".vcardArray[1][?(@[0]=='adr')][3][6]", 1},
	{-63401, "$.redacted[?(@.name.type=='Registrant Street')]", 1},
	{-63501, "$.redacted[?(@.name.type=='Registrant City')]", 1},
	{-63601, "$.redacted[?(@.name.type=='Registrant Postal Code')]", 1},
	{-63700, "$.redacted[?(@.name.type=='Registrant Phone')]", 1},
	{-64100, registrantPath + ".vcardArray[1][?(@[0]=='email')]", 0},
	{-64101, registrantPath + ".vcardArray[1][?(@[0]=='contact-uri')]", 1},
	{-64102, "$.redacted[?(@.name.type=='Registrant Email' && @.method=='replacementValue')]", 1},
}

// follow returns the values at a JSONPath.
func follow(t *testing.T, answer any, path string) []any {
	t.Helper()
	x, err := jp.ParseString(path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return x.Get(answer)
}

// checkProfile checks a domain response against the profile. asked is the URL of
// the request.
func checkProfile(t *testing.T, body, asked string) {
	t.Helper()
	answer, err := oj.ParseString(body)
	if err != nil {
		t.Fatal(err)
	}
	identified := follow(t, answer, "$.handle") // -46200: the registry's ROID, or it is redacted
	if len(identified) == 1 && !regexp.MustCompile(`^\w{1,80}-\w{1,8}$`).MatchString(identified[0].(string)) {
		t.Errorf("-46200: got %v", identified)
	}
	for _, rule := range profile {
		want := rule.want
		if rule.code == -46202 || rule.code == -46203 {
			want -= len(identified)
		}
		if got := follow(t, answer, rule.path); len(got) != want {
			t.Errorf("%d: %s finds %v, want %d", rule.code, rule.path, got, want)
		}
	}
	for _, value := range follow(t, answer, "$.notices[*].links[*].value") { // -46606, -46706, -61202
		if value != asked {
			t.Errorf("a notice is of %v, and %s was asked for", value, asked)
		}
	}
	checkRedactions(t, answer)
	checkStatuses(t, follow(t, answer, "$.status[*]"))
}

// checkRedactions evaluates every path: removed values are absent, emptied values
// are empty, and replacements are present.
func checkRedactions(t *testing.T, answer any) {
	t.Helper()
	for _, r := range follow(t, answer, "$.redacted[*]") {
		r := r.(map[string]any)
		for key, there := range map[string]bool{"prePath": false, "postPath": true, "replacementPath": true} {
			path, ok := r[key].(string)
			if !ok {
				continue
			}
			if got := follow(t, answer, path); (len(got) > 0) != there || key == "postPath" && got[0] != "" {
				t.Errorf("%v: %s leads to %v", r, key, got)
			}
		}
	}
}

// checkStatuses checks for statuses that exclude each other (-46900, -47001,
// -47100).
func checkStatuses(t *testing.T, got []any) {
	t.Helper()
	pending := 0
	for _, s := range got {
		if strings.HasPrefix(s.(string), "pending ") {
			pending++
		}
	}
	has := func(s string) bool { return slices.Contains(got, any(s)) }
	switch {
	case len(got) == 0,
		has("active") && len(got) > 1,
		pending > 1,
		has("pending transfer") && has("client transfer prohibited"),
		has("redemption period") && !has("pending delete"):
		t.Errorf("%v do not stand together", got)
	}
}

// RDAP responses follow the profile in every phase of the lifecycle, for every
// spelling of a name.
func TestRDAPProfile(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.bought(t, "bücher.com")
		expires := s.domain(t, "xn--bcher-kva.com").ExpiresAt
		for _, days := range []int{-300, 1, 31, 61} {
			s.pass(t, expires.AddDate(0, 0, days).Sub(s.clock.Now()))
			for _, spelling := range []string{"xn--bcher-kva.com", "XN--BCHER-KVA.com.", "b%C3%BCcher.com"} {
				got := s.get(t, "/rdap/domain/"+spelling)
				if got.status != 200 || got.header.Get("Access-Control-Allow-Origin") != "*" || got.header.Get("Content-Type") != "application/rdap+json" { // -20500
					t.Errorf("got %d %v", got.status, got.header)
				}
				checkProfile(t, got.body, s.api.PublicURL+"/rdap/domain/"+spelling)
				if head := s.do(t, "HEAD", "/rdap/domain/"+spelling, ""); head.status != 200 { // -20300
					t.Errorf("HEAD: got %d", head.status)
				}
			}
		}
		if got := s.get(t, "/rdap/domain/not-a-domain.invalid"); got.status != 404 { // -65300
			t.Errorf("got %d %s", got.status, got.body)
		}
	})
}
