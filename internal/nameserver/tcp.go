package nameserver

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"deed.example/deed/internal/connlimit"
)

// conns are the open connections, counted per client.
type conns struct {
	limit, limitPerClient int

	mu     sync.Mutex
	all    map[*tcpConn]struct{} // guarded by mu
	client map[netip.Addr]int    // guarded by mu
	closed bool                  // guarded by mu
}

// A tcpConn is a connection of a client.
type tcpConn struct {
	net.Conn
	from  netip.Addr   // what counts as one client
	since atomic.Int64 // when it began to wait for its next query, in nanoseconds
}

func (c *conns) open(cfg Config) {
	c.limit, c.limitPerClient = cfg.Conns, cfg.ConnsPerClient
	c.all, c.client = map[*tcpConn]struct{}{}, map[netip.Addr]int{}
}

// enter adds the connection and reports whether the limits allow it. When there are as many
// as the limit, the one that has waited longest for its next query is closed, so that nobody
// keeps others out by holding connections open.
func (c *conns) enter(conn *tcpConn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.client[conn.from] >= c.limitPerClient {
		return false
	}
	if len(c.all) >= c.limit {
		longest := c.longestWaiting()
		c.remove(longest)
		longest.Close() // ends its reader
	}
	c.all[conn] = struct{}{}
	c.client[conn.from]++
	return true
}

func (c *conns) longestWaiting() (longest *tcpConn) {
	for conn := range c.all {
		if longest == nil || conn.since.Load() < longest.since.Load() {
			longest = conn
		}
	}
	return longest
}

// clientOf returns what counts as one client: an IPv4 address, or an IPv6 /56,
// which is typically one customer.
func clientOf(a netip.Addr) netip.Addr {
	if a.Is4() {
		return a
	}
	b := a.As16()
	clear(b[7:])
	return netip.AddrFrom16(b)
}

func (c *conns) leave(conn *tcpConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(conn)
}

// remove removes a connection, if it is still there. The caller holds mu.
func (c *conns) remove(conn *tcpConn) {
	if _, open := c.all[conn]; !open {
		return
	}
	delete(c.all, conn)
	if c.client[conn.from]--; c.client[conn.from] == 0 {
		delete(c.client, conn.from)
	}
}

func (c *conns) closeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for conn := range c.all {
		conn.Close() // ends its reader
	}
}

// acceptAll serves connections until the listener is closed.
func (s *Server) acceptAll() error {
	for {
		accepted, err := connlimit.Accept(s.tcp)
		if err != nil {
			return err
		}
		conn := &tcpConn{Conn: accepted, from: clientOf(accepted.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap())}
		conn.since.Store(time.Now().UnixNano())
		if !s.conns.enter(conn) {
			s.refused.Add(1)
			conn.Close() // nothing was sent on it
			continue
		}
		s.wg.Go(func() {
			defer s.conns.leave(conn)
			defer conn.Close() // everything was flushed
			s.serveTCP(conn)
		})
	}
}

// workers serve connections. Each has a buffer for the longest response, so a
// connection holds one only while a query is answered.
var workers = sync.Pool{New: func() any { return newWorker(math.MaxUint16) }}

// serveTCP answers a connection's queries in order, including pipelined ones (RFC
// 7766, 6.2.1.1). It returns when the connection ends, at the first message that is
// not a query, or when the client is too slow.
func (s *Server) serveTCP(conn *tcpConn) {
	from := conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr()
	in, out := bufio.NewReaderSize(conn, 2+maxQuerySize), bufio.NewWriterSize(conn, 4096)
	defer out.Flush() // what was answered before the end; an error means that nobody reads it
	for {
		// The deadline covers reading the whole next query, and is renewed for
		// writing the responses.
		now := time.Now()
		conn.since.Store(now.UnixNano())
		if err := conn.SetDeadline(now.Add(s.cfg.Idle)); err != nil {
			return
		}
		msg, err := nextMessage(in, out)
		if err != nil {
			return
		}
		if err := s.answerTCP(out, msg, from); err != nil {
			return
		}
		if _, err := in.Discard(2 + len(msg)); err != nil {
			return
		}
	}
}

var errNoQuery = errors.New("not a query")

// nextMessage returns the next message, which is valid until in is read again.
// Responses to pipelined queries are sent together: they are buffered until reading
// would block.
func nextMessage(in *bufio.Reader, out *bufio.Writer) ([]byte, error) {
	size := 2
	for {
		if in.Buffered() < size {
			if err := out.Flush(); err != nil {
				return nil, err
			}
		}
		msg, err := in.Peek(size)
		if err != nil {
			return nil, err
		}
		if size > 2 {
			return msg[2:], nil
		}
		if size += int(binary.BigEndian.Uint16(msg)); size <= 2 || size > 2+maxQuerySize {
			return nil, errNoQuery
		}
	}
}

func (s *Server) answerTCP(out io.Writer, msg []byte, from netip.Addr) error {
	w := workers.Get().(*worker)
	defer workers.Put(w)
	s.counts.tcp.Add(1)
	rcode, ok := w.q.read(msg)
	if !ok {
		s.dropped.Add(1)
		return errNoQuery
	}
	s.setOptions(w, sender{addr: from, second: s.cfg.Now().Unix(), tcp: true})
	answer := w.answer(&s.zones, msg, rcode, math.MaxUint16)
	s.answered(answer)
	var head [2]byte
	binary.BigEndian.PutUint16(head[:], uint16(len(answer)))
	if _, err := out.Write(head[:]); err != nil {
		return err
	}
	_, err := out.Write(answer)
	return err
}
