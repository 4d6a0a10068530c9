//go:build unix

package primary_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed"
	"deed.example/deed/internal/primary"
)

// patience is how long a secondary may take for anything; it is no figure that
// a test is about.
const patience = time.Minute

// A recipe starts one kind of name server as a secondary.
type recipe struct {
	name    string
	program string // its program and the Debian package it is in
	debian  string
	signs   bool // it takes and gives what is signed with our key

	// prepare writes the configuration and returns the command line.
	prepare func(t *testing.T, s *secondary, zones []string) []string
}

// secondary is a name server that runs in a folder of its own.
type secondary struct {
	recipe
	dir     string
	addr    string // where it answers
	port    int
	primary string // host and port of the primary
	from    int    // the primary's port
}

// start starts the server and waits until it answers. It skips the test when
// the server is not installed. Zones are for servers that read no catalog.
func (r recipe) start(t *testing.T, h *house, zones ...string) *secondary {
	t.Helper()
	program, err := exec.LookPath(r.program)
	if err != nil {
		program = "/usr/sbin/" + r.program
		if _, err := os.Stat(program); err != nil {
			t.Skipf("%s is not installed: apt-get install --no-install-recommends %s", r.name, r.debian)
		}
	}
	dir, err := os.MkdirTemp("", "deed-"+r.program+"-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	port := freePort(t)
	s := &secondary{recipe: r, dir: dir, port: port, addr: fmt.Sprintf("127.0.0.1:%d", port), primary: h.addr, from: int(h.server.Addr().Port())}
	args := r.prepare(t, s, zones)
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.SysProcAttr = unprivileged(t, dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }() // its status is in the log
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-exited:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			<-exited
		}
		if t.Failed() {
			t.Logf("%s said:\n%s", r.name, tail(log.String()))
		}
	})
	s.awaitStart(t, exited)
	return s
}

// unprivileged gives the folder to nobody, and has the server run as nobody,
// when we could do more.
func unprivileged(t *testing.T, dir string) *syscall.SysProcAttr {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	const nobody = 65534
	err := filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, nobody, nobody)
	})
	if err != nil {
		t.Fatal(err)
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

func tail(s string) string { return s[max(0, len(s)-8000):] }

// write puts a file into the folder of the secondary. Words in braces are
// replaced by what they name.
func (s *secondary) write(t *testing.T, name, text string) string {
	t.Helper()
	text = strings.NewReplacer("{dir}", s.dir, "{port}", fmt.Sprint(s.port), "{from}", fmt.Sprint(s.from)).Replace(text)
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// freePort returns a port that is free over TCP and UDP.
func freePort(t *testing.T) int {
	t.Helper()
	for {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		p, err := net.ListenPacket("udp", l.Addr().String())
		_ = l.Close() // it was only looked for
		if err == nil {
			_ = p.Close()
			return l.Addr().(*net.TCPAddr).Port
		}
	}
}

// awaitStart waits until the server answers anything at all.
func (s *secondary) awaitStart(t *testing.T, exited <-chan struct{}) {
	t.Helper()
	s.await(t, "start", func() bool {
		select {
		case <-exited:
			t.Fatalf("%s ended by itself", s.name)
		default:
		}
		_, err := dns.Exchange(question("example.com.", dns.TypeSOA), s.addr)
		return err == nil
	})
}

// await asks until it is done.
func (s *secondary) await(t *testing.T, what string, done func() bool) {
	t.Helper()
	if !until(t.Context(), done) {
		t.Fatalf("%s: waited in vain for: %s", s.name, what)
	}
}

// until asks again and again until it is done, and reports whether it is.
func until(ctx context.Context, done func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return true
}

// serves reports whether the server answers with the serial of z.
func (s *secondary) serves(ctx context.Context, z deed.ServedZone) bool {
	drift := &primary.Drift{Servers: []primary.Secondary{{Name: s.name, Addr: s.addr}}}
	state := drift.Check(ctx, z.Origin, z.Serial)[0]
	return state.Err == nil && state.Serial == z.Serial
}

// awaitSerial waits until the server answers with the serial of z.
func (s *secondary) awaitSerial(t *testing.T, z deed.ServedZone) {
	t.Helper()
	s.await(t, fmt.Sprintf("%s with the serial %d", z.Origin, z.Serial), func() bool { return s.serves(t.Context(), z) })
}

// awaitGone waits until the server does not serve the zone any more.
func (s *secondary) awaitGone(t *testing.T, origin string) {
	t.Helper()
	s.await(t, "the end of "+origin, func() bool {
		r, err := dns.Exchange(question(origin+".", dns.TypeSOA), s.addr)
		return err == nil && r.Rcode == dns.RcodeRefused
	})
}

// sameZone compares the zone there, record by record.
func (s *secondary) sameZone(t *testing.T, z deed.ServedZone) {
	t.Helper()
	m := question(z.Origin+".", dns.TypeAXFR)
	if s.signs {
		signed(m)
	}
	rrs, _ := transfer(t, s.addr, m)
	sameRecords(t, s.name+" "+z.Origin, body(t, rrs), z.RRs)
}

// asSecondary returns the server as the notifier knows it.
func (s *secondary) asSecondary(t *testing.T) primary.Secondary {
	t.Helper()
	to := primary.Secondary{Name: s.name, Addr: s.addr}
	if s.signs {
		to.Key = key(t)
	}
	return to
}
