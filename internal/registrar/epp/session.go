package epp

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A session is a connection that is logged in. One command is sent at a time; after
// any failure the session is closed, because a late reply could be mistaken for that
// of the next command.
type session struct {
	conn     *tls.Conn
	services services
	replies  chan frame
	closed   chan struct{}
	once     sync.Once
	used     time.Time // time of the last command, by the monotonic clock; guarded by pool.mu
}

// A frame is a received frame, or the reason why there are no more.
type frame struct {
	body []byte
	err  error
}

// services are what a registry offers: the objects and extensions of its greeting
// (RFC 5730, 2.4).
type services struct {
	language string
	objects  []string
	exts     []string
}

func (svc services) host() bool   { return slices.Contains(svc.objects, nsHost) }
func (svc services) dnssec() bool { return slices.Contains(svc.exts, nsSecDNS) }
func (svc services) rgp() bool    { return slices.Contains(svc.exts, nsRGP) }
func (svc services) fee() bool    { return slices.Contains(svc.exts, nsFee) }
func (svc services) idn() bool    { return slices.Contains(svc.exts, nsIDN) }
func (svc services) secure() bool { return slices.Contains(svc.exts, nsSecure) }

// dial opens a connection, reads the greeting and logs in.
func (b *Backend) dial(ctx context.Context) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, b.cfg.Timeout)
	defer cancel()
	config, err := b.tlsConfig()
	if err != nil {
		return nil, err
	}
	conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", b.cfg.Address)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", b.cfg.Address, err)
	}
	s := &session{conn: conn.(*tls.Conn), replies: make(chan frame, 1), closed: make(chan struct{})}
	go s.read()
	if err := b.login(ctx, s); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// read passes on what the registry sends until the connection ends. So a session that
// the registry has closed is noticed before the next command.
func (s *session) read() {
	for {
		body, err := readFrame(s.conn)
		select {
		case s.replies <- frame{body, err}:
		case <-s.closed:
			return
		}
		if err != nil {
			return
		}
	}
}

// usable reports whether the session has neither ended nor received a frame that
// nobody asked for.
func (s *session) usable() bool { return len(s.replies) == 0 }

func (s *session) close() {
	s.once.Do(func() {
		close(s.closed)
		_ = s.conn.NetConn().Close() // without a last message of TLS, for which a dead peer would be waited
	})
}

// receive returns the next frame.
func (s *session) receive(ctx context.Context) ([]byte, error) {
	select {
	case f := <-s.replies:
		return f.body, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// exchange sends a document and returns the reply to it.
func (s *session) exchange(ctx context.Context, body []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline() // every caller sets one
	if err := s.conn.SetWriteDeadline(deadline); err != nil {
		return nil, err
	}
	if err := writeFrame(s.conn, body); err != nil {
		return nil, err
	}
	return s.receive(ctx)
}

// hello asks for a greeting, to keep the session alive.
func (s *session) hello(ctx context.Context) error {
	frame, err := s.exchange(ctx, document(func(w *writer) { w.element("hello", nil) }))
	if err != nil {
		return err
	}
	_, err = parseGreeting(frame)
	return err
}

// logoutTimeout bounds the wait for the reply to a logout.
const logoutTimeout = 2 * time.Second

// logout tells the registry that the session ends: some count sessions that were only
// cut for a while longer. Nothing depends on it.
func (s *session) logout() {
	ctx, cancel := context.WithTimeout(context.Background(), logoutTimeout)
	defer cancel()
	if !s.usable() {
		return
	}
	_, _ = s.exchange(ctx, document(func(w *writer) {
		w.element("command", func() {
			w.element("logout", nil)
			w.text("clTRID", trid(""))
		})
	}))
}

// A command is an EPP command before it is sent.
type command struct {
	priority  priority
	reference string // of the registrar.Order that it is for; may be empty
	body      func(w *writer, svc services)
	ext       func(w *writer, svc services) // nil for none; may write nothing
}

// run sends a command and returns the response to it, whatever its result.
func (b *Backend) run(ctx context.Context, s *session, c command) (response, error) {
	trid := trid(c.reference)
	frame, err := s.exchange(ctx, document(func(w *writer) {
		w.element("command", func() {
			c.body(w, s.services)
			var added writer
			if c.ext != nil {
				c.ext(&added, s.services)
			}
			if added.Len() > 0 {
				w.element("extension", func() { w.Write(added.Bytes()) })
			}
			w.text("clTRID", trid)
		})
	}))
	if err != nil {
		return response{}, err
	}
	return parseResponse(frame, trid)
}

// process makes the client transaction identifiers of this process differ from those
// of all others, and frames counts them: a registry may end the session when one is
// repeated.
var (
	process = strings.ToLower(rand.Text()[:16])
	frames  atomic.Uint64
)

// maxTRID is the maximum length of a client transaction identifier (RFC 5730, 4.2).
const maxTRID = 64

// trid returns an identifier that was never used before.
func trid(reference string) string {
	unique := fmt.Sprintf("-%s-%d", process, frames.Add(1))
	clean := strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f {
			return r
		}
		return '_'
	}, reference)
	if clean == "" {
		clean = "deed"
	}
	return clean[:min(len(clean), maxTRID-len(unique))] + unique
}
