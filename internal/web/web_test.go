package web_test

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/docs"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/web"
)

// open returns a page of a sandbox whose registrar knows the given names.
func open(t *testing.T, known map[string]registrar.Availability) *web.Server {
	t.Helper()
	s, err := web.New(web.Site{PublicURL: "https://deed.example", Network: network.Embedded(), Payments: true, RPCURL: "http://127.0.0.1:8545"})
	if err != nil {
		t.Fatal(err)
	}
	if s.Prices, err = catalog.New(catalog.DefaultPricing()); err != nil {
		t.Fatal(err)
	}
	s.Search = func(_ context.Context, query string, under []catalog.Listing) ([]catalog.Result, error) {
		var out []catalog.Result
		for _, l := range under {
			r := catalog.Result{Domain: query + "." + string(l.TLD), TLD: l.TLD, Available: true, Offer: l}
			if a, ok := known[r.Domain]; ok {
				r.Available, r.Reason, r.Premium = a.Available, a.Reason, a.Premium
			}
			out = append(out, r)
		}
		return out, nil
	}
	s.Limit = func(http.ResponseWriter, *http.Request) error { return nil }
	return s
}

// get returns the response to GET, and fails for an error.
func get(t *testing.T, s *web.Server, target string, headers ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	if err := s.ServePage(w, r); err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	return w.Result()
}

func body(t *testing.T, res *http.Response) string {
	t.Helper()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

var (
	inline = regexp.MustCompile(`(?i)<script(?:\s[^>]*)?>[^<]|<style|\sstyle=|\son[a-z]+=|javascript:`)
	source = regexp.MustCompile(`(?:src|href)="([^"#]*)"`)
)

// No page has an inline script or style, or loads from elsewhere, and its policy
// would forbid both.
func TestPagesAreStrict(t *testing.T) {
	s := open(t, nil)
	for _, target := range []string{"/", "/?q=example", "/?q=%3Cscript%3E", "/app/names", "/docs/", "/docs/?q=refund", "/docs/api", "/docs/payments", "/docs/tutorial"} {
		res := get(t, s, target)
		html := body(t, res)
		policy := res.Header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self';", "style-src 'self';", "connect-src 'self' http://127.0.0.1:8545;", "frame-ancestors 'none'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: the policy %q lacks %q", target, policy, part)
			}
		}
		if strings.Contains(policy, "unsafe") || len(res.Cookies()) > 0 {
			t.Errorf("%s: got policy %q and cookies %v", target, policy, res.Cookies())
		}
		withoutCode := regexp.MustCompile(`(?s)<pre.*?</pre>|<meta[^>]*>|<code>.*?</code>`).ReplaceAllString(html, "")
		if got := inline.FindString(withoutCode); got != "" {
			t.Errorf("%s: got %q inline", target, got)
		}
		for _, tag := range regexp.MustCompile(`<(?:script|link|img)[^>]*>`).FindAllString(html, -1) {
			if m := source.FindStringSubmatch(tag); m == nil || !strings.HasPrefix(m[1], "/") {
				t.Errorf("%s: %s is not from here", target, tag)
			}
		}
	}
}

func TestAssets(t *testing.T) {
	s := open(t, nil)
	html := body(t, get(t, s, "/"))
	paths := regexp.MustCompile(`/assets/[^"]+`).FindAllString(html, -1)
	if len(paths) != 3 {
		t.Fatalf("got %v, want a script, a style and an icon", paths)
	}
	first := len(html)
	for _, path := range paths {
		plain := body(t, get(t, s, path))
		res := get(t, s, path, "Accept-Encoding", "gzip, deflate, br")
		if got := res.Header.Get("Content-Encoding"); got != "br" {
			t.Errorf("%s: got %q, want br", path, got)
		}
		first += len(body(t, res))
		if got := res.Header.Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
			t.Errorf("%s: got Cache-Control %q", path, got)
		}
		z, err := gzip.NewReader(get(t, s, path, "Accept-Encoding", "gzip").Body)
		if err != nil {
			t.Fatal(err)
		}
		if unzipped, err := io.ReadAll(z); err != nil || string(unzipped) != plain {
			t.Errorf("%s: gzip has other contents, %v", path, err)
		}
		if got := get(t, s, path, "Accept-Encoding", "br;q=0, *").Header.Get("Content-Encoding"); got != "" {
			t.Errorf("%s: got %q for a client that wants none", path, got)
		}
	}
	t.Logf("first view: %d bytes", first)
	if first > 60<<10 {
		t.Errorf("the first view has %d bytes, want at most %d", first, 60<<10)
	}
	err := s.ServePage(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/assets/nope.js", nil))
	if deed.CodeOf(err) != deed.CodeNotFound {
		t.Errorf("got %v", err)
	}
}

func TestResultsWithoutJavaScript(t *testing.T) {
	s := open(t, map[string]registrar.Availability{
		"example.net": {Reason: "taken"}, "example.org": {Reason: "unknown"}, "example.io": {Available: true, Premium: true},
	})
	html := body(t, get(t, s, "/?q=Example"))
	for _, want := range []string{
		`<strong>13.06 <abbr title="USD Coin">USDC</abbr></strong><small>first year, then 13.06 a year</small>`, `href="/app/buy/example.com"`,
		"<small>Taken</small>", "<small>Could not check</small>", `example.io <span class="tag">Premium</span>`, "at least 2 years",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if got := strings.Count(body(t, get(t, s, "/?q=example&all")), `<li class="result`); got != len(s.Prices.Listings()) || got < 500 {
		t.Errorf("all TLDs: got %d rows", got)
	}
	cheap := body(t, get(t, s, "/?q=example&max=13.06"))
	if !strings.Contains(cheap, `href="/app/buy/example.com"`) || strings.Contains(cheap, `href="/app/buy/example.io"`) || strings.Contains(cheap, "<small>Taken</small>") {
		t.Error("a highest price is not kept")
	}
	if got := body(t, get(t, s, "/?q=example&max=0.01")); !strings.Contains(got, "No name passes the filters.") {
		t.Error("a filter that leaves nothing does not say so")
	}
	if got := body(t, get(t, s, "/?q=https%3A%2F%2Fwww.example.xyz%2Fpath")); !strings.Contains(got, `href="/app/buy/example.xyz"`) {
		t.Error("an address is not understood")
	}
	exact := body(t, get(t, s, "/?q=example.xyz"))
	if first, other := strings.Index(exact, ">example.xyz"), strings.Index(exact, ">example.com"); first < 0 || other < first {
		t.Errorf("the exact match is at %d, another at %d", first, other)
	}
	if got := get(t, s, "/?q=example.nope"); got.StatusCode != http.StatusBadRequest || !strings.Contains(body(t, got), "We do not sell names with this ending.") {
		t.Errorf("a TLD that is not sold: got %d", got.StatusCode)
	}
	s.Limit = func(http.ResponseWriter, *http.Request) error {
		return deed.Errorf(deed.CodeRateLimited, "wait 5 seconds")
	}
	if got := get(t, s, "/?q=example"); got.StatusCode != http.StatusTooManyRequests || !strings.Contains(body(t, got), "wait 5 seconds") {
		t.Errorf("above the limit: got %d", got.StatusCode)
	}
	if got := get(t, s, "/"); got.StatusCode != http.StatusOK {
		t.Errorf("a page without a search counts: got %d", got.StatusCode)
	}
}

// Every link between pages of the docs leads to a page, and a search finds sections.
func TestDocs(t *testing.T) {
	s := open(t, nil)
	entries, err := docs.Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	check := func(target string) string {
		html := body(t, get(t, s, target))
		for _, m := range source.FindAllStringSubmatch(html, -1) {
			if strings.HasPrefix(m[1], "/docs/") && !seen[m[1]] {
				seen[m[1]] = true
				get(t, s, m[1])
			}
		}
		return html
	}
	pages := 0
	for _, e := range entries {
		if name, isPage := strings.CutSuffix(e.Name(), ".md"); isPage {
			check("/docs/" + name)
			pages++
		}
	}
	if pages < 15 || len(seen) < 20 {
		t.Errorf("got %d pages and %d links", pages, len(seen))
	}
	if got := check("/docs/?q=Refund+GAS"); !strings.Contains(got, `<a href="/docs/payments#settlement">`) {
		t.Error("a search does not find the section about settlement")
	}
	if got := check("/docs/?q=xyzzy-none"); !strings.Contains(got, "Nothing has all of these words") {
		t.Error("an empty result does not say so")
	}
	reference := check("/docs/api")
	for _, want := range []string{`id="registerDomain"`, `data-get="/domains/search?query=example"`, "curl &#39;https://deed.example/domains/register&#39;", "Needs an access token.",
		"Costs the price of the name, in USDC.", "Costs 0.10 USDC for each change.", "--data-raw &#39;www 300 IN A 192.0.2.10", `data-get="/rdap/nameserver/ns1.deed.example"`} {
		if !strings.Contains(reference, want) {
			t.Errorf("the reference lacks %q", want)
		}
	}
	if strings.Contains(reference, "--data-raw &#39;null&#39;") {
		t.Error("the reference has a call without an example of its body")
	}
}

// Every link to a section leads to one, and every diagram is a picture.
func TestSectionsAndDiagrams(t *testing.T) {
	s := open(t, nil)
	entries, err := docs.Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	html, links, diagrams := map[string]string{}, 0, 0
	for _, e := range entries {
		if name, isPage := strings.CutSuffix(e.Name(), ".md"); isPage {
			html["/docs/"+name] = body(t, get(t, s, "/docs/"+name))
		}
	}
	html["/docs/api"] = body(t, get(t, s, "/docs/api"))
	for path, page := range html {
		for _, m := range regexp.MustCompile(`href="([^"#]*)#([^"]+)"`).FindAllStringSubmatch(page, -1) {
			to := m[1]
			if to == "" {
				to = path
			}
			if target, ok := html[to]; ok && m[2] != "main" {
				links++
				if !strings.Contains(target, `id="`+m[2]+`"`) {
					t.Errorf("%s links to %s#%s, which does not exist", path, to, m[2])
				}
			}
		}
		diagrams += strings.Count(page, `<div class="diagram scroll"`)
		if strings.Contains(page, "language-mermaid") {
			t.Errorf("%s shows the source of a diagram", path)
		}
	}
	t.Logf("%d links to sections, %d diagrams", links, diagrams)
	if links < 20 || diagrams < 5 {
		t.Errorf("got %d links to sections and %d diagrams", links, diagrams)
	}
}

// The doc_url of every code leads to a heading of the page about errors.
func TestEveryCodeHasAPlaceInTheDocs(t *testing.T) {
	s := open(t, nil)
	source, err := docs.Files.ReadFile("errors.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| ([A-Z_]+) \| \d{3} \|`).FindAllStringSubmatch(string(source), -1)
	if len(rows) != 16 {
		t.Fatalf("got %d codes", len(rows))
	}
	for _, row := range rows {
		page, id, _ := strings.Cut(strings.TrimPrefix(api.DocURL("https://deed.example", row[1]), "https://deed.example"), "#")
		if html := body(t, get(t, s, page)); !strings.Contains(html, `<h3 id="`+id+`">`) {
			t.Errorf("%s has no heading %s", page, id)
		}
	}
}
