//go:build failover && linux

package failover

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
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
	floodConnections = 64
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

// flood sends garbage to the first node, as fast as it is answered.
func flood(e *env) func() string {
	ctx, cancel := context.WithCancel(e.t.Context())
	began := time.Now()
	var wg sync.WaitGroup
	var answers atomic.Int64
	for i := range floodConnections {
		wg.Go(func() {
			for ctx.Err() == nil {
				answers.Add(garbage(ctx, e.nodes[0], i))
			}
		})
	}
	return func() string {
		cancel()
		wg.Wait()
		rate := float64(answers.Load()) / time.Since(began).Seconds()
		return fmt.Sprintf("%.0f garbage requests a second answered, %s", rate, e.memory(0))
	}
}

// pipelined is how many requests a sender of garbage writes before it reads answers.
const pipelined = 64

// garbage sends requests over one connection until it ends, and counts the answers.
func garbage(ctx context.Context, n *node, seed int) (answers int64) {
	c, err := dialFrom(ctx, "127.0.0.3", n)
	if err != nil {
		time.Sleep(10 * time.Millisecond)
		return 0
	}
	defer c.Close() // the node closes it after some of them
	in := bufio.NewReader(c)
	for i := 0; ctx.Err() == nil; i += pipelined {
		if _, err := io.WriteString(c, garbageRequests(seed, i)); err != nil {
			return answers
		}
		for range pipelined {
			res, err := http.ReadResponse(in, nil)
			if err != nil {
				return answers
			}
			_, _ = in.Discard(int(max(0, res.ContentLength))) // the next read fails, too
			answers++
			if res.Close {
				return answers
			}
		}
	}
	return answers
}

// garbageRequests returns requests that make no sense: most are for paths that do not
// exist, one of eight is an order with a token, a payment and a body that are none.
func garbageRequests(seed, from int) string {
	var all strings.Builder
	for i := from; i < from+pipelined; i++ {
		if i%8 != 0 {
			fmt.Fprintf(&all, "GET /%%ff%d/\xff HTTP/1.1\r\nHost: x\r\n\r\n", i)
			continue
		}
		body := strings.Repeat("\xff{[", (seed*31+i*7)%200)
		fmt.Fprintf(&all, "POST /domains/register HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %d\r\nPAYMENT-SIGNATURE: !!!\r\nContent-Length: %d\r\n\r\n%s", i, len(body), body)
	}
	return all.String()
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
