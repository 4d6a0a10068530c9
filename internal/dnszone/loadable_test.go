package dnszone_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"deed.example/deed/internal/dnszone"
)

// BIND has its own idea of a regular expression, and refuses a zone with any other. What is
// accepted here, it loads.
func TestSubstitutionsLoadInBIND(t *testing.T) {
	r, accepted := rand.New(rand.NewPCG(5, 6)), 0
	parts := []string{"a", "b", ".", "*", "+", "?", "^", "$", "|", "(", ")", "()", "(a)", "{2}", "{1,2}", "{2,}", "{,2}", "{2,1}", "{", "}", "[a-z]", "[^a]", "[z-a]", "[]a]", "[[:alpha:]]", "[[:x:]]", "[[.a.]]", "[[=a=]]", "[a", `\\.`, `\\(`, `\\1`, `\\d`}
	z := dnszone.Zone{Name: zoneName, Serial: 7}
	for i := range 6000 {
		var expression strings.Builder
		for range 1 + r.IntN(4) {
			expression.WriteString(parts[r.IntN(len(parts))])
		}
		value := fmt.Sprintf(`1 2 "u" "x" "!%s!%s!" .`, expression.String(), []string{"x", `\\1`, "", `\\\\`}[r.IntN(4)])
		if rec, err := rec("NAPTR", fmt.Sprint("n", i), value).Canonical(zoneName); err == nil {
			accepted++
			z.Records = append(z.Records, rec)
		}
	}
	checkZone(t, z, "named-checkzone", "-i", "none", "-k", "ignore", string(zoneName))
	if accepted < 500 {
		t.Errorf("only %d of 6000 are accepted: they do not show what BIND loads", accepted)
	}
}

// BIND refuses a zone with a dohpath that is no URI template. What is accepted here, it loads.
func TestPathsOfDoHLoadInBIND(t *testing.T) {
	r, accepted := rand.New(rand.NewPCG(7, 8)), 0
	parts := []string{"q", "/", "?x=y", "&", "{?dns}", "{?dns", "{", "}", "{}", "{?dns,x}", "{+dns}", "{=}", "{!x}", "{a:99999}", "{a*}", "%", "%2", "%zz", "%2f", "'", "|", "^"}
	z := dnszone.Zone{Name: zoneName, Serial: 7}
	for i := range 6000 {
		path := "/"
		for range 1 + r.IntN(3) {
			path += parts[r.IntN(len(parts))]
		}
		if rec, err := rec([]string{"HTTPS", "SVCB"}[i%2], fmt.Sprint("p", i), `1 . dohpath="`+path+`{?dns}"`).Canonical(zoneName); err == nil {
			accepted++
			z.Records = append(z.Records, rec)
		}
	}
	checkZone(t, z, "named-checkzone", "-i", "none", "-k", "ignore", string(zoneName))
	if accepted < 500 {
		t.Errorf("only %d of 6000 are accepted: they do not show what BIND loads", accepted)
	}
	for _, path := range []string{"/dns-query{?dns}", "/{?dns}", "/a%2Fb/~c.d_e-f{?dns}"} {
		if _, err := rec("SVCB", "a", "1 . dohpath="+path).Canonical(zoneName); err != nil {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

// What owners really write is accepted.
func TestUsualSubstitutions(t *testing.T) {
	for _, expression := range []string{
		"^.*$", "^(.*)$", `^\\+1([0-9]{3})(.*)$`, "(^[0-9]+$)|x", "[^a-z0-9._-]+", "[[:digit:]]{2,4}", "[]a]", "a{2}b?", "urn:cid:.+@([^\\.]+\\.)(.*)$", "((a))*",
	} {
		if _, err := rec("NAPTR", "n", fmt.Sprintf(`1 2 "u" "x" "!%s!x!" .`, expression)).Canonical(zoneName); err != nil {
			t.Errorf("%s: got %v", expression, err)
		}
	}
}

// Records from before these checks are served as they were, or their zones could not be
// signed again.
func TestOldRecordsAreServed(t *testing.T) {
	for _, r := range []dnszone.Record{
		rec("NAPTR", "a", `1 2 "u" "x" "!^*!x!" .`), rec("TYPE32768", "a", `\# 5 0001080201`), rec("TYPE32769", "a", `\# 5 0001080201`), rec("TYPE65533", "a", `\# 1 00`),
		rec("SVCB", "a", `1 . dohpath="/{?dns}{"`), rec("TYPE23", "a", `\# 5 0161016200`), rec("TYPE263", "a", `\# 2 0561`), rec("TYPE264", "a", `\# 1 00`),
		rec("TYPE65401", "a", `\# 1 00`), rec("TYPE65402", "a", `\# 6 0001 03 782928`), rec("TYPE37", "a", `\# 6 000000000000`),
		rec("LOC", "a", "0 S 0 W 0m 50000000m"), rec("LOC", "a", "0 S 0 W 0m 1m 1m 50000000m"),
	} {
		if _, err := r.Canonical(zoneName); err == nil {
			t.Errorf("%s: a new one was accepted", r.Type)
		}
		r.TTL, r.ID = 60, "old"
		z := dnszone.Zone{Name: zoneName, Owner: "0xaa", Serial: 7, Records: []dnszone.Record{r}}
		next, err := z.Add(rec("A", "a", "192.0.2.1"))
		if err != nil {
			t.Fatalf("%s: %v", r.Type, err)
		}
		if rrs, err := next.RRs(); err != nil || len(rrs) != 2 {
			t.Errorf("%s: got %v, %v", r.Type, rrs, err)
		}
	}
}

// Expressions with many large bounds are refused, and those of records that are there are
// not read again: a dry run with a thousand of them took ten seconds.
func TestLargeExpressionsAreRefused(t *testing.T) {
	for expression, ok := range map[string]bool{
		strings.Repeat("(a|b){255}", 20): false, "(" + strings.Repeat("a", 100) + "){12}": false, "((a{9}){9}){9}": false, "^.{1,64}@.{1,253}$": true,
	} {
		if _, err := rec("NAPTR", "n", fmt.Sprintf(`1 2 "u" "x" "!%s!x!" .`, expression)).Canonical(zoneName); (err == nil) != ok {
			t.Errorf("%s: got %v", expression, err)
		}
	}
}
