package docs_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/go-json-experiment/json"

	"deed.example/deed/api"
	"deed.example/deed/internal/freeport"
	"deed.example/deed/internal/servicetest"
)

// A shell is a bash with a service.
type shell struct {
	dir     string
	service *servicetest.Service
	ports   map[string]string // of the pages, to those of the service
	folders map[string]string // of the pages, to temporary ones
	words   map[string]string // other words of the page, to the actual ones
	environ []string
	stop    func() // ends the shell
	in      io.Writer
	out     *bufio.Reader
}

// end is what the shell prints after a command, with its exit code.
const end = "--- that was all:"

// open starts a bash beside a service. What it shows is shown on a terminal, so that
// the pages have what a person sees; what is typed is not.
func open(t *testing.T, service *servicetest.Service) *shell {
	t.Helper()
	s := &shell{dir: t.TempDir(), service: service}
	s.mapPorts(t)
	s.folders = map[string]string{"/var/lib/postgresql": s.postgresFolder(t)}
	for _, folder := range []string{"/etc/deed", "/var/lib/deed"} {
		s.folders[folder] = s.dir + folder
	}
	s.prepare(t)
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	cmd := exec.CommandContext(ctx, "bash", "--norc")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // with all that it started
	cmd.Dir = s.dir
	cmd.Env = []string{
		"PATH=" + filepath.Join(s.dir, "bin") + ":" + filepath.Dir(binary) + ":" + os.Getenv("PATH"), "HOME=" + s.dir, "GO=" + goCommand(t), "REPOSITORY=" + repository(t),
		"POSTGRES=" + s.folders["/var/lib/postgresql"],
		"NO_COLOR=1", "TERM=dumb", "DEED_SERVER=" + s.service.URL, "DEED_CHAIN_LISTEN=127.0.0.1:" + s.ports["8545"], "LC_ALL=C", "TZ=UTC",
	}
	for _, name := range []string{"DATABASE_TIMEOUT", "DATABASE_LOCK_TIMEOUT", "DATABASE_IDLE_TIMEOUT"} {
		cmd.Env = append(cmd.Env, "DEED_"+name+"=1m") // a busy machine is not a fault
	}
	// The first two are in another home; with the third nothing is compiled twice.
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "CGO_ENABLED"} {
		cmd.Env = append(cmd.Env, name+"="+goSays(t, "env", name))
	}
	s.environ = cmd.Env
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	screen, tty := s.terminal(t)
	s.in, s.out = in, bufio.NewReader(screen)
	cmd.Stdout, cmd.Stderr = tty, tty
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close() // the shell has it now
	t.Cleanup(func() {
		fmt.Fprintln(s.in, "kill $(jobs -p) 2>/dev/null; exit") // what the page left running
		_, _ = io.Copy(io.Discard, s.out)                       // until all of it has ended
		_ = cmd.Wait()                                          // kill may have found nothing
	})
	return s
}

// terminal returns both ends of a terminal that is wide enough for every table.
func (s *shell) terminal(t *testing.T) (screen, tty *os.File) {
	t.Helper()
	screen, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(screen, &pty.Winsize{Rows: 50, Cols: 200}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() }) // after what is left on it was read
	return screen, tty
}

// mapPorts maps the ports of the pages to those of the service, and others to free
// ones.
func (s *shell) mapPorts(t *testing.T) {
	t.Helper()
	res, err := http.Get(s.service.URL + "/sandbox")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() // it was read
	var box api.Sandbox
	if err := json.UnmarshalRead(res.Body, &box); err != nil {
		t.Fatal(err)
	}
	operators := regexp.MustCompile(`operators +\S+:(\d+)`).FindStringSubmatch(s.service.Welcome)
	s.ports = map[string]string{"8080": portOf(s.service.URL), "8081": operators[1], "8545": portOf(box.RPCURL), "5353": portOf(box.DNS)}
	for _, port := range []string{"8000", "8001", "5300", "5354", "8010", "8011", "5310", "5364", "5432"} {
		s.ports[port] = s.freePort(t)
	}
}

// freePort returns a port that no other one is mapped to.
func (s *shell) freePort(t *testing.T) string {
	t.Helper()
	for {
		addr, err := freeport.Find()
		if err != nil {
			t.Fatal(err)
		}
		port := portOf(addr.String())
		if !slices.Contains(slices.Collect(maps.Values(s.ports)), port) {
			return port
		}
	}
}

func portOf(address string) string { return address[strings.LastIndex(address, ":")+1:] }

// prepare sets up what a page assumes: the tools of the clone, and the addresses of
// an operator.
func (s *shell) prepare(t *testing.T) {
	t.Helper()
	s.write(t, "bin/go", "#!/bin/sh\ncd \"$REPOSITORY\" && exec \"$GO\" \"$@\"\n")
	s.write(t, ".curlrc", "silent\n") // as on a terminal
	if err := os.Symlink(filepath.Join(s.service.Dir, "deed-data"), filepath.Join(s.dir, "deed-data")); err != nil {
		t.Fatal(err)
	}
	s.write(t, "bin/sudo", asPostgres)
	s.write(t, "etc/deed/cache-url", os.Getenv("TEST_REDIS_URL"))
	s.write(t, "etc/deed/rpc-url", "http://127.0.0.1:"+s.ports["8545"])
	if packages != nil {
		packages(t, s.dir)
	}
}

func goCommand(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func (s *shell) write(t *testing.T, path, text string) {
	t.Helper()
	path = filepath.Join(s.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// read runs the blocks of a page in order.
func (s *shell) read(t *testing.T, blocks []block) {
	for _, b := range blocks {
		switch {
		case b.console() && b.file == "terminal":
			for _, step := range b.steps() {
				s.tryOnTerminal(t, step)
			}
		case b.console():
			for _, step := range b.steps() {
				s.try(t, step)
			}
		case b.language == "go" && b.file != "": // it is in the repository
			have, err := os.ReadFile(filepath.Join(repository(t), b.file))
			if err != nil || string(have) != strings.Join(b.lines, "\n")+"\n" {
				t.Errorf("line %d: %s is another one in the repository (%v)", b.line, b.file, err)
			}
		case b.language != "text" && b.file != "":
			s.write(t, strings.TrimPrefix(b.file, "/"), s.typed(strings.Join(b.lines, "\n")+"\n"))
		}
	}
}

func (s *shell) try(t *testing.T, do step) {
	got, code := s.service.Welcome, "0"
	if do.command != "make run" { // the service is running already
		got, code = s.run(t, do.command)
	}
	got = s.shown(got)
	t.Logf("$ %s\n%s", do.command, got)
	if code != "0" || !do.matches(got) {
		t.Errorf("line %d: $ %s\ngot (exit code %s)\n%s\nwant\n%s", do.line, do.command, code, got, do.want)
	}
}

// patience is how long a command may take on a busy machine.
const patience = 10 * time.Minute

// run types a command, and returns its output and exit code.
func (s *shell) run(t *testing.T, command string) (shown, code string) {
	t.Helper()
	late := time.AfterFunc(patience, func() { s.stop() })
	defer late.Stop()
	fmt.Fprintf(s.in, "%s\nprintf '\\n%s %%d\\n' $?\n", s.typed(command), end)
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			t.Fatalf("the shell ended at $ %s\n%s\n%v%s", command, shown, err, s.logs())
		}
		line = strings.ReplaceAll(line, "\r", "")
		if code, ok := strings.CutPrefix(line, end+" "); ok {
			return shown, strings.TrimSpace(code)
		}
		shown += line
	}
}

// logs returns what the services of the page have logged.
func (s *shell) logs() (text string) {
	files, _ := filepath.Glob(filepath.Join(s.dir, "*.log")) // fails on a bad pattern only
	for _, file := range files {
		raw, err := os.ReadFile(file)
		text += fmt.Sprintf("\n%s (%v):\n%s", filepath.Base(file), err, raw)
	}
	return text
}

var port = regexp.MustCompile(`\b\d{4}\b`)

// typed maps ports, folders and words of a page to the actual ones.
func (s *shell) typed(text string) string {
	for _, names := range []map[string]string{s.words, s.folders} {
		for page, here := range names {
			text = strings.ReplaceAll(text, page, here)
		}
	}
	return port.ReplaceAllStringFunc(text, func(p string) string {
		if here := s.ports[p]; here != "" {
			return here
		}
		return p
	})
}

// shown maps it back.
func (s *shell) shown(text string) string {
	for page, here := range s.ports {
		text = strings.ReplaceAll(text, "127.0.0.1:"+here, "127.0.0.1:"+page)
	}
	for _, names := range []map[string]string{s.words, s.folders} {
		for page, here := range names {
			text = strings.ReplaceAll(text, here, page)
		}
	}
	return strings.ReplaceAll(text, s.dir, "~")
}
