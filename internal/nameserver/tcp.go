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
	"syscall"
	"time"
)

// acceptPause is how long we wait when the system is out of file descriptors.
const acceptPause = 50 * time.Millisecond

// conns are the open connections, counted per client.
type conns struct {
	most, mostPerClient int

	mu     sync.Mutex
	all    map[net.Conn]netip.Addr // guarded by mu
	client map[netip.Addr]int      // guarded by mu
	closed bool                    // guarded by mu
}

func (c *conns) open(cfg Config) {
	c.most, c.mostPerClient = cfg.Conns, cfg.ConnsPerClient
	c.all, c.client = map[net.Conn]netip.Addr{}, map[netip.Addr]int{}
}

// enter says whether there is room for one more connection.
func (c *conns) enter(conn net.Conn) bool {
	from := clientOf(conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(c.all) >= c.most || c.client[from] >= c.mostPerClient {
		return false
	}
	c.all[conn] = from
	c.client[from]++
	return true
}

// clientOf returns what counts as one client: an address of IPv4, or a /56 of
// IPv6, in which one customer has all addresses.
func clientOf(a netip.Addr) netip.Addr {
	if a.Is4() {
		return a
	}
	b := a.As16()
	clear(b[7:])
	return netip.AddrFrom16(b)
}

func (c *conns) leave(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	from := c.all[conn]
	delete(c.all, conn)
	if c.client[from]--; c.client[from] <= 0 {
		delete(c.client, from)
	}
}

func (c *conns) closeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for conn := range c.all {
		conn.Close() // its reader sees the end
	}
}

// acceptAll serves connections until the listener is closed.
func (s *Server) acceptAll() error {
	for {
		conn, err := s.tcp.Accept()
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			select {
			case <-s.closing:
				return err
			case <-time.After(acceptPause):
				continue
			}
		}
		if err != nil {
			return err
		}
		if !s.conns.enter(conn) {
			s.refused.Add(1)
			conn.Close() // it was told nothing yet
			continue
		}
		s.wg.Go(func() {
			defer s.conns.leave(conn)
			defer conn.Close() // what was written has been sent
			s.serveTCP(conn)
		})
	}
}

// workers serve connections. Each has room for the longest answer, so a
// connection has one only while it is being answered.
var workers = sync.Pool{New: func() any { return newWorker(math.MaxUint16) }}

// serveTCP answers a connection's queries in turn, as many as it sends without
// waiting (RFC 7766, 6.2.1.1). It ends with the connection, with the first
// message that is no query, or when the client takes too long.
func (s *Server) serveTCP(conn net.Conn) {
	in, out := bufio.NewReaderSize(conn, 2+longestQuery), bufio.NewWriterSize(conn, 4096)
	for {
		// From the end of one query the client has this long to bring the whole
		// next one; from then on, to take the answers.
		if err := conn.SetDeadline(time.Now().Add(s.cfg.Idle)); err != nil {
			return
		}
		msg, err := nextMessage(in, out)
		if err != nil {
			return
		}
		if err := s.answerTCP(out, msg); err != nil {
			return
		}
		if _, err := in.Discard(2 + len(msg)); err != nil {
			return
		}
	}
}

var errNoQuery = errors.New("not a query")

// nextMessage returns the next message, which is good until in is read again.
// Answers to queries that were sent together are sent together: they are held
// back until there is something to wait for.
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
		if size += int(binary.BigEndian.Uint16(msg)); size <= 2 || size > 2+longestQuery {
			return nil, errNoQuery
		}
	}
}

func (s *Server) answerTCP(out io.Writer, msg []byte) error {
	w := workers.Get().(*worker)
	defer workers.Put(w)
	s.counts.tcp.Add(1)
	rcode, ok := w.q.read(msg)
	if !ok {
		s.dropped.Add(1)
		return errNoQuery
	}
	answer := w.answer(&s.zones, msg, rcode, math.MaxUint16)
	var head [2]byte
	binary.BigEndian.PutUint16(head[:], uint16(len(answer)))
	if _, err := out.Write(head[:]); err != nil {
		return err
	}
	_, err := out.Write(answer)
	return err
}
