package peer

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed/internal/freeport"
)

// ErrMissing means that a server is not installed.
var ErrMissing = errors.New("not installed")

const (
	timeout     = time.Minute // for a server to start or stop, unless more is allowed
	logTailSize = 2000        // bytes of a log that are shown
)

// A Daemon is a third-party DNS server, with all its files in its own directory.
type Daemon struct {
	Dir  string
	Addr netip.AddrPort // of UDP and TCP
	Pid  int            // set by Start

	within time.Duration // for it to start, and to stop
	path   string
	cmd    *exec.Cmd
	exited chan struct{}
}

// NewDaemon finds the program and a free loopback port for it. The directory must
// be empty and stay until Stop. It fails with ErrMissing.
func NewDaemon(program, debian, dir string) (*Daemon, error) {
	path, err := lookPath(program)
	if err != nil {
		return nil, fmt.Errorf("%s is %w: apt-get install --no-install-recommends %s", program, ErrMissing, debian)
	}
	addr, err := freeport.Find()
	return &Daemon{Dir: dir, Addr: addr, within: timeout, path: path, exited: make(chan struct{})}, err
}

// lookPath also searches where Debian installs servers, which is not in the PATH of
// an unprivileged user.
func lookPath(program string) (string, error) {
	if path, err := exec.LookPath(program); err == nil {
		return path, nil
	}
	return exec.LookPath("/usr/sbin/" + program)
}

// expand replaces the placeholders in braces.
func (d *Daemon) expand(text string) string {
	return strings.NewReplacer("{dir}", d.Dir, "{port}", fmt.Sprint(d.Addr.Port())).Replace(text)
}

// Write writes a file into the directory. In its text, {dir} and {port} are
// replaced by the directory and the daemon's port.
func (d *Daemon) Write(file, text string) error {
	return os.WriteFile(filepath.Join(d.Dir, file), []byte(d.expand(text)), 0o600)
}

// Start runs the program and returns when it responds to any query. The
// placeholders of Write are replaced in its arguments, too.
func (d *Daemon) Start(args ...string) error {
	if err := d.run(args); err != nil {
		return err
	}
	deadline := time.Now().Add(d.within)
	client := dns.Client{Timeout: time.Second}
	for {
		if _, _, err := client.Exchange(new(dns.Msg).SetQuestion("example.invalid.", dns.TypeSOA), d.Addr.String()); err == nil {
			return nil
		}
		if err := d.wait(deadline); err != nil {
			return errors.Join(err, d.Stop())
		}
	}
}

func (d *Daemon) run(args []string) error {
	log, err := os.Create(d.log())
	if err != nil {
		return err
	}
	defer log.Close() // the server has its own handle
	for i := range args {
		args[i] = d.expand(args[i])
	}
	d.cmd = exec.Command(d.path, args...)
	d.cmd.Dir, d.cmd.Stdout, d.cmd.Stderr = d.Dir, log, log
	if err := d.cmd.Start(); err != nil {
		return err
	}
	d.Pid = d.cmd.Process.Pid
	go func() {
		_ = d.cmd.Wait() // its log says how it ended
		close(d.exited)
	}()
	return nil
}

// wait pauses before the next query of a server that does not respond yet. It fails
// when the server has ended or the deadline has passed.
func (d *Daemon) wait(deadline time.Time) error {
	select {
	case <-d.exited:
		return fmt.Errorf("%s exited:\n%s", d.path, d.Log())
	case <-time.After(5 * time.Millisecond):
	}
	if time.Now().After(deadline) {
		return fmt.Errorf("%s does not respond:\n%s", d.path, d.Log())
	}
	return nil
}

func (d *Daemon) log() string { return filepath.Join(d.Dir, "log") }

// Log returns the end of the daemon's log.
func (d *Daemon) Log() string {
	text, err := os.ReadFile(d.log())
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text[max(0, len(text)-logTailSize):]))
}

// Stop terminates the server and waits for it.
func (d *Daemon) Stop() error {
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-d.exited:
		return nil
	case <-time.After(d.within):
		err := errors.Join(fmt.Errorf("%s did not exit on SIGTERM", d.path), d.cmd.Process.Kill())
		<-d.exited
		return err
	}
}
