package web_test

import (
	"regexp"
	"strings"
	"testing"
)

// The tables of the docs have what a narrow screen needs: the heading of its column in
// every cell, and places where long words may be broken.
func TestTablesFitNarrowScreens(t *testing.T) {
	s := open(t, nil)
	html := body(t, get(t, s, "/docs/configuration"))
	for _, want := range []string{
		`<td data-label="key"><code>database.<wbr>max_<wbr>connections</code></td>`,
		`<td data-label="environment"><code>DEED_<wbr>DATABASE_<wbr>MAX_<wbr>CONNECTIONS</code></td>`,
		`<td data-label="default">16</td>`,
		`<td data-label="default">ns1.<wbr>deed.<wbr>example,<wbr>ns2.<wbr>deed.<wbr>example</td>`,
		`<a href="https://acme-v02.api.letsencrypt.org/directory">https://<wbr>acme-<wbr>v02.<wbr>api.<wbr>letsencrypt.<wbr>org/<wbr>directory</a>`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if html := body(t, get(t, s, "/docs/testing")); !strings.Contains(html, "<code>Test<wbr>Signatures<wbr>Are<wbr>Verified</code>") {
		t.Error("names of tests cannot be broken")
	}
	outside := regexp.MustCompile(`(?s)<table>.*?</table>`).ReplaceAllString(html, "")
	if !strings.Contains(html, "DEED_CONFIG</code>") || strings.Contains(outside, "<wbr>") {
		t.Error("text outside of tables has places to break, too")
	}
}
