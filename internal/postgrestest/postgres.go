//go:build unix

// Package postgrestest runs PostgreSQL servers of a test's own, with standbys, and
// PgBouncer in front of them, so that a test can kill, freeze and promote them. Tests
// that only need a database use sqldbtest, which is much faster.
package postgrestest

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"deed.example/deed/internal/freeport"
)

// startTimeout is how long a server may take to start.
const startTimeout = 2 * time.Minute

// A Server is a running PostgreSQL, or a PgBouncer.
type Server struct {
	Port int
	dir  string // the folder of its data
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when the process has ended
}

// Start starts a new, empty server that ends with the test. The user deed owns it and
// needs no password.
func Start(t testing.TB) *Server {
	t.Helper()
	if os.Getenv("TEST_POSTGRES_URL") == "" {
		t.Skip("TEST_POSTGRES_URL is not set: `make test` has PostgreSQL installed and sets it")
	}
	dir := folder(t)
	data := filepath.Join(dir, "data")
	command(t, dir, program(t, "initdb"), "-D", data, "-U", "deed", "-A", "trust", "--no-locale", "-E", "UTF8", "-N")
	// Shared memory is in the folder, so that nothing is left of a server that is killed.
	appendTo(t, filepath.Join(data, "postgresql.conf"), "fsync = off\ndynamic_shared_memory_type = mmap\nmax_connections = 200\nwal_level = replica\nhot_standby = on\n")
	appendTo(t, filepath.Join(data, "pg_hba.conf"), "host replication all 127.0.0.1/32 trust\n")
	return run(t, dir, data)
}

// Standby starts a standby of the server, which ends with the test. A commit of the
// server is on it before it returns.
func (s *Server) Standby(t testing.TB) *Server {
	t.Helper()
	dir := folder(t)
	data := filepath.Join(dir, "data")
	command(t, dir, program(t, "pg_basebackup"), "-D", data, "-R", "-c", "fast", "-d", s.conninfo("postgres")+" application_name=standby")
	standby := run(t, dir, data)
	s.Exec(t, `ALTER SYSTEM SET synchronous_standby_names = 'standby'`)
	s.Exec(t, `SELECT pg_reload_conf()`)
	return standby
}

// Promote makes a standby the primary.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	s.Exec(t, `ALTER SYSTEM SET synchronous_standby_names = ''`)
	s.Exec(t, `SELECT pg_reload_conf()`)
	s.Exec(t, `SELECT pg_promote()`)
}

// run starts the server of a data folder and waits until it answers.
func run(t testing.TB, dir, data string) *Server {
	t.Helper()
	s := &Server{Port: FreePort(t), dir: data}
	s.launch(t, dir, program(t, "postgres"), "-D", data, "-p", strconv.Itoa(s.Port), "-h", "127.0.0.1", "-k", dir)
	s.wait(t)
	return s
}

// Restart starts a server again that was killed.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	<-s.done
	s.launch(t, filepath.Dir(s.dir), s.cmd.Path, s.cmd.Args[1:]...)
	s.wait(t)
}

// Ended reports whether the server has ended.
func (s *Server) Ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// URL returns the address of a database of the servers, the first of which is tried
// first.
func URL(database string, servers ...*Server) string {
	hosts := make([]string, len(servers))
	for i, s := range servers {
		hosts[i] = "127.0.0.1:" + strconv.Itoa(s.Port)
	}
	return "postgres://deed@" + strings.Join(hosts, ",") + "/" + database + "?sslmode=disable"
}

func (s *Server) conninfo(database string) string {
	return fmt.Sprintf("host=127.0.0.1 port=%d user=deed dbname=%s", s.Port, database)
}

// Exec runs a statement and returns what psql prints.
func (s *Server) Exec(t testing.TB, statement string) string {
	t.Helper()
	return strings.TrimSpace(command(t, filepath.Dir(s.dir), program(t, "psql"), "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", s.conninfo("postgres"), "-c", statement))
}

// Kill ends the server at once, with all its processes, and returns when it has ended.
func (s *Server) Kill() {
	s.signal(syscall.SIGKILL)
	<-s.done
}

// Freeze stops all processes of the server until Thaw.
func (s *Server) Freeze() { s.signal(syscall.SIGSTOP) }

// Thaw lets a frozen server continue.
func (s *Server) Thaw() { s.signal(syscall.SIGCONT) }

// signal sends a signal to the server and to the processes of its connections, each
// of which leads a session of its own. They may have ended already.
func (s *Server) signal(sig syscall.Signal) {
	select {
	case <-s.done:
		return // its number may be another process by now
	default:
	}
	children := childrenOf(s.cmd.Process.Pid)
	_ = s.cmd.Process.Signal(sig)
	for _, pid := range children {
		_ = syscall.Kill(pid, sig)
	}
}

// childrenOf returns the processes that a process has started.
func childrenOf(parent int) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // fails on a bad pattern only
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		// "pid (name) state ppid …", and the name may contain blanks.
		_, rest, _ := strings.Cut(string(raw), ") ")
		fields := strings.Fields(rest)
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil && len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// launch starts a program that ends with the test.
func (s *Server) launch(t testing.TB, dir, path string, args ...string) {
	t.Helper()
	s.log = filepath.Join(dir, "log")
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close() // the server has its own handle
	s.cmd = exec.Command(path, args...)
	s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = dir, log, log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential(t)}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done, cmd := make(chan struct{}), s.cmd
	s.done = done
	go func() {
		_ = cmd.Wait() // its log says how it ended
		close(done)
	}()
	t.Cleanup(s.Kill)
}

// wait waits until the server accepts connections.
func (s *Server) wait(t testing.TB) {
	t.Helper()
	deadline := time.Now().Add(startTimeout)
	for exec.Command(program(t, "pg_isready"), "-q", "-h", "127.0.0.1", "-p", strconv.Itoa(s.Port)).Run() != nil {
		select {
		case <-s.done:
			t.Fatalf("it ended: %s", s.logText())
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("it does not answer: %s", s.logText())
		}
	}
}

func (s *Server) logText() string {
	text, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// program finds a program of PostgreSQL, which Debian does not put on the PATH.
func program(t testing.TB, name string) string {
	t.Helper()
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name); len(found) > 0 { // fails on a bad pattern only
		return found[len(found)-1]
	}
	for _, path := range []string{name, "/usr/sbin/" + name} {
		if path, err := exec.LookPath(path); err == nil {
			return path
		}
	}
	t.Fatalf("%s is not installed: scripts/need.sh postgres pgbouncer", name)
	return ""
}

// command runs a program as the user of the servers and returns its output.
func command(t testing.TB, dir, path string, args ...string) string {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Credential: credential(t)}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", filepath.Base(path), err, out)
	}
	return string(out)
}

// folder returns a new folder of the user of the servers.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "deed-postgres") // t.TempDir is not accessible to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) }) // a temporary folder
	if c := credential(t); c != nil {
		if err := os.Chown(dir, int(c.Uid), int(c.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// credential returns an unprivileged user, because PostgreSQL refuses to run as root;
// nil if we are not root.
func credential(t testing.TB) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	owner, err := user.Lookup("postgres")
	if err != nil {
		owner, err = user.Lookup("nobody")
	}
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.ParseUint(owner.Uid, 10, 32) // a number here
	gid, _ := strconv.ParseUint(owner.Gid, 10, 32) // likewise
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func appendTo(t testing.TB, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// FreePort returns a port that is free at the moment.
func FreePort(t testing.TB) int {
	t.Helper()
	addr, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	return int(addr.Port())
}
