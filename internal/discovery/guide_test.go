package discovery

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/catalog"
)

// The guides mention every call, and the current prices and limits.
func TestGuidesAreComplete(t *testing.T) {
	site := testSite()
	site.Limits.Search.Max = 61
	site.Sandbox = true
	s := open(t, site)
	for _, path := range []string{"/llms.txt", "/llms-full.txt"} {
		got := s.get(path)
		if !regexp.MustCompile(`^# Deed\n\n> \S[^\n]+\n`).MatchString(got) { // llmstxt.org: a title, then a quote
			t.Errorf("%s begins with %.100q", path, got)
		}
		for _, c := range s.calls {
			if !strings.Contains(got, c.String()) || !strings.Contains(got, c.terms()) {
				t.Errorf("%s does not speak of %s", path, c)
			}
		}
	}
	for _, path := range []string{"/llms-full.txt", "/SKILL.md"} {
		for _, want := range []string{"| .com | 13.06 | 14.07 | 15.08 |", "searches and checks: 61 in a minute", "`POST /dns/{domain}` costs 0.10 USDC", "`POST /dns/{domain}/batch` costs 0.10 USDC for each change.", "`POST /domains/register` costs the price of the order.", "SERVICE_UNAVAILABLE"} {
			if !strings.Contains(s.get(path), want) {
				t.Errorf("%s does not say %q", path, want)
			}
		}
	}
	if short, long := len(s.get("/llms.txt")), len(s.get("/llms-full.txt")); short >= long {
		t.Errorf("the short guide has %d bytes, the long one %d", short, long)
	}
	if got := open(t, testSite()).get("/llms-full.txt"); strings.Contains(got, "faucet") {
		t.Error("a service with real money speaks of a faucet")
	}
}

// A price that a registrar changes while the service runs changes in the guides, too.
func TestGuidesHaveTodaysPrices(t *testing.T) {
	site, listings := testSite(), testListings
	site.Listings = func() []catalog.Listing { return listings }
	s := open(t, site)
	for _, path := range []string{"/llms-full.txt", "/SKILL.md"} {
		listings = testListings
		before := s.ask("GET", path).Header().Get("ETag")
		if again := s.ask("GET", path).Header().Get("ETag"); again != before {
			t.Errorf("%s: the tag changes without the prices", path)
		}
		listings = []catalog.Listing{{TLD: "com", Registration: 1_599 * deed.Cent, Renewal: 1_699 * deed.Cent, Transfer: 1_799 * deed.Cent}}
		after := s.ask("GET", path, "If-None-Match", before)
		if !strings.Contains(after.Body.String(), "| .com | 15.99 | 16.99 | 17.99 |") || after.Header().Get("ETag") == before {
			t.Errorf("%s: got %d with the tag %s, which was %s", path, after.Code, after.Header().Get("ETag"), before)
		}
	}
}

// The lists of llms.txt are links with a note.
func TestLLMSIsListsOfLinks(t *testing.T) {
	item := regexp.MustCompile(`^- \[[^\]]+\]\(https://[^)]+\): \S`)
	_, lists, _ := strings.Cut(open(t, testSite()).get("/llms.txt"), "\n## ")
	for line := range strings.Lines(lists) {
		if strings.HasPrefix(line, "-") && !item.MatchString(line) || strings.HasPrefix(line, "# ") {
			t.Errorf("got %q", line)
		}
	}
}

// A skill has front matter with a name and a description (agentskills.io).
func TestSkillHasFrontMatter(t *testing.T) {
	front := regexp.MustCompile(`(?s)^---\nname: ([a-z0-9]+(?:-[a-z0-9]+)*)\ndescription: ([^\n]+)\n---\n`).FindStringSubmatch(open(t, testSite()).get("/SKILL.md"))
	if front == nil || len(front[1]) > 64 || len(front[2]) > 1024 || strings.ContainsAny(front[2], "<>") {
		t.Errorf("got %q", front)
	}
}

// RFC 9116, 2.5: one or more Contact, one Expires, less than a year ahead.
func TestSecurityText(t *testing.T) {
	site := testSite()
	now := today
	site.Now = func() time.Time { return now }
	s := open(t, site)
	fields := map[string][]string{}
	for line := range strings.Lines(s.get("/.well-known/security.txt")) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			t.Errorf("got %q", line)
		}
		fields[key] = append(fields[key], value)
	}
	if !slices.Equal(fields["Contact"], []string{"mailto:security@deed.example"}) || !slices.Equal(fields["Canonical"], []string{"https://names.deed.example/.well-known/security.txt"}) || len(fields["Expires"]) != 1 {
		t.Fatalf("got %v", fields)
	}
	expires, err := time.Parse(time.RFC3339, fields["Expires"][0])
	if err != nil || !expires.After(today.AddDate(0, 3, 0)) || !expires.Before(today.AddDate(1, 0, 0)) {
		t.Errorf("it expires at %s, %v", expires, err)
	}
	before := s.get("/.well-known/security.txt")
	if now = today.Add(time.Hour); s.get("/.well-known/security.txt") != before {
		t.Error("it changes within a day")
	}
	if now = today.AddDate(0, 0, 1); s.get("/.well-known/security.txt") == before {
		t.Error("it does not move on")
	}
}

// RFC 9309: groups of a user agent and its rules.
func TestRobots(t *testing.T) {
	rule := regexp.MustCompile(`^(User-agent: \*|(Allow|Disallow): /\S*)\n$`)
	for line := range strings.Lines(open(t, testSite()).get("/robots.txt")) {
		if !rule.MatchString(line) {
			t.Errorf("got %q", line)
		}
	}
}
