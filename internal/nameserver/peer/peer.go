// Package peer starts the name servers of others, to compare ours with them:
// Knot, NSD, BIND and PowerDNS, as Debian packages them. Each runs as a plain
// process on a free loopback port, with one thread for queries and all its
// files in one folder, and ends when it is stopped.
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

// A Zone is a zone as a master file.
type Zone struct {
	Origin string // without the last dot
	File   string
}

// A Peer is a running server.
type Peer struct {
	Name string
	Addr netip.AddrPort // of UDP and TCP
	Pid  int

	cmd    *exec.Cmd
	exited chan struct{}
	log    string // a path
}

// ErrMissing says that a server is not installed.
var ErrMissing = errors.New("not installed")

const patience = 10 * time.Second // for a server to start or stop

// Names are the servers that Start knows.
var Names = []string{"knot", "nsd", "bind", "powerdns"}

// Package returns the Debian package that a server is in.
func Package(name string) string {
	switch name {
	case "bind":
		return "bind9"
	case "powerdns":
		return "pdns-server pdns-backend-bind"
	}
	return name
}

// Start starts the server with these zones, and returns when it answers for
// all of them. The folder must be empty and stay until Stop.
func Start(name, dir string, zones []Zone) (*Peer, error) {
	r := recipes[name]
	path, err := lookPath(r.program)
	if err != nil {
		return nil, fmt.Errorf("%s is %w: apt-get install %s", name, ErrMissing, Package(name))
	}
	addr, err := freePort()
	if err != nil {
		return nil, err
	}
	files := r.files(dir, addr.Port(), zones)
	for _, z := range zones {
		files[z.Origin+".zone"] = z.File
	}
	for file, text := range files {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	p := &Peer{Name: name, Addr: addr, exited: make(chan struct{}), log: filepath.Join(dir, "log")}
	if err := p.run(path, r.args(dir)); err != nil {
		return nil, err
	}
	if err := p.await(zones); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

// lookPath looks where Debian puts servers, too: a plain user's PATH leaves
// that out.
func lookPath(program string) (string, error) {
	if path, err := exec.LookPath(program); err == nil {
		return path, nil
	}
	return exec.LookPath("/usr/sbin/" + program)
}

// freePort returns a port that was free a moment ago for UDP and TCP.
func freePort() (netip.AddrPort, error) {
	for range 32 {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return netip.AddrPort{}, err
		}
		addr := tcp.Addr().(*net.TCPAddr).AddrPort()
		tcp.Close() // the server is to have it
		udp, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(addr))
		if err == nil {
			udp.Close() // likewise
			return addr, nil
		}
	}
	return netip.AddrPort{}, errors.New("no port is free for UDP and TCP")
}

func (p *Peer) run(path string, args []string) error {
	log, err := os.Create(p.log)
	if err != nil {
		return err
	}
	defer log.Close() // the server has its own handle
	p.cmd = exec.Command(path, args...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.Pid = p.cmd.Process.Pid
	go func() {
		_ = p.cmd.Wait() // how it ended stands in its log
		close(p.exited)
	}()
	return nil
}

// await returns when the server answers for all zones.
func (p *Peer) await(zones []Zone) error {
	deadline := time.Now().Add(patience)
	client := dns.Client{Timeout: time.Second}
	for i := 0; i < len(zones); {
		m, _, err := client.Exchange(new(dns.Msg).SetQuestion(dns.Fqdn(zones[i].Origin), dns.TypeSOA), p.Addr.String())
		if err == nil && m.Rcode == dns.RcodeSuccess {
			i++
			continue
		}
		select {
		case <-p.exited:
			return p.fail("%s ended", p.Name)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return p.fail("%s does not answer for %s", p.Name, zones[i].Origin)
		}
	}
	return nil
}

func (p *Peer) fail(format string, args ...any) error {
	log, err := os.ReadFile(p.log)
	if err != nil {
		return err
	}
	return fmt.Errorf(format+":\n%s", append(args, strings.TrimSpace(string(log)))...)
}

// Stop ends the server and waits for it.
func (p *Peer) Stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.exited:
		return nil
	case <-time.After(patience):
		return errors.Join(fmt.Errorf("%s did not end when asked to", p.Name), p.cmd.Process.Kill())
	}
}
