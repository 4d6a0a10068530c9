//go:build failover && linux

package failover

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// startTimeout is how long a process may take to answer.
const startTimeout = 3 * time.Minute

// A process is a program that runs for as long as the test.
type process struct {
	name string
	args []string // with the program
	env  []string
	log  string // file
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// start starts the process, or starts it again.
func (p *process) start(t *testing.T) {
	t.Helper()
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close() // the process has its own handle
	p.cmd = exec.Command(p.args[0], p.args[1:]...)
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, p.env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done, cmd := make(chan struct{}), p.cmd
	p.done = done
	go func() {
		_ = cmd.Wait() // its log says how it ended
		close(done)
	}()
	t.Cleanup(func() { p.signal(syscall.SIGKILL); <-done })
}

// signal sends a signal to the process, unless it has ended.
func (p *process) signal(s syscall.Signal) {
	if !p.ended() {
		_ = p.cmd.Process.Signal(s) // it may end now
	}
}

// ended reports whether the process has ended.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// end sends a signal and waits until the process has ended.
func (p *process) end(s syscall.Signal) {
	p.signal(s)
	<-p.done
}

// await waits until the condition holds, and fails with the log of the process if it
// does not.
func (p *process) await(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(startTimeout); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(p.log) // only to explain
			t.Fatalf("%s does not answer: %s", p.name, text[max(0, len(text)-4000):])
		}
	}
}

// ok reports whether a GET request is answered with 200.
func ok(url string) bool {
	c := http.Client{Timeout: 5 * time.Second}
	res, err := c.Get(url)
	if err != nil {
		return false
	}
	defer res.Body.Close() // only the status counts
	return res.StatusCode == http.StatusOK
}

// dials reports whether something listens.
func dials(addr string) bool {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return false
	}
	return c.Close() == nil
}

// A relay passes connections on to an address, unless it is cut.
type relay struct {
	addr, to string
	listener net.Listener
	mu       sync.Mutex // guards both below
	isCut    bool
	open     map[net.Conn]bool
}

func newRelay(t *testing.T, to string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{addr: l.Addr().String(), to: to, listener: l, open: map[net.Conn]bool{}}
	t.Cleanup(func() { l.Close(); r.cut(true) })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go r.pass(c)
		}
	}()
	return r
}

// pass copies both ways until one side ends.
func (r *relay) pass(in net.Conn) {
	defer in.Close() // one side has ended
	out, err := net.Dial("tcp", r.to)
	if err != nil {
		return
	}
	defer out.Close() // likewise
	r.mu.Lock()
	refuse := r.isCut
	r.open[in] = true
	r.mu.Unlock()
	if refuse {
		return
	}
	go func() { io.Copy(out, in); out.Close() }() // the other direction notices
	io.Copy(in, out)                              // likewise
	r.mu.Lock()
	delete(r.open, in)
	r.mu.Unlock()
}

// cut ends all connections and refuses new ones, or stops to do so.
func (r *relay) cut(yes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.isCut = yes
	for c := range r.open {
		c.Close() // both directions end
		delete(r.open, c)
	}
}

// logFile returns a file for the log of a process.
func logFile(dir, name string) string { return filepath.Join(dir, name+".log") }

// loopback returns an address of this machine.
func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
