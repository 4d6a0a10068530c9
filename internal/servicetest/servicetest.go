// Package servicetest runs the command `deed serve` as a sandbox, for tests that
// call it as a client.
package servicetest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Service is a running `deed serve`.
type Service struct {
	Binary  string // path of the command
	Dir     string // working folder; its data is in deed-data there
	URL     string // base URL
	Welcome string // its output at the start

	cmd *exec.Cmd
}

// Start builds the command into dir and runs it there on free ports, with rate
// limits that tests do not reach, and with further settings (NAME=value).
func Start(dir string, settings ...string) (*Service, error) {
	binary := filepath.Join(dir, "deed")
	if err := Build(binary); err != nil {
		return nil, err
	}
	return Run(binary, dir, settings...)
}

// Build builds the command.
func Build(binary string) error {
	if out, err := exec.Command("go", "build", "-o", binary, "deed.example/deed/cmd/deed").CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w: %s", err, out)
	}
	return nil
}

// Run runs a built command, like Start.
func Run(binary, dir string, settings ...string) (*Service, error) {
	return run(binary, dir, true, settings)
}

// RunLimited runs a built command with the limits that it has by default.
func RunLimited(binary, dir string) (*Service, error) { return run(binary, dir, false, nil) }

func run(binary, dir string, unlimited bool, settings []string) (*Service, error) {
	s := &Service{Binary: binary, Dir: dir}
	env, err := testEnv(s.Binary, unlimited)
	if err != nil {
		return nil, err
	}
	s.cmd = exec.Command(s.Binary, "serve")
	s.cmd.Dir = dir
	s.cmd.Env = append(append(env, settings...), "PATH="+os.Getenv("PATH"), "DEED_DATABASE_TIMEOUT=2m", "DEED_DATABASE_LOCK_TIMEOUT=2m", "DEED_DATABASE_IDLE_TIMEOUT=2m") // a busy machine is not a fault
	logs, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer logs.Close() // the command has its own descriptor
	s.cmd.Stderr = logs
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		s.Welcome += lines.Text() + "\n"
		words := strings.Fields(lines.Text())
		if len(words) == 2 && words[0] == "callers" {
			s.URL = words[1]
		}
		if len(words) == 2 && strings.HasSuffix(words[1], "/openapi.json") {
			return s, nil
		}
	}
	s.Stop()
	output, _ := os.ReadFile(logs.Name()) // as much as there is
	return nil, fmt.Errorf("deed serve did not start: %s", output)
}

// testEnv returns the environment for a test service: every listener uses a free
// port, and with unlimited all rate limits are high.
func testEnv(binary string, unlimited bool) ([]string, error) {
	check := exec.Command(binary, "config", "check")
	check.Env = []string{} // the defaults, without the environment of the test
	out, err := check.Output()
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	var env []string
	for line := range strings.Lines(string(out)) {
		key, _, _ := strings.Cut(line, " ")
		name := "DEED_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
		switch {
		case key == "redirect.tls_listen": // it needs a certificate authority
		case strings.HasSuffix(key, "listen"):
			env = append(env, name+"=127.0.0.1:0")
		case unlimited && strings.HasPrefix(key, "limits."):
			env = append(env, name+"=1000000")
		}
	}
	return env, nil
}

// Stop kills the service. Its data remains in the folder.
func (s *Service) Stop() {
	s.cmd.Process.Kill() // it may have ended already
	s.cmd.Wait()         // it was killed
}
