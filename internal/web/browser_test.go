package web_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

func browse(t *testing.T, script string) {
	t.Helper()
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("chromium is not installed; make test installs it")
	}
	npmtest.Install(t, pageSource)
	s, err := servicetest.Start(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	t.Setenv("DEED_URL", s.URL)
	out := npmtest.Run(t, pageSource, "node", "--test", "--test-reporter=spec", script)
	for _, line := range regexp.MustCompile(`(?m)^.*(?:ℹ|✔|✖).*$`).FindAllString(out, -1) {
		t.Log(line)
	}
	if logs, err := os.ReadFile(filepath.Join(s.Dir, "log")); err == nil && regexp.MustCompile(`"level":"ERROR"|panic`).Match(logs) {
		t.Errorf("the service logged an error:\n%s", logs)
	}
}
