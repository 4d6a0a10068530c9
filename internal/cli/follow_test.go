package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"deed.example/deed/api"
	"deed.example/deed/client"
	"deed.example/deed/internal/freeport"
	"deed.example/deed/internal/servicetest"
)

// A follower is a command in the background. Its output goes to files.
type follower struct {
	cmd       *exec.Cmd
	out, errs string
}

func (s *shell) follow(t *testing.T, args ...string) *follower {
	t.Helper()
	dir := t.TempDir()
	f := &follower{out: filepath.Join(dir, "out"), errs: filepath.Join(dir, "err")}
	out, err := os.Create(f.out)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close() // the command has its own descriptor
	errs, err := os.Create(f.errs)
	if err != nil {
		t.Fatal(err)
	}
	defer errs.Close() // the command has its own descriptor
	f.cmd = exec.Command(service.Binary, args...)
	f.cmd.Env, f.cmd.Stdout, f.cmd.Stderr = s.env, out, errs
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.cmd.Process.Kill() }) // it has ended, unless the test failed
	return f
}

// waitFor waits until a file has a text.
func waitFor(t *testing.T, file, text string) {
	t.Helper()
	for start := time.Now(); time.Since(start) < 2*time.Minute; time.Sleep(20 * time.Millisecond) {
		if raw, err := os.ReadFile(file); err == nil && bytes.Contains(raw, []byte(text)) {
			return
		}
	}
	raw, _ := os.ReadFile(file) // as much as there is
	t.Fatalf("%q is not in %s", text, raw)
}

// wait waits for the end of the command, which it interrupts or not, and returns the exit
// code.
func (f *follower) wait(interrupt bool) int {
	if interrupt {
		f.cmd.Process.Signal(os.Interrupt) // it may have ended
	}
	_ = f.cmd.Wait() // the exit code is returned
	return f.cmd.ProcessState.ExitCode()
}

// Commands that follow something go on when the service has restarted: they say once
// that they wait, and lose and repeat nothing.
func TestFollowersSurviveRestart(t *testing.T) {
	addr, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	dir, setting := t.TempDir(), "DEED_LISTEN="+addr.String()
	own, err := servicetest.Run(service.Binary, dir, setting)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { own.Stop() })
	s, key := newShell(t, own.URL)
	c, err := client.New(own.URL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Faucet(t.Context(), api.FaucetRequest{WalletAddress: key.Address().Hex()}); err != nil {
		t.Fatal(err)
	}
	s.run(t, 0, "register", "first-follow.com", "--max-price", "20")
	s.run(t, 0, "admin", "faults", "late", "--times", "1")
	late := s.run(t, 9, "register", "second-follow.com", "--max-price", "20")
	_, id, _ := strings.Cut(late, "job watch ")
	id, _, _ = strings.Cut(id, "`")
	events := s.follow(t, "events", "--follow", "--json")
	job := s.follow(t, "job", "watch", id)
	waitFor(t, events.out, `"domain.registered"`)
	waitFor(t, job.errs, "verifying")

	own.Stop()
	waitFor(t, events.errs, "trying again")
	waitFor(t, job.errs, "trying again")
	if own, err = servicetest.Run(service.Binary, dir, setting); err != nil {
		t.Fatal(err)
	}
	s.run(t, 0, "admin", "clock", "5m")
	if code := job.wait(false); code != 0 {
		t.Errorf("job watch: got exit code %d", code)
	}
	s.run(t, 0, "register", "third-follow.com", "--max-price", "20")
	waitFor(t, events.out, `"domain":"third-follow.com","expiresAt"`)
	if code := events.wait(true); code != 0 {
		t.Errorf("events: got exit code %d", code)
	}
	for _, f := range []*follower{events, job} {
		if raw, err := os.ReadFile(f.errs); err != nil || strings.Count(string(raw), "trying again") != 1 {
			t.Errorf("got %s, %v", raw, err)
		}
	}
	raw, err := os.ReadFile(events.out)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range bytes.Lines(raw) {
		var e api.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if n++; e.Cursor != strconv.Itoa(n) {
			t.Errorf("got cursor %s, want %d", e.Cursor, n)
		}
	}
}
