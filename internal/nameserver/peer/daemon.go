package peer

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/miekg/dns"
)

// ErrMissing says that a server is not installed.
var ErrMissing = errors.New("not installed")

const (
	patience = 10 * time.Second // for a server to start or stop
	lastSaid = 8000             // bytes of a log that are shown
)

// A Daemon is a program of others that answers queries, with all its files in a
// folder of its own.
type Daemon struct {
	Dir  string
	Addr netip.AddrPort // of UDP and TCP
	Pid  int            // once it runs

	path   string
	cmd    *exec.Cmd
	exited chan struct{}
}

// NewDaemon finds the program and a free loopback port for it. The folder must be
// empty and stay until Stop. It fails with ErrMissing.
func NewDaemon(program, debian, dir string) (*Daemon, error) {
	path, err := lookPath(program)
	if err != nil {
		return nil, fmt.Errorf("%s is %w: apt-get install --no-install-recommends %s", program, ErrMissing, debian)
	}
	addr, err := FreePort()
	return &Daemon{Dir: dir, Addr: addr, path: path, exited: make(chan struct{})}, err
}

// lookPath looks where Debian puts servers, too: a plain user's PATH leaves
// that out.
func lookPath(program string) (string, error) {
	if path, err := exec.LookPath(program); err == nil {
		return path, nil
	}
	return exec.LookPath("/usr/sbin/" + program)
}

// FreePort returns a port that was free a moment ago for UDP and TCP.
func FreePort() (netip.AddrPort, error) {
	for range 32 {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return netip.AddrPort{}, err
		}
		addr := tcp.Addr().(*net.TCPAddr).AddrPort()
		udp, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(addr))
		tcp.Close() // the server is to have it
		if err == nil {
			udp.Close() // likewise
			return addr, nil
		}
	}
	return netip.AddrPort{}, errors.New("no port is free for UDP and TCP")
}

// words replaces the words in braces by what they name.
func (d *Daemon) words(text string) string {
	return strings.NewReplacer("{dir}", d.Dir, "{port}", fmt.Sprint(d.Addr.Port())).Replace(text)
}

// Write puts a file into the folder. In its text, {dir} and {port} stand for the
// folder and the daemon's port.
func (d *Daemon) Write(file, text string) error {
	return os.WriteFile(filepath.Join(d.Dir, file), []byte(d.words(text)), 0o600)
}

// Start runs the program and returns when it answers anything at all. Its
// arguments may have the words of Write.
func (d *Daemon) Start(args ...string) error {
	if err := d.run(args); err != nil {
		return err
	}
	deadline := time.Now().Add(patience)
	client := dns.Client{Timeout: time.Second}
	for {
		if _, _, err := client.Exchange(new(dns.Msg).SetQuestion("example.invalid.", dns.TypeSOA), d.Addr.String()); err == nil {
			return nil
		}
		if err := d.rest(deadline); err != nil {
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
		args[i] = d.words(args[i])
	}
	d.cmd = exec.Command(d.path, args...)
	d.cmd.Dir, d.cmd.Stdout, d.cmd.Stderr = d.Dir, log, log
	if err := d.cmd.Start(); err != nil {
		return err
	}
	d.Pid = d.cmd.Process.Pid
	go func() {
		_ = d.cmd.Wait() // how it ended stands in its log
		close(d.exited)
	}()
	return nil
}

// rest waits a moment for a server that does not answer yet. It fails when there
// is nothing to wait for.
func (d *Daemon) rest(deadline time.Time) error {
	select {
	case <-d.exited:
		return fmt.Errorf("%s ended by itself:\n%s", d.path, d.Log())
	case <-time.After(5 * time.Millisecond):
	}
	if time.Now().After(deadline) {
		return fmt.Errorf("%s does not answer:\n%s", d.path, d.Log())
	}
	return nil
}

func (d *Daemon) log() string { return filepath.Join(d.Dir, "log") }

// Log returns the last that the daemon said.
func (d *Daemon) Log() string {
	text, err := os.ReadFile(d.log())
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text[max(0, len(text)-lastSaid):]))
}

// Stop ends the server and waits for it.
func (d *Daemon) Stop() error {
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-d.exited:
		return nil
	case <-time.After(patience):
		err := errors.Join(fmt.Errorf("%s did not end when asked to", d.path), d.cmd.Process.Kill())
		<-d.exited
		return err
	}
}
