//go:build failover && linux

package failover

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	idleConnections  = 2000
	floodRate        = 20_000 // requests a second over all connections
	floodConnections = 20
	floodBatch       = 100     // requests in one write
	maxMemory        = 1 << 20 // KiB of a node, whatever strangers send
)

// exhaustFiles leaves the first node without file descriptors.
func exhaustFiles(e *env) func() string {
	pid := strconv.Itoa(e.nodes[0].cmd.Process.Pid)
	open, err := os.ReadDir("/proc/" + pid + "/fd")
	if err != nil {
		e.t.Fatal(err)
	}
	limit := func(n int) {
		if out, err := exec.Command("prlimit", "--pid", pid, fmt.Sprintf("--nofile=%d:", n)).CombinedOutput(); err != nil {
			e.t.Fatalf("prlimit: %v: %s", err, out)
		}
	}
	var ours syscall.Rlimit // the node has the same hard limit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &ours); err != nil {
		e.t.Fatal(err)
	}
	limit(len(open))
	return func() string { limit(int(ours.Max)); return "" }
}

// occupy opens idle connections to the first node, half of which send a byte a second.
func occupy(e *env) func() string {
	ctx, cancel := context.WithCancel(e.t.Context())
	var wg sync.WaitGroup
	var opened, ended atomic.Int64
	for i := range idleConnections {
		wg.Go(func() {
			c, err := dialFrom(ctx, "127.0.0.2", e.nodes[0])
			if err != nil {
				return
			}
			defer c.Close() // nothing is expected of it
			defer context.AfterFunc(ctx, func() { c.Close() })()
			opened.Add(1)
			if i%2 == 0 {
				_, err = c.Read(make([]byte, 1)) // until the node closes it
			}
			for err == nil && ctx.Err() == nil {
				_, err = c.Write([]byte("G"))
				time.Sleep(time.Second)
			}
			if ctx.Err() == nil {
				ended.Add(1)
			}
		})
		if i%100 == 0 {
			time.Sleep(10 * time.Millisecond)
		}
	}
	return func() string {
		note := fmt.Sprintf("%d connections opened, %d of them ended by the node, %s", opened.Load(), ended.Load(), e.memory(0))
		cancel()
		wg.Wait()
		return note
	}
}

// flood sends garbage to the first node at a steady rate, whether it is answered or not.
func flood(e *env) func() string {
	ctx, cancel := context.WithCancel(e.t.Context())
	began := time.Now()
	var wg sync.WaitGroup
	var sent, answered atomic.Int64
	for i := range floodConnections {
		wg.Go(func() {
			requests := garbageRequests(i)
			for next := began; ctx.Err() == nil; {
				next = garbage(ctx, e.nodes[0], requests, next, &sent, &answered)
			}
		})
	}
	return func() string {
		cancel()
		wg.Wait()
		seconds := time.Since(began).Seconds()
		return fmt.Sprintf("%.0f garbage requests a second sent, %.0f of them answered, %s", float64(sent.Load())/seconds, float64(answered.Load())/seconds, e.memory(0))
	}
}

// garbage sends requests over one connection, a batch at a time, until it ends. It
// returns when the next batch is due: a sender who is late does not wait.
func garbage(ctx context.Context, n *node, requests []byte, next time.Time, sent, answered *atomic.Int64) time.Time {
	c, err := dialFrom(ctx, "127.0.0.3", n)
	if err != nil {
		time.Sleep(10 * time.Millisecond)
		return next
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		countAnswers(c, answered)
	}()
	defer func() { c.Close(); <-read }() // the node closes it after some of them
	for ctx.Err() == nil {
		time.Sleep(time.Until(next))
		next = next.Add(floodBatch * floodConnections * time.Second / floodRate)
		if err := c.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			return next
		}
		if _, err := c.Write(requests); err != nil {
			return next
		}
		sent.Add(floodBatch)
	}
	return next
}

// countAnswers reads answers until the connection ends.
func countAnswers(c net.Conn, answered *atomic.Int64) {
	buf := make([]byte, 64<<10)
	for {
		k, err := c.Read(buf)
		answered.Add(int64(bytes.Count(buf[:k], []byte("HTTP/1.1 "))))
		if err != nil {
			return
		}
	}
}

// garbageRequests returns requests that make no sense: most are for paths that do not
// exist, one of eight is an order with a token, a payment and a body that are none.
func garbageRequests(seed int) []byte {
	var all []byte
	for i := range floodBatch {
		if i%8 != 0 {
			all = fmt.Appendf(all, "GET /%%ff%d/\xff HTTP/1.1\r\nHost: x\r\n\r\n", i)
			continue
		}
		body := strings.Repeat("\xff{[", (seed*31+i*7)%200)
		all = fmt.Appendf(all, "POST /domains/register HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %d\r\nPAYMENT-SIGNATURE: !!!\r\nContent-Length: %d\r\n\r\n%s", i, len(body), body)
	}
	return all
}

// dialFrom connects to a node from another address of this machine.
func dialFrom(ctx context.Context, ip string, n *node) (net.Conn, error) {
	d := net.Dialer{Timeout: 10 * time.Second, LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
	return d.DialContext(ctx, "tcp", strings.TrimPrefix(n.callers, "http://"))
}

// memory returns the peak memory of a node, in words, and fails if it is too much.
func (e *env) memory(i int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", e.nodes[i].cmd.Process.Pid))
	if err != nil {
		e.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		e.t.Fatal("the kernel does not say how much memory the node has")
	}
	peak, err := strconv.Atoi(fields[0])
	if err != nil || peak > maxMemory {
		e.t.Errorf("the node has used %d KiB, want at most %d, %v", peak, maxMemory, err)
	}
	return fmt.Sprintf("peak memory %d MiB", peak/1024)
}
