package main

import (
	"bytes"
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

	"deed.example/deed/api"
	"deed.example/deed/client"
)

// fleetSecret signs what goes between us and our secondaries in tests.
const fleetSecret = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// A daemon is a name server that others wrote, in a folder of its own.
type daemon struct {
	program string
	dir     string
	port    int
	addr    string
}

// newDaemon finds the program, a folder and a port for it. It skips the test
// when the program is not installed.
func newDaemon(t *testing.T, program, debian string) *daemon {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		path = "/usr/sbin/" + program // a plain user's PATH leaves that out
		if _, err := os.Stat(path); err != nil {
			t.Skipf("%s is not installed: apt-get install --no-install-recommends %s", program, debian)
		}
	}
	dir, err := os.MkdirTemp("", "deed-"+program+"-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) }) // it is temporary
	port := freePort(t)
	return &daemon{program: path, dir: dir, port: port, addr: fmt.Sprintf("127.0.0.1:%d", port)}
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
		l.Close() // it was only looked for
		if err == nil {
			p.Close() // likewise
			return l.Addr().(*net.TCPAddr).Port
		}
	}
}

// start writes the configuration and runs the program until the test ends.
// Words in braces stand for the folder and the port.
func (d *daemon) start(t *testing.T, config string, args ...string) {
	t.Helper()
	words := strings.NewReplacer("{dir}", d.dir, "{port}", fmt.Sprint(d.port))
	if err := os.WriteFile(filepath.Join(d.dir, "config"), []byte(words.Replace(config)), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range args {
		args[i] = words.Replace(args[i])
	}
	cmd := exec.Command(d.program, args...)
	var log bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = d.dir, &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() { cmd.Wait(); close(exited) }() // its log says how it ended
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-exited:
		case <-time.After(10 * time.Second):
			cmd.Process.Kill()
			<-exited
		}
		if t.Failed() {
			t.Logf("%s said:\n%s", d.program, log.String()[max(0, log.Len()-6000):])
		}
	})
	waitFor(t, func() bool {
		select {
		case <-exited:
			t.Fatalf("%s ended by itself", d.program)
		default:
		}
		_, err := dns.Exchange(ask("example.invalid.", dns.TypeSOA), d.addr)
		return err == nil
	})
}

// paper returns the first block under a heading of docs/secondaries.md, for a
// primary at this port.
func paper(t *testing.T, heading string, port int) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/secondaries.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## "+heading+"\n")
	_, block, _ := strings.Cut(section, "\n```")
	_, block, _ = strings.Cut(block, "\n") // the language
	block, _, found := strings.Cut(block, "\n```")
	if !found {
		t.Fatalf("docs/secondaries.md has no block for %s", heading)
	}
	return strings.NewReplacer("192.0.2.53", "127.0.0.1", "5354", fmt.Sprint(port), "SECRET", fleetSecret).Replace(block) + "\n"
}

// ask is a question with DNSSEC, and without recursion.
func ask(name string, qtype uint16) *dns.Msg {
	m := new(dns.Msg).SetQuestion(name, qtype).SetEdns0(4096, true)
	m.RecursionDesired = false
	return m
}

// exchange asks over TCP, where every answer fits.
func exchange(t *testing.T, m *dns.Msg, addr string) *dns.Msg {
	t.Helper()
	c := dns.Client{Net: "tcp", Timeout: 30 * time.Second}
	r, _, err := c.ExchangeContext(t.Context(), m, addr)
	if err != nil {
		t.Fatalf("ask %s for %s: %v", addr, m.Question[0].String(), err)
	}
	return r
}

// owner returns a client with play money.
func (n *node) owner(t *testing.T) *client.Client {
	t.Helper()
	key := client.NewKey(n.rich(t))
	c, err := client.New(n.callers, client.WithWallet(key), client.WithMaxPayment(100*client.Dollar), client.WithHTTPClient(n.client))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.SignIn(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// sell registers a name with records.
func sell(t *testing.T, c *client.Client, domain string, records ...api.RecordRequest) {
	t.Helper()
	o, err := c.Register(t.Context(), api.RegisterRequest{Domain: domain, DNSRecords: records})
	if err == nil {
		_, err = c.WaitJob(t.Context(), o.JobID)
	}
	if err != nil {
		t.Fatal(err)
	}
}
