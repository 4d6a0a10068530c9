//go:build linux

// Package scripts_test runs the functions of the scripts in this folder.
package scripts_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// run starts a line of bash that may use the functions of wait.sh.
func run(t *testing.T, line string, env ...string) (cmd *exec.Cmd, stderr *bufio.Reader) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), "bash", "-euc", ". ./wait.sh; "+line)
	cmd.Env = append(os.Environ(), env...)
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewReader(pipe)
}

// heard reads until a line has the text, within the timeout of the test.
func heard(t *testing.T, r *bufio.Reader, text string) {
	t.Helper()
	var all strings.Builder
	for {
		line, err := r.ReadString('\n')
		all.WriteString(line)
		if strings.Contains(line, text) {
			return
		}
		if err != nil {
			t.Fatalf("%v: waited for %q, and heard %q", err, text, all.String())
		}
	}
}

// ended returns the rest of the output and the exit code.
func ended(t *testing.T, cmd *exec.Cmd, r *bufio.Reader) (string, int) {
	t.Helper()
	rest, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the exit code says it
	return string(rest), cmd.ProcessState.ExitCode()
}

// apt prepares folders of its own for apt-get, so that the test touches neither
// the packages nor the locks of the machine. It returns the lock of the lists.
func apt(t *testing.T) (env, lock string) {
	t.Helper()
	if _, err := exec.LookPath("apt-get"); err != nil {
		t.Skip("apt-get is not here: this is not Debian")
	}
	dir := t.TempDir()
	for _, folder := range []string{"lists/partial", "archives/partial", "etc"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	config := fmt.Sprintf(`
Dir::State::Lists "%[1]s/lists"; Dir::State::status "%[1]s/status"; Dir::Cache "%[1]s"; Dir::Cache::Archives "%[1]s/archives";
Dir::Etc::SourceList "%[1]s/etc/none"; Dir::Etc::SourceParts "%[1]s/etc"; APT::Sandbox::User "";
`, dir)
	for name, text := range map[string]string{"apt.conf": config, "status": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return "APT_CONFIG=" + filepath.Join(dir, "apt.conf"), filepath.Join(dir, "lists/lock")
}

// hold takes a lock like apt does, until it is released.
func hold(t *testing.T, path string) (release func()) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK}); err != nil {
		t.Fatal(err)
	}
	return func() { f.Close() } // and with it the lock
}

func TestAptIsWaitedFor(t *testing.T) {
	env, lock := apt(t)
	release := hold(t, lock)
	cmd, stderr := run(t, "apt_get update", env)
	heard(t, stderr, "the package manager is in use, waiting up to 600 seconds")
	release()
	if said, code := ended(t, cmd, stderr); code != 0 {
		t.Errorf("got %d, %s", code, said)
	}
}

func TestAptWaitHasLimit(t *testing.T) {
	env, lock := apt(t)
	defer hold(t, lock)()
	cmd, stderr := run(t, "apt_get update", env, "NEED_WAIT=0")
	if said, code := ended(t, cmd, stderr); code == 0 || !strings.Contains(said, "still in use after 0 seconds") || !strings.Contains(said, "held by process") {
		t.Errorf("got %d, %s", code, said)
	}
}

func TestOtherAptErrorsAreReported(t *testing.T) {
	env, _ := apt(t)
	cmd, stderr := run(t, "apt_get install --simulate no-such-package", env)
	if said, code := ended(t, cmd, stderr); code == 0 || !strings.Contains(said, "Unable to locate package no-such-package") || strings.Contains(said, "in use") {
		t.Errorf("got %d, %s", code, said)
	}
}

func TestOneAtATime(t *testing.T) {
	lock := filepath.Join(t.TempDir(), "lock")
	first, err := os.OpenFile(lock, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(first.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	cmd, stderr := run(t, "one_at_a_time "+lock+" sh -c 'echo mine >&2; exit 3'")
	heard(t, stderr, "another run is installing packages, waiting up to 600 seconds")
	first.Close() // and with it the lock
	if said, code := ended(t, cmd, stderr); code != 3 || said != "mine\n" {
		t.Errorf("got %d, %s", code, said)
	}
	again, stderr := run(t, "one_at_a_time "+lock+" true")
	if said, code := ended(t, again, stderr); code != 0 || said != "" {
		t.Errorf("a lock that is free: got %d, %s", code, said)
	}
}
