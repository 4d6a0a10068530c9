package web_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"deed.example/deed/internal/mailer/mailertest"
	"deed.example/deed/internal/npmtest"
	"deed.example/deed/internal/servicetest"
)

const pageSource = "../../web" // the folder of the page's source

// The committed files are those that the source builds to. The compressed copies
// are compared by their contents, because compressors differ between versions.
func TestBuiltFilesAreUpToDate(t *testing.T) {
	npmtest.Install(t, pageSource)
	npmtest.Run(t, pageSource, "npm", "run", "--silent", "check")
	dir := t.TempDir()
	npmtest.Run(t, pageSource, "node", "build.mjs", dir+"/")
	t.Log(npmtest.Run(t, pageSource, "node", "compare.mjs", dir, "../internal/web/dist"))
}

// The page in Chromium, with a wallet, against a sandbox that sends e-mail through a
// mail server of others.
func TestBrowser(t *testing.T) {
	if !mailertest.Installed(t) {
		t.Log("without e-mail: python3-aiosmtpd is not installed; make test installs it")
		browse(t, "test/main.mjs")
		return
	}
	server := mailertest.Start(t)
	t.Setenv("DEED_MAILBOX", mailbox(t, server))
	browse(t, "test/main.mjs", "DEED_EMAIL_SERVER="+server.URL.Reveal(), "DEED_EMAIL_FROM=notices@deed.example", "SSL_CERT_FILE="+server.Cert)
}

// mailbox returns the address of a server that answers each request with the next
// message, as soon as there is one.
func mailbox(t *testing.T, mails *mailertest.Server) string {
	t.Helper()
	box := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m, err := mails.Receive(r.Context())
		if err != nil {
			return // the client has gone
		}
		link := strings.Trim(m.Header.Get("List-Unsubscribe"), "<>")
		if err := json.MarshalWrite(w, map[string]any{"to": m.To, "body": m.Body, "unsubscribe": link}); err != nil {
			t.Errorf("write a message: %v", err)
		}
	}))
	t.Cleanup(box.Close)
	return box.URL
}

// browse runs a script against a sandbox with the settings.
func browse(t *testing.T, script string, settings ...string) {
	t.Helper()
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("chromium is not installed; make test installs it")
	}
	npmtest.Install(t, pageSource)
	s, err := servicetest.Start(t.TempDir(), settings...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	t.Setenv("DEED_URL", s.URL)
	t.Setenv("DEED_BINARY", s.Binary)
	out := npmtest.Run(t, pageSource, "node", "--test", "--test-reporter=spec", script)
	for _, line := range regexp.MustCompile(`(?m)^.*(?:ℹ|✔|✖).*$`).FindAllString(out, -1) {
		t.Log(line)
	}
	wantNoErrors(t, filepath.Join(s.Dir, "log"))
}

// wantNoErrors fails if a service logged an error. On a busy machine a check of its
// own parts may be too late, which is no fault; and one test makes the registry fail.
func wantNoErrors(t *testing.T, path string) {
	t.Helper()
	logs, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	failure, expected := regexp.MustCompile(`"level":"ERROR"|panic`), regexp.MustCompile(`deadline exceeded|i/o timeout|the registry is down|the registrar did not answer`)
	for line := range strings.Lines(string(logs)) {
		if failure.MatchString(line) && !expected.MatchString(line) {
			t.Errorf("the service logged an error: %s", line)
		}
	}
}
