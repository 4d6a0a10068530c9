package web_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

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

// The page in Chromium, with a wallet, against a sandbox.
func TestBrowser(t *testing.T) { browse(t, "test/main.mjs") }

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
